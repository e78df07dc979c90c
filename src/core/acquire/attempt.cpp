#include "core/acquire/attempt.hpp"

#include "base/to_error.hpp"
#include "core/acquire/acquisitions.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

namespace redlock::detail {

using quorum::acquire_outcome;

namespace {

constexpr time_point not_granted{};

}  // namespace

attempt::attempt(acquisitions& owner, acquisition& caller, std::shared_ptr<lease_record> what, time_point now)
    : operation{owner.env(), std::move(what)},
      owner_{owner},
      caller_{&caller},
      machine_{known_voters(owner.env().voters), now, record_->what->under->times, record_->reads()},
      granted_as_{owner.env().to_nodes->nodes()},
      era_{owner.env().to_nodes->era()},
      is_reported_{caller.is_reported()},
      granted_at_{owner.env().to_nodes->nodes(), not_granted}
{
}

void attempt::on_sent(quorum::node_set const& nodes, time_point) { record_->sent_to.add(nodes); }

// A slow node is still asked after the majority was won: the lease then stands on one node more.
bool attempt::is_open(time_point now) const { return !record_->release_started && !record_->detached && now < machine_.deadline(); }

// Of a grant only when: nobody asks for more where the attempt succeeds.
void attempt::note(std::size_t node, reply const& answer, time_point now)
{
    if (!is_reported_ || !caller_) return;
    if (answer.vote == vote::granted) {
        granted_at_[node] = now;
        return;
    }
    caller_->verdicts.resize(granted_at_.size());
    caller_->verdicts[node] = {{}, answer.vote, to_error(answer.error), answer.words(), to_microseconds(now - machine_.sent())};
}

void attempt::report_grants() const
{
    auto& verdicts = caller_->verdicts;
    verdicts.resize(granted_at_.size());
    for (std::size_t node = 0; node < verdicts.size(); ++node)
        if (verdicts[node].vote == vote::pending && granted_at_[node] != not_granted)
            verdicts[node] = {{}, vote::granted, {}, {}, to_microseconds(granted_at_[node] - machine_.sent())};
}

void attempt::on_vote(std::size_t node, reply const& answer, time_point now)
{
    hear(node, answer, now);
    on_answer(node, answer, now);
}

// What is in every answer, whatever it means.
void attempt::hear(std::size_t node, reply const& answer, time_point now)
{
    note(node, answer, now);
    // An attempt that began before the first record of a set was read learns here how many have to agree. One of an earlier generation must not. While that
    // is not known, it cannot be won; but what fails then is no reason to give it up.
    if (is_of_this_era() && (answer.vote != vote::failed || env_.voters.can_decide())) machine_.set_electorate(env_.voters, env_.members);
    granted_as_[node] = answer.admission;
    if (answer.counter > 0) env_.tokens.saw(answer.counter);
}

// What an answer means for the record.
void attempt::on_answer(std::size_t node, reply const& answer, time_point now)
{
    bool const failed = answer.vote == vote::failed;
    bool const stands = answer.vote == vote::granted || (failed && answer.error == errc::not_durable);  // there is a key to be released
    if (stands) granted_.add(node);
    if (answer.vote == vote::refused) refused_.add(node), counter_ = std::max(counter_, answer.counter);
    if (failed && answer.error == errc::ttl_too_long) ++too_long_;
    if (failed && answer.error == errc::wrong_node_set) ++of_other_sets_;
    if (answer.vote == vote::refused && caller_ && caller_->queue_of && caller_->queue_of->rules())
        caller_->queue_of->rules()->refused(node, answer);
    count(node, answer, now);
}

void attempt::count(std::size_t node, reply const& answer, time_point now)
{
    bool const stands = answer.vote == vote::granted || (answer.vote == vote::failed && answer.error == errc::not_durable);
    bool const was_open = machine_.outcome() == acquire_outcome::pending;
    auto const outcome = machine_.on_vote(node, answer.vote, now, answer.counter);
    bool const granted = answer.vote == vote::granted;
    if (record_->release_started && answer.vote != vote::refused) {
        if (granted) ++env_.count.late_grants_undone;
        if (granted && env_.observed) env_.observed->late_grant_undone(record_->what, node);
        if (stands) owner_.locks().freed_by_us(*record_->what, quorum::node_set::only(node), nullptr, now);
        // The release is behind it, on the same connection, unless a server that had lost its scripts got them in another order.
        // What did not count or was not answered may have set the key as well.
        owner_.all_releases().repeat(record_, node);
    } else if (granted && !was_open && machine_.may_vote(node) && record_->machine.has_begun() && machine_.fits(answer.counter)) {
        owner_.leases().late_grant(*record_, node, machine_.deadline(), now);
    }
    if (machine_.wants_confirmation(now)) confirm();
    continue_with(outcome, now);
}

void attempt::continue_with(acquire_outcome outcome, time_point now)
{
    if (!caller_) return;
    if (outcome != acquire_outcome::pending) return owner_.on_decided(*this, outcome, now);
    // It cannot be won any more, though it is still open what to call it: what was granted must not stand in others' way.
    if (!machine_.votes().majority_out_of_reach()) return;
    owner_.undo(*this, caller_->queue_of);
    if (!machine_.is_refused_but_waits()) return;
    auto const as_long_again = std::max(now - machine_.sent(), owner_.locks().slot());
    env_.set_timer(*this, std::min(machine_.times_out(), now + as_long_again));
}

bool attempt::is_of_this_era() const noexcept { return era_ == env_.to_nodes->era(); }

// What the members of an earlier generation had to say proves nothing: a server that has left is none of those that decide now.
bool attempt::leaves_no_majority(std::size_t without) const noexcept
{
    return is_of_this_era() && quorum::leaves_no_majority(machine_.votes().of_whom(), without);
}

// The answers to the confirmations of an attempt, which goes to all nodes: it costs those little that need none, and catches up with
// grants that are still on their way.
class attempt::confirmation final : public vote_handler {
public:
    explicit confirmation(std::shared_ptr<attempt> of) : of_{std::move(of)} {}

