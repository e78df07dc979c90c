// A network with a round trip of 2 ms between the client and its nodes.
#include "processors.hpp"
#include "run.hpp"
#include "support/tcp_proxy.hpp"

#include <stdexcept>
#include <system_error>

#include <unistd.h>

namespace bench {

namespace {

// In a process of its own, on the servers' processors: a proxy has a thread, and workers are forked.
class far_network {
public:
    far_network(ports const& servers, std::chrono::nanoseconds one_way)
    {
        int ends[2];
        if (::pipe(ends) != 0) throw std::system_error{errno, std::generic_category(), "pipe"};
        process_.emplace([&] {
            keep_off_the_clients_processor();
            redlock::testing::tcp_proxy proxy{servers};
            redlock::testing::link_rule rule;
            rule.to_server.delay = rule.to_client.delay = one_way;
            proxy.set_all(rule);
            auto const& all = proxy.ports();
            if (::write(ends[1], all.data(), all.size() * sizeof all[0]) < 0) throw std::runtime_error{"the pipe is closed"};
            for (;;) ::pause();
        });
        ::close(ends[1]);
        at_.resize(servers.size());
        auto const wanted = static_cast<ssize_t>(at_.size() * sizeof at_[0]);
        ssize_t const got = ::read(ends[0], at_.data(), at_.size() * sizeof at_[0]);
        ::close(ends[0]);
        if (got != wanted) throw std::runtime_error{"the proxy did not start"};
    }

    ports const& at() const noexcept { return at_; }

private:
    std::optional<forked> process_;
    ports at_;
};

}  // namespace

void measure_far(run& r)
{
    constexpr std::size_t callers = 8;
    far_network const between{r.three().servers().ports(), 1ms};
    workload what = r.work(r.three(), callers, false);
    what.at = between.at();
    what.stagger = 4ms / callers;  // a pair takes two round trips: they are spread over it
    auto const all = take_turns({{"epoll", [what] { return run_epoll_baseline(what); }}, {"redlock", [what] { return run_ours(what); }}},
                                r.how.rounds);
    r.put("rtt2ms_latency_ratio", ratio(all[1], all[0], &sample::acquire_p50_us));
    r.put("rtt2ms_floor_acquire_p50_us", all[0].acquire_p50_us());
    r.put("rtt2ms_acquire_p50_us", all[1].acquire_p50_us());
    r.add_detail("far", all);
}

}  // namespace bench
