#include "schedule.hpp"

#include <algorithm>
#include <initializer_list>
#include <stdexcept>
#include <utility>

namespace redlock::fencing {

namespace {

constexpr int steps_of_a_schedule = 150;
constexpr std::size_t attempts_max = 16;
constexpr std::int64_t ttl = 60;  // an attempt's or lease's time, in ticks of the scripted clock
constexpr std::string_view retention_ms = "3600000";

words lock_keys(std::string const& name) { return {name, name + ":fence", "redlock:node", "redlock:hw"}; }
words node_keys() { return {"redlock:node", "redlock:hw"}; }

int number(testing::resp_reply const& answer, std::size_t item = 0)
{
    if (answer.is_error()) return -100;  // READONLY, for instance: no vote
    return std::stoi(answer.items.empty() ? answer.text : answer.items.at(item));
}

std::size_t one_of(simulation::random& chance, std::initializer_list<std::size_t> from)
{
    return from.begin()[chance.below(from.size())];
}

template <class T>
T take(std::vector<T>& from, std::size_t index)
{
    T taken = std::move(from[index]);
    from.erase(from.begin() + static_cast<std::ptrdiff_t>(index));
    return taken;
}

// Rather a late one, or what is old would hold up everything; but an old one's time may come whenever it likes.
std::size_t rather_late(simulation::random& chance, std::size_t size)
{
    return size - 1 - chance.below(1 + chance.below(size));
}

}  // namespace

void outcome::add(outcome const& other)
{
    attempts += other.attempts;
    completed += other.completed;
    losses += other.losses;
    admissions += other.admissions;
    extensions += other.extensions;
    replants += other.replants;
    if (violation.empty()) violation = other.violation;
}

schedule::schedule(cluster& world, std::uint64_t seed, mutant m)
    : world_{world}, chance_{seed}, mutant_{m}, scripts_{scripts_of(m)}, name_{"r" + std::to_string(seed)}, seed_{seed},
      real_losses_{chance_.one_in(400)}, with_losses_{real_losses_ || chance_.percent(70)}
{
    likely_ = likelihoods{chance_};
    attempts_.reserve(attempts_max);
    losses_left_ = with_losses_ ? static_cast<int>(chance_.between(1, 3)) : 0;
}

outcome schedule::run()
{
    for (auto& n : world_.nodes) n.reset();
    for (std::size_t i = 0; i < node_count; ++i) {
        auto const id = world_.nodes[i].look().id;
        for (auto& known : known_) known[i] = id;
    }
    for (int i = 0; i < steps_of_a_schedule && result_.violation.empty(); ++i) {
        ++step_;
        ++clock_;
        act();
    }
    result_.attempts = attempts_.size();
    return result_;
}

// What is likely differs from schedule to schedule: some are calm, in some everything gets lost.
schedule::likelihoods::likelihoods(simulation::random& chance)
    : expire{one_of(chance, {2, 6, 12})}, start{one_of(chance, {4, 7, 10})},
      use{one_of(chance, {2, 5, 9})}, admit{one_of(chance, {4, 10})},
      pass_time{one_of(chance, {2, 5})}, drop{one_of(chance, {0, 5, 15})},
      repeat{one_of(chance, {0, 8})}, unreachable{one_of(chance, {0, 50, 100})}
{
}

void schedule::act()
{
    constexpr std::size_t remember = 4;
    constexpr std::size_t lose_some = 3;
    auto at = chance_.below(70 + likely_.expire + likely_.start + likely_.use + likely_.admit + likely_.pass_time + remember +
                            lose_some);
    auto const is = [&at](std::size_t weight) {
        bool const chosen = at < weight;
        at -= chosen ? 0 : weight;
        return chosen;
    };
    if (is(40)) return execute();
    if (is(30)) return deliver();
    if (is(likely_.expire)) return world_.nodes[chance_.below(node_count)].expire(name_);
    if (is(likely_.start)) return start_attempt();
    if (is(likely_.use)) return use_a_lease();
    if (is(likely_.admit)) return advance_admission();
    if (is(remember)) return world_.nodes[chance_.below(node_count)].remember(name_, real_losses_);
    if (is(lose_some)) return lose();
    clock_ += chance_.between(1, ttl);
    for (auto& n : world_.nodes)
        if (chance_.one_in(2)) n.expire(name_);
}

std::string schedule::fresh_name() { return std::to_string(chance_.next()); }

void schedule::fail(std::string const& what)
{
    if (result_.violation.empty()) result_.violation = "seed=" + std::to_string(seed_) + ": " + what;
}

void schedule::start_attempt()
{
    auto const client = chance_.below(client_count);
    for (attempt& a : attempts_)
        if (a.client == client && a.at != phase::over && clock_ >= a.deadline) end(a);
    if (busy_[client] || attempts_.size() >= attempts_max) return;
    busy_[client] = true;
    attempt a;
    a.client = client;
    a.value = fresh_name();
    a.block = chance_.one_in(3) ? chance_.between(2, 3) : 1;
    a.floor = chance_.one_in(5) ? first_base + chance_.between(1, 12) : 0;
    a.ids = known_[client];
    a.began = step_;
    a.deadline = clock_ + ttl;
    attempts_.push_back(a);
    auto const unreachable = chance_.percent(likely_.unreachable) ? chance_.below(node_count) : node_count;
    for (std::size_t i = 0; i < node_count; ++i)
        if (i != unreachable) send(verb::acquire, attempts_.size() - 1, i, a.ids[i]);
}

void schedule::send(verb what, std::size_t by, std::size_t to, std::string id)
{
    request r;
    r.what = what;
    r.on = to;
    r.by = by;
    r.id = std::move(id);
    r.extension = attempts_[by].extension;
    requests_.push_back(std::move(r));
}

void schedule::send_everywhere(verb what, std::size_t by)
{
    for (std::size_t i = 0; i < node_count; ++i) send(what, by, i, known_[attempts_[by].client][i]);
}

// A message is a script and, behind it, a look at the server. Between the two anything may happen.
void schedule::execute()
{
    if (requests_.empty()) return;
    auto const index = rather_late(chance_, requests_.size());
    bool const both = requests_[index].what == verb::release || chance_.percent(60);
    if (!requests_[index].executed) {
        if (chance_.percent(likely_.drop)) {
            take(requests_, index);
            return;
        }
        if (chance_.percent(likely_.repeat)) requests_.push_back(requests_[index]);  // it comes a second time, some time
        execute(requests_[index]);
        if (!both) return;
    }
    request done = take(requests_, index);
    if (done.what != verb::release) look(done);
    if (done.what != verb::release && !chance_.percent(likely_.drop)) replies_.push_back(std::move(done));
}

void schedule::execute(request& r)
{
    auto& on = world_.nodes[r.on];
    attempt const& a = of(r);
    std::string const retention{retention_ms};
    std::string const ttl_text = std::to_string(maxttl_ms);
    r.executed = true;
    switch (r.what) {
    case verb::acquire: {
        auto const answer = on.run(scripts_.acquire, lock_keys(name_),
                                   {r.id, a.value, ttl_text, std::to_string(a.floor), std::to_string(a.block), retention});
        r.answer = number(answer);
        if (r.answer == 1) r.counter = std::stoll(answer.items.at(1));
        break;
    }
    case verb::confirm:
        r.answer = number(on.run(scripts_.confirm, lock_keys(name_), {r.id, a.value, std::to_string(a.token), retention}));
        break;
    case verb::extend:
        r.answer = number(on.run(scripts_.extend, {"redlock:node", "redlock:hw", name_, name_ + ":fence"},
                                 {r.id, retention, "1", "1", a.value, std::to_string(a.token), ttl_text}));
        if (r.answer == 2) ++result_.replants;
        break;
    case verb::release: r.answer = number(on.run(detail::release_script(), {name_}, {a.value})); break;
    }
}

void schedule::look(request& r) { r.shown = world_.nodes[r.on].look(); }

void schedule::deliver()
{
    if (replies_.empty()) return;
    request const r = take(replies_, rather_late(chance_, replies_.size()));
    attempt& a = of(r);
    auto& known = known_[a.client][r.on];
    bool const same = r.shown.master && r.shown.id == r.id;
    if (!same && mutant_ != mutant::no_trailing_check) {
        if (r.shown.master && r.id == known) known = r.shown.id;
        return notice_loss(r.on);
    }
    if (r.answer == detail::fence_not_admitted) {
        if (r.shown.master && r.id == known) known = r.shown.id;
        return notice_loss(r.on);
    }
    if (a.at == phase::over) return;
    if (r.what == verb::acquire && r.answer == detail::fence_refused && a.at == phase::asking && ++a.refusals >= majority)
        return end(a);
    if (r.answer <= 0) return;
    if (r.what == verb::acquire) on_acquire(a, r);
    if (r.what == verb::confirm && a.at == phase::confirming) a.confirmed[r.on] = true;
    if (r.what == verb::extend) on_extend(a, r);
    complete_if_confirmed(a);
}

void schedule::on_acquire(attempt& a, request const& r)
{
    if (a.at == phase::asking) {
        a.counters[r.on] = r.counter;
        auto const answers = static_cast<std::size_t>(std::count_if(a.counters.begin(), a.counters.end(),
                                                                    [](token_number c) { return c != 0; }));
        if (answers >= majority && (answers == node_count || chance_.percent(70))) decide(a);
    } else if (a.at == phase::confirming) {
        if (r.counter == a.token) a.confirmed[r.on] = true;
        if (r.counter < a.token) send(verb::confirm, r.by, r.on, a.ids[r.on]);
    }
}

void schedule::decide(attempt& a)
{
    a.token = *std::max_element(a.counters.begin(), a.counters.end());
    a.at = phase::confirming;
    auto const by = static_cast<std::size_t>(&a - &attempts_.front());
    for (std::size_t i = 0; i < node_count; ++i) {
        bool const granted = a.counters[i] != 0;
        a.confirmed[i] = granted && (a.counters[i] == a.token || mutant_ == mutant::one_round);
        if (granted && !a.confirmed[i]) send(verb::confirm, by, i, a.ids[i]);
    }
}

void schedule::complete_if_confirmed(attempt& a)
{
    if (a.at == phase::leased || a.at == phase::over) return;
    if (clock_ >= a.deadline) return end(a);
    if (a.at != phase::confirming) return;
    if (static_cast<std::size_t>(std::count(a.confirmed.begin(), a.confirmed.end(), true)) < majority) return;
    a.at = phase::leased;
    a.completed = step_;
    ++result_.completed;
    check_completed(a);
}

void schedule::end(attempt& a)
{
    a.at = phase::over;
    busy_[a.client] = false;
    auto const by = static_cast<std::size_t>(&a - &attempts_.front());
    if (!chance_.one_in(6)) send_everywhere(verb::release, by);
}

void schedule::check_completed(attempt const& a)
{
    for (attempt const& b : attempts_) {
        if (&b == &a || b.completed == 0) continue;
        auto const tokens = std::to_string(b.token - first_base) + "/" + std::to_string(b.block) + " then " +
                            std::to_string(a.token - first_base) + "/" + std::to_string(a.block);
        if (a.token - a.block < b.token && b.token - b.block < a.token) fail("a token of two attempts: " + tokens);
        if (b.completed < a.began && a.token - a.block < b.token) fail("a token that is not larger than one before: " + tokens);
    }
}

void schedule::use_a_lease()
{
    std::vector<std::size_t> candidates;
    for (std::size_t i = 0; i < attempts_.size(); ++i)
        if (attempts_[i].completed != 0) candidates.push_back(i);
    if (candidates.empty()) return;
    auto const index = candidates[chance_.below(candidates.size())];
    attempt& a = attempts_[index];
    auto const what = chance_.below(10);
    if (what < 3) return write(a);  // also after its end: a client may be stopped for any time
    if (a.at != phase::leased) return;
    if (what < 7 && clock_ < a.deadline) {
        ++a.extension;
        a.extension_began = step_;
        a.extended = {};
        send_everywhere(verb::extend, index);
    } else {
        end(a);
    }
}

// A resource that compares tokens.
void schedule::write(attempt const& a)
{
    token_number const token = chance_.between(a.token - a.block + 1, a.token);
    if (token < register_token_) return;
    if (token == register_token_ && register_writer_ != a.value) fail("two writers with one token");
    register_token_ = token;
    register_writer_ = a.value;
}

void schedule::on_extend(attempt& a, request const& r)
{
    if (r.extension != a.extension || a.at != phase::leased || a.extended[r.on]) return;
    a.extended[r.on] = true;
    if (static_cast<std::size_t>(std::count(a.extended.begin(), a.extended.end(), true)) != majority) return;
    ++result_.extensions;
    a.deadline = std::max(a.deadline, clock_ + ttl / 2);
    for (attempt const& b : attempts_)
        if (b.completed != 0 && b.completed < a.extension_began && b.token > a.token)
            fail("an extension after a larger token was complete");
}

// A node more may be lost while one is not admitted, but not often: then everything stops, as it should.
void schedule::lose()
{
    if (losses_left_ == 0) return;
    bool const any = chance_.one_in(8);
    auto const index = chance_.below(node_count);
    auto const kind = chance_.below(20);
    bool all = true;
    for (auto& n : world_.nodes) all = all && n.admitted();
    if (!all && !any) return;
    loss what = kind < 4 ? loss::flush : kind < 11 ? loss::forget : kind < 18 ? loss::roll_back : loss::false_alarm;
    if (real_losses_) what = kind < 8 ? loss::restart : kind < 16 ? loss::restart_from_file : loss::demote;
    --losses_left_;
    ++result_.losses;
    world_.nodes[index].lose(what, name_, world_.empty);
    if (chance_.one_in(3)) notice_loss(index);  // by somebody who is no client of ours
}

void schedule::notice_loss(std::size_t of)
{
    auto const working = std::count_if(admissions_.begin(), admissions_.end(), [&](admission const& a) {
        return a.of == of && a.at != admission::phase::over;
    });
    if (working >= 2 || (working == 1 && !chance_.one_in(4))) return;
    admission a;
    a.of = of;
    admissions_.push_back(a);
    if (!chance_.one_in(4)) mark_loss(admissions_.back());
    if (!chance_.one_in(4)) advance(admissions_.back());
}

void schedule::advance_admission()
{
    if (admissions_.empty()) return;
    advance(admissions_[chance_.below(admissions_.size())]);
}

void schedule::advance(admission& a)
{
    if (a.at == admission::phase::marking) mark_loss(a);
    if (a.at == admission::phase::waiting && clock_ >= a.drained) admit(a);
}

// The answer may get lost on its way: then the next try finds its own mark, or another loss.
void schedule::mark_loss(admission& a)
{
    auto& on = world_.nodes[a.of];
    auto const seen = on.look();
    auto const answer = on.run(detail::mark_script(), node_keys(), {seen.id, fresh_name()});
    int const code = number(answer);
    if (chance_.one_in(10)) return;
    if (code == 2) a.at = admission::phase::over;
    if (code != 0 && code != 1) return;
    a.id = seen.id;
    a.mark = answer.items.at(1);
    a.drained = clock_ + (mutant_ == mutant::no_drain ? 0 : ttl);
    a.at = admission::phase::waiting;
}

void schedule::admit(admission& a)
{
    token_number const base = mutant_ == mutant::no_catch_up ? 0 : high_water_elsewhere(a.of);
    if (base < 0) return;
    auto const answer = number(world_.nodes[a.of].run(
        detail::admit_script(), node_keys(), {a.id, std::to_string(base), std::to_string(maxttl_ms), a.mark}));
    if (answer == 1) ++result_.admissions;
    if (answer == 1 && chance_.one_in(3)) return;  // sent again later, as its answer got lost
    a.at = answer == 1 || answer == 2 ? admission::phase::over : admission::phase::marking;
}

// -1: too few of the others are admitted.
std::int64_t schedule::high_water_elsewhere(std::size_t than)
{
    std::size_t read = 0;
    token_number highest = 0;
    for (std::size_t i = 0; i < node_count; ++i) {
        if (i == than) continue;
        auto const facts = world_.nodes[i].run(detail::inspect_script(), node_keys(), {}).items;
        bool const intact = facts.at(1) == "master" && !facts[5].empty() && facts[4].starts_with(facts[0]);
        if (!intact) continue;
        ++read;
        highest = std::max<token_number>(highest, std::stoll(facts[5]));
    }
    return read < intact_needed ? -1 : highest;
}

}  // namespace redlock::fencing
