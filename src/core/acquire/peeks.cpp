#include "core/acquire/peeks.hpp"

#include "core/lease/holder_info.hpp"
#include "protocol/keys.hpp"
#include "protocol/state_text.hpp"
#include "quorum/state_stamp.hpp"

#include <algorithm>
#include <functional>
#include <utility>

namespace redlock::detail {

namespace {

// Changes on several nodes come within a moment: one look for all of them.
constexpr duration together = std::chrono::milliseconds{2};

// A message of a node may be lost: so late at the latest it is looked again.
constexpr duration max_look_again = std::chrono::seconds{30};

}  // namespace

void look::add(std::size_t node, reply const& said, time_point now)
{
    failures_.add(node, said);
    if (said.vote != vote::granted) {
        ++failed_;
        return;
    }
    auto const parts = unpack(said.words());
    answer& a = answers_[node];
    a = {true, said.expires_in.has_value(), std::string{parts.holder}, std::string{parts.state}, time_point::max()};
    if (said.expires_in && *said.expires_in != never_expires) a.until = now + *said.expires_in;
    ++answered_;
}

look::most look::most_of() const
{
    most found;
    for (answer const& a : answers_) {
        if (!a.held) continue;
        auto const same = [&](answer const& other) { return other.held && other.holder == a.holder; };
        auto const nodes = static_cast<std::size_t>(std::count_if(answers_.begin(), answers_.end(), same));
        if (nodes > found.nodes) found = {&a.holder, nodes};
    }
    return found;
}

bool look::is_conclusive() const
{
    if (!has_majority()) return false;
    auto const pending = answers_.size() - answered_ - failed_;
    auto const holder = most_of().nodes;
    if (holder < needed_ && holder + pending >= needed_) return false;
    lock_peek const seen = result();
    return seen.is_confirmed || !seen.state;
}

lock_peek look::result() const
{
    lock_peek seen;
    auto const holder = most_of();
    std::string_view value;
    if (holder.nodes >= needed_) {
        seen.held = true;
        value = *holder.holder;
        seen.marks.holder = std::hash<std::string_view>{}(value);
        if (auto const who = holder_of(value)) {
            seen.host = who->host;
            seen.pid = who->pid;
            seen.label = who->label;
            seen.since = std::chrono::system_clock::time_point{std::chrono::seconds{who->since}};
        }
    }
    quorum::state_stamp newest;
    std::size_t nodes = 0;
    for (answer const& a : answers_) {
        auto const kept = read_state(a.state);
        if (!kept || kept->stamp < newest) continue;
        nodes = kept->stamp > newest ? 1 : nodes + 1;
        newest = kept->stamp;
        seen.state = {kept->token, std::string{kept->bytes}};
        seen.is_holders = seen.held && !value.empty() && kept->writer == value;
        seen.is_confirmed = nodes >= needed_;
    }
    seen.marks.rank = newest.rank;
    seen.marks.number = newest.number;
    return seen;
}

time_point look::changes_by_itself() const
{
    std::vector<time_point> ends;
    for (answer const& a : answers_)
        if (a.held) ends.push_back(a.until);
    if (ends.size() < needed_) return time_point::max();
    std::sort(ends.rbegin(), ends.rend());
    return ends[needed_ - 1];
}

// The answers to one look.
class peeking::round final : public vote_handler {
public:
    round(std::shared_ptr<peeking> of, quorum::electorate voters) : seen{voters}, of_{std::move(of)} {}

    void on_vote(std::size_t node, reply const& answer, time_point now) override { of_->on_answer(*this, node, answer, now); }
    bool wanted(std::size_t, time_point) const override { return of_->current_.get() == this; }

    look seen;

private:
    std::shared_ptr<peeking> of_;
};

// The answers of nodes that are to tell of changes. It is asked in front of the look, so that no change comes between the two.
class peeking::watch final : public vote_handler {
public:
    explicit watch(std::shared_ptr<peeking> of) : of_{std::move(of)}, look_{of_->looks_} {}

