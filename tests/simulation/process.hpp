// A client's process: an execution context whose ready handlers run in an order that the seed decides.
#ifndef REDLOCK_TESTS_SIMULATION_PROCESS_HPP
#define REDLOCK_TESTS_SIMULATION_PROCESS_HPP

#include "clocks.hpp"
#include "random.hpp"
#include "testing/virtual_time.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/execution.hpp>
#include <boost/asio/execution_context.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

namespace redlock::simulation {

namespace asio = boost::asio;

class process final : public asio::execution_context {
public:
    class executor_type;

    process(std::size_t index, machine_clock const& clock);
    ~process();

    executor_type get_executor() noexcept;

    std::size_t index() const noexcept { return index_; }

    std::size_t ready() const noexcept { return ready_.size(); }
    bool running() const noexcept { return !stopped_; }

    // Runs one of the handlers that are ready. Precondition: there is one.
    void run_one(random& chance, duration world);

    // Runs `f` as a handler of this process would: with its clock.
    template <class F>
    void visit(duration world, F&& f)
    {
        if (inside_) return std::forward<F>(f)();
        enter(world);
        std::forward<F>(f)();
        leave();
    }

    // SIGSTOP and the like: time passes, nothing runs.
    void stop() noexcept { stopped_ = true; }
    void go_on() noexcept { stopped_ = false; }

    // The whole machine slept for `d`: CLOCK_MONOTONIC, and timers with it, stood still; when it wakes, timers are late.
    void suspended(duration d, duration world, duration timers_late) noexcept
    {
        time_.suspended += d;
        no_timer_before_ = world + timers_late;
        enter(world);
        leave();
    }

    // When the next timer wants to ring, in the world's time.
    bool has_timers() const noexcept { return !timers_.empty(); }
    duration next_timer() const;
    std::size_t timers() const noexcept { return timers_.size(); }
    // Rings one of those that are due: nobody may rely on their order.
    void ring(random& chance, duration world);

    machine_clock clock;

    // Executors that say that work is outstanding.
    std::size_t outstanding() const noexcept { return outstanding_; }

private:
    // A function that waits for its turn.
    struct task {
        task() = default;
        task(task const&) = delete;
        task& operator=(task const&) = delete;
        virtual ~task() = default;
        virtual void run() = 0;
    };

    template <class F>
    struct task_of final : task {
        explicit task_of(F f) : function{std::move(f)} {}
        void run() override
        {
            F f = std::move(function);
            delete this;
            std::move(f)();
        }
        F function;
    };

    void enter(duration world) noexcept;
    void leave() noexcept;

    std::size_t index_;
    testing::virtual_time& timers_;
    std::vector<task*> ready_;
    std::size_t outstanding_{0};
    bool stopped_{false};
    bool inside_{false};
    bool gone_{false};
    duration no_timer_before_{};
    duration behind_{};  // how much the clock that the library reads is behind boot time; zero unless that is broken
    machine_time time_{};
};

// As small as a pointer, so that a strand around it fits into an any_io_executor without allocating: its flags are in the pointer's low bits.
class process::executor_type {
public:
    explicit executor_type(process& p) noexcept : executor_type{p, may_run_at_once} {}
    executor_type(executor_type const& other) noexcept : executor_type{*other.of(), other.flags()} {}
    executor_type& operator=(executor_type const& other) noexcept
    {
        executor_type copy{other};
        std::swap(bits_, copy.bits_);
        return *this;
    }
    ~executor_type()
    {
        if (has(tracked)) --of()->outstanding_;
    }

    process& query(asio::execution::context_t) const noexcept { return *of(); }
    asio::execution::blocking_t query(asio::execution::blocking_t) const noexcept
    {
        return has(may_run_at_once) ? asio::execution::blocking_t{asio::execution::blocking.possibly}
                                    : asio::execution::blocking_t{asio::execution::blocking.never};
    }
    executor_type require(asio::execution::blocking_t::possibly_t) const noexcept { return {*of(), flags() | may_run_at_once}; }
    executor_type require(asio::execution::blocking_t::never_t) const noexcept { return {*of(), flags() & ~may_run_at_once}; }
    executor_type require(asio::execution::outstanding_work_t::tracked_t) const noexcept { return {*of(), flags() | tracked}; }
    executor_type require(asio::execution::outstanding_work_t::untracked_t) const noexcept { return {*of(), flags() & ~tracked}; }

    template <class F>
    void execute(F&& f) const
    {
        using function = std::decay_t<F>;
        process& in = *of();
        if (has(may_run_at_once) && in.inside_) {
            function now{std::forward<F>(f)};
            std::move(now)();
            return;
        }
        if (in.gone_) {
            [[maybe_unused]] function const destroyed{std::forward<F>(f)};
            return;
        }
        in.ready_.push_back(new task_of<function>{std::forward<F>(f)});
    }

    friend bool operator==(executor_type const& a, executor_type const& b) noexcept { return a.bits_ == b.bits_; }

private:
    static constexpr std::uintptr_t tracked = 1;
    static constexpr std::uintptr_t may_run_at_once = 2;
    static constexpr std::uintptr_t all_flags = tracked | may_run_at_once;

    executor_type(process& p, std::uintptr_t flags) noexcept : bits_{reinterpret_cast<std::uintptr_t>(&p) | flags}
    {
        static_assert(alignof(process) > all_flags);
        if (has(tracked)) ++p.outstanding_;
    }

    process* of() const noexcept { return reinterpret_cast<process*>(bits_ & ~all_flags); }
    std::uintptr_t flags() const noexcept { return bits_ & all_flags; }
    bool has(std::uintptr_t flag) const noexcept { return (bits_ & flag) != 0; }

    std::uintptr_t bits_;
};

inline process::executor_type process::get_executor() noexcept { return executor_type{*this}; }

using timer = testing::basic_virtual_timer<simulated_clock>;

// co_await sleep(d) in the time of the process; can be cancelled.
asio::awaitable<void> sleep(duration d);

}  // namespace redlock::simulation

namespace redlock::detail {

template <>
struct timer_for<simulation::simulated_clock> {
    using type = simulation::timer;
};

}  // namespace redlock::detail

#endif
