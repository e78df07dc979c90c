#include "core/acquire/adoptions.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

namespace redlock::detail {

using quorum::adopt_outcome;

namespace {

// The pause between two rounds, as a fraction of the time after which the ticket is good for nothing.
constexpr int round_fraction = 64;
constexpr duration min_round_pause = std::chrono::milliseconds{5};
constexpr duration max_round_pause = std::chrono::seconds{1};

lock_descriptor_ptr descriptor_of(ticket const& t, std::shared_ptr<resolved_options const> under)
{
    bool const plain = t.keys.size() == 1 && t.keys.front() == t.text;
    return make_descriptor(plain ? resource{t.text} : resource{t.keys, t.text}, std::move(under));
}

}  // namespace

// The answers to one round.
class adoption::round final : public vote_handler {
public:
    round(std::shared_ptr<adoption> of, time_point sent) : of_{std::move(of)}, sent_{sent} {}

    void on_vote(std::size_t node, reply const& answer, time_point now) override { of_->on_vote(node, answer, sent_, now); }
    void on_sent(quorum::node_set const& nodes, time_point) override { of_->record_->sent_to.add(nodes); }
    // A node that gets it late still has the value of the ticket, and would keep it for a ttl. A release that is behind this request removes both.
    bool wanted(std::size_t, time_point now) const override
    {
        auto const& r = *of_->record_;
        bool const is_undone = r.release_started && !r.machine.has_begun();
        return !is_undone && !r.detached && now < sent_ + of_->under_->times.validity;
    }

private:
    std::shared_ptr<adoption> of_;
    time_point sent_;
};

adoption::adoption(adoptions& owner, std::shared_ptr<lease_core> of, ticket what, std::shared_ptr<resolved_options const> under,
                   lease_handler whom_to_tell, time_point now)
    : timed{owner.env_},
      owner_{owner},
      from_{std::move(of)},
      ticket_{std::move(what)},
      under_{std::move(under)},
      handler_{std::move(whom_to_tell)},
      started_{now}
{
}

void adoption::start(time_point now)
{
    record_ = make_recycled<lease_record>(std::exchange(from_, nullptr), descriptor_of(ticket_, under_), env_.fresh_value());
    record_->refreshed = now;
    machine_.emplace(env_.voters, under_->times);
    machine_->set_electorate(env_.voters, env_.members);
    // Whatever has the value of the ticket now expires by then, unless somebody adopts it.
    gives_up_at_ = now + ticket_.ttl + ticket_.lock_delay;
    if (under_->options.acquire_timeout) gives_up_at_ = std::min(gives_up_at_, started_ + *under_->options.acquire_timeout);
    env_.to_nodes->ttl_in_use(std::max<duration>(under_->times.key_ttl, gives_up_at_ - now));
    ask(now);
}

void adoption::ask(time_point now)
{
    ++rounds_;
    failures_.keep(env_.to_nodes->nodes());
    if (rounds_ == 1) first_sent_ = now;
    record_->may_live_until(now + 2 * under_->times.key_ttl);  // as with attempts
    command c = record_->request(verb::adopt);
    c.change_more().former = ticket_.value;
    c.token = ticket_.guard;
    record_->asked_in = env_.to_nodes->next_round();
    auto const pause = std::clamp<duration>((ticket_.ttl + ticket_.lock_delay) / round_fraction, min_round_pause, max_round_pause);
    env_.set_timer(*this, std::min(gives_up_at_, now + under_->times.node_timeout + pause));
    env_.to_nodes->add({c, make_recycled<round>(shared_from_this(), now), machine_->refused()});
}

void adoption::time_is_up(time_point now)
{
    if (now >= gives_up_at_) return abandon(why_not());
    if (!act_on(machine_->on_timeout(now), now)) ask(now);
}

errc adoption::why_not() const
{
    auto const& voters = env_.voters;
    if (!env_.has_run) return errc::client_not_running;
    if (owner_.is_elsewhere(ticket_)) return errc::ticket_of_other_nodes;
    if (env_.is_list_refused || leaves_no_majority(voters, of_other_sets_.size())) return errc::wrong_node_set;
    bool const is_too_long = !too_long_.empty() && leaves_no_majority(voters, too_long_.size() + of_other_sets_.size());
    return is_too_long ? errc::ttl_too_long : errc::no_majority;
}

void adoption::on_vote(std::size_t node, reply const& answer, time_point sent, time_point now)
{
    auto const self = shared_from_this();
    bool const granted = answer.vote == vote::granted;
    has_answered_.add(node);
    if (record_->release_started) {
        // As with attempts: the release is behind it, unless a server that had lost its scripts got them in another order.
        if (answer.vote != vote::refused) owner_.releases_.repeat(record_, node);
        return;
    }
    if (is_over()) {
        if (granted && record_->machine.has_begun()) owner_.leases_.late_grant(*record_, node, sent + under_->times.validity, now);
        return;
    }
    failures_.add(node, answer);
    if (answer.error == errc::ttl_too_long) too_long_.add(node);
    if (answer.error == errc::wrong_node_set) of_other_sets_.add(node);
    if (act_on(machine_->on_vote(node, answer.vote, answer.admission, sent, now), now)) return;
    if (!too_long_.empty() && why_not() == errc::ttl_too_long) return abandon(errc::ttl_too_long);
    if (!of_other_sets_.empty() && why_not() == errc::wrong_node_set) abandon(errc::wrong_node_set);
}

// Whether that ended it.
bool adoption::act_on(adopt_outcome outcome, time_point now)
{
    if (outcome == adopt_outcome::pending) return false;
    if (outcome == adopt_outcome::adopted) adopted(now);
    else abandon(owner_.is_elsewhere(ticket_) ? errc::ticket_of_other_nodes : errc::lease_lost);
    return true;
}

void adoption::on_generation()
{
    if (machine_) machine_->set_electorate(env_.voters, env_.members);
}

void adoption::adopted(time_point now)
{
    if (is_fenced()) record_->assign_guard(ticket_.guard + 1);
    if (!owner_.leases_.adopt(record_, machine_->holders(), first_sent_, now)) return abandon(errc::no_majority);
    // The request waits for the others to be connected, or is on its way: a release goes to them, too.
    for (std::size_t node = 0; node < env_.to_nodes->nodes(); ++node)
        if (!has_answered_.has(node)) record_->sent_to.add(node);
    owner_.locks_.won(*record_, nullptr, now);
    auto held = record_->add_adopted(env_.set_size, ticket_.token, ticket_.last_token);
    record_->set_owner(under_->options.owner);
    ++env_.count.acquired;
    if (env_.observed) env_.observed->adopted(held->told(), started_, rounds_);
    finish({}, lease{std::move(held)});
}

void adoption::abandon(error_code why)
{
    if (is_over()) return;
    auto const self = shared_from_this();
    if (!record_) return refuse(why);
    record_->phase = lease_record::state::released;
    auto const now = env_.now();
    owner_.releases_.start(record_, now, errc{}, machine_->refused());
    if (!machine_->granted().empty()) owner_.locks_.freed_by_us(*record_->what, machine_->granted(), nullptr, now);
    refuse(why);
}

void adoption::refuse(error_code why)
{
    if (env_.observed && record_) env_.observed->not_acquired(record_->what, why, started_, rounds_);
    finish(why, {});
}

void adoption::finish(error_code ec, lease held)
{
    if (!end()) return;
    auto const self = shared_from_this();
    owner_.remove(*this);
    handler_.explain([&](failure_note& note) { note.reason = reason_of(ec); });
    handler_(ec, std::move(held));
}

// For one that throws. Of other errors the code says everything.
std::string adoption::reason_of(error_code ec) const
{
    if (ec == errc::lease_lost && machine_) return failed_votes::gone_at(machine_->refused(), *env_.to_nodes);
    bool const is_of_nodes = ec == errc::no_majority || ec == errc::ttl_too_long || ec == errc::wrong_node_set;
    return is_of_nodes ? failures_.first(*env_.to_nodes) : std::string{};
}

void adoptions::start(std::shared_ptr<adoption> const& what, time_point now)
{
    if (what->is_over()) return;  // cancelled meanwhile
    keep(what);
    what->start(now);
}

void adoptions::on_generation()
{
    for (auto const& each : all()) each->on_generation();
}

}  // namespace redlock::detail
