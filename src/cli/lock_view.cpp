#include "cli/lock_view.hpp"

#include "redis/keys.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

namespace redlock::cli {

namespace {

enum question : std::size_t { type, value, ttl, fence };
static_assert(fence + 1 == questions_per_key);

constexpr std::size_t id_size = 8;

// FNV-1a: only to tell values apart.
std::string hash_of(std::string const& text)
{
    std::uint64_t hash = 0xcbf29ce484222325u;
    for (char const c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
    constexpr std::string_view digits = "0123456789abcdef";
    std::string hex;
    for (std::size_t i = 0; i < id_size; ++i) hex += digits[hash >> (4 * i) & 15];
    return hex;
}

// The M-th largest, which is when fewer than a majority are left. A key that never expires is the largest of all.
std::int64_t majority_ttl(lock_view const& of, std::string const& holder)
{
    std::vector<std::int64_t> all;
    for (key_view const& k : of.nodes)
        if (k.problem.empty() && k.present && k.value == holder && k.type == "string") all.push_back(k.ttl_ms);
    std::sort(all.begin(), all.end(), [](std::int64_t a, std::int64_t b) { return a >= 0 && (b < 0 || a < b); });
    return all[all.size() - of.majority];
}

}  // namespace

std::string key_view::id() const { return hash_of(type + ' ' + value); }

char const* to_string(lock_state state) noexcept
{
    switch (state) {
    case lock_state::free: return "free";
    case lock_state::held: return "held";
    case lock_state::partly: return "partly";
    case lock_state::unknown: return "unknown";
    }
    return "";
}

std::vector<words> questions_about(std::string const& key)
{
    return {{"TYPE", key}, {"GET", key}, {"PTTL", key}, {"GET", key + std::string{detail::fence_suffix}}};
}

key_view read_key(answers const& from, std::size_t first)
{
    key_view k;
    if (!from.ok() || from.replies.size() < first + questions_per_key) {
        k.problem = from.ok() ? "it has not answered all of it" : from.problem;
        return k;
    }
    reply const* const r = &from.replies[first];
    if (r[ttl].is_error()) {
        k.problem = r[ttl].text;
        return k;
    }
    k.type = r[type].is_text() ? r[type].text : "";
    k.ttl_ms = r[ttl].number(-1);
    k.present = k.ttl_ms != -2;  // it may have come or gone between the questions
    if (k.present && r[value].is_text()) {
        k.type = "string";
        k.value = r[value].text;
        k.holder = detail::holder_of(k.value);
    } else if (k.present && (k.type.empty() || k.type == "none" || k.type == "string")) {
        k.present = r[value].is_error();
        if (k.present) k.problem = r[value].text;  // its rules do not let us see it
    }
    if (auto const n = r[fence].number(-1); r[fence].is_text() && n >= 0) k.counter = static_cast<std::uint64_t>(n);
    return k;
}

lock_view judge(std::string name, std::vector<key_view> nodes)
{
    lock_view s;
    s.name = std::move(name);
    s.nodes = std::move(nodes);
    s.majority = s.nodes.size() / 2 + 1;

    std::map<std::pair<std::string, std::string>, std::size_t> votes;
    for (std::size_t i = 0; i < s.nodes.size(); ++i) {
        key_view const& k = s.nodes[i];
        if (!k.problem.empty()) continue;
        ++s.answered;
        if (!k.present) continue;
        auto const count = ++votes[{k.type, k.value}];
        if (count > s.held_on) {
            s.held_on = count;
            s.holder = i;
        }
    }
    std::size_t const silent = s.nodes.size() - s.answered;
    if (s.held_on >= s.majority) {
        s.state = lock_state::held;
        s.faults_tolerated = s.held_on + s.majority - s.nodes.size() - 1;
    } else if (s.held_on + silent >= s.majority) {
        s.state = lock_state::unknown;
    } else {
        s.state = s.held_on > 0 ? lock_state::partly : lock_state::free;
    }
    if (s.state != lock_state::held) return s;

    key_view const& held = s.nodes[*s.holder];
    if (held.type == "string") s.ttl_ms = majority_ttl(s, held.value);
    for (key_view const& k : s.nodes)
        if (k.present && k.value == held.value && k.counter) s.counter = std::max(s.counter.value_or(0), *k.counter);
    return s;
}

std::vector<lock_view> look(server_group& nodes, std::vector<std::string> const& names)
{
    std::vector<words> commands;
    for (std::string const& name : names)
        for (words& w : questions_about(nodes.key_of(name))) commands.push_back(std::move(w));
    auto const all = nodes.ask(commands);

    std::vector<lock_view> sights;
    for (std::size_t n = 0; n < names.size(); ++n) {
        std::vector<key_view> keys;
        for (answers const& a : all) keys.push_back(read_key(a, n * questions_per_key));
        sights.push_back(judge(names[n], std::move(keys)));
    }
    return sights;
}

}  // namespace redlock::cli
