// src/base: what knows nothing of locks. The mailbox keeps tasks that callers in any thread want done on the client's strand. The first task makes
// its caller (engine::on_strand) post a handler to the strand. That handler opens the mailbox and does all tasks that came until then, in order:
// under high contention many tasks share one trip to the strand.
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

// A function object that is called once, kept without an allocation. It is called with the time or without arguments.
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
    task(task&& other) noexcept : kind_{std::exchange(other.kind_, nullptr)}
    {
        if (kind_) kind_->relocate(bytes_, other.bytes_);
    }
    task& operator=(task&&) = delete;
    ~task()
    {
        if (kind_) kind_->destroy(bytes_);
    }

    // Calls the function and destroys it. Precondition: it was neither called nor moved.
    void operator()(time_point now)
    {
        struct end {
            task& of;
            ~end() { std::exchange(of.kind_, nullptr)->destroy(of.bytes_); }
        } const at_last{*this};
        kind_->call(bytes_, now);
    }

private:
    struct kind {
        void (*call)(void*, time_point now);
        void (*relocate)(void* to, void* from) noexcept;  // moves it, and destroys what is left of `from`
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
                                  [](void* to, void* from) noexcept {
                                      ::new (to) F(std::move(*static_cast<F*>(from)));
                                      static_cast<F*>(from)->~F();
                                  },
                                  [](void* f) noexcept { static_cast<F*>(f)->~F(); }};

    kind const* kind_;  // null: the function is gone
    alignas(std::max_align_t) std::byte bytes_[64];
};

class mailbox {
public:
    // The clock is read once for so many tasks: a reading takes a good part of the time of a task.
    static constexpr std::size_t tasks_per_clock_read = 32;

    // For any thread. True: the mailbox was not going to be opened, so the caller must post a handler that opens it.
    bool put(task&& what)
    {
        std::lock_guard const guard{mutex_};
        in_.push_back(std::move(what));
        has_in_.store(true, std::memory_order_relaxed);
        return !opening_is_due_.exchange(true, std::memory_order_relaxed);
    }

    // The same for the thread that opens the mailbox, if no other thread ever does: without the mutex. Tasks of other threads that came before stay
    // before this one.
    bool put_here(task&& what)
    {
        if (has_in_.load(std::memory_order_relaxed)) return put(std::move(what));
        own_.push_back(std::move(what));
        return !opening_is_due_.exchange(true, std::memory_order_relaxed);
    }

    // For any thread: whether the mailbox is going to be opened, or is being read.
    bool is_expected() const noexcept { return opening_is_due_.load(std::memory_order_relaxed); }

    // For the strand: does the tasks that are there now. Calls `again` if the mailbox must be opened once more, because tasks have come meanwhile,
    // or because a task threw and the tasks behind it are left.
    template <class Clock, class Again>
    void open(Clock const& clock, Again again)
    {
        reading_.swap(own_);  // came before all that is in `in_`
        {
            std::lock_guard const guard{mutex_};
            append(in_, reading_);
            has_in_.store(false, std::memory_order_relaxed);
        }
        struct batch_reader {
            mailbox& box;
            Again& again;
            std::size_t next{0};
            ~batch_reader()
            {
                if (box.is_more_to_do(next)) again();
            }
        } r{*this, again};
        for (time_point now{}; r.next < reading_.size();) {
            if (r.next % tasks_per_clock_read == 0) now = clock();
            reading_[r.next++](now);
        }
    }

    void clear() noexcept
    {
        std::vector<task> gone;  // destroyed without the mutex: the objects that tasks own may put tasks, too
        gone.swap(own_);
        std::vector<task> others;
        {
            std::lock_guard const guard{mutex_};
            others.swap(in_);
        }
    }

private:
    static void append(std::vector<task>& from, std::vector<task>& to)
    {
        if (to.empty()) return to.swap(from);
        for (task& each : from) to.push_back(std::move(each));
        from.clear();
    }

    // Puts the tasks from `next` on, which an exception has left, back in front of those that have come. Returns whether there are any.
    bool is_more_to_do(std::size_t next)
    {
        std::lock_guard const guard{mutex_};
        if (next < reading_.size()) {
            std::vector<task> left;
            for (; next < reading_.size(); ++next) left.push_back(std::move(reading_[next]));
            append(own_, left);
            append(in_, left);
            in_.swap(left);
            has_in_.store(true, std::memory_order_relaxed);
        }
        reading_.clear();
        bool const more = !own_.empty() || !in_.empty();
        opening_is_due_.store(more, std::memory_order_relaxed);
        return more;
    }

    std::mutex mutex_;
    std::vector<task> in_;
    std::vector<task> own_;  // of put_here()
    std::vector<task> reading_;  // used by open() only
    std::atomic<bool> has_in_{false};  // written under the mutex
    std::atomic<bool> opening_is_due_{false};  // set to false by open() only, under the mutex
};

}  // namespace redlock::detail

#endif
