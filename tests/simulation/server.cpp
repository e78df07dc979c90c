#include "server.hpp"

#include "link.hpp"
#include "quorum/sets/set_record.hpp"
#include "transition_log.hpp"
#include "universe.hpp"

#include <boost/container/small_vector.hpp>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace redlock::simulation {

using detail::command;
using detail::reply;
using detail::verb;

namespace {

reply error_reply(char const* text) { return {vote::failed, errc::server_error, text}; }

}  // namespace

char const* to_string(complaint c) noexcept
{
    switch (c) {
    case complaint::none: return "no complaint";
    case complaint::loading: return "LOADING";
    case complaint::read_only: return "READONLY";
    case complaint::misconf: return "MISCONF";
    case complaint::oom: return "OOM";
    }
    return "?";
}

char const* to_string(keeps what) noexcept
{
    switch (what) {
    case keeps::everything: return "memory kept";
    case keeps::nothing: return "memory lost";
    case keeps::an_older_state: return "older state";
    }
    return "?";
}

server::server(universe& in, std::size_t index, machine_clock const& clock) : wall{clock}, universe_{in}, index_{index}
{
    memory.on_change = [this](std::string_view key) { on_change(key); };
    become_another();
    memory.kept_since = time();
}

void server::on_change(std::string_view key)
{
    for (link* const l : links_)
        if (l->has_watched()) l->on_change(key);
}

bool server::is_watched(std::string_view key) const
{
    return std::any_of(links_.begin(), links_.end(), [key](link const* l) { return l->is_watching(key); });
}

// Redis looks for such keys ten times a second.
void server::say_expiry_of(std::string const& key)
{
    auto const* const e = memory.stored(key);
    if (!e || !e->expires || !is_watched(key)) return;
    auto const noticed = wall.when(memory.gone_at(*e)) + universe_.chance.scaled(universe_.weather.max_expiry_noticed);
    auto const when = std::max(noticed, universe_.now() + 1ns);
    auto const [look, is_first] = looks_.try_emplace(key, when);
    if (!is_first && look->second <= when) return;
    look->second = when;
    universe_.at(when, [this, key, when] {
        auto const due = looks_.find(key);
        if (due == looks_.end() || due->second != when) return;
        looks_.erase(due);
        when_it_runs([this, key] {
            memory.expire(time());
            say_expiry_of(key);  // it may have been extended, or the clock set back
        });
    });
}

void server::begin_admitted(std::chrono::milliseconds max_ttl, testing::token_number high_water)
{
    memory.record = testing::redis_model::node_record{memory.id, high_water, max_ttl, {}};
    memory.high_water = high_water;
}

time_point server::time() const noexcept { return wall.at(universe_.now()); }

// Why it does not do as it is told.
std::optional<reply> server::refusal(command const& c)
{
    if (complains_ != complaint::loading && (c.what == verb::inspect || c.what == verb::watch)) return {};
    switch (complains_) {
    case complaint::none:
        if (is_replica) return error_reply("READONLY You can't write against a read only replica.");
        break;
    case complaint::loading: return error_reply("LOADING Redis is loading the dataset in memory");
    case complaint::read_only: return error_reply("READONLY You can't write against a read only replica.");
    case complaint::misconf: return error_reply("MISCONF Redis is configured to save RDB snapshots, but it's unable to persist to disk");
    case complaint::oom: {
        // Only SET needs memory.
        bool only_expiry = c.what == verb::extend;
        for (std::size_t i = 0; i < c.key_count(); ++i) {
            auto const* const held = memory.find(c.key_at(i), time());
            auto const* const fence = memory.find_counter(c.key_at(i), time());
            bool const stays = fence && (fence->marked ? fence->value > c.token : fence->value == c.token);
            only_expiry = only_expiry && (!c.fenced || (held && stays));
        }
        if (c.what != verb::release && !only_expiry) return error_reply("OOM command not allowed when used memory > 'maxmemory'.");
    }
    }
    return {};
}

// Of a command's keys, as they were before it.
struct server::before {
    using ends = std::map<std::string, time_point>;
    struct key {
        bool there;
        bool others;  // it has another value than the command's
        std::optional<time_point> expires;
        ends readers;  // others than the one that the command is about
    };

    before(server& on, command const& c)
    {
        auto const now = on.time();
        for (std::size_t i = 0; i < c.key_count(); ++i) {
            auto const* const e = on.memory.find(c.key_at(i), now);
            bool const adopts = c.what == verb::adopt && e && e->value == c.more().former;
            bool const is_set = e && e->readers;
            key& k = keys.emplace_back(key{e != nullptr, e && !is_set && e->value != c.value && !adopts, {}, {}});
            if (e) k.expires = e->expires;
            if (is_set) k.readers = e->readers->ends;
            if (is_set) was_reader = k.readers.erase(std::string{c.value}) > 0;
            auto const* const fence = on.memory.find_counter(c.key_at(i), now);
            above_guard = above_guard || (fence && fence->value > c.token);
        }
    }
    bool all_there() const
    {
        return std::all_of(keys.begin(), keys.end(), [](key const& k) { return k.there; });
    }

