#include "cli/locks/lock_view_text.hpp"

#include "cli/output/text.hpp"

#include <algorithm>
#include <chrono>
#include <string_view>

namespace redlock::cli {

namespace {

using nlohmann::ordered_json;

std::int64_t now_s()
{
    auto const since_1970 = std::chrono::system_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::seconds>(since_1970).count();
}

std::string ttl_in_words(std::int64_t ms) { return ms < 0 ? "never ends" : in_words(std::chrono::milliseconds{ms}); }

constexpr std::size_t readers_named = 10;
constexpr std::size_t published_columns = 60;

// UTF-8 is what a JSON document can have.
bool is_utf8(std::string const& text)
{
    try {
        return !ordered_json(text).dump().empty();
    } catch (ordered_json::type_error const&) {
        return false;
    }
}

std::string hexadecimal(std::string_view bytes)
{
    constexpr std::string_view digits = "0123456789abcdef";
    std::string text;
    for (char const c : bytes) {
        auto const b = static_cast<unsigned char>(c);
        text += digits[b >> 4];
        text += digits[b & 15];
    }
    return text;
}

std::string counter_in_words(key_view const& key) { return key.counter ? std::to_string(*key.counter) : "-"; }

}  // namespace

std::string short_holder(key_view const& key)
{
    if (key.readers > 0) return count_of(key.readers, "reader");
    if (!key.holder) return key.type == "string" ? "foreign " + key.id() : "foreign " + printable(key.type);
    return key.holder->host + ' ' + std::to_string(key.holder->pid) + (key.holder->label.empty() ? "" : ' ' + key.holder->label);
}

ordered_json holder_to_json(key_view const& key)
{
    if (key.readers > 0) {
        auto some = ordered_json::array();
        for (reader_view const& r : key.some_readers) {
            if (some.size() == readers_named) break;
            if (r.who)
                some.push_back({{"host", r.who->host},
                                {"pid", r.who->pid},
                                {"since", r.who->since},
                                {"label", r.who->label.empty() ? ordered_json{} : ordered_json(r.who->label)},
                                {"ttl_ms", r.ttl_ms}});
        }
        return {{"foreign", false}, {"readers", key.readers}, {"some_readers", some}};
    }
    if (!key.holder) return {{"foreign", true}, {"type", key.type}, {"id", key.id()}};
    ordered_json h{{"foreign", false}, {"host", key.holder->host}, {"pid", key.holder->pid}, {"since", key.holder->since}};
    h["label"] = key.holder->label.empty() ? ordered_json{} : ordered_json(key.holder->label);
    h["id"] = key.id();
    return h;
}

std::string holder_in_words(key_view const& key)
{
    if (key.readers > 0) {
        std::string text = count_of(key.readers, "reader");
        std::size_t told = 0;
        for (reader_view const& r : key.some_readers) {
            if (!r.who || told == readers_named) continue;
            text += (told++ == 0 ? ": " : "; ") + r.who->host + ", process " + std::to_string(r.who->pid) +
                    (r.who->label.empty() ? "" : ", label " + r.who->label);
        }
        return text + (told > 0 && told < key.readers ? "; and " + std::to_string(key.readers - told) + " more" : "");
    }
    if (!key.holder) {
        if (key.type != "string") return "a " + printable(key.type) + " of somebody else's";
        return "a value of somebody else's (" + key.id() + ')';
    }
    std::string text = key.holder->host + ", process " + std::to_string(key.holder->pid);
    if (!key.holder->label.empty()) text += ", label " + key.holder->label;
    return text;
}

std::string held_for(key_view const& key)
{
    if (!key.holder) return "";
    auto const age = now_s() - static_cast<std::int64_t>(std::min<std::uint64_t>(key.holder->since, 253'402'300'799));
    std::string const since = "since " + local_time(key.holder->since);
    if (age == 0) return since + " (just now)";
    return age < 0 ? since + ", by a clock that is ahead of this one" : since + " (" + in_words(std::chrono::seconds{age}) + ')';
}

std::string wish_in_words(lock_view const& lock) { return lock.writer_waits ? "; a writer waits" : ""; }

std::string mode_in_words(lock_view const& lock)
{
    if (lock.state != lock_state::held) return "";
    return lock.readers > 0 ? "shared" : "exclusive";
}

std::string headline(terminal const& out, lock_view const& lock)
{
    std::string line = out.paint(tone::strong, name_in_words(lock.name)) + ": ";
    switch (lock.state) {
    case lock_state::free: return line + out.paint(tone::good, "free") + wish_in_words(lock);
    case lock_state::unknown:
        return line + out.paint(tone::alarm, "unknown") + ", since " +
               so_few_nodes(lock.answered, lock.members, "answered", "did not answer");
    case lock_state::partly:
        return line + out.paint(tone::warning, "held by nobody") + ", but keys are there: an attempt under way, or what is left of one";
    case lock_state::held: break;
    }
    auto const& key = lock.nodes[*lock.holder];
    auto const since = held_for(key);
    return line + out.paint(tone::warning, "held") + " by " + holder_in_words(key) + (since.empty() ? "" : ", " + since) +
           wish_in_words(lock);
}

std::string second_line(lock_view const& lock)
{
    if (lock.state != lock_state::held) return "";
    std::string line = "on " + std::to_string(lock.held_on) + " of " + count_of(lock.nodes.size(), "node") + ", a majority" +
                       (lock.members > lock.nodes.size() ? " of the " + std::to_string(lock.members) + " members of the set" : "");
    line += lock.faults_tolerated == 0 ? " that survives no further fault" : "; survives " + count_of(lock.faults_tolerated, "more fault");
    if (auto const first = lock.first_reader_ttl_ms(); lock.readers > 1 && first >= 0 && lock.ttl_ms >= 0)
        line += "; the first reader ends in " + ttl_in_words(first) + ", the last in " + ttl_in_words(lock.ttl_ms) +
                ", unless they are extended";
    else line += lock.ttl_ms < 0 ? "; never ends by itself" : "; ends in " + ttl_in_words(lock.ttl_ms) + " unless it is extended";
    if (lock.counter) line += "; token " + std::to_string(*lock.counter);
    return line;
}

std::string published_in_words(state_view const& state, std::size_t columns)
{
    // Each byte takes four columns at the most, so what is cut off here would not be seen.
    return cut(name_in_words(std::string_view{state.bytes}.substr(0, columns + 1)), columns);
}

std::string published_line(lock_view const& lock)
{
    auto const* const state = lock.newest_state();
    if (!state) return "";
    std::string line = "published by its holder: ";
    if (!lock.published_by_holder()) {
        auto const who = detail::holder_of(state->writer);
        line = "published by an earlier holder" + (who ? " (" + who->host + ", process " + std::to_string(who->pid) + ')' : "") + ": ";
    }
    return line + published_in_words(*state, published_columns) + " (" + count_of(state->bytes.size(), "byte") + ", token " +
           std::to_string(state->token) + "), on " + std::to_string(lock.published_on) + " of " + count_of(lock.nodes.size(), "node");
}

std::string node_table(terminal const& out, server_group const& nodes, lock_view const& lock)
{
    table rows{{"node", "holder", "ttl", "token"}};
    for (std::size_t i = 0; i < lock.nodes.size(); ++i) {
        key_view const& key = lock.nodes[i];
        if (!key.problem.empty()) {
            rows.add({{nodes.name(i)}, {printable(key.problem), tone::alarm, true}});
        } else if (!key.present) {
            rows.add({{nodes.name(i)}, {"-", tone::quiet}, {"-", tone::quiet}, {counter_in_words(key)}});
        } else {
            bool const other = lock.holder && key.value != lock.nodes[*lock.holder].value;
            rows.add({{nodes.name(i)},
                      {short_holder(key), other ? tone::warning : tone::plain},
                      {ttl_in_words(key.ttl_ms)},
                      {counter_in_words(key)}});
        }
    }
    return rows.text(out, "  ");
}

ordered_json published_to_json(lock_view const& lock)
{
    auto const* const state = lock.newest_state();
    if (!state) return {};
    bool const is_text = is_utf8(state->bytes);
    ordered_json j{{"value", is_text ? ordered_json(state->bytes) : ordered_json{}}, {"size", state->bytes.size()}};
    if (!is_text) j["hex"] = hexadecimal(state->bytes);
    j["token"] = state->token;
    j["by_holder"] = lock.published_by_holder();
    j["on"] = lock.published_on;
    if (auto const who = detail::holder_of(state->writer)) j["publisher"] = {{"host", who->host}, {"pid", who->pid}, {"since", who->since}};
    return j;
}

ordered_json to_json(std::vector<std::string> const& nodes, lock_view const& lock)
{
    ordered_json j{{"name", lock.name},         {"state", to_string(lock.state)}, {"nodes", lock.nodes.size()},
                   {"answered", lock.answered}, {"majority", lock.majority},      {"held_on", lock.held_on}};
    bool const held = lock.state == lock_state::held;
    j["faults_tolerated"] = held ? ordered_json(lock.faults_tolerated) : ordered_json{};
    j["ttl_ms"] = held && lock.ttl_ms >= 0 ? ordered_json(lock.ttl_ms) : ordered_json{};
    j["token"] = lock.counter ? ordered_json(*lock.counter) : ordered_json{};
    j["mode"] = held ? ordered_json(mode_in_words(lock)) : ordered_json{};
    j["readers"] = lock.readers;
    j["writer_waits"] = lock.writer_waits;
    j["holder"] = held ? holder_to_json(lock.nodes[*lock.holder]) : ordered_json{};
    j["published"] = published_to_json(lock);
    j["on"] = ordered_json::array();
    for (std::size_t i = 0; i < lock.nodes.size(); ++i) {
        key_view const& key = lock.nodes[i];
        ordered_json n{{"node", nodes[i]}};
        n["problem"] = key.problem.empty() ? ordered_json{} : ordered_json(key.problem);
        n["holder"] = key.problem.empty() && key.present ? holder_to_json(key) : ordered_json{};
        n["ttl_ms"] = key.present && key.ttl_ms >= 0 ? ordered_json(key.ttl_ms) : ordered_json{};
        n["token"] = key.counter ? ordered_json(*key.counter) : ordered_json{};
        j["on"].push_back(std::move(n));
    }
    return j;
}

}  // namespace redlock::cli
