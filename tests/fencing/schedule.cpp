#include "schedule.hpp"

#include <algorithm>
#include <initializer_list>
#include <stdexcept>
#include <utility>

namespace redlock::fencing {

namespace {

constexpr int steps_of_a_schedule = 150;
constexpr std::size_t max_attempts = 16;
constexpr std::string_view retention_ms = "3600000";

words lock_keys(std::string const& name) { return {name, name + ":fence", "redlock:node", "redlock:hw"}; }
std::size_t one_of(simulation::random& chance, std::initializer_list<std::size_t> from) { return from.begin()[chance.below(from.size())]; }

template <class T>
T take(std::vector<T>& from, std::size_t index)
{
    T taken = std::move(from[index]);
    from.erase(from.begin() + static_cast<std::ptrdiff_t>(index));
    return taken;
}

// Rather a late one, or what is old would hold up everything; but an old one's time may come whenever it likes.
std::size_t rather_late(simulation::random& chance, std::size_t size) { return size - 1 - chance.below(1 + chance.below(size)); }

}  // namespace

void outcome::add(outcome const& other)
{
    attempts += other.attempts;
    completed += other.completed;
    losses += other.losses;
    admissions += other.admissions;
    extensions += other.extensions;
    recreates += other.recreates;
    if (violation.empty()) violation = other.violation;
}

schedule::schedule(cluster& world, std::uint64_t seed, mutant m, bool recorded)
    : world_{world},
      chance_{seed},
      mutant_{m},
      scripts_{scripts_of(m)},
      name_{"r" + std::to_string(seed)},
      log_{world.nodes, name_, recorded},
      seed_{seed},
      real_losses_{chance_.one_in(400)},
      with_losses_{real_losses_ || chance_.percent(70)}
{
    likely_ = likelihoods{chance_};
    attempts_.reserve(max_attempts);
    losses_left_ = with_losses_ ? static_cast<int>(chance_.between(1, 3)) : 0;
}

outcome schedule::run()
{
    for (auto& n : world_.nodes) n.reset();
    for (std::size_t i = 0; i < node_count; ++i) {
        auto const id = world_.nodes[i].look().id;
        for (auto& known : known_) known[i] = id;
    }
    log_.begin(seed_);
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
    : expire{one_of(chance, {2, 6, 12})},
      start{one_of(chance, {4, 7, 10})},
      use{one_of(chance, {2, 5, 9})},
      admit{one_of(chance, {4, 10})},
      pass_time{one_of(chance, {2, 5})},
      drop{one_of(chance, {0, 5, 15})},
      repeat{one_of(chance, {0, 8})},
      unreachable{one_of(chance, {0, 50, 100})}
{
}

void schedule::act()
{
    constexpr std::size_t remember = 4;
    constexpr std::size_t lose_some = 3;
    auto at = chance_.below(70 + likely_.expire + likely_.start + likely_.use + likely_.admit + likely_.pass_time + remember + lose_some);
    auto const is = [&at](std::size_t weight) {
        bool const chosen = at < weight;
        at -= chosen ? 0 : weight;
        return chosen;
    };
    if (is(40)) return execute();
    if (is(30)) return deliver();
    if (is(likely_.expire)) return expire(chance_.below(node_count));
    if (is(likely_.start)) return start_attempt();
    if (is(likely_.use)) return use_a_lease();
    if (is(likely_.admit)) return advance_admission();
    if (is(remember)) return world_.nodes[chance_.below(node_count)].remember(name_, real_losses_);
    if (is(lose_some)) return lose();
    clock_ += chance_.between(1, ttl);
    for (std::size_t i = 0; i < node_count; ++i)
        if (chance_.one_in(2)) expire(i);
}

void schedule::expire(std::size_t at)
{
    world_.nodes[at].expire(name_);
    log_.key_vanished(at);
}

// They cannot complete any more, and will notice it when they are told something.
void schedule::give_up_what_is_late()
{
    for (attempt const& a : attempts_)
        if (a.completed == 0 && clock_ >= a.deadline) log_.gives_up(a.value);
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
    if (busy_[client] || attempts_.size() >= max_attempts) return;
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
    log_.begins(a.value, a.block);
    auto const unreachable = chance_.percent(likely_.unreachable) ? chance_.below(node_count) : node_count;
    for (std::size_t i = 0; i < node_count; ++i) {
        if (i == unreachable) continue;
        log_.binds(a.value, i, a.ids[i]);
        send(verb::acquire, attempts_.size() - 1, i, a.ids[i]);
    }
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
        auto const answer = on.run(scripts_.acquire, {"redlock:node", "redlock:hw", name_, name_ + ":fence"},
                                   {r.id, ttl_text, std::to_string(a.block), retention, a.value, std::to_string(a.floor)});
        r.answer = number(answer);
        if (r.answer == 1) r.counter = std::stoll(answer.text.substr(answer.text.find(' ') + 1));
        log_.acquired(r.on, a.value, r.counter, r.id, r.answer == 1);
        break;
    }
    case verb::confirm:
        r.answer = number(on.run(scripts_.confirm, lock_keys(name_), {r.id, a.value, std::to_string(a.token), retention}));
        log_.confirmed(r.on, a.value, a.token, r.id, r.answer == 1);
        break;
    case verb::extend:
        r.answer = number(on.run(scripts_.extend, {"redlock:node", "redlock:hw", name_, name_ + ":fence"},
                                 {r.id, retention, "1", "1", a.value, std::to_string(a.token), ttl_text}));
        if (r.answer == 2) ++result_.recreates;
        log_.extended(r.on, a.value, a.token, r.id, number_of_extension(r.by, r.extension), r.answer > 0);
        break;
    case verb::release:
        r.answer = number(on.run(detail::release_script(), {name_}, {a.value}));
        log_.key_vanished(r.on);
        break;
    }
}

