#include "core/kinds/permit_attempt.hpp"

#include "core/acquire/acquisitions.hpp"

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

permit_attempt::permit_attempt(acquisitions& owner, acquisition& caller, std::shared_ptr<lease_record> what, time_point now,
                               std::size_t from)
    : attempt{owner, caller, std::move(what), now},
      choice_{known_voters(env_.voters), record_->what->permit_count(), record_->what->pool()->slots.size(), from},
      counters_{env_.to_nodes->nodes()}
{
}

void permit_attempt::on_sent(quorum::node_set const& nodes, time_point now)
{
    attempt::on_sent(nodes, now);
    asked_.add(nodes);
}

errc permit_attempt::why_hopeless() const noexcept { return choice_.is_of_another_number() ? errc::permits_differ : errc{}; }

// Answers about slots count only when slots are chosen.
bool permit_attempt::is_awaited(std::size_t node) const noexcept
{
    bool const has_answered = !has_chosen_ && (choice_.has_answered(node) || failed_.has(node));
    return !has_answered && attempt::is_awaited(node);
}

void permit_attempt::decide_without_the_rest(time_point now)
{
    if (has_chosen_ || is_hopeless_) return attempt::decide_without_the_rest(now);
    choice_.time_is_up();
    settle(now);
}

void permit_attempt::on_vote(std::size_t node, reply const& answer, time_point now)
{
    hear(node, answer, now);
    if (answer.slots() && answer.slots()->permits == 0) record_->what->pool()->saw_version(answer.slots()->version);
    if (not_reached_.has(node)) return;  // it was not asked: the request was withdrawn
    if (answer.vote == vote::failed && answer.error == errc::ttl_too_long) ++too_long_;
    if (answer.vote == vote::failed && answer.error == errc::wrong_node_set) ++of_other_sets_;
    if (has_chosen_) return on_late_permits(node, answer, now);
    if (is_hopeless_ || record_->release_started) return on_answer(node, answer, now);

    if (answer.vote != vote::failed && answer.slots()) {
        bool const gave = answer.vote == vote::granted;
        if (gave) granted_.add(node);
        else counter_ = std::max(counter_, answer.counter);
        counters_[node] = answer.counter;
        choice_.answered(node, gave ? answer.slots()->ours : 0, answer.slots()->free, answer.slots()->version);
    } else {
        failed_.add(node);
        if (answer.error == errc::permits_differ && answer.slots()) choice_.differs(node, answer.slots()->version);
        else choice_.failed(node);
    }
    if (caller_) settle(now);
}

void permit_attempt::settle(time_point now)
{
    using decision = quorum::permit_choice::decision;
    switch (choice_.decide()) {
    case decision::open: return;
    case decision::won:
        choose(now);
        failed_.add(not_reached_);
        return cast_votes(now);
    case decision::move: return move(now);
    case decision::hopeless: is_hopeless_ = true; return cast_votes(now);
    }
}

// From now on the attempt is one for the exclusive locks that the chosen slots are.
void permit_attempt::choose(time_point now)
{
    if (caller_ && caller_->queue_of) caller_->queue_of->rules()->is_scarce = !choice_.others_are_free();
    record_->narrow(resource{record_->what, indices_of(choice_.chosen())});
    record_->may_live_until(now + 2 * record_->what->under->times.key_ttl);
    has_chosen_ = true;
    not_reached_ = quorum::node_set::all(machine_.votes().nodes());
    for (std::size_t node = 0; node < machine_.votes().nodes(); ++node)
        if (asked_.has(node) || failed_.has(node)) not_reached_.remove(node);
}

// Answers to the second round, in which some nodes are asked for the chosen slots.
class permit_attempt::second_round final : public vote_handler {
public:
    explicit second_round(std::shared_ptr<permit_attempt> of) : of_{std::move(of)} {}

