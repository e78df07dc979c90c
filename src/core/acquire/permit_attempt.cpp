// The part of an attempt that is about permits: nodes may give it different slots.
#include "core/acquire/acquisitions.hpp"
#include "core/acquire/attempt.hpp"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

namespace redlock::detail {

namespace {

std::vector<std::size_t> indices_of(quorum::slot_set slots)
{
    std::vector<std::size_t> all;
    for (std::size_t i = 0; i < quorum::max_slots; ++i)
        if (quorum::has_slot(slots, i)) all.push_back(i);
    return all;
}

}  // namespace

void attempt::on_permits(std::size_t node, reply const& answer, time_point now)
{
    if (answer.slots() && answer.slots()->permits == 0) record_->what->pool()->saw_version(answer.slots()->version);
    if (permits_->not_reached.has(node)) return;  // it was not asked: the request was withdrawn
    if (answer.vote == vote::failed && answer.error == errc::ttl_too_long) ++too_long_;
    if (answer.vote == vote::failed && answer.error == errc::wrong_node_set) ++of_other_sets_;
    if (permits_->asked) return on_late_permits(node, answer, now);
    if (permits_->is_hopeless || record_->release_started) return on_answer(node, answer, now);

    permit_state& state = *permits_;
    if (answer.vote != vote::failed && answer.slots()) {
        bool const gave = answer.vote == vote::granted;
        if (gave) granted_.add(node);
        else counter_ = std::max(counter_, answer.counter);
        state.counters[node] = answer.counter;
        state.choice.answered(node, gave ? answer.slots()->ours : 0, answer.slots()->free, answer.slots()->version);
    } else {
        state.failed.add(node);
        if (answer.error == errc::permits_differ && answer.slots()) state.choice.differs(node, answer.slots()->version);
        else state.choice.failed(node);
    }
    if (caller_) settle(now);
}

void attempt::settle(time_point now)
{
    using decision = quorum::permit_choice::decision;
    switch (permits_->choice.decide()) {
    case decision::open: return;
    case decision::won:
        choose(now);
        permits_->failed.add(permits_->not_reached);
        return cast_votes(now);
    case decision::move: return move(now);
    case decision::hopeless: permits_->is_hopeless = true; return cast_votes(now);
    }
}

// From now on the attempt is one for the exclusive locks that the chosen slots are.
void attempt::choose(time_point now)
{
    if (caller_ && caller_->queue_of) caller_->queue_of->permits_are_scarce(!permits_->choice.others_are_free());
    std::shared_ptr<lease_record> const before = record_;
    auto of = make_descriptor(resource{before->what, indices_of(permits_->choice.chosen())}, before->what->under);
    auto chosen = make_recycled<lease_record>(before->first.owner, std::move(of), before->value);
    chosen->refreshed = before->refreshed;
    chosen->sent_to = before->sent_to;
    chosen->may_live_until(now + 2 * before->what->under->times.key_ttl);
    chosen->asked_in = before->asked_in;
    permits_->asked = before;
    permits_->not_reached = quorum::node_set::all(machine_.votes().nodes());
    for (std::size_t node = 0; node < machine_.votes().nodes(); ++node)
        if (before->sent_to.has(node) || permits_->failed.has(node)) permits_->not_reached.remove(node);
    record_ = std::move(chosen);
}

// Answers to the second round, in which some nodes are asked for the chosen slots.
class attempt::second_round final : public vote_handler {
public:
    explicit second_round(std::shared_ptr<attempt> of) : of_{std::move(of)} {}

