#include "core/acquire/wait_queue.hpp"

#include "core/acquire/acquisitions.hpp"
#include "core/acquire/lock_table.hpp"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

namespace redlock::detail {

using quorum::wait_move;

namespace {

// A lease that has less than this fraction of its validity left is not handed over.
constexpr int worth_passing_on = 4;  // a quarter

// A wish ends after so long, and is renewed twice as often.
constexpr std::chrono::milliseconds wish_lasts{1'000};

quorum::lock_outlook outlook_of(error_code why) noexcept
{
    return why == condition::contended ? quorum::lock_outlook::held : quorum::lock_outlook::no_majority;
}

}  // namespace

// The wish of the first acquisition. Nobody waits for an answer: a node that does not get it lets readers in.
class wait_queue::wish final : public vote_handler {
public:
    wish(wait_queue const& of, lock_value fresh) : names_{of.first().request.what}, value_{std::move(fresh)} {}

    void on_vote(std::size_t, reply const&, time_point) override {}
    void on_sent(quorum::node_set const& nodes, time_point) override { sent_to_.add(nodes); }
    bool wanted(std::size_t node, time_point now) const override { return now < ends_ && (!is_withdrawn_ || sent_to_.has(node)); }

    command left(time_point now)
    {
        renew_at_ = now + wish_lasts / 2;
        ends_ = now + wish_lasts;
        command c{verb::want, names_->first(), value_.tail(), wish_lasts};
        c.value_bytes = value_.bytes();
        return c;
    }
    command withdrawn()
    {
        is_withdrawn_ = true;
        command c{verb::release, names_->wish_key(), value_.tail(), wish_lasts};
        c.value_bytes = value_.bytes();
        return c;
    }
    time_point renew_at() const noexcept { return renew_at_; }
    std::string const& key() const noexcept { return names_->wish_key(); }

private:
    resource_ptr names_;
    lock_value value_;
    time_point renew_at_{};
    time_point ends_{};
    quorum::node_set sent_to_;
    bool is_withdrawn_{false};
};

// A lease that exists before its wait queue was won without contention: the queue learns of that moment now.
wait_queue::wait_queue(lock_table& in, resource_ptr names, lock_kind const* of, lease_record* lease)
    : what{std::move(names)}, in_{in}, here_{lease}, contention_{in.env().voters}, rules_{of ? of->make_rules(*this) : nullptr}
{
    if (lease) contention_.won(lease->machine.acquired(), in_.slot());
}

wait_queue::~wait_queue() { in_.env().cancel_timer(*this); }

void wait_queue::join(acquisition& who, time_point now)
{
    bool const is_first = queue_.empty();
    queue_.push_back(who);
    who.queue_of = this;
    if (!is_first || here_) who.last_outcome = errc::contended;  // unless an attempt or a probe learns more
    if (!is_first) {
        bool const is_open = rules_ && contention_.outlook() == quorum::lock_outlook::unknown;
        if (is_open && rules_->goes_along(who)) in_.owner().next_attempt(who, now);
        return;
    }
    if (rules_) rules_->begin();
    contention_.begin(here_ != nullptr);
    consider(now);
}

void wait_queue::leave(acquisition& who)
{
    bool const was_first = &queue_.front() == &who;
    queue_.erase(queue_.iterator_to(who));
    who.queue_of = nullptr;
    if (queue_.empty()) {
        lock_table& in = in_;  // retire() may destroy this queue
        auto const now = in.env().now();
        auto const gives_up = wish_;
        withdraw_wish();
        in.env().cancel_timer(*this);
        in.unlist(*this);
        in.retire(*this, now);
        // The nodes do not tell the readers of this client.
        if (gives_up) in.freed_by_us(resource{gives_up->key()}, quorum::node_set::all(in.env().to_nodes->nodes()), nullptr, now);
    } else if (was_first && !here_) {
        consider(in_.env().now());
    }
}

void wait_queue::won(lease_record& lease, bool winner_waits_here, time_point now)
{
    contention_.won(now, in_.slot());
    in_.env().cancel_timer(*this);
    here_ = &lease;
    withdraw_wish();
    auto const others = winner_waits_here ? std::next(queue_.begin()) : queue_.begin();  // the winner leaves in a moment
    if (others != queue_.end()) wait_for_this_client(now);
}

void wait_queue::won_beside_others(time_point now)
{
    contention_.won_to_read(now, in_.slot());
    rules_->won();
}

void wait_queue::vacated_beside_others(lease_record& lease, bool released, time_point now)
{
    if (released && (rules_->is_scarce || !queue_.empty())) contention_.released(now, lease.what->under->limits, in_.slot());
    queue_.empty() ? in_.retire(*this, now) : consider(now);
}

void wait_queue::attempt_all(time_point now)
{
    if (in_.is_closed()) return;
    for (acquisition& each : queue_)
        if (!each.is_attempting()) in_.owner().next_attempt(each, now);
}

// Of a lock that is counted, the leases beside each other have turns of their own.
void wait_queue::handed_over(lease_record& lease)
{
    what->counted_as().empty() ? contention_.handed_over() : void(++lease.turn().handoffs);
}

bool wait_queue::may_hand_over(lease_record& lease, time_point now) const
{
    bool const is_counted = !what->counted_as().empty();
    if ((here_ != &lease && !is_counted) || queue_.empty() || !lease.is_lease() || !lease.has_tokens_for_another()) return false;
    acquisition const& next = first();
    if (!next.takes_what_is_held(lease)) return false;
    if (lease.machine.left(now) < lease.what->under->times.validity / worth_passing_on) return false;
    auto const& limits = lease.what->under->limits;
    if (is_counted) return lease.turn().handoffs < limits.handoffs && now < lease.turn().began + limits.time;
    return contention_.may_hand_over(now, limits);
}

void wait_queue::vacated(lease_record& lease, bool released, time_point now)
{
    if (released) contention_.released(now, lease.what->under->limits, in_.slot());
    here_ = nullptr;
    contention_.vacated();
    if (queue_.empty()) return in_.retire(*this, now);
    consider(now);
}

void wait_queue::failed(acquisition& who, attempt const& lost, time_point now)
{
    acquisition& head = first();
    if (&who != &head) return consider(now);  // the first one learns the same
    auto const delay = head.next_delay(in_.env().jitter);
    using of_lock = quorum::wait_odds::of_lock;
    if (rules_) rules_->failed();
    auto const sides = rules_ ? rules_->sides() : head.request.what->leaves_a_wish() ? of_lock::writers : of_lock::exclusive;
    quorum::wait_odds const odds{in_.slot(), in_.nodes_are_crowded(), delay, in_.chance(), in_.chance(), sides};
    quorum::lost_attempt const news{outlook_of(head.last_outcome), lost.was_refused(), lost.counter(), lost.granted()};
    if (contention_.failed(news, now, odds, head.poll_interval(), in_.env().has_run)) probe_or_attempt(now);
    consider(now);
}

// While this client has the lease, changes on the nodes do not matter: contention begins anew when the lease is over.
void wait_queue::changed(std::size_t node, time_point now)
{
    if (here_) return;
    contention_.changed(node, now);
    consider(now);
}

// Does not consider what to do next; the caller, lock_table::freed_by_us, does.
void wait_queue::freed_by_us(std::size_t node, time_point now)
{
    if (!here_) contention_.freed_by_us(node, now);
}

void wait_queue::silent(std::size_t node, time_point now)
{
    if (here_) return;
    contention_.silent(node);
    consider(now);
}

std::vector<std::shared_ptr<acquisition>> wait_queue::waiting_for(owner_id owner)
{
    std::vector<std::shared_ptr<acquisition>> found;
    for (acquisition& each : queue_)
        if (each.owner() == owner) found.push_back(each.shared_from_this());
    return found;
}

bool wait_queue::has_news(time_point now) const noexcept
{
    return here_ ? contention_.has_news_beside(here_->machine.acquired(), in_.slot()) : contention_.has_news(now);
}

void wait_queue::consider(time_point now)
{
    for (;;) {
        if (in_.is_closed() || queue_.empty() || first().is_attempting()) return in_.env().cancel_timer(*this);
        if (here_) return wait_for_this_client(now);
        if (rules_ && rules_->is_used_up_here()) {
            in_.list(*this);
            first().last_outcome = errc::contended;
            return in_.env().cancel_timer(*this);
        }
        contention_.set_electorate(in_.env().voters);
        auto const decision = contention_.next(now, first().request.what->under->times.ttl);
        if (decision.what != wait_move::wait) {
            carry_out(decision.what, now);
            continue;
        }
        auto const at = first().request.what->leaves_a_wish() ? std::min(decision.at, leave_wish(now)) : decision.at;
        if (at == time_point::max()) return in_.env().cancel_timer(*this);
        return in_.env().set_timer(*this, at);
    }
}

// The lease ends by itself. The timer is only for the log. Precondition: there is a lease here.
void wait_queue::wait_for_this_client(time_point now)
{
    outage_log* const log = in_.env().outages.get();
    if (!log) return in_.env().cancel_timer(*this);
    auto const since = std::max(first().started, here_->machine.acquired());
    auto const told_at = since + outage_log::own_lease_told_after;
    if (now < told_at) return in_.env().set_timer(*this, told_at);
    log->waits_for_own_lease(what->text(), now - since, now);
    in_.env().set_timer(*this, now + outage_log::repeats_after);
}

void wait_queue::on_timer(time_point now)
{
    auto const self = shared_from_this();
    consider(now);
}

void wait_queue::carry_out(wait_move move, time_point now)
{
    acquisition& head = first();
    if (move == wait_move::poll || move == wait_move::probe) {
        if (move == wait_move::poll) ++in_.env().count.polls;
        contention_.probing(move, now, head.poll_interval(), head.next_delay(in_.env().jitter));
        return probe_or_attempt(now);
    }
    if (move == wait_move::race) {
        ++in_.env().count.wakeups;
        head.begin_delays_anew();  // delays grow while votes are split, and not while somebody holds the lock
        if (rules_) rules_->races();
    }
    attempt_and_probe(move, now);
}

void wait_queue::attempt_and_probe(wait_move move, time_point now)
{
    acquisition& head = first();
    bool const probes_too = contention_.attempting(move, now);
    in_.owner().next_attempt(head, now);
    if (probes_too) send_probe(head.current);
}

void wait_queue::probe_or_attempt(time_point now)
{
    !rules_ || rules_->may_probe() ? send_probe(nullptr) : attempt_and_probe(wait_move::attempt, now);
}

// Leaves the wish if it is time for that, and returns when the next one is due. As long as nobody was seen to hold the lock, there is none.
time_point wait_queue::leave_wish(time_point now)
{
    if (contention_.outlook() != quorum::lock_outlook::held) return time_point::max();
    if (!wish_) wish_ = make_recycled<wish>(*this, in_.env().fresh_value());
    if (now >= wish_->renew_at()) in_.env().to_nodes->add({wish_->left(now), wish_});
    return wish_->renew_at();
}

// The node deletes it behind what was left of it before, since all goes the same way.
void wait_queue::withdraw_wish()
{
    if (auto const gone = std::exchange(wish_, nullptr)) in_.env().to_nodes->add({gone->withdrawn(), gone});
}

// Asks the nodes how long they keep the keys of the lock, alone or along with an attempt.
class wait_queue::probe final : public vote_handler {
public:
    probe(wait_queue& of, std::shared_ptr<attempt> along_with)
        : of_{of.weak_from_this()}, names_{of.what}, along_with_{std::move(along_with)}, stamp_{of.contention_.probed()}
    {
    }