    void on_vote(std::size_t node, reply const& answer, time_point now) override
    {
        bool const counts = answer.vote != vote::granted || of_->is_of_this_era();
        auto const worth = counts ? answer : reply{vote::failed, errc::node_not_admitted, "the set of nodes was changed meanwhile"};
        of_->note(node, worth, now);
        of_->granted_as_[node] = worth.admission;
        if (worth.counter > 0) of_->env_.tokens.saw(worth.counter);
        of_->on_answer(node, worth, now);
    }
    void on_sent(quorum::node_set const& nodes, time_point) override { of_->record_->sent_to.add(nodes); }
    bool wanted(std::size_t, time_point now) const override { return of_->is_open(now); }

private:
    std::shared_ptr<permit_attempt> of_;
};

void permit_attempt::move(time_point now)
{
    choose(now);
    ++env_.count.permit_moves;
    quorum::node_set not_at;
    for (std::size_t node = 0; node < env_.to_nodes->nodes(); ++node)
        if (!choice_.to_ask(node) && !not_reached_.has(node)) not_at.add(node);
    command c = record_->request(verb::acquire);
    c.token = env_.tokens.next();
    c.change_more().wanted = static_cast<std::uint32_t>(c.key_count());
    record_->asked_in = env_.to_nodes->next_round();
    env_.set_timer(*this, now + record_->what->under->times.node_timeout);
    env_.to_nodes->add({c, make_recycled<second_round>(std::static_pointer_cast<permit_attempt>(shared_from_this())), not_at});
    cast_votes(now);
}

// Everything that is known counts as votes for the chosen slots. What nodes gave besides is released, behind the second round.
void permit_attempt::cast_votes(time_point now)
{
    auto const self = shared_from_this();
    // A roll-back need not go to those who gave nothing that it is about. Of several slots a node may have given some that were chosen.
    auto const about = has_chosen_ ? choice_.chosen() : ~quorum::slot_set{0};
    for (std::size_t node = 0; node < machine_.votes().nodes(); ++node)
        if (choice_.has_answered(node) && !choice_.to_ask(node) && (choice_.given_by(node) & about) == 0) refused_.add(node);
    for (std::size_t node = 0; node < machine_.votes().nodes(); ++node) {
        if (has_chosen_ && choice_.gave_chosen(node)) {
            reply granted{vote::granted};
            granted.counter = counters_[node];
            count(node, granted, now);
        } else if (choice_.has_answered(node)) {
            if (has_chosen_) give_back(node, choice_.given_by(node), now);
            if (has_chosen_ && choice_.to_ask(node)) continue;
            count(node, {vote::refused, {}, {}}, now);
        } else if (failed_.has(node) || is_hopeless_) {
            if (has_chosen_) give_back(node, ~quorum::slot_set{0}, now);  // perhaps it gave something, and the answer was lost
            count(node, {vote::failed, errc::no_majority, {}}, now);
        }
    }
}

// An answer to the first round that comes when the slots are chosen.
void permit_attempt::on_late_permits(std::size_t node, reply const& answer, time_point now)
{
    auto const chosen = choice_.chosen();
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
void permit_attempt::give_back(std::size_t node, quorum::slot_set slots, time_point now)
{
    if (!asked_.has(node)) return;
    slots &= quorum::all_slots(record_->what->pool()->slots.size()) & ~choice_.chosen();  // sets of several may overlap
    if (slots == 0) return;
    auto const& under = record_->what->under;
    auto of = make_descriptor(resource{record_->what->shared_asked(), indices_of(slots)}, under);
    auto const stray = make_recycled<lease_record>(record_->first.owner, std::move(of), record_->value);
    stray->phase = lease_record::state::released;
    stray->sent_to.add(node);
    stray->may_live_until(now + 2 * under->times.key_ttl);
    stray->asked_in = env_.to_nodes->next_round();
    auto elsewhere = quorum::node_set::all(machine_.votes().nodes());
    elsewhere.remove(node);
    owner_.all_releases().start(stray, now, errc{}, elsewhere);
    owner_.locks().freed_by_us(*stray->what, quorum::node_set::only(node), caller_ ? caller_->queue_of : nullptr, now);
}

}  // namespace redlock::detail