    void on_vote(std::size_t node, reply const& answer, time_point now) override
    {
        bool const counts = answer.vote != vote::granted || of_->is_of_this_era();
        auto const worth = counts ? answer : reply{vote::failed, errc::node_not_admitted, "the set of nodes was changed meanwhile"};
        of_->note(node, worth, now);
        of_->granted_as_[node] = worth.admission;
        if (worth.counter > 0) of_->owner_.env().tokens.saw(worth.counter);
        of_->on_answer(node, worth, now);
    }
    void on_sent(quorum::node_set const& nodes, time_point) override { of_->record_->sent_to.add(nodes); }
    bool wanted(std::size_t, time_point now) const override { return of_->is_open(now); }

private:
    std::shared_ptr<attempt> of_;
};

void attempt::move(time_point now)
{
    choose(now);
    environment& env = owner_.env();
    ++env.count.permit_moves;
    quorum::node_set not_at;
    for (std::size_t node = 0; node < env.to_nodes->nodes(); ++node)
        if (!permits_->choice.to_ask(node) && !permits_->not_reached.has(node)) not_at.add(node);
    command c = record_->request(verb::acquire);
    c.token = env.tokens.next();
    c.change_more().wanted = static_cast<std::uint32_t>(c.key_count());
    record_->asked_in = env.to_nodes->next_round();
    env.set_timer(*this, now + record_->what->under->times.node_timeout);
    env.to_nodes->add({c, make_recycled<second_round>(shared_from_this()), not_at});
    cast_votes(now);
}

// Everything that is known counts as votes for the chosen slots. What nodes gave besides is released, behind the second round.
void attempt::cast_votes(time_point now)
{
    auto const self = shared_from_this();
    permit_state& state = *permits_;
    // A roll-back need not go to those who gave nothing that it is about. Of several slots a node may have given some that were chosen.
    auto const about = state.asked ? state.choice.chosen() : ~quorum::slot_set{0};
    for (std::size_t node = 0; node < machine_.votes().nodes(); ++node)
        if (state.choice.has_answered(node) && !state.choice.to_ask(node) && (state.choice.given_by(node) & about) == 0) refused_.add(node);
    for (std::size_t node = 0; node < machine_.votes().nodes(); ++node) {
        bool const chose = state.asked != nullptr;
        if (chose && state.choice.gave_chosen(node)) {
            reply granted{vote::granted};
            granted.counter = state.counters[node];
            count(node, granted, now);
        } else if (state.choice.has_answered(node)) {
            if (chose) give_back(node, state.choice.given_by(node), now);
            if (chose && state.choice.to_ask(node)) continue;
            count(node, {vote::refused, {}, {}}, now);
        } else if (state.failed.has(node) || state.is_hopeless) {
            if (chose) give_back(node, ~quorum::slot_set{0}, now);  // perhaps it gave something, and the answer was lost
            count(node, {vote::failed, errc::no_majority, {}}, now);
        }
    }
}

// An answer to the first round that comes when the slots are chosen.
void attempt::on_late_permits(std::size_t node, reply const& answer, time_point now)
{
    auto const chosen = permits_->choice.chosen();
    if (answer.vote == vote::granted && answer.slots() && answer.slots()->ours == chosen) return on_answer(node, answer, now);
    if (answer.vote == vote::granted && answer.slots()) {
        give_back(node, answer.slots()->ours, now);
        // As in count(), where an answer comes behind the roll-back.
        if ((answer.slots()->ours & chosen) == 0) refused_.add(node);
        else if (record_->release_started) owner_.all_releases().repeat(record_, node);
    }
    if (answer.vote == vote::failed) give_back(node, ~quorum::slot_set{0}, now);
    count(node, answer.vote == vote::failed ? answer : reply{vote::refused, {}, {}}, now);
}

// Releases slots at one node that the lease will not have there.
void attempt::give_back(std::size_t node, quorum::slot_set slots, time_point now)
{
    if (!permits_->asked->sent_to.has(node)) return;
    slots &= quorum::all_slots(record_->what->pool()->slots.size()) & ~permits_->choice.chosen();  // sets of several may overlap
    if (slots == 0) return;
    auto const& before = *permits_->asked;
    auto of = make_descriptor(resource{before.what, indices_of(slots)}, before.what->under);
    auto const stray = make_recycled<lease_record>(before.first.owner, std::move(of), before.value);
    stray->phase = lease_record::state::released;
    stray->sent_to.add(node);
    stray->may_live_until(now + 2 * before.what->under->times.key_ttl);
    stray->asked_in = owner_.env().to_nodes->next_round();
    auto elsewhere = quorum::node_set::all(machine_.votes().nodes());
    elsewhere.remove(node);
    owner_.all_releases().start(stray, now, errc{}, elsewhere);
    owner_.locks().freed_by_us(*stray->what, quorum::node_set::only(node), caller_ ? caller_->queue_of : nullptr, now);
}

}  // namespace redlock::detail