    void on_vote(std::size_t, reply const& answer, time_point now) override { of_->on_watched(answer, now); }
    bool wanted(std::size_t, time_point) const override { return !of_->is_over() && look_ == of_->looks_; }

private:
    std::shared_ptr<peeking> of_;
    std::uint64_t look_;
};

peeking::peeking(peeks& owner, peek_request&& request, peek_handler&& handler)
    : timed{owner.env_},
      owner_{owner},
      request_{std::move(request)},
      handler_{std::move(handler)},
      state_key_{std::string{request_.what->first()}.append(published_suffix)}
{
}

bool peeking::is_about(std::string_view key) const noexcept
{
    return key.empty() || key == request_.what->first() || key == state_key_.front();
}

void peeking::ask(time_point now)
{
    auto const self = shared_from_this();
    fanout& nodes = *env_.to_nodes;
    look_again_ = false;
    ++looks_;
    current_ = std::make_shared<round>(self, env_.voters);
    env_.set_timer(*this, now + request_.what->under->times.node_timeout);
    if (waits()) {
        has_to_ask_ = false;
        command c{verb::watch, request_.what->first(), {}, {}};
        c.others = state_key_;
        nodes.add({c, std::make_shared<watch>(self)});
    }
    nodes.add({command{verb::peek, request_.what->first(), {}, {}}, current_});
}

// Who cannot be reached is asked when it is connected.
void peeking::on_watched(reply const& answer, time_point now)
{
    bool const tells = answer.vote == vote::granted ? answer.watching : answer.not_connected;
    if (is_over() || tells || std::exchange(has_to_ask_, true)) return;
    if (!current_) look_at_ = std::min(look_at_, now + request_.what->under->options.poll_interval), env_.set_timer(*this, look_at_);
}

void peeking::on_answer(round const& in, std::size_t node, reply const& answer, time_point now)
{
    if (current_.get() != &in) return;
    current_->seen.add(node, answer, now);
    if (current_->seen.is_conclusive() || current_->seen.is_complete()) decide(now, false);
}

void peeking::decide(time_point now, bool timed_out)
{
    auto const self = shared_from_this();
    auto const over = std::exchange(current_, nullptr);
    env_.cancel_timer(*this);
    if (!over->seen.has_majority()) {
        if (!waits() && !env_.has_run) return finish(errc::client_not_running, {});
        if (!waits()) return finish(errc::no_majority, {}, over->seen.failures().first(*env_.to_nodes));
        auto const pause = timed_out ? duration::zero() : request_.what->under->times.node_timeout;
        look_at_ = now + pause;
        return env_.set_timer(*this, look_at_);
    }
    lock_peek seen = over->seen.result();
    if (!waits() || seen != *request_.last) return finish({}, std::move(seen));
    look_at_ = std::min(now + max_look_again, over->seen.changes_by_itself());
    if (has_to_ask_) look_at_ = std::min(look_at_, now + request_.what->under->options.poll_interval);
    if (look_again_) look_at_ = now;
    look_at_ = std::max(look_at_, now + together);
    env_.set_timer(*this, look_at_);
}

void peeking::changed(time_point now)
{
    if (std::exchange(look_again_, true) || current_) return;
    look_at_ = now + together;
    env_.set_timer(*this, look_at_);
}

void peeking::finish(error_code ec, lock_peek seen, std::string const& reason)
{
    if (!end()) return;
    auto const self = shared_from_this();
    current_.reset();
    if (owner_.remove(*this)) --env_.lookers;
    auto handler = std::move(handler_);
    if (!reason.empty()) handler.explain([&](failure_note& note) { note.reason = reason; });
    handler(ec, std::move(seen));
}

void peeks::start(std::shared_ptr<peeking> const& what, time_point now)
{
    if (what->is_over()) return;  // cancelled meanwhile
    keep(what);
    ++env_.lookers;
    what->ask(now);
}

void peeks::on_changed(std::string_view key)
{
    auto const now = env_.now();
    for (auto const& each : all())
        if (each->waits() && each->is_about(key)) each->changed(now);
}

}  // namespace redlock::detail
