#include "cli/locks/lock_view.hpp"

#include "protocol/keys.hpp"
#include "protocol/state_text.hpp"
#include "quorum/votes.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <map>
#include <utility>

namespace redlock::cli {

namespace {

enum question : std::size_t { type, value, ttl, fence, members, size, want, state, time };
static_assert(time + 1 == questions_per_key);

constexpr std::size_t id_size = 8;

// FNV-1a. It need not be cryptographic, since it only distinguishes values.
std::string hash_of(std::string const& text)
{
    std::uint64_t hash = 0xcbf29ce484222325u;
    for (char const c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
    constexpr std::string_view digits = "0123456789abcdef";
    std::string hex;
    for (std::size_t i = 0; i < id_size; ++i) hex += digits[hash >> (4 * i) & 15];
    return hex;
}

// The time until fewer than a majority have the holder's value: the M-th largest ttl of its keys. -1, for a key that never expires, counts
// as the largest.
std::int64_t majority_ttl(lock_view const& of, std::string const& holder)
{
    std::vector<std::int64_t> all;
    for (key_view const& k : of.nodes)
        if (k.problem.empty() && k.present && k.value == holder && (k.type == "string" || k.readers > 0)) all.push_back(k.ttl_ms);
    if (all.size() < of.majority) return -1;  // readers, and sets of others
    std::sort(all.begin(), all.end(), [](std::int64_t a, std::int64_t b) { return a >= 0 && (b < 0 || a < b); });
    return all[all.size() - of.majority];
}

// Beyond that a double does not count in ones any more, and no clock is there.
constexpr std::int64_t latest_ms = std::int64_t{1} << 53;

// Milliseconds since 1970 of the server's clock; 0: it does not say, or nothing that a clock says.
std::int64_t milliseconds_of(reply const& time)
{
    if (time.items.size() != 2) return 0;
    auto const s = time.items[0].number(0);
    return s < 0 || s > latest_ms / 1000 ? 0 : s * 1000 + time.items[1].number(0) / 1000;
}

// A score as milliseconds; 0: it is no number, or no clock is there.
std::int64_t milliseconds_of_score(reply const& score)
{
    double const ms = std::strtod(score.text.c_str(), nullptr);
    return std::abs(ms) <= static_cast<double>(latest_ms) ? static_cast<std::int64_t>(ms) : 0;
}

// Calls f(member, score). With RESP3 the answer is a list of pairs, without it a flat list.
template <class F>
void for_each_member(reply const& range, F const& f)
{
    auto const& items = range.items;
    if (!items.empty() && items.front().type == reply::kind::list) {
        for (reply const& pair : items)
            if (pair.items.size() == 2) f(pair.items[0].text, milliseconds_of_score(pair.items[1]));
    } else {
        for (std::size_t i = 0; i + 1 < items.size(); i += 2) f(items[i].text, milliseconds_of_score(items[i + 1]));
    }
}

// A sorted set is that of our readers if it has the empty member. It is the first, since its score is negative; then come those whose time
// has passed, whom the next reader removes.
void read_readers(key_view& k, reply const& members, reply const& size, std::int64_t now)
{
    if (members.type != reply::kind::list) {
        bool const is_ours = members.is_text() && !members.text.empty();
        // One reader at least: the key ends with the last of them.
        if (is_ours) k.readers = static_cast<std::size_t>(std::max<std::int64_t>(1, size.number(0)));
        return;
    }
    bool is_ours = false;
    std::size_t not_reading = 0;
    for_each_member(members, [&](std::string const& value, std::int64_t end) {
        if (value.empty()) is_ours = true;
        if (value.empty() || end <= now) ++not_reading;
        else k.some_readers.push_back({value, detail::holder_of(value), end - now});
    });
    auto const all = static_cast<std::size_t>(std::max<std::int64_t>(0, size.number(0)));
    if (is_ours && all > not_reading) k.readers = all - not_reading;
    else k.some_readers.clear();
}

// On how many nodes each reader is; where the nodes do not say, as many on all as a majority has.
void count_readers(lock_view& view)
{
    std::map<std::string, std::size_t> nodes_of;
    std::vector<std::size_t> counts;
    bool all_are_named = true;
    for (key_view const& k : view.nodes) {
        if (!k.problem.empty() || !k.present || k.readers == 0) continue;
        counts.push_back(k.readers);
        all_are_named = all_are_named && k.readers == k.some_readers.size();
        for (reader_view const& r : k.some_readers) ++nodes_of[r.value];
    }
    if (counts.size() < view.majority) return;
    std::sort(counts.begin(), counts.end(), std::greater<>{});
    if (!all_are_named) {
        view.readers = counts[view.majority - 1];
        return;
    }
    std::size_t least = 0, most = 0;
    for (auto const& [value, nodes] : nodes_of) {
        most = std::max(most, nodes);
        if (nodes < view.majority) continue;
        ++view.readers;
        least = least == 0 ? nodes : std::min(least, nodes);
    }
    view.held_on = least > 0 ? least : most;
}

std::optional<state_view> state_in(reply const& r)
{
    auto const kept = r.is_text() ? detail::read_state(r.text) : std::nullopt;
    if (!kept) return std::nullopt;
    return state_view{r.text, std::string{kept->bytes}, std::string{kept->writer}, kept->token, kept->stamp};
}

// The newest state that a node keeps.
void find_newest_state(lock_view& view)
{
    for (std::size_t i = 0; i < view.nodes.size(); ++i) {
        auto const& state = view.nodes[i].published;
        if (state && (!view.published || view.newest_state()->stamp < state->stamp)) view.published = i;
    }
    auto const is_newest = [&](key_view const& k) { return k.published && k.published->text == view.newest_state()->text; };
    if (view.published) view.published_on = static_cast<std::size_t>(std::count_if(view.nodes.begin(), view.nodes.end(), is_newest));
}

}  // namespace

bool lock_view::published_by_holder() const
{
    auto const* const newest = newest_state();
    return newest && state == lock_state::held && nodes[*holder].type == "string" && newest->writer == nodes[*holder].value;
}

std::string key_view::id() const { return hash_of(type + ' ' + value); }

std::int64_t lock_view::first_reader_ttl_ms() const
{
    if (!holder || nodes[*holder].some_readers.empty()) return -1;
    return nodes[*holder].some_readers.front().ttl_ms;
}

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

std::vector<words> questions_about(std::string const& key, value_part part)
{
    words const reading = part == value_part::whole ? words{"GET", key} : words{"GETRANGE", key, "0", std::to_string(value_beginning - 1)};
    auto const own_now = std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch());
    words const members = part == value_part::whole ? words{"ZRANGE", key, "0", std::to_string(readers_read), "WITHSCORES"}
                                                    : words{"ZSCORE", key, ""};
    words const size = part == value_part::whole ? words{"ZCARD", key}
                                                 : words{"ZCOUNT", key, '(' + std::to_string(own_now.count()), "+inf"};
    return {{"TYPE", key},
            reading,
            {"PTTL", key},
            {"GET", key + std::string{detail::fence_suffix}},
            members,
            size,
            {"PTTL", key + std::string{detail::want_suffix}},
            {"GETRANGE", key + std::string{detail::published_suffix}, "0", std::to_string(state_beginning - 1)},
            {"TIME"}};
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
    k.present = k.ttl_ms != -2;  // the key may have been set or deleted between the questions, so the other answers may contradict this one
    bool const gone = k.type == "none" && r[value].is_text() && r[value].text.empty();  // what GETRANGE says of no key
    if (gone) k.present = false;
    if (k.present && r[value].is_text()) {
        k.type = "string";
        k.value = r[value].text;
        k.holder = detail::holder_of(k.value);
    } else if (k.present && (k.type.empty() || k.type == "none" || k.type == "string")) {
        k.present = r[value].is_error();
        if (k.present) k.problem = r[value].text;  // the permissions forbid to read the key
    }
    if (k.present && k.type == "zset") read_readers(k, r[members], r[size], milliseconds_of(r[time]));
    k.published = state_in(r[state]);
    k.writer_waits = r[want].number(-2) != -2;
    auto counter = r[fence];
    if (constexpr std::string_view mark_of_a_climb{".0"}; counter.text.ends_with(mark_of_a_climb))
        counter.text.resize(counter.text.size() - mark_of_a_climb.size());
    if (auto const n = counter.number(-1); counter.is_text() && n >= 0) k.counter = static_cast<std::uint64_t>(n);
    return k;
}

lock_view judge(std::string name, std::vector<key_view> nodes, set_words const& set)
{
    lock_view view;
    view.name = std::move(name);
    view.nodes = std::move(nodes);
    view.members = std::max(set.size, view.nodes.size());
    view.majority = set.needed > 0 ? set.needed : quorum::majority(view.nodes.size());

    std::map<std::pair<std::string, std::string>, std::size_t> votes;
    for (std::size_t i = 0; i < view.nodes.size(); ++i) {
        key_view const& k = view.nodes[i];
        if (!k.problem.empty()) continue;
        ++view.answered;
        view.writer_waits = view.writer_waits || k.writer_waits;
        if (!k.present) continue;
        auto const count = ++votes[{k.type, k.value}];
        if (count > view.held_on) {
            view.held_on = count;
            view.holder = i;
        }
    }
    if (view.holder && view.nodes[*view.holder].readers > 0) {
        count_readers(view);
        for (std::size_t i = 0; i < view.nodes.size(); ++i)
            if (view.nodes[i].problem.empty() && view.nodes[i].some_readers.size() > view.nodes[*view.holder].some_readers.size())
                view.holder = i;
    }
    find_newest_state(view);
    std::size_t const silent = view.members - view.answered;
    if (view.held_on >= view.majority) {
        view.state = lock_state::held;
        view.faults_tolerated = view.held_on - view.majority;
    } else if (view.held_on + silent >= view.majority) {
        view.state = lock_state::unknown;
    } else {
        view.state = view.held_on > 0 ? lock_state::partly : lock_state::free;
    }
    if (view.state != lock_state::held) return view;

    key_view const& held = view.nodes[*view.holder];
    if (held.type == "string" || held.readers > 0) view.ttl_ms = majority_ttl(view, held.value);
    for (key_view const& k : view.nodes)
        if (k.present && k.value == held.value && k.counter) view.counter = std::max(view.counter.value_or(0), *k.counter);
    return view;
}

lock_view view_of(std::string name, std::vector<answers> const& all, std::size_t first, set_words const& set)
{
    std::vector<key_view> keys;
    for (answers const& a : all) keys.push_back(read_key(a, first));
    return judge(std::move(name), std::move(keys), set);
}

bool is_anywhere(lock_view const& lock)
{
    return std::any_of(lock.nodes.begin(), lock.nodes.end(), [](key_view const& k) { return k.present; });
}

std::vector<lock_view> look(server_group& nodes, std::vector<std::string> const& names, set_words const& set)
{
    std::vector<words> commands;
    for (std::string const& name : names)
        for (words& w : questions_about(nodes.key_of(name))) commands.push_back(std::move(w));
    auto const all = nodes.ask(commands);

    std::vector<lock_view> views;
    for (std::size_t n = 0; n < names.size(); ++n) views.push_back(view_of(names[n], all, n * questions_per_key, set));
    return views;
}

}  // namespace redlock::cli
