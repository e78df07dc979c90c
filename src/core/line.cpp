#include "core/line.hpp"

#include "core/acquisitions.hpp"
#include "core/lines.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace redlock::detail {

using quorum::next_step;

namespace {

// A lease that has less of its validity left is not worth passing on.
constexpr int worth_passing_on = 4;  // a quarter

}  // namespace

// What a lease without a line would have had in it follows from its beginning.
line::line(lines& in, std::shared_ptr<resource const> of, hold* lease) : what{std::move(of)}, in_{in}, here_{lease}
{
    if (!lease) return;
    turn_.won(lease->machine->acquired(), in_.slot());
}

line::~line() { in_.env_.cancel_alarm(*this); }

void line::join(acquisition& who, time_point now)
{
    bool const is_first = queue_.empty();
    queue_.push_back(who);
    who.line_ = this;
    if (!is_first || here_) who.last_outcome_ = errc::contended;  // in case nothing else is ever learned
    if (!is_first) return;
    contest_.reset();
    consider(now);
}

void line::leave(acquisition& who)
{
    bool const was_first = &queue_.front() == &who;
    queue_.erase(queue_.iterator_to(who));
    who.line_ = nullptr;
    if (queue_.empty()) {
        in_.env_.cancel_alarm(*this);
        in_.unlist(*this);
        in_.retire(*this, in_.env_.now());
    } else if (was_first && !here_) {
        consider(in_.env_.now());
    }
}

void line::won(hold& lease, time_point now)
{
    turn_.won(now, in_.slot());
    in_.env_.cancel_alarm(*this);
    here_ = &lease;
    contest_.reset();
}

bool line::may_hand_over(hold const& lease, time_point now) const
{
    if (here_ != &lease || queue_.empty() || !lease.is_lease() || !lease.has_tokens_for_another()) return false;
    acquisition const& next = first();
    if (!next.takes_what_is_held(lease)) return false;
    if (lease.machine->left(now) < lease.what->under->times.validity / worth_passing_on) return false;
    return turn_.may_hand_over(now, lease.what->under->limits);
}

void line::vacated(hold& lease, bool released, time_point now)
{
    if (released) turn_.released(now, lease.what->under->limits, in_.slot());
    here_ = nullptr;
    contest_.reset();
    if (queue_.empty()) return in_.retire(*this, now);
    consider(now);
}

line::contest& line::contest_now()
{
    if (!contest_) contest_ = std::make_unique<contest>(in_.env_.to_nodes->nodes(), ++contests_);
    return *contest_;
}

void line::failed(attempt const& lost, time_point now)
{
    acquisition& head = first();
    contest& with = contest_now();
    bool const somebody_new = lost.counter() == 0 || lost.counter() > seen_;
    seen_ = std::max(seen_, lost.counter());
    if (lost.was_refused()) turn_.refused(now);
    if (std::exchange(with.racing, false)) {
        if (somebody_new) turn_.lost_a_race();
        if (!somebody_new) with.left_when_extended = with.left;
    }

    auto const delay = head.next_delay(in_.env_.jitter);
    with.patience.looking(now + head.poll_interval(), now + delay);
    with.patience.failed(now, now + delay, turn_.head_start_of_others(in_.slot(), in_.chance()));
    for (std::size_t node = 0; node < in_.env_.to_nodes->nodes(); ++node)
        if (lost.has_granted(node)) with.patience.on_changed(node, now);  // which is undone, and nobody tells us of that
    if (!std::exchange(with.looked, true)) ask_how_long(nullptr);
    if (auto const nap = turn_.nap(in_.slot(), in_.nodes_are_crowded(), in_.chance()); nap > duration::zero()) {
        with.patience.sleep(now + std::min(nap, head.poll_interval()));
        with.napped = true;
    }
    consider(now);
}

void line::changed(std::size_t node, time_point now)
{
    if (here_) return;  // what it knows of others begins anew with the next wait
    contest_now().patience.on_changed(node, now);
    consider(now);
}

// Without considering what to do next: the caller does.
void line::freed_by_us(std::size_t node, time_point now)
{
    if (here_) return;  // what it knows of others begins anew with the next wait
    ++contest_now().freed[node];
    contest_now().patience.on_changed(node, now);
}

void line::silent(std::size_t node, time_point now)
{
    if (here_) return;  // what it knows of others begins anew with the next wait
    contest_now().patience.on_silence(node);
    consider(now);
}

std::vector<std::shared_ptr<acquisition>> line::waiting_for(owner_id owner)
{
    std::vector<std::shared_ptr<acquisition>> found;
    for (acquisition& each : queue_)
        if (each.owner() == owner) found.push_back(each.shared_from_this());
    return found;
}

// Something that is worth remembering, of others or of this client's own turn, and does not follow from its lease.
bool line::has_news(time_point now) const noexcept
{
    if (!here_) return !turn_.is_over(now);
    quorum::turn of_nobody_else;
    of_nobody_else.won(here_->machine->acquired(), in_.slot());
    return seen_ != 0 || turn_ != of_nobody_else;
}