    // Each other reader is where it was, unless its time is over.
    bool readers_stay(std::size_t i, testing::redis_model::entry const* after, time_point now) const
    {
        ends const& readers = keys[i].readers;
        return std::all_of(readers.begin(), readers.end(), [&](auto const& each) {
            if (each.second <= std::chrono::floor<std::chrono::milliseconds>(now)) return true;
            if (!after || !after->readers) return false;
            auto const found = after->readers->ends.find(each.first);
            return found != after->readers->ends.end() && found->second == each.second && after->expires >= each.second;
        });
    }

    boost::container::small_vector<key, 2> keys;
    bool was_reader{false};
    bool above_guard{false};  // a counter
};

reply server::execute(command const& c, std::string_view learned, bool of_nobody)
{
    if (auto refused = refusal(c)) return std::move(*refused);

    auto const percent = universe_.weather.evicted_percent;
    if (percent > 0 && c.votes_with_tokens() && universe_.chance.percent(percent))
        evict(c.key_at(c.others.empty() ? 0 : universe_.chance.below(c.key_count())));

    if (universe_.transitions) universe_.transitions->catch_up(*this, &c);
    before const was{*this, c};
    bool const was_admitted = memory.admitted();
    auto answer = memory.execute(c, time(), learned);
    if (universe_.transitions) universe_.transitions->executed(*this, c, learned, answer);
    for (std::size_t i = 0; i < c.key_count(); ++i) {
        auto* const after = memory.find(c.key_at(i), time());
        bool const changed = !after || after->expires != was.keys[i].expires || after->value == c.value;
        if (was.keys[i].others && changed && universe_.on_violation)
            universe_.on_violation("a request changed a key with somebody else's value");
        if (!was.readers_stay(i, after, time()) && universe_.on_violation)
            universe_.on_violation("a request changed what the key says of another reader");
        if (of_nobody && !was.keys[i].there && after) after->of_nobody = true;
    }
    note_reader(c, was, of_nobody);
    count(c, answer, was, was_admitted);
    if (on_write && c.what != verb::inspect && c.what != verb::watch) on_write();
    return answer;
}

void server::note_reader(command const& c, before const& was, bool of_nobody)
{
    if (was.was_reader) return;
    auto const* const after = memory.find(c.key, time());
    if (!after || !after->readers) return;
    std::pair<std::string, std::string> const reader{c.key, c.value};
    if (!after->readers->ends.contains(reader.second)) return;
    of_nobody ? static_cast<void>(strays_.insert(reader)) : static_cast<void>(strays_.erase(reader));
}

bool server::has(std::string const& key, std::string const& value)
{
    auto const* const e = find(key);
    if (!e) return false;
    if (!e->readers) return e->value == value;
    auto const reader = e->readers->ends.find(value);
    return reader != e->readers->ends.end() && reader->second > std::chrono::floor<std::chrono::milliseconds>(time());
}

void server::count(command const& c, reply const& answer, before const& was, bool was_admitted)
{
    bool const was_there = was.all_there();
    auto& covered = *universe_.covered;
    bool const granted = answer.vote == vote::granted;
    if (answer.error == errc::node_not_admitted) ++covered.not_admitted;
    if (c.fenced && granted && (c.what == verb::acquire || c.what == verb::confirm)) {
        auto const token = c.what == verb::acquire ? answer.counter : c.token;
        if (universe_.on_confirm_event) universe_.on_confirm_event(*this, c, token);
        if (c.what == verb::confirm) ++covered.confirmed;
        if (c.what == verb::acquire && token == c.token) ++covered.floor_reached;
    }
    if (c.fenced && answer.vote == vote::refused && was_there && (c.what == verb::confirm || c.what == verb::extend))
        if (auto const* const held = memory.find(c.key, time()); held && held->value == c.value) ++covered.overtaken;
    if (c.fenced && c.what == verb::extend && granted && !was_there) ++covered.recreated;
    if (c.fenced && c.what == verb::extend && granted && was_there && was.above_guard) ++covered.extended_at_a_mark;
    if (c.fenced && c.what == verb::extend && universe_.on_extension) universe_.on_extension(c);
    if (granted && c.is_about_state() && universe_.on_state) universe_.on_state(index_, c);
    if (c.what == verb::climb && granted) {
        if (universe_.on_climb) universe_.on_climb(index_, c);
        ++(was.above_guard ? covered.climbed_again : covered.climbed);
    }
    if (c.what == verb::mark && granted && answer.words().starts_with(std::string{c.value} + '-')) {
        ++covered.quarantine;
        marked_ = universe_.now();
        if (first_mark_[0] != c.more().id) first_mark_ = {std::string{c.more().id}, std::string{c.value}};
    }
    if (c.what == verb::claim && granted) ++(quorum::read_set_text(c.value).record.complete ? covered.set_completed : covered.set_claimed);
    if (c.what != verb::admit || was_admitted || !memory.admitted()) return;
    ++covered.admission;
    last_admission_ = c;
    last_admission_.change_more().id = last_admission_text_[0] = c.more().id;
    last_admission_.value = last_admission_text_[1] = c.value;
    auto const& servers = universe_.servers();
    auto const others = std::count_if(servers.begin(), servers.end(),
                                      [this](auto const& s) { return s.get() != this && s->memory.admitted(); });
    if (others > 0) {
        if (static_cast<std::size_t>(others) < (servers.size() + 1) / 2) ++covered.recovery;
        return;
    }
    ++covered.founding;
    auto const longest = memory.record->max_ttl;
    if (universe_.now() - marked_ < longest && memory.kept_since && time() - *memory.kept_since >= longest) ++covered.founding_by_uptime;
}

