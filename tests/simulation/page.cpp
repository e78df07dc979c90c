#include "page.hpp"

#include <nlohmann/json.hpp>

#include <cassert>
#include <cstdio>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace redlock::simulation {

namespace {

// page.html, by the build.
constexpr std::string_view page_pieces[] = {
#include "page_template.inc"
};

using nlohmann::json;

// Times are in nanoseconds of the world.
json to_json(std::optional<duration> d) { return d ? json(d->count()) : json(nullptr); }

json to_json(recorder::message const& m)
{
    json commands = json::array();
    for (auto const& c : m.commands) commands.push_back({to_string(c.what), c.key, c.value, c.ttl.count(), c.tokens});
    json haunted = json::array();
    for (auto const at : m.haunted) haunted.push_back(at.count());
    return {{"client", m.client},
            {"server", m.server},
            {"commands", std::move(commands)},
            {"answers", m.answers},
            {"sent", m.sent.count()},
            {"arrived", to_json(m.arrived)},
            {"answered", to_json(m.answered)},
            {"delivered", to_json(m.delivered)},
            {"cut", to_json(m.cut)},
            {"haunted", std::move(haunted)}};
}

// What a violation stops did not end: it only was cleared away.
json to_json(recorder::lease_bar const& l, result const& r)
{
    bool const cleared_away = r.violation && l.ended == r.virtual_time && l.why == "given back";
    json until = json::array();
    for (auto const& [at, end] : l.valid_until) until.push_back({at.count(), end.count()});
    return {{"client", l.client},
            {"name", l.name},
            {"value", l.value},
            {"from", l.from.count()},
            {"validUntil", std::move(until)},
            {"letGo", to_json(l.let_go)},
            {"ended", cleared_away ? json(nullptr) : to_json(l.ended)},
            {"why", l.why}};
}

json to_json(recorder::key_bar const& k)
{
    return {{"server", k.server},     {"name", k.name},      {"value", k.value},
            {"from", k.from.count()}, {"to", to_json(k.to)}, {"expires", to_json(k.expires)}};
}

json to_json(recorder::fault const& f)
{
    return {{"what", f.what},
            {"client", f.client ? json(*f.client) : json(nullptr)},
            {"server", f.server ? json(*f.server) : json(nullptr)},
            {"from", f.from.count()},
            {"to", to_json(f.to)}};
}

json to_json(recorder::note const& n) { return {{"client", n.client}, {"at", n.at.count()}, {"text", n.text}}; }

template <class T, class... Context>
json all(std::vector<T> const& each, Context const&... context)
{
    json list = json::array();
    for (auto const& e : each) list.push_back(to_json(e, context...));
    return list;
}

std::string hex(std::uint64_t n)
{
    char text[17];
    std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(n));
    return text;
}

std::string data(std::uint64_t seed, result const& r, recorder const& records)
{
    json const everything{
        {"seed", std::to_string(seed)},  // a number of JavaScript would lose digits
        {"hash", hex(r.hash)},
        {"steps", r.steps},
        {"end", r.virtual_time.count()},
        {"violation", r.violation ? json(*r.violation) : json(nullptr)},
        {"settings", records.settings},
        {"clientClocks", records.client_clocks},
        {"serverClocks", records.server_clocks},
        {"messages", all(records.messages)},
        {"leases", all(records.leases, r)},
        {"keys", all(records.keys)},
        {"faults", all(records.faults)},
        {"notes", all(records.notes)},
    };
    auto const text = everything.dump(-1, ' ', true, json::error_handler_t::replace);
    // Inside a script element only "<" could mean something to HTML; in JSON it is only found in strings.
    std::string safe;
    safe.reserve(text.size());
    for (char const c : text) c == '<' ? safe += "\\u003c" : safe += c;
    return safe;
}

std::string escaped(std::string_view text)
{
    std::string result;
    for (char const c : text) {
        switch (c) {
        case '&': result += "&amp;"; break;
        case '<': result += "&lt;"; break;
        case '>': result += "&gt;"; break;
        case '"': result += "&quot;"; break;
        case '\'': result += "&#39;"; break;
        default: result += c;
        }
    }
    return result;
}

}  // namespace

std::string page(std::uint64_t seed, result const& r, recorder const& records)
{
    auto const filled_in = [&](std::string_view what) -> std::string {
        if (what == "seed") return std::to_string(seed);
        if (what == "verdict") return r.violation ? "Violation: " + escaped(*r.violation) : "No violation";
        if (what == "verdict_class") return r.violation ? "bad" : "good";
        assert(what == "data");
        return data(seed, r, records);
    };
    std::string result;
    for (std::string_view piece : page_pieces) {
        for (auto begin = piece.find("{{"); begin != std::string_view::npos; begin = piece.find("{{")) {
            auto const end = piece.find("}}", begin);
            assert(end != std::string_view::npos);
            result += piece.substr(0, begin);
            result += filled_in(piece.substr(begin + 2, end - begin - 2));
            piece.remove_prefix(end + 2);
        }
        result += piece;
    }
    return result;
}

}  // namespace redlock::simulation