// What the first does next, and when.
void line::consider(time_point now)
{
    if (in_.closed_ || queue_.empty() || here_ || first().is_attempting()) return in_.env_.cancel_alarm(*this);
    auto const at = contest_ ? std::max(contest_->patience.due(), turn_.out_until()) : turn_.out_until();
    if (at <= now) return act(now);
    if (at == time_point::max()) return in_.env_.cancel_alarm(*this);
    in_.env_.set_alarm(*this, at);
}

void line::on_alarm(time_point now)
{
    auto const self = shared_from_this();
    consider(now);
}

void line::act(time_point now)
{
    acquisition& head = first();
    if (contest_) {
        contest& with = *contest_;
        auto const step = with.patience.step(now);
        if (step == next_step::look) {
            ++in_.env_.count.polls;
            return look_again(now);
        }
        with.racing = step == next_step::race;
        if (with.racing && looks_like_an_extension(with, now)) {
            with.racing = false;
            with.patience.attempting();  // what changed is not known yet
            return look_again(now);
        }
        if (with.racing) {
            with.left = with.expires - now;
            ++in_.env_.count.wakeups;
            head.begin_delays_anew();  // they grow while votes are split, not while somebody holds the lock
        }
        if (with.looked) with.patience.attempting();
    }
    in_.env_.cancel_alarm(*this);
    in_.owner_.next_attempt(head, now);
    // Who was refused before will probably be again: the question comes with the attempt.
    if (contest_ && contest_->looked) ask_how_long(head.current_);
}

void line::look_again(time_point now)
{
    acquisition& head = first();
    contest_->patience.looking(now + head.poll_interval(), now + head.next_delay(in_.env_.jitter));
    ask_how_long(nullptr);
    consider(now);
}

// A holder extends each time when as much is left. To look costs the nodes half as much as an attempt, and one round trip if it was a
// release after all. With less than a quarter left, it is rather an expiry.
bool line::looks_like_an_extension(contest const& with, time_point now) const noexcept
{
    auto const left = with.expires - now;
    return with.left_when_extended && left > first().request_.what->under->times.ttl / 4 &&
           std::chrono::abs(left - *with.left_when_extended) <= left / 50;
}

class line::look final : public voter {
public:
    look(line& of, std::shared_ptr<attempt> along_with)
        : of_{of.weak_from_this()},
          names_{of.what},
          along_with_{std::move(along_with)},
          contest_{of.contest_now().number},
          freed_before_{of.contest_now().freed}
    {
    }

    void on_vote(std::size_t node, reply const& answer, time_point now) override
    {
        if (auto const asked = of_.lock()) asked->on_look(*this, node, answer, now);
    }
    bool wanted(std::size_t, time_point) const override
    {
        auto const asked = of_.lock();
        return asked && !asked->empty();
    }

    // What the node keeps is from an attempt of our own. If that is not won it is undone, as if the key were free.
    bool is_about_our_own(std::size_t node) const noexcept { return along_with_ && along_with_->has_granted(node); }

    // Asked in this wait, and not in an earlier one.
    bool belongs_to(contest const& with) const noexcept { return contest_ == with.number; }

    // Since the node was asked we have freed the key there, of which it does not tell us.
    bool is_outdated(contest const& with, std::size_t node) const noexcept { return freed_before_[node] != with.freed[node]; }

private:
    std::weak_ptr<line> of_;
    std::shared_ptr<resource const> names_;  // which the request refers to, also when there is no line any more
    std::shared_ptr<attempt> along_with_;
    std::uint64_t contest_;
    quorum::per_node<std::uint32_t> freed_before_;
};

void line::ask_how_long(std::shared_ptr<attempt> const& along_with)
{
    in_.list(*this);
    command c{verb::watch, what->first(), {}, {}};
    c.others = what->others();
    in_.env_.to_nodes->add({c, make_recycled<look>(*this, along_with)});
}

void line::on_look(look const& asked, std::size_t node, reply const& answer, time_point now)
{
    if (queue_.empty() || !contest_ || !asked.belongs_to(*contest_)) return;
    contest& with = *contest_;
    if (!with.patience.is_asleep() && std::exchange(with.napped, false) && !answer.expires_in) turn_.overslept();
    if (answer.vote == vote::failed) {
        with.patience.on_silence(node);
    } else if (asked.is_about_our_own(node)) {
        with.patience.on_changed(node, now);
    } else if (!asked.is_outdated(with, node)) {
        std::optional<time_point> free_at;
        if (answer.expires_in && *answer.expires_in != never_expires) with.expires = now + *answer.expires_in;
        if (answer.expires_in)
            free_at = *answer.expires_in == never_expires ? time_point::max() : now + *answer.expires_in + quorum::expiry_granularity;
        with.patience.on_look(node, now, free_at, answer.watching);
        if (!answer.expires_in && with.patience.is_free(now)) with.expires = now;  // what changed was no extension: no need to look again
    }
    consider(now);
}

}  // namespace redlock::detail