    void on_vote(std::size_t node, reply const& answer, time_point now) override { of_->on_confirmation(node, answer, now); }
    bool wanted(std::size_t, time_point now) const override { return of_->is_open(now); }

private:
    std::shared_ptr<attempt> of_;
};

void attempt::confirm()
{
    if (!caller_) return;
    ++env_.count.confirmations;
    command c = record_->request(verb::confirm);
    c.token = *machine_.token();
    env_.set_timer(*this, machine_.times_out());
    record_->asked_in = env_.to_nodes->next_round();
    env_.to_nodes->add({c, make_recycled<confirmation>(shared_from_this())});
}

void attempt::on_confirmation(std::size_t node, reply const& answer, time_point now)
{
    reply worth = answer;
    // An attempt is bound to one server a node: what another one finds was not put there by a grant that counts.
    if (answer.vote == vote::granted && (answer.admission != granted_as_[node] || !is_of_this_era()))
        worth = {vote::failed, errc::node_not_admitted, "it changed its identity"};
    if (worth.vote != vote::granted) note(node, worth, now);
    if (worth.vote == vote::refused && record_->machine.has_begun()) owner_.leases().late_refusal(*record_, node, now);
    continue_with(machine_.on_confirmation(node, worth.vote, now), now);
}

void attempt::time_is_up(time_point now)
{
    if (!caller_) return;
    if (machine_.is_refused_but_waits() && now < machine_.times_out()) return owner_.on_decided(*this, machine_.wait_no_more(now), now);
    if (is_reported_) {
        caller_->verdicts.resize(granted_at_.size());
        for (std::size_t node = 0; node < machine_.votes().nodes(); ++node)
            if (is_awaited(node)) caller_->verdicts[node] = {{}, vote::failed, errc::node_timeout, {}, {}};
    }
    decide_without_the_rest(now);
}

void attempt::decide_without_the_rest(time_point now)
{
    auto const outcome = machine_.on_timeout(now);
    assert(outcome != acquire_outcome::pending);
    owner_.on_decided(*this, outcome, now);
}

}  // namespace redlock::detail
