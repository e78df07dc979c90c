#include "core/lease/state_rounds.hpp"

#include "core/lease/lease_registry.hpp"
#include "core/lease/publications.hpp"
#include "protocol/state_text.hpp"

#include <algorithm>
#include <utility>

namespace redlock::detail {

using quorum::inherit_outcome;

state_round::state_round(publications& owner, std::shared_ptr<lease_record> what, time_point now)
    : operation{owner.env(), std::move(what)}, owner_{owner}, sent_{now}
{
    failures_.keep(env_.to_nodes->nodes());
}

time_point state_round::ends() const noexcept { return sent_ + record_->what->under->times.node_timeout; }

error_code state_round::why_not(time_point now) const
{
    owner_.leases().lose_if_over(*record_, now);
    if (record_->phase == lease_record::state::lost) return record_->first.lost_because.load();
    if (record_->phase == lease_record::state::released) return errc::not_held;
    return errc::no_majority;
}

// For one that throws.
std::string state_round::reason_of(error_code ec) const
{
    if (ec == errc::no_majority) return failures_.first(*env_.to_nodes);
    return std::string{ec == errc::lease_lost ? record_->first.loss_reason() : std::string_view{}};
}

publish_round::publish_round(publications& owner, std::shared_ptr<lease_record> what, std::shared_ptr<stamped_state const> text,
                             time_point now)
    : state_round{owner, std::move(what), now}, text_{std::move(text)}, votes_{owner.env().voters}
{
}

void publish_round::write_back_for(std::shared_ptr<inherit_round> heir, quorum::node_set const& have_it)
{
    heir_ = std::move(heir);
    for (std::size_t node = 0; node < votes_.nodes(); ++node)
        if (have_it.has(node)) votes_.cast(node, vote::granted);
}

void publish_round::send()
{
    command c = record_->request(verb::publish);
    c.change_more().goal = text_->stamp.rank;
    c.change_more().since = static_cast<std::int64_t>(text_->stamp.number);
    c.change_more().former = text_->text;
    ask(shared_from_this(), std::move(c), ends());
}

// Nodes that have fallen behind still get it when the caller knows the outcome, unless there is something newer.
bool publish_round::wanted(std::size_t, time_point now) const
{
    auto const latest = record_->published();
    return record_->is_lease() && now < std::min(ends(), record_->machine.stops_at()) && (!latest || latest->stamp <= text_->stamp);
}

void publish_round::on_vote(std::size_t node, reply const& answer, time_point now)
{
    auto const self = shared_from_this();
    if (answer.vote == vote::granted) env_.changed_by_us(record_->what->first());
    if (is_over()) return;
    failures_.add(node, answer);
    votes_.cast(node, now < ends() ? answer.vote : vote::failed);
    if (votes_.majority_granted()) return end({});
    if (votes_.majority_out_of_reach()) end(why_not(now));
}

void publish_round::time_is_up(time_point now) { end(why_not(now)); }

void publish_round::abandon(error_code why) { end(why); }

void publish_round::end(error_code ec)
{
    if (!operation::end()) return;
    auto const self = shared_from_this();
    owner_.remove(*this);
    if (auto const heir = std::exchange(heir_, nullptr)) heir->written_back(ec, reason_of(ec));
    auto handler = std::exchange(handler_, {});
    if (!handler) return;
    handler.explain([&](failure_note& note) { note.reason = reason_of(ec); });
    handler(ec);
}

inherit_round::inherit_round(publications& owner, std::shared_ptr<lease_record> what, state_handler&& handler, time_point now)
    : state_round{owner, std::move(what), now}, handler_{std::move(handler)}, machine_{owner.env().voters}
{
}

void inherit_round::send() { ask(shared_from_this(), record_->request(verb::inherit), ends()); }

bool inherit_round::wanted(std::size_t, time_point now) const
{
    return !is_over() && record_->is_lease() && now < std::min(ends(), record_->machine.stops_at());
}

// An answer that comes after the decision is not heard, even if it is newer: what the holder is told must be what is written back.
// A state that cannot be read is none of ours; it stays where it is, and publishing fails there.
void inherit_round::on_vote(std::size_t node, reply const& answer, time_point now)
{
    if (is_over() || machine_.is_decided()) return;
    auto const kept = answer.vote == vote::granted ? read_state(answer.words()) : std::nullopt;
    failures_.add(node, answer);
    auto const before = machine_.newest();
    auto const outcome = machine_.on_answer(node, now < ends() ? answer.vote : vote::failed, kept ? kept->stamp : quorum::state_stamp{});
    if (kept && before < machine_.newest()) newest_ = answer.words();
    decided(outcome, now);
}

void inherit_round::time_is_up(time_point now) { decided(machine_.give_up(), now); }

void inherit_round::decided(inherit_outcome outcome, time_point now)
{
    if (outcome == inherit_outcome::pending) return;
    auto const self = std::static_pointer_cast<inherit_round>(shared_from_this());
    env_.cancel_timer(*this);
    if (outcome == inherit_outcome::no_majority) return finish(why_not(now));
    auto const kept = read_state(newest_);
    if (!kept) return finish({});
    auto text = std::make_shared<stamped_state const>(stamped_state{kept->stamp, std::string{kept->text}});
    if (auto const latest = record_->published(); !latest || latest->stamp < text->stamp) record_->set_published(text);
    // Nodes that do not have it get it in any case: then it is on as many as it can be.
    auto const back = std::make_shared<publish_round>(owner_, record_, std::move(text), now);
    if (outcome == inherit_outcome::to_be_written_back) back->write_back_for(self, machine_.holders());
    if (machine_.holders().size() < env_.to_nodes->nodes()) back->send();
    if (outcome == inherit_outcome::known) finish({});
}

void inherit_round::written_back(error_code ec, std::string const& reason) { finish(ec, reason); }

void inherit_round::abandon(error_code why) { finish(why); }

void inherit_round::finish(error_code ec) { finish(ec, reason_of(ec)); }

void inherit_round::finish(error_code ec, std::string const& reason)
{
    if (!end()) return;
    auto const self = shared_from_this();
    owner_.remove(*this);
    published_state result;
    if (auto const kept = ec ? std::nullopt : read_state(newest_)) result = {kept->token, std::string{kept->bytes}};
    auto handler = std::move(handler_);
    handler.explain([&](failure_note& note) { note.reason = reason; });
    handler(ec, std::move(result));
}

}  // namespace redlock::detail
