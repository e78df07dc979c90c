// src/base: what knows nothing of locks. The mailbox keeps what callers in any thread want done on the client's strand. The first task has somebody sent to open the box, and those that come
// until then are done with it: one trip to the strand for a whole crowd, in the order in which the tasks came.
#ifndef REDLOCK_BASE_MAILBOX_HPP
#define REDLOCK_BASE_MAILBOX_HPP

#include <redlock/clock.hpp>

#include <atomic>
#include <cstddef>
#include <mutex>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

namespace redlock::detail {

using time_point = boot_clock::time_point;

// Something to do once: a function object, without memory of its own. It may want to know what time it is, or not.
class task {
public:
    template <class F>
        requires(!std::is_same_v<std::decay_t<F>, task>)
    task(F&& f) : kind_{&kind_of<std::decay_t<F>>}
    {
        using function = std::decay_t<F>;
        static_assert(sizeof(function) <= sizeof(bytes_) && alignof(function) <= alignof(std::max_align_t));
        static_assert(std::is_nothrow_move_constructible_v<function>);
        ::new (static_cast<void*>(bytes_)) function(std::forward<F>(f));
    }
    task(task&& other) noexcept : kind_{other.kind_} { kind_->move(bytes_, other.bytes_); }
    task& operator=(task&&) = delete;
    ~task() { kind_->destroy(bytes_); }

    void operator()(time_point now) { kind_->call(bytes_, now); }

private:
    struct kind {
        void (*call)(void*, time_point now);
        void (*move)(void* to, void* from) noexcept;
        void (*destroy)(void*) noexcept;
    };

    template <class F>
    static void call(F& f, [[maybe_unused]] time_point now)
    {
        if constexpr (std::is_invocable_v<F&, time_point>) {
            f(now);
        } else {
            f();
        }
    }

    template <class F>
    static constexpr kind kind_of{[](void* f, time_point now) { call(*static_cast<F*>(f), now); },
                                  [](void* to, void* from) noexcept { ::new (to) F(std::move(*static_cast<F*>(from))); },
                                  [](void* f) noexcept { static_cast<F*>(f)->~F(); }};

    kind const* kind_;
    alignas(std::max_align_t) std::byte bytes_[64];
};

class mailbox {
public:
    static constexpr std::size_t letters_a_look = 32;

    // Any thread. True: nobody is on the way to open it, so the caller sends somebody.
    bool put(task what)
    {
        std::lock_guard const guard{mutex_};
        in_.push_back(std::move(what));
        return !somebody_comes_.exchange(true, std::memory_order_relaxed);
    }

    // Any thread: tasks are in it, or being read.
    bool is_expected() const noexcept { return somebody_comes_.load(std::memory_order_relaxed); }

    // On the strand: does what the tasks say that are there now. `again` is called if it has to be opened once more: others have come
    // meanwhile, or one threw and the rest is kept. `clock`: looked at once for some tasks, which takes a part of the time of each.
    template <class Clock, class Again>
    void open(Clock const& clock, Again again)
    {
        {
            std::lock_guard const guard{mutex_};
            reading_.swap(in_);
        }
        struct reader {
            mailbox& box;
            Again& again;
            std::size_t next{0};
            ~reader()
            {
                if (box.is_more_to_do(next)) again();
            }
        } r{*this, again};
        for (time_point now{}; r.next < reading_.size();) {
            if (r.next % letters_a_look == 0) now = clock();
            task what{std::move(reading_[r.next++])};
            what(now);
        }
    }

    void clear() noexcept
    {
        std::vector<task> gone;  // what they own may write tasks, too
        {
            std::lock_guard const guard{mutex_};
            gone.swap(in_);
        }
    }

private:
    bool is_more_to_do(std::size_t next)
    {
        std::lock_guard const guard{mutex_};
        if (next < reading_.size()) {
            for (task& later : in_) reading_.push_back(std::move(later));
            in_.clear();
            for (; next < reading_.size(); ++next) in_.push_back(std::move(reading_[next]));
        }
        reading_.clear();
        somebody_comes_.store(!in_.empty(), std::memory_order_relaxed);
        return !in_.empty();
    }

    std::mutex mutex_;
    std::vector<task> in_;
    std::vector<task> reading_;
    std::atomic<bool> somebody_comes_{false};  // written under the mutex
};

}  // namespace redlock::detail

#endif
