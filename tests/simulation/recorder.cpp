#include "recorder.hpp"

#include "base/to_error.hpp"
#include "universe.hpp"

#include <algorithm>
#include <tuple>

namespace redlock::simulation {

char const* to_string(detail::verb v) noexcept
{
    switch (v) {
    case detail::verb::acquire: return "acquire";
    case detail::verb::confirm: return "confirm";
    case detail::verb::extend: return "extend";
    case detail::verb::climb: return "climb";
    case detail::verb::release: return "release";
    case detail::verb::adopt: return "adopt";
    case detail::verb::watch: return "watch";
    case detail::verb::inspect: return "inspect";
    case detail::verb::claim: return "claim";
    case detail::verb::mark: return "mark";
    case detail::verb::admit: return "admit";
    case detail::verb::publish: return "publish";
    case detail::verb::inherit: return "inherit";
    case detail::verb::peek: return "peek";
    case detail::verb::want: return "want";
    case detail::verb::keep: return "keep";
    case detail::verb::look: return "look";
    }
    return "?";
}

namespace {

std::string to_text(recorder::command const& c)
{
    std::string text = to_string(c.what);
    for (auto const* const part : {&c.key, &c.value, &c.tokens})
        if (!part->empty()) text += " " + *part;
    return text;
}

std::string about_tokens(detail::command const& c, std::string_view learned)
{
    std::string const to{c.what == detail::verb::mark || c.what == detail::verb::admit ? c.more().id : learned};
    switch (c.what) {
    case detail::verb::acquire:
        if (!c.fenced) return {};
        return "from " + std::to_string(c.token) + (c.block > 1 ? ", " + std::to_string(c.block) + " tokens" : "") + ", at " + to;
    case detail::verb::confirm:
    case detail::verb::adopt:
    case detail::verb::extend: return c.fenced ? "with " + std::to_string(c.token) + ", at " + to : "";
    case detail::verb::climb: return "from " + std::to_string(c.token) + " to " + std::to_string(c.more().goal) + ", at " + to;
    case detail::verb::publish:
        return "with " + std::to_string(c.token) + ", of " + std::to_string(c.more().goal) + " number " + std::to_string(c.more().since) +
               ", at " + to;
    case detail::verb::inherit: return "with " + std::to_string(c.token) + ", at " + to;
    case detail::verb::claim:
    case detail::verb::mark: return "at " + std::string{c.more().id};
    case detail::verb::admit: return "with " + std::to_string(c.token) + ", at " + to;
    case detail::verb::release:
    case detail::verb::watch:
    case detail::verb::inspect:
    case detail::verb::peek:
    case detail::verb::keep:
    case detail::verb::look:
    case detail::verb::want: break;
    }
    return {};
}

std::string in_words(std::chrono::milliseconds left)
{
    return left == detail::never_expires ? "held for ever" : "held for " + std::to_string(left.count()) + " ms";
}

std::string to_text(detail::reply const& r)
{
    switch (r.vote) {
    case vote::granted:
        if (r.expires_in) return (r.watching ? "watching, " : "not watching, ") + in_words(*r.expires_in);
        if (r.watching) return "watching, free";
        return r.counter > 0 ? "granted " + std::to_string(r.counter) : "granted";
    case vote::refused: return "refused";
    case vote::failed: return r.words().empty() ? (r.error == errc{} ? "failed" : detail::to_error(r.error).message()) : r.words();
    case vote::pending: break;
    }
    return "none";
}

std::string to_text(std::string const& s) { return s; }

std::string in_us(duration d) { return std::to_string(d / 1us) + " us"; }

}  // namespace

std::size_t recorder::sent(std::size_t client, std::size_t server, duration at, detail::batch const& work, std::string_view learned)
{
    message m{};
    m.client = client;
    m.server = server;
    m.sent = at;
    for (auto const& c : work.commands) {
        std::string names{c.key};
        for (std::string const& other : c.others) names += ", " + other;
        m.commands.push_back({c.what, std::move(names), std::string{c.value}, c.ttl, about_tokens(c, learned)});
        if (c.what == detail::verb::release) lets_go(client, c.value, at);
    }
    messages.push_back(std::move(m));
    return messages.size() - 1;
}

void recorder::answered(std::size_t record, duration at, std::vector<detail::reply> const& answers)
{
    messages[record].answered = at;
    messages[record].answers.clear();
    for (auto const& r : answers) messages[record].answers.push_back(to_text(r));
}

void recorder::process_paused(std::size_t client, duration from, duration to) { faults.push_back({"paused", client, {}, from, to}); }

void recorder::process_killed(std::size_t client, duration at)
{
    faults.push_back({"killed", client, {}, at, {}});
    for (auto& l : leases)
        if (l.client == client && !l.ended) lease_ends(static_cast<std::size_t>(&l - leases.data()), at, "its process was killed");
}

void recorder::server_fault(std::size_t server, std::string what, duration from, std::optional<duration> to)
{
    faults.push_back({std::move(what), {}, server, from, to});
}

void recorder::link_fault(std::size_t client, std::size_t server, std::string what, duration from, std::optional<duration> to)
{
    faults.push_back({std::move(what), client, server, from, to});
}

void recorder::say(std::size_t client, duration at, std::string text) { notes.push_back({client, at, std::move(text)}); }

std::size_t recorder::lease_begins(std::size_t client, std::string name, duration at, duration valid_until, std::string value)
{
    if (value.empty()) value = value_of_new_lease(client, name);
    leases.push_back({client, std::move(name), std::move(value), at, {{at, valid_until}}, {}, {}, {}});
    return leases.size() - 1;
}

// The value that a new lease must be about: not one that is given back or has a lease already, if there is another; then the one
// that most servers are known to have granted; then the latest.
std::string recorder::value_of_new_lease(std::size_t client, std::string const& name) const
{
    struct candidate {
        bool is_free{true};
        std::size_t grants{0};
        duration latest{};
    };
    std::map<std::string, candidate> candidates;
    for (message const& m : messages) {
        if (m.client != client) continue;
        for (std::size_t i = 0; i < m.commands.size(); ++i) {
            command const& c = m.commands[i];
            if (c.key != name) continue;
            auto& one = candidates[c.value];
            if (c.what == detail::verb::release) one.is_free = false;
            if (c.what != detail::verb::acquire || !m.delivered || i >= m.answers.size() || !m.answers[i].starts_with("granted")) continue;
            ++one.grants;
            one.latest = std::max(one.latest, *m.delivered);
        }
    }
    for (lease_bar const& l : leases)
        if (l.client == client && l.name == name) candidates[l.value].is_free = false;
    auto const best = std::max_element(candidates.begin(), candidates.end(), [](auto const& a, auto const& b) {
        auto const rank = [](candidate const& c) { return std::tuple{c.grants > 0, c.is_free, c.grants, c.latest}; };
        return rank(a.second) < rank(b.second);
    });
    return best == candidates.end() ? std::string{} : best->first;
}

void recorder::lets_go(std::size_t client, std::string_view value, duration at)
{
    for (auto& l : leases)
        if (l.client == client && l.value == value && !l.ended && !l.let_go) l.let_go = at;
}

void recorder::lease_extends(std::size_t lease, duration at, duration valid_until)
{
    auto& bar = leases[lease];
    auto& ends = bar.valid_until;
    if (valid_until > ends.back().second) ends.emplace_back(at, valid_until);
    if (valid_until < ends.back().second && !bar.let_go) bar.let_go = at;  // its holder has moved it away, to release it
}

void recorder::lease_ends(std::size_t lease, duration at, std::string why)
{
    auto& bar = leases[lease];
    if (bar.ended) return;
    bar.ended = at;
    bar.why = std::move(why);
}

void recorder::look_around(universe const& u)
{
    for (auto const& p : u.processes()) client_clocks.push_back(p ? p->clock.parts_per_million() : 0);
    for (auto const& s : u.servers()) server_clocks.push_back(s->wall.parts_per_million());
    auto const& w = u.weather;
    setting("a message takes", std::to_string(w.min_delay / 1us) + " to " + in_us(w.max_delay));
    if (w.slow_percent > 0) setting("slow messages", std::to_string(w.slow_percent) + " %, up to " + in_us(w.max_slow) + " more");
    if (w.duplicate_percent > 0) setting("duplicates", std::to_string(w.duplicate_percent) + " %");
    if (u.pause_one_in > 0)
        setting("short pauses", "after one handler in " + std::to_string(u.pause_one_in) + ", up to " + in_us(u.max_short_pause));
}

void recorder::look_at(universe& u)
{
    if (server_clocks.empty()) look_around(u);
    excluded_.resize(u.servers().size());
    for (auto const& s : u.servers()) {
        auto& excluded = excluded_[s->index()];
        if (!excluded && !s->memory.admitted()) {
            excluded = faults.size();
            server_fault(s->index(), "not admitted, as " + s->memory.id, u.now());
        } else if (excluded && s->memory.admitted()) {
            faults[*std::exchange(excluded, {})].to = u.now();
            server_fault(s->index(), "admitted, as " + s->memory.id + " from " + std::to_string(s->memory.record->base), u.now());
        }
        auto const& entries = s->memory.entries(s->time());
        for (auto const& e : entries) {
            auto const known = present_.find({s->index(), e.key});
            bool const same = known != present_.end() && keys[known->second].value == e.value;
            if (!same) {
                if (known != present_.end()) keys[known->second].to = u.now();
                present_[{s->index(), e.key}] = keys.size();
                keys.push_back({s->index(), e.key, e.value, u.now(), {}, {}});
            }
            auto& bar = same ? keys[known->second] : keys.back();
            bar.expires = e.expires ? std::optional{s->wall.when(*e.expires)} : std::nullopt;
        }
        for (auto it = present_.begin(); it != present_.end();) {
            bool const here = it->first.first != s->index() ||
                              std::any_of(entries.begin(), entries.end(), [&](auto const& e) { return e.key == it->first.second; });
            if (!here) keys[it->second].to = u.now();
            it = here ? std::next(it) : present_.erase(it);
        }
    }
}

std::vector<std::string> recorder::as_text() const
{
    std::multimap<duration, std::string> lines;
    auto const client = [](std::size_t i) { return "client " + std::to_string(i); };
    auto const server = [](std::size_t i) { return "server " + std::to_string(i); };
    auto const all = [](auto const& each) {
        std::string sum;
        for (auto const& e : each) sum += (sum.empty() ? "" : ", ") + to_text(e);
        return sum;
    };
    for (std::size_t i = 0; i < messages.size(); ++i) {
        message const& m = messages[i];
        auto const way = client(m.client) + " > " + server(m.server) + " #" + std::to_string(i);
        auto const back = client(m.client) + " < " + server(m.server) + " #" + std::to_string(i);
        lines.emplace(m.sent, way + " sent: " + all(m.commands));
        if (m.arrived) lines.emplace(*m.arrived, way + " arrived");
        if (m.answered) lines.emplace(*m.answered, back + " answered: " + all(m.answers));
        if (m.delivered) lines.emplace(*m.delivered, back + " delivered");
        if (m.cut) lines.emplace(*m.cut, way + " cut off");
        for (auto const at : m.haunted) lines.emplace(at, way + " executed, and nobody knows");
    }
    for (lease_bar const& l : leases) {
        for (auto const& [at, until] : l.valid_until)
            lines.emplace(at, client(l.client) + " holds " + l.name + " until " + std::to_string(until / 1us) + " us");
        if (l.ended) lines.emplace(*l.ended, client(l.client) + " no longer holds " + l.name + ": " + l.why);
    }
    for (key_bar const& k : keys) {
        lines.emplace(k.from, server(k.server) + " has " + k.name + " = " + k.value);
        if (k.to) lines.emplace(*k.to, server(k.server) + " no longer has " + k.name + " = " + k.value);
    }
    for (fault const& f : faults) {
        std::string const who = (f.client ? client(*f.client) + " " : "") + (f.server ? server(*f.server) + " " : "");
        lines.emplace(f.from, "! " + who + f.what);
        if (f.to) lines.emplace(*f.to, "! " + who + f.what + ": over");
    }
    for (note const& n : notes) lines.emplace(n.at, client(n.client) + ": " + n.text);

    std::vector<std::string> result;
    for (auto const& [at, text] : lines) {
        std::string when = std::to_string(at / 1us);
        when.insert(0, when.size() < 12 ? 12 - when.size() : 0, ' ');
        result.push_back(when + " us  " + text);
    }
    return result;
}

}  // namespace redlock::simulation