void server::evict(std::string_view key)
{
    if (!memory.find(key, time())) return;
    ++universe_.covered->evicted;
    if (universe_.records) universe_.records->server_fault(index_, "key evicted", universe_.now());
    memory.del(key);
}

void server::when_it_runs(event f)
{
    if (!up_) return;  // nobody listens
    if (stopped_) return inbox_.push_back(std::move(f));
    f();
}

void server::go_on()
{
    if (!std::exchange(stopped_, false)) return;
    for (auto& f : std::exchange(inbox_, {})) f();
    for (link* const l : links_) l->try_again();
}

void server::crash(keeps what)
{
    if (!std::exchange(up_, false)) return;
    inbox_.clear();
    knows_scripts_ = false;
    lose(what);
    become_another();
    for (link* const l : links_) l->cut();
}

void server::start()
{
    if (std::exchange(up_, true)) return;
    complains_ = complaint::none;
    memory.master = true;
    memory.kept_since = time();
    for (link* const l : links_) l->try_again();
}

void server::fail_over(keeps what)
{
    lose(what);
    become_another();
    memory.kept_since.reset();  // it was promoted
}

bool server::others_remember() const
{
    auto const& servers = universe_.servers();
    auto const remember = std::count_if(servers.begin(), servers.end(),
                                        [this](auto const& s) { return s.get() != this && s->memory.admitted(); });
    return static_cast<std::size_t>(remember) >= (servers.size() + 1) / 2;
}

void server::admit_again()
{
    if (last_admission_.what != verb::admit || !up_) return;
    ++universe_.covered->admission_repeated;
    auto const again = last_admission_;
    if (universe_.transitions) universe_.transitions->next(std::nullopt, universe_.now());
    execute(again, {}, true);
}

void server::mark_again()
{
    if (first_mark_[0] != memory.id || !up_) return;
    ++universe_.covered->mark_repeated;
    detail::command again{verb::mark, {}, first_mark_[1], {}};
    again.change_more().id = first_mark_[0];
    if (universe_.transitions) universe_.transitions->next(std::nullopt, universe_.now());
    execute(again, {}, true);
}

void server::lose_record()
{
    auto const allowed = memory.record && shows_longest_ttl ? memory.record->max_ttl : 0ms;
    memory.record.reset();
    if (allowed > 0ms) memory.record = testing::redis_model::node_record{std::string{testing::redis_model::no_id}, 0, allowed, {}};
}

void server::flush_all()
{
    auto const record = memory.record;
    memory.flush_all();
    memory.record = record;
    lose_record();
}

void server::lose(keeps what)
{
    if (what == keeps::everything) return;
    flush_all();
    if (what == keeps::nothing) return;
    // An empty one has no id: it was never taken.
    auto const now = std::exchange(memory, older_state_);
    if (!memory.record) memory.record = now.record;
    memory.id = now.id;
    memory.master = now.master;
    memory.expires_early = now.expires_early;
    memory.on_change = now.on_change;
    memory.kept_since.reset();
    for (auto& e : memory.entries(time())) {
        memory.find(e.key, time())->of_nobody = true;  // its owner may have let go since
        if (!e.readers) continue;
        for (auto const& reader : e.readers->ends) strays_.insert({e.key, reader.first});
    }
}

void server::become_another() { memory.id = static_cast<char>('A' + index_) + std::to_string(++lives_); }

void server::complain(complaint c)
{
    if (complains_ == complaint::read_only && c != complaint::read_only) {
        become_another();
        memory.kept_since.reset();
        ++universe_.covered->promoted;
    }
    complains_ = c;
    memory.master = c != complaint::read_only;
}

}  // namespace redlock::simulation
