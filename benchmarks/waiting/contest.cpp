#include "contest.hpp"

#include "command_counter.hpp"
#include "forked.hpp"
#include "loop.hpp"

#include <redlock/detail/access.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <array>
#include <atomic>
#include <deque>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <system_error>
#include <thread>

#include <sys/mman.h>

namespace bench {

namespace {

constexpr std::size_t max_processes = 64;
constexpr steady::duration clearly_before = 5ms;  // an attempt that was made before another one began
constexpr std::int32_t writer_inside = 1 << 16;   // readers and permits count one each

enum class phase : std::uint32_t { warming_up, measuring, over };

struct process_record {
    std::atomic<std::uint64_t> acquired{0};
    std::atomic<std::uint64_t> lost{0};
    std::atomic<std::uint64_t> overtakings{0};
    std::atomic<std::int64_t> wait_sum_ns{0};
    std::atomic<std::int64_t> wait_max_ns{0};
    std::atomic<std::int64_t> asked_ns{0};  // of a process with one waiter; 0: it does not wait
};

// Memory that all processes of a contest share.
struct board {
    std::atomic<phase> now{phase::warming_up};
    std::atomic<std::uint32_t> connected{0};
    std::atomic<std::int32_t> inside{0};
    std::atomic<std::uint64_t> overlaps{0};
    std::array<process_record, max_processes> processes;
};
static_assert(std::atomic<phase>::is_always_lock_free && std::atomic<std::int64_t>::is_always_lock_free);

std::shared_ptr<board> make_board()
{
    void* const memory = ::mmap(nullptr, sizeof(board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::system_error{errno, std::generic_category(), "mmap"};
    return {new (memory) board, [](board* b) { ::munmap(b, sizeof(board)); }};
}

// One process of a contest. Only its own thread writes to its record.
class crew {
public:
    crew(board& shared, std::size_t index, contenders const& who, ports const& at)
        : board_{shared}, mine_{shared.processes[index]}, who_{who}, reads_{index < who.readers}
    {
        auto const waiters = who.waiters / who.processes + (index < who.waiters % who.processes);
        for (std::size_t i = 0; i < (who.own_clients ? waiters : 1); ++i) {
            auto& nodes = clients_.emplace_back(io_.get_executor(), bootstrap_config(at));
            nodes.run(asio::detached);
            asio::co_spawn(io_, start(nodes, who.own_clients ? 1 : waiters), stop_if_failed());
        }
        asio::co_spawn(io_, end_with_the_others(), stop_if_failed());
    }

    void run()
    {
        io_.run();
        if (failure_) std::rethrow_exception(failure_);
    }

private:
    std::function<void(std::exception_ptr)> stop_if_failed()
    {
        return [this](std::exception_ptr e) {
            if (!e) return;
            failure_ = e;
            io_.stop();
        };
    }

    asio::awaitable<void> start(redlock::client const& nodes, std::size_t waiters)
    {
        auto connecting = wait_until_usable(nodes);
        co_await std::move(connecting);
        ++board_.connected;
        for (std::size_t i = 0; i < waiters; ++i) asio::co_spawn(io_, contend(nodes), stop_if_failed());
    }

    redlock::lock contended(redlock::client const& nodes) const
    {
        if (who_.permits > 0) return redlock::detail::access::one_permit_of({nodes, "contended", {who_.permits, who_.lock}});
        if (who_.readers == 0) return {nodes, "contended", who_.lock};
        redlock::rw_lock const both{nodes, "contended", who_.lock};
        return reads_ ? redlock::detail::access::reader_of(both) : redlock::detail::access::writer_of(both);
    }

    asio::awaitable<void> contend(redlock::client const& nodes)
    {
        redlock::lock const resource = contended(nodes);
        auto& asked_at = waiting_.emplace_back();
        for (;;) {
            asked_at = steady::now();
            mine_.asked_ns = asked_at->time_since_epoch() / 1ns;
            auto acquisition = resource.acquire(asio::use_awaitable);
            redlock::lease held = co_await std::move(acquisition);
            enter(*asked_at);
            asked_at.reset();
            if (who_.hold > 0ms) {
                auto holding = pause(who_.hold);
                co_await std::move(holding);
            }
            leave();
            auto release = held.release(asio::as_tuple(asio::use_awaitable));
            auto const [ec] = co_await std::move(release);
            if (ec == redlock::condition::lost) ++mine_.lost;
        }
    }

    void enter(steady::time_point asked)
    {
        auto const others = board_.inside.fetch_add(weight());
        auto const allowed = who_.permits > 0 ? static_cast<std::int32_t>(who_.permits) : reads_ ? writer_inside : 1;
        if (others >= allowed) ++board_.overlaps;
        mine_.asked_ns = 0;
        if (board_.now != phase::measuring) return;
        auto const waited = (steady::now() - asked) / 1ns;
        ++mine_.acquired;
        mine_.wait_sum_ns += waited;
        mine_.wait_max_ns = std::max(mine_.wait_max_ns.load(), static_cast<std::int64_t>(waited));
        auto const before = (asked - clearly_before).time_since_epoch() / 1ns;
        if (std::ranges::any_of(board_.processes, [&](auto const& p) { return p.asked_ns != 0 && p.asked_ns < before; }))
            ++mine_.overtakings;
    }
    void leave() { board_.inside.fetch_sub(weight()); }
    std::int32_t weight() const { return reads_ || who_.permits > 0 ? 1 : writer_inside; }

    asio::awaitable<void> end_with_the_others()
    {
        while (board_.now != phase::over) {
            auto waiting = pause(10ms);
            co_await std::move(waiting);
        }
        for (auto const& asked_at : waiting_)
            if (asked_at)
                mine_.wait_max_ns = std::max(mine_.wait_max_ns.load(), static_cast<std::int64_t>((steady::now() - *asked_at) / 1ns));
        io_.stop();
    }

    board& board_;
    process_record& mine_;
    contenders who_;
    bool reads_;
    asio::io_context io_{1};
    std::deque<redlock::client> clients_;
    std::deque<std::optional<steady::time_point>> waiting_;
    std::exception_ptr failure_;
};

contest read(board const& shared, std::size_t processes)
{
    contest result;
    for (std::size_t i = 0; i < processes; ++i) {
        auto const& each = shared.processes[i];
        result.of.push_back({each.acquired, std::chrono::nanoseconds{each.wait_sum_ns}, std::chrono::nanoseconds{each.wait_max_ns}});
        result.all += result.of.back();
        result.lost += each.lost;
        result.overtakings += each.overtakings;
    }
    result.overlaps = shared.overlaps;
    return result;
}

}  // namespace

contest hold(fleet const& servers, contenders const& who, bool count_commands)
{
    if (who.processes > max_processes) throw std::runtime_error{"too many processes"};
    auto const shared = make_board();
    std::vector<forked> processes;
    for (std::size_t i = 0; i < who.processes; ++i) processes.emplace_back([&] { crew{*shared, i, who, servers.ports()}.run(); });
    for (auto const end = steady::now() + 60s; shared->connected < (who.own_clients ? who.waiters : who.processes);) {
        if (steady::now() > end) throw std::runtime_error{"the contenders did not connect"};
        std::this_thread::sleep_for(10ms);
    }
    std::this_thread::sleep_for(who.warm_up);

    std::optional<command_counter> counter;
    if (count_commands) counter.emplace(servers[0]);
    auto const began = steady::now();
    shared->now = phase::measuring;
    std::this_thread::sleep_for(who.duration);
    shared->now = phase::over;
    auto const seconds = std::chrono::duration<double>{steady::now() - began}.count();
    std::map<std::string, std::uint64_t> commands;
    if (counter) commands = counter->stop();
    for (auto& process : processes) process.join();

    contest result = read(*shared, who.processes);
    result.seconds = seconds;
    result.commands = std::move(commands);
    return result;
}

}  // namespace bench
