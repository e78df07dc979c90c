#include "core/lines.hpp"

#include "core/acquisitions.hpp"

#include <algorithm>
#include <cassert>
#include <functional>
#include <random>
#include <vector>

namespace redlock::detail {

using quorum::next_step;

namespace {

// The bounds of what is taken for one attempt's time: a crowd on a fast network is ordered by the scheduler's pauses, and a slow network
// must not make a head start as long as a poll.
constexpr duration slot_min = std::chrono::microseconds{200};
constexpr duration slot_max = std::chrono::milliseconds{10};

// When attempts take so many times as long as one that met nobody, the nodes have more to do than is good.
constexpr int crowded = 32;

// A lease that has less of its validity left is not worth passing on; one that has less than this is extended at once.
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

line* lines::find(resource const& what) const noexcept
{
    auto const it = all_.find(entry{what});
    return it == all_.end() ? nullptr : it->second.get();
}

line& lines::make(std::shared_ptr<resource const> const& what, time_point now)
{
    forget_old(now);
    auto const made = make_recycled<line>(*this, what, leases_.find(*what));
    all_.emplace(entry{*what}, made);
    return *made;
}

void lines::won(hold& lease, line* in, time_point now)
{
    if (!in) in = find(*lease.what);
    if (hold* const before = lease_of(*lease.what, in)) leave(*before);  // lost, or about to be: two cannot be held
    leases_.add(lease);
    lease.is_current = true;
    if (in) in->won(lease, now);
}

void lines::vacated(hold& lease, bool released, time_point now)
{
    if (!lease.is_current) return;
    line* in = find(*lease.what);
    if (!in && released) in = &make(lease.what, now);
    leave(lease);
    if (in) in->vacated(lease, released, now);
}

void lines::leave(hold& lease) noexcept
{
    leases_.remove(lease);
    lease.is_current = false;
}

void lines::retire(line& l, time_point now)
{
    if (!std::exchange(l.retiring_, true)) retiring_.push_back(l.shared_from_this());
    forget_old(now);
}

// A few at a time: each call brings at most one.
void lines::forget_old(time_point now)
{
    for (int i = 0; i < 2 && now >= oldest_kept_until_ && !retiring_.empty(); ++i) {
        line& oldest = *retiring_.front();
        bool const keeps = oldest.has_news(now);
        if (keeps && oldest.empty() && !oldest.here_) {
            oldest_kept_until_ = oldest.turn_.over_at();
            return;
        }
        oldest.retiring_ = false;
        auto const gone = std::move(retiring_.front());
        retiring_.pop_front();
        if (!keeps && oldest.empty()) all_.erase(entry{*oldest.what});
    }
}

void lines::list(line& l)
{
    if (std::exchange(l.listed_, true)) return;
    by_key_.emplace(l.what->first(), &l);
    for (std::string const& name : l.what->others()) by_key_.emplace(name, &l);
}

void lines::unlist(line& l) noexcept
{
    if (!std::exchange(l.listed_, false)) return;
    auto const remove = [&](std::string_view key) {
        auto const [begin, end] = by_key_.equal_range(key);
        auto const it = std::find_if(begin, end, [&](auto const& e) { return e.second == &l; });
        assert(it != end);
        by_key_.erase(it);
    };
    remove(l.what->first());
    for (std::string const& name : l.what->others()) remove(name);
}

template <class F>
void lines::each_listed(std::string_view key, F f)
{
    if (by_key_.empty()) return;
    std::vector<std::shared_ptr<line>> found;  // what they do may change the list
    auto const [begin, end] = by_key_.equal_range(key);
    for (auto it = begin; it != end; ++it) found.push_back(it->second->shared_from_this());
    for (auto const& l : found)
        if (l->listed_) f(*l);
}

template <class F>
void lines::each_listed(F f)
{
    std::vector<std::string_view> keys;
    for (auto const& listed : by_key_) keys.push_back(listed.first);
    std::sort(keys.begin(), keys.end());  // not in the order of hashes, which differs between libraries
    std::vector<std::string> const owned{keys.begin(), std::unique(keys.begin(), keys.end())};
    for (std::string const& each : owned) each_listed(each, f);
}

void lines::on_changed(std::size_t node, std::string_view key, time_point now)
{
    auto const tell = [&](line& l) { l.changed(node, now); };
    key.empty() ? each_listed(tell) : each_listed(key, tell);
}

void lines::on_down(std::size_t node, time_point now)
{
    each_listed([&](line& l) { l.silent(node, now); });
}

void lines::freed_by_us(resource const& what, std::uint16_t on, line const* busy, time_point now)
{
    auto const tell = [&](line& l) {
        for (std::size_t node = 0; node < env_.to_nodes->nodes(); ++node)
            if (on >> node & 1u) l.freed_by_us(node, now);
        if (&l != busy) l.consider(now);
    };
    each_listed(what.first(), tell);
    for (std::string const& name : what.others()) each_listed(name, tell);
}

// One that is much longer than the others says little: the process may have been paused.
void lines::took(duration round_trip) noexcept
{
    fastest_ = std::min(fastest_, round_trip);
    round_trip_ = (round_trip_ * 7 + std::min(round_trip, 4 * round_trip_)) / 8;
}

bool lines::nodes_are_crowded() const noexcept { return round_trip_ > crowded * fastest_; }

double lines::chance() { return std::uniform_real_distribution<double>{}(env_.jitter); }

duration lines::slot() const noexcept { return std::clamp<duration>(2 * round_trip_, slot_min, slot_max); }

void lines::clear() noexcept
{
    by_key_.clear();
    retiring_.clear();
    leases_.clear();
    auto const gone = std::exchange(all_, {});
    for (auto const& each : gone) {
        each.second->listed_ = false;
        each.second->queue_.clear();
    }
}

}  // namespace redlock::detail
