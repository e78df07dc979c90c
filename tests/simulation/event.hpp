// Something that will happen: a function that is kept in place, since a schedule makes thousands of them.
#ifndef REDLOCK_TESTS_SIMULATION_EVENT_HPP
#define REDLOCK_TESTS_SIMULATION_EVENT_HPP

#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

namespace redlock::simulation {

class event {
public:
    event() = default;

    template <class F>
        requires(!std::is_same_v<std::decay_t<F>, event>)
    event(F&& f)  // NOLINT: any function is an event
    {
        using function = std::decay_t<F>;
        if constexpr (sizeof(function) <= size && std::is_nothrow_move_constructible_v<function>) {
            put(std::forward<F>(f));
        } else {
            put([boxed = std::make_unique<function>(std::forward<F>(f))] { (*boxed)(); });
        }
    }
    event(event&& other) noexcept : table_{other.table_}
    {
        if (table_) table_->move(&room_, &other.room_);
        other.table_ = nullptr;
    }
    event& operator=(event&& other) noexcept
    {
        if (this == &other) return *this;
        if (table_) table_->destroy(&room_);
        table_ = std::exchange(other.table_, nullptr);
        if (table_) table_->move(&room_, &other.room_);
        return *this;
    }
    ~event()
    {
        if (table_) table_->destroy(&room_);
    }

    void operator()() { table_->call(&room_); }

private:
    static constexpr std::size_t size = 64;

    template <class F>
    void put(F&& f)
    {
        using function = std::decay_t<F>;
        static_assert(sizeof(function) <= size && alignof(function) <= alignof(std::max_align_t));
        ::new (static_cast<void*>(&room_)) function{std::forward<F>(f)};
        table_ = &table_of<function>;
    }

    struct functions {
        void (*call)(void*);
        void (*move)(void* to, void* from) noexcept;  // and destroys what it came from
        void (*destroy)(void*) noexcept;
    };

    template <class F>
    static constexpr functions table_of{
        [](void* f) { (*static_cast<F*>(f))(); },
        [](void* to, void* from) noexcept {
            ::new (to) F{std::move(*static_cast<F*>(from))};
            static_cast<F*>(from)->~F();
        },
        [](void* f) noexcept { static_cast<F*>(f)->~F(); },
    };

    alignas(std::max_align_t) std::byte room_[size];
    functions const* table_{nullptr};
};

}  // namespace redlock::simulation

#endif
