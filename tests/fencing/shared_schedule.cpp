#include "shared_schedule.hpp"

#include "protocol/fence_answers.hpp"

#include <algorithm>
#include <utility>

namespace redlock::fencing {

namespace {

constexpr int steps_of_a_schedule = 130;
constexpr std::size_t max_attempts = 16;

template <class T>
T take(std::vector<T>& from, std::size_t index)
{
    T taken = std::move(from[index]);
    from.erase(from.begin() + static_cast<std::ptrdiff_t>(index));
    return taken;
}

// Rather a late one.
std::size_t rather_late(simulation::random& chance, std::size_t size) { return size - 1 - chance.below(1 + chance.below(size)); }

std::size_t count_of(std::array<bool, shared_world::node_count> const& of)
{
    return static_cast<std::size_t>(std::count(of.begin(), of.end(), true));
}

}  // namespace

void shared_outcome::add(shared_outcome const& other)
{
    attempts += other.attempts;
    readers += other.readers;
    writers += other.writers;
    downgrades += other.downgrades;
    extensions += other.extensions;
    together += other.together;
    losses += other.losses;
    if (violation.empty()) violation = other.violation;
}

shared_schedule::shared_schedule(shared_world& world, shared_scripts const& scripts, std::uint64_t seed, shared_mutant m, bool strict)
    : world_{world},
      chance_{seed},
      mutant_{m},
      seed_{seed},
      honest_{chance_.percent(40)},
      drop_{chance_.one_in(2) ? 0u : 8u},
      repeat_{chance_.one_in(2) ? 0u : 8u},
      expire_{chance_.one_in(2) ? 3u : 9u},
      start_{chance_.one_in(2) ? 5u : 9u}
{
    for (auto& n : world_.nodes) twins_.emplace_back(n, scripts, strict);
    attempts_.reserve(max_attempts);
    losses_left_ = chance_.one_in(3) ? static_cast<int>(chance_.between(1, 2)) : 0;
}

shared_outcome shared_schedule::run()
{
    for (std::size_t i = 0; i < node_count; ++i) {
        twins_[i].reset("rw" + std::to_string(seed_));
        for (auto& known : known_) known[i] = world_.nodes[i].look().id;
    }
    for (int i = 0; i < steps_of_a_schedule && result_.violation.empty(); ++i) {
        ++step_;
        ++clock_;
        act();
        check_exclusion();
        for (auto const& t : twins_)
            if (!t.difference().empty()) fail(t.difference());
    }
    result_.attempts = attempts_.size();
    return result_;
}

void shared_schedule::act()
{
    auto at = chance_.below(84 + expire_ + start_);
    auto const is = [&at](std::size_t weight) {
        bool const chosen = at < weight;
        at -= chosen ? 0 : weight;
        return chosen;
    };
    if (is(40)) return execute();
    if (is(26)) return deliver();
    if (is(expire_)) return expire(chance_.below(node_count));
    if (is(start_)) return start_attempt();
    if (is(8)) return use_a_lease();
    if (is(3)) return twins_[chance_.below(node_count)].remember();
    if (is(2)) return lose();
    if (is(3)) return admit();
    clock_ += chance_.between(1, ttl);
    for (std::size_t i = 0; i < node_count; ++i) expire(i);
}

// In an honest schedule only what has had its time goes; otherwise anything.
void shared_schedule::expire(std::size_t at)
{
    auto const holders = twins_[at].holders();
    std::size_t over = 0;
    for (std::string const& value : holders) {
        bool const may_go = honest_ ? clock_ >= kept_until_[at][value] : chance_.one_in(2);
        if (may_go) twins_[at].age(value);
        over += may_go ? 1 : 0;
    }
    if (!holders.empty() && over == holders.size()) twins_[at].vanish();
    if (chance_.one_in(6)) twins_[at].forget_wish();
}

void shared_schedule::start_attempt()
{
    auto const client = chance_.below(client_count);
    for (attempt& a : attempts_)
        if (a.client == client && a.at != phase::over && clock_ >= a.deadline) end(a);
    if (busy_[client] || attempts_.size() >= max_attempts) return;
    busy_[client] = true;
    attempt a;
    a.client = client;
    a.wrote = chance_.percent(45);
    a.reads = !a.wrote;
    a.value = (a.wrote ? "w" : "r") + std::to_string(attempts_.size());
    a.ttl_ms = chance_.between(1, 5) * 100'000;
    a.ids = known_[client];
    a.began = step_;
    a.deadline = clock_ + ttl;
    attempts_.push_back(a);
    auto const unreachable = chance_.one_in(3) ? chance_.below(node_count) : node_count;
    for (std::size_t i = 0; i < node_count; ++i)
        if (i != unreachable) send(verb::acquire, attempts_.size() - 1, i, a.ids[i]);
}

void shared_schedule::send(verb what, std::size_t by, std::size_t to, std::string id)
{
    request r;
    r.what = what;
    r.on = to;
    r.by = by;
    r.as_reader = attempts_[by].reads;
    r.id = std::move(id);
    r.extension = attempts_[by].extension;
    requests_.push_back(std::move(r));
}

void shared_schedule::send_everywhere(verb what, std::size_t by)
{
    for (std::size_t i = 0; i < node_count; ++i) send(what, by, i, known_[attempts_[by].client][i]);
}

void shared_schedule::execute()
{
    if (requests_.empty()) return;
    auto const index = rather_late(chance_, requests_.size());
    bool const both = requests_[index].what == verb::release || chance_.percent(70);
    if (!requests_[index].executed) {
        if (chance_.percent(drop_)) {
            take(requests_, index);
            return;
        }
        if (chance_.percent(repeat_)) requests_.push_back(requests_[index]);
        execute(requests_[index]);
        if (!both) return;
    }
    request done = take(requests_, index);
    if (done.what == verb::release) return;
    done.shown = world_.nodes[done.on].look();
    if (!chance_.percent(drop_)) replies_.push_back(std::move(done));
}

void shared_schedule::execute(request& r)
{
    auto& on = twins_[r.on];
    attempt const& a = attempts_[r.by];
    twin::want w;
    w.value = a.value;
    w.id = r.id;
    w.ttl_ms = a.ttl_ms;
    r.executed = true;
    switch (r.what) {
    case verb::acquire:
        w.token = chance_.one_in(6) ? first_base + chance_.between(1, 12) : 0;
        w.since = since_[a.client][r.on];
        r.answer = a.wrote ? on.write_acquire(w) : on.read_acquire(w);
        if (a.wrote && r.answer.code == 0 && chance_.one_in(3)) on.leave_wish(w);
        break;
    case verb::confirm:
        w.token = a.token;
        r.answer = a.wrote ? on.write_confirm(w) : on.read_confirm(w);
        break;
    case verb::extend:
        w.token = a.token;
        w.was_writer = a.wrote;
        r.answer = r.as_reader ? on.read_extend(w) : on.write_extend(w);
        break;
    case verb::release: r.answer = on.release(w); break;
    }
    if (r.answer.code > 0 && (r.what == verb::acquire || r.what == verb::extend)) {
        auto& until = kept_until_[r.on][a.value];
        until = std::max(until, clock_ + ttl);
    }
}

std::size_t shared_schedule::votes_needed(attempt const& a) const { return mutant_ == shared_mutant::one_vote && !a.wrote ? 1 : majority; }

void shared_schedule::deliver()
{
    if (replies_.empty()) return;
    request const r = take(replies_, rather_late(chance_, replies_.size()));
    attempt& a = attempts_[r.by];
    auto& known = known_[a.client][r.on];
    bool const same = r.shown.master && r.shown.id == r.id;
    if (!same || r.answer.code == detail::fence_not_admitted) {
        if (r.shown.master && r.id == known) known = r.shown.id;
        return;
    }
    if (a.at == phase::over) return;
    if (r.what == verb::acquire && r.answer.code <= 0 && a.at == phase::asking) {
        if (r.answer.code == 0 && a.reads) since_[a.client][r.on] = r.answer.counter;
        if (++a.refusals >= majority) return end(a);
    }
    if (r.answer.code <= 0) return;
    if (r.what == verb::acquire) on_acquire(a, r);
    if (r.what == verb::confirm && a.at == phase::confirming) a.confirmed[r.on] = true;
    if (r.what == verb::extend) on_extend(a, r);
    complete_if_confirmed(a);
}

void shared_schedule::on_acquire(attempt& a, request const& r)
{
    if (a.at == phase::asking) {
        a.counters[r.on] = r.answer.counter;
        auto const answers = static_cast<std::size_t>(
            std::count_if(a.counters.begin(), a.counters.end(), [](token_number c) { return c != 0; }));
        if (answers >= votes_needed(a) && (answers == node_count || chance_.percent(70))) decide(a);
    } else if (a.at == phase::confirming) {
        // A writer's late answer that is the token needs no more; a reader's does, since only the node can compare the epoch.
        if (a.wrote && r.answer.counter == a.token) a.confirmed[r.on] = true;
        if (r.answer.counter < a.token || (!a.wrote && r.answer.counter == a.token)) send(verb::confirm, r.by, r.on, a.ids[r.on]);
    }
}

void shared_schedule::decide(attempt& a)
{
    a.token = *std::max_element(a.counters.begin(), a.counters.end());
    a.at = phase::confirming;
    for (std::size_t i = 0; i < node_count; ++i) {
        bool const granted = a.counters[i] != 0;
        a.confirmed[i] = granted && (a.counters[i] == a.token || (mutant_ == shared_mutant::one_round && !a.wrote));
        if (granted && !a.confirmed[i]) send(verb::confirm, index_of(a), i, a.ids[i]);
    }
}

void shared_schedule::complete_if_confirmed(attempt& a)
{
    if (a.at == phase::leased || a.at == phase::over) return;
    if (clock_ >= a.deadline) return end(a);
    if (a.at != phase::confirming || count_of(a.confirmed) < votes_needed(a)) return;
    a.at = phase::leased;
    a.completed = step_;
    for (attempt const& b : attempts_)
        if (&b != &a && a.reads && b.reads && is_valid(b)) ++result_.together;
    ++(a.wrote ? result_.writers : result_.readers);
    if (!a.wrote) since_[a.client] = {};
    check_tokens(a);
}

void shared_schedule::end(attempt& a)
{
    a.at = phase::over;
    busy_[a.client] = false;
    if (!chance_.one_in(6)) send_everywhere(verb::release, index_of(a));
}

void shared_schedule::use_a_lease()
{
    std::vector<std::size_t> held;
    for (std::size_t i = 0; i < attempts_.size(); ++i)
        if (attempts_[i].at == phase::leased) held.push_back(i);
    if (held.empty()) return;
    attempt& a = attempts_[held[chance_.below(held.size())]];
    if (clock_ >= a.deadline || chance_.one_in(4)) return end(a);
    if (!a.reads && chance_.one_in(3)) {
        a.reads = true;  // from before the first message
        ++result_.downgrades;
    }
    ++a.extension;
    a.extension_began = step_;
    a.extension_sent = clock_;
    a.extended = {};
    send_everywhere(verb::extend, index_of(a));
}

void shared_schedule::on_extend(attempt& a, request const& r)
{
    if (r.extension != a.extension || a.at != phase::leased || clock_ >= a.deadline || a.extended[r.on]) return;
    a.extended[r.on] = true;
    if (count_of(a.extended) != votes_needed(a)) return;
    ++result_.extensions;
    a.deadline = std::max(a.deadline, a.extension_sent + ttl);
    for (attempt const& b : attempts_)
        if (&b != &a && b.completed != 0 && b.completed < a.extension_began && b.token > a.token && (b.wrote || !a.reads))
            fail("an extension of " + a.value + " after a larger token of " + b.value + " was complete");
}

void shared_schedule::check_tokens(attempt const& a)
{
    for (attempt const& b : attempts_) {
        if (&b == &a || b.completed == 0 || (!a.wrote && !b.wrote)) continue;
        auto const tokens = b.value + " " + std::to_string(b.token - first_base) + ", " + a.value + " " +
                            std::to_string(a.token - first_base);
        if (a.token == b.token) fail("two have one token: " + tokens);
        if (b.completed < a.began && a.token < b.token) fail("a token that is not larger than one before: " + tokens);
    }
}

void shared_schedule::check_exclusion()
{
    if (!honest_) return;
    for (attempt const& a : attempts_)
        for (attempt const& b : attempts_)
            if (&a < &b && is_valid(a) && is_valid(b) && !(a.reads && b.reads))
                fail(a.value + " and " + b.value + " hold at the same time");
}

void shared_schedule::lose()
{
    if (losses_left_ == 0 || lost_) return;
    --losses_left_;
    ++result_.losses;
    lost_ = chance_.below(node_count);
    auto const kind = chance_.below(4);
    auto const what = kind == 0 ? loss::flush : kind == 1 ? loss::forget : kind == 2 ? loss::roll_back : loss::false_alarm;
    twins_[*lost_].lose(what, world_.empty);
    auto& on = world_.nodes[*lost_];
    auto const marked = on.run(detail::mark_script(), {"redlock:node", "redlock:hw"}, {on.look().id, std::to_string(chance_.next())});
    mark_ = marked.items.at(1);
    drained_ = clock_ + ttl;
    twins_[*lost_].admission_changed();
}

void shared_schedule::admit()
{
    if (!lost_ || clock_ < drained_) return;
    for (attempt& a : attempts_)  // they cannot complete any more
        if (a.completed == 0 && a.at != phase::over && clock_ >= a.deadline) end(a);
    token_number base = 0;
    for (std::size_t i = 0; i < node_count; ++i)
        if (i != *lost_) base = std::max<token_number>(base, std::stoll(world_.nodes[i].ask({"GET", "redlock:hw"}).text));
    auto& on = world_.nodes[*lost_];
    on.run(detail::admit_script(), {"redlock:node", "redlock:hw"}, {on.look().id, std::to_string(base), std::to_string(maxttl_ms), mark_});
    twins_[*lost_].admission_changed();
    lost_.reset();
}

void shared_schedule::fail(std::string const& what)
{
    if (result_.violation.empty()) result_.violation = "seed=" + std::to_string(seed_) + (honest_ ? " (honest): " : ": ") + what;
}

}  // namespace redlock::fencing
