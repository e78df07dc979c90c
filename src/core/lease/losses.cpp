#include "core/lease/losses.hpp"

#include "core/environment.hpp"
#include "core/failed_votes.hpp"
#include "core/lease/lease_record.hpp"
#include "quorum/in_seconds.hpp"

#include <algorithm>

namespace redlock::detail {

losses::~losses() { env_.cancel_timer(*this); }

std::shared_ptr<std::string const> losses::reason_of(lease_record const& what, errc why, time_point now)
{
    if (why != errc::lease_lost) return nullptr;
    auto const& holders = what.machine.holders();
    bool const is_late = now >= what.machine.valid_until();
    bool const is_same = last_.text && last_.at == now && last_.not_renewed == holders.not_renewed() && last_.gone == holders.gone() &&
                         last_.is_late == is_late && last_.is_fenced == what.is_fenced() &&
                         last_.is_extended == what.what->under->options.auto_extend;
    if (!is_same)
        last_ = {now,
                 holders.not_renewed(),
                 holders.gone(),
                 is_late,
                 what.is_fenced(),
                 what.what->under->options.auto_extend,
                 std::make_shared<std::string const>(in_words(what, now))};
    return last_.text;
}

// Without extensions a lease ends on purpose, and so does one of a client that was cancelled.
void losses::tell(lease_record const& what, errc why, std::shared_ptr<std::string const> const& reason, time_point now)
{
    bool const ends_on_purpose = why == errc::client_cancelled || (why == errc::lease_lost && !what.what->under->options.auto_extend);
    if (!env_.outages || ends_on_purpose) return;
    auto const tells_more_at = env_.outages->lost(what.what->text(), why, reason ? *reason : std::string{}, now);
    if (tells_more_at && !is_set()) env_.set_timer(*this, *tells_more_at);
}

std::string losses::in_words(lease_record const& what, time_point now) const
{
    fanout& nodes = *env_.to_nodes;
    auto const& holders = what.machine.holders();
    if (!what.what->under->options.auto_extend) return "it was not extended";
    auto const gone = failed_votes::gone_at(holders.gone(), nodes);
    if (gone.empty() && now >= what.machine.valid_until())
        return "it was extended too late: the executor was blocked, or the process stopped";
    auto const silent = outage_log::why_silent(nodes, holders.not_renewed(), holders.not_renewed(), what.is_fenced(), now);
    return gone + (gone.empty() || silent.empty() ? "" : "; ") + silent;
}

void losses::on_timer(time_point)
{
    if (env_.outages) env_.outages->more_lost();
}

executor_watch::~executor_watch() { env_.cancel_timer(*this); }

void executor_watch::watch_for(duration ttl, time_point now)
{
    if (!env_.outages || ttl / rings_in_a_ttl >= interval_) return;
    interval_ = std::max<duration>(ttl / rings_in_a_ttl, std::chrono::milliseconds{1});
    due_ = now + interval_;
    env_.set_timer(*this, due_);
}

void executor_watch::on_timer(time_point now)
{
    auto const late = now - due_;
    if (late > late_rings * interval_ && env_.outages) env_.outages->blocked(late, now);
    if (env_.count.leases.get() == 0) {
        interval_ = duration::max();
        return;
    }
    due_ = now + interval_;
    env_.set_timer(*this, due_);
}

}  // namespace redlock::detail