    void on_vote(std::size_t node, reply const& answer, time_point now) override
    {
        if (auto const asked = of_.lock()) asked->on_probe(*this, node, answer, now);
    }
    bool wanted(std::size_t, time_point) const override
    {
        auto const asked = of_.lock();
        return asked && !asked->empty();
    }

    // The node granted the attempt that went along with this probe, so the key there is our own.
    bool is_about_our_own(std::size_t node) const noexcept { return along_with_ && along_with_->granted().has(node); }

    quorum::contention::probe_stamp const& stamp() const noexcept { return stamp_; }

private:
    std::weak_ptr<wait_queue> of_;
    resource_ptr names_;  // the request refers to the names, also when the wait queue is gone
    std::shared_ptr<attempt> along_with_;
    quorum::contention::probe_stamp stamp_;
};

void wait_queue::send_probe(std::shared_ptr<attempt> const& along_with)
{
    in_.list(*this);
    command c{verb::watch, what->first(), {}, {}};
    c.others = what->watched();
    if (rules_) rules_->choose_keys(c);
    in_.env().to_nodes->add({c, make_recycled<probe>(*this, along_with)});
}

void wait_queue::on_probe(probe const& asked, std::size_t node, reply const& answer, time_point now)
{
    using learned = quorum::contention::learned;
    if (queue_.empty()) return;
    quorum::probe_answer said{answer.vote == vote::failed, answer.watching, {}};
    if (answer.expires_in) said.ends = *answer.expires_in == never_expires ? time_point::max() : now + *answer.expires_in;
    auto const news = contention_.answered(asked.stamp(), node, said, asked.is_about_our_own(node), now);
    if (news == learned::outdated) return;
    if (outage_log* const log = in_.env().outages.get()) {
        bool const fenced = first().wants_tokens();
        if (news == learned::held) log->answered(fenced);
        if (news == learned::no_majority) log->failed(*in_.env().to_nodes, contention_.silent_nodes(), fenced, true, now, now);
    }
    consider(now);
}

}  // namespace redlock::detail