void schedule::look(request& r)
{
    r.shown = world_.nodes[r.on].look();
    if (r.answer <= 0 || !r.shown.master || r.shown.id != r.id) return;
    if (r.what == verb::extend) return log_.checked_extension(r.on, of(r).value, r.id, number_of_extension(r.by, r.extension));
    log_.checked(r.on, of(r).value, r.id);
}

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
    if (r.what == verb::acquire && r.answer == detail::fence_refused && a.at == phase::asking && ++a.refusals >= majority) return end(a);
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
        auto const answers = static_cast<std::size_t>(
            std::count_if(a.counters.begin(), a.counters.end(), [](token_number c) { return c != 0; }));
        if (answers >= majority && (answers == node_count || chance_.percent(70))) decide(a);
    } else if (a.at == phase::confirming) {
        if (r.counter == a.token) a.confirmed[r.on] = true;
        if (r.counter < a.token) send(verb::confirm, r.by, r.on, a.ids[r.on]);
    }
}

void schedule::decide(attempt& a)
{
    a.token = *std::max_element(a.counters.begin(), a.counters.end());
    log_.decides(a.value, a.token, a.counters);
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
    log_.completes(a.value, a.token - a.block + 1, a.token, a.confirmed);
    ++result_.completed;
    check_completed(a);
}

void schedule::end(attempt& a)
{
    a.at = phase::over;
    if (a.completed == 0) log_.gives_up(a.value);
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
        log_.asks_to_extend(number_of_extension(index, a.extension), a.value, a.token);
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
    log_.is_extended(number_of_extension(r.by, r.extension), a.value, a.extended);
    a.deadline = std::max(a.deadline, clock_ + ttl / 2);
    for (attempt const& b : attempts_)
        if (b.completed != 0 && b.completed < a.extension_began && b.token > a.token)
            fail("an extension after a larger token was complete");
}

}  // namespace redlock::fencing
