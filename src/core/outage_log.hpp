// What a client without an observer says in a sentence: why no lock can be had, when it has been so for a while; that a lease was lost, and why; that
// the executor was blocked, or a node never reached; that several servers answer at one address; that a caller waits for a lease of
// its own client; that config::bootstrap was used, or nodes recovered.
//
// That another client holds a lock is normal and not said. On the strand; the sink is called later, on the client's executor.
#ifndef REDLOCK_CORE_OUTAGE_LOG_HPP
#define REDLOCK_CORE_OUTAGE_LOG_HPP

#include "quorum/node_set.hpp"
#include "quorum/timing.hpp"

#include <redlock/error.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace redlock::detail {

namespace asio = boost::asio;

using quorum::duration;
using quorum::time_point;

class fanout;

class outage_log {
public:
    using sink = std::function<void(std::string_view)>;

    // A caller that waits with default options has the reason within three seconds, as the next attempt may be more than a second later.
    static constexpr duration told_after = std::chrono::milliseconds{1'400};
    static constexpr duration next_cause_after = std::chrono::seconds{3};
    static constexpr duration repeats_after = std::chrono::minutes{1};
    static constexpr duration own_lease_told_after = std::chrono::seconds{3};
    static constexpr duration never_reached_after = std::chrono::seconds{5};

    // Null: nobody wants to know.
    static std::unique_ptr<outage_log> make(sink to, asio::any_io_executor const& on);

    // Who has the lock could not be known from `sent` to `now`, since these nodes did not vote. `running`: client::run() was called.
    void failed(fanout& nodes, quorum::node_set silent, bool fenced, bool running, time_point sent, time_point now);

    // It was known. Locks with and without tokens are not the same: fewer nodes may vote on those with.
    void answered(bool fenced) noexcept { of(fenced).since.reset(); }

    // A caller has waited so long for a lease that its own client has. Maybe it will release that lease itself, when it has got this one.
    void waits_for_own_lease(std::string_view lock, duration waited, time_point now);

    // A lease was lost. Of those that are lost soon after another one, only the number is said: more_lost() at the time that this returns.
    std::optional<time_point> lost(std::string_view lock, errc why, std::string_view words, time_point now);
    void more_lost();

    // Nothing ran on the client's executor for at least so long, while the client had leases.
    void blocked(duration at_least, time_point now);

    // These nodes have not been usable since the client was started.
    void never_reached(fanout& nodes, quorum::node_set which, duration since_start, time_point now);

    // Why nodes have no vote: those that are not asked, and those that are asked and do not answer (`silent`). Empty: there are none.
    static std::string why_silent(fanout& nodes, quorum::node_set among, quorum::node_set silent, bool fenced, time_point now)
    {
        return why(nodes, among, silent, fenced, now).text;
    }

    // At the address of a node several servers answer.
    void several_servers(std::string const& node, std::string const& words);

    // No node has data, and config::bootstrap says that nothing was ever locked there: so they vote at once.
    void bootstrapped(duration quarantine);

    // Most nodes had lost their data, so that the others could not tell these which tokens they gave, and they vote again now.
    void recovered(std::vector<std::string> const& names, quorum::node_set const& which);

private:
    struct outage {
        std::optional<time_point> since;
        time_point seen{};
    };

    // `cause`: the same as long as the reason is the same; `text` also says for how long.
    struct reason {
        std::string cause;
        std::string text;
    };

    outage_log(sink to, asio::any_io_executor on) : to_{std::make_shared<sink const>(std::move(to))}, on_{std::move(on)} {}

    outage& of(bool fenced) noexcept { return outages_[fenced ? 1 : 0]; }
    static reason why(fanout& nodes, quorum::node_set among, quorum::node_set silent, bool fenced, time_point now);
    void say(std::string text);

    std::shared_ptr<sink const> to_;
    asio::any_io_executor on_;
    std::array<outage, 2> outages_{};
    std::string said_;
    time_point said_at_{time_point::min()};
    std::optional<time_point> own_lease_said_at_;
    std::optional<time_point> loss_said_at_;
    std::size_t more_lost_{0};
    std::optional<time_point> blocked_said_at_;
};

}  // namespace redlock::detail

#endif
