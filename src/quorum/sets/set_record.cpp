#include "quorum/sets/set_record.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <ctime>
#include <span>

namespace redlock::quorum {

namespace {

constexpr std::string_view version = "v1", version_of_changes = "v2";
constexpr std::size_t max_left = 16;  // clients with lists that are older than so many changes are refused
constexpr std::uint64_t generations_told_apart = 1000;  // by a binding alone; the hash tells the others
constexpr std::size_t max_members = 64;  // more than a client can have, so that a newer one may have more
constexpr std::size_t max_id_size = 64;
constexpr std::string_view complete_word = "complete", claimed_word = "claimed", moving_word = "moving", moved_word = "moved",
                           left_word = "left", no_name = "-";

bool ends_word(unsigned char c) { return c <= ' ' || c == '%' || c == 0x7f; }

std::string escaped(std::string_view word)
{
    static constexpr char digits[] = "0123456789abcdef";
    std::string text;
    for (char const each : word) {
        auto const c = static_cast<unsigned char>(each);
        if (ends_word(c)) text += {'%', digits[c >> 4], digits[c & 15]};
        else text += each;
    }
    return text;
}

std::optional<std::string> unescaped(std::string_view word)
{
    std::string text;
    for (std::size_t i = 0; i < word.size(); ++i) {
        if (word[i] != '%') {
            text += word[i];
            continue;
        }
        unsigned byte{0};
        if (i + 2 >= word.size()) return std::nullopt;
        auto const [stop, error] = std::from_chars(word.data() + i + 1, word.data() + i + 3, byte, 16);
        if (error != std::errc{} || stop != word.data() + i + 3) return std::nullopt;
        text += static_cast<char>(byte);
        i += 2;
    }
    return text;
}

template <class Number>
bool read(std::string_view word, Number& to)
{
    auto const [stop, error] = std::from_chars(word.data(), word.data() + word.size(), to);
    return error == std::errc{} && stop == word.data() + word.size();
}

bool is_id(std::string_view word)
{
    auto const is_word = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-'; };
    return !word.empty() && word.size() <= max_id_size && std::all_of(word.begin(), word.end(), is_word);
}

// The words of the text; none: there are too many, or an empty one.
std::optional<std::vector<std::string_view>> words_of(std::string_view text)
{
    std::vector<std::string_view> words;
    for (;;) {
        auto const end = text.find(' ');
        if (end == 0 || text.empty() || words.size() > 3 * max_members + 10) return std::nullopt;
        words.push_back(text.substr(0, end));
        if (end == std::string_view::npos) return words;
        text.remove_prefix(end + 1);
    }
}

std::uint64_t fnv_1a(std::string_view text, std::uint64_t hash = 0xcbf29ce484222325) noexcept
{
    for (char const c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    return hash;
}

enum word : std::size_t { which_version, id, generation, since, state, shard, name, first_member };

// The words before the members.
std::optional<set_record> beginning_of(std::span<std::string_view const> words)
{
    set_record r;
    r.id = words[id];
    r.counts.moved = words[state] == moved_word;
    r.counts.is_of_leaver = words[state] == left_word;
    bool const is_changed = r.counts.moved || r.counts.is_of_leaver || words[state] == moving_word;
    r.complete = is_changed || words[state] == complete_word;
    bool good = is_id(r.id) && read(words[generation], r.generation) && read(words[since], r.since) &&
                (r.complete || words[state] == claimed_word) && is_changed == (r.generation > 0);
    auto const slash = words[shard].find('/');
    good = good && slash != std::string_view::npos && read(words[shard].substr(0, slash), r.shard) &&
           read(words[shard].substr(slash + 1), r.shards) && (r.shards == 0 ? r.shard == 0 : r.shard < r.shards);
    if (!good) return std::nullopt;
    if (words[name] != no_name) {
        auto text = unescaped(words[name]);
        if (!text || text->empty()) return std::nullopt;
        r.name = std::move(*text);
    }
    return r;
}

bool add_member(set_record& r, std::vector<std::string> set_record::* list, std::string_view word)
{
    auto text = unescaped(word);
    if (!text || text->empty() || r.knows(*text)) return false;
    (r.*list).push_back(std::move(*text));
    return true;
}

std::optional<set_record> record_of(std::span<std::string_view const> words)
{
    if (words.size() <= first_member || words.size() > first_member + max_members) return std::nullopt;
    auto r = beginning_of(words);
    for (std::size_t i = first_member; r && i < words.size(); ++i)
        if (!add_member(*r, &set_record::members, words[i])) return std::nullopt;
    return r;
}

// "MEMBERS/N/BEFORE/FEWEST/MOST"
bool read_counts(std::string_view word, std::size_t& members, member_counts& to)
{
    bool good = true;
    std::size_t* const all[] = {&members, &to.size, &to.before, &to.fewest, &to.most};
    for (std::size_t* const each : all) {
        auto const end = word.find('/');
        good = good && (end == word.npos) == (each == &to.most) && read(word.substr(0, end), *each) && *each > 0 && *each <= max_members;
        word.remove_prefix(end == word.npos ? word.size() : end + 1);
    }
    return good && (to.size == members || to.size == members + 1) && to.fewest <= members && to.most >= members;
}

std::optional<set_record> record_of_change(std::span<std::string_view const> words)
{
    constexpr std::size_t counted = 1, first_pair = counted + 1;  // behind the name
    auto const binding = words[1];
    words = words.subspan(1);  // from here on they are those of a set that was never changed
    if (words.size() < first_member + first_pair) return std::nullopt;
    auto r = beginning_of(words);
    std::size_t members{0};
    if (!r || !read_counts(words[first_member], members, r->counts)) return std::nullopt;
    auto const pairs = words.subspan(first_member + counted);
    if (pairs.size() < 2 * members || pairs.size() > 2 * members + max_members) return std::nullopt;
    for (std::size_t i = 0; i < 2 * members; i += 2) {
        std::uint64_t joined{0};
        if (!read(pairs[i], joined) || joined > r->generation || !add_member(*r, &set_record::members, pairs[i + 1])) return std::nullopt;
        r->joined.push_back(joined);
    }
    for (auto const word : pairs.subspan(2 * members))
        if (!add_member(*r, &set_record::left, word)) return std::nullopt;
    return binding_of(*r) == binding ? r : std::nullopt;
}

bool is_newer(std::string_view text)
{
    std::uint64_t number{0};
    return text.size() > 1 && text[0] == 'v' && read(text.substr(1, text.find(' ') - 1), number) && number > 2;
}

}  // namespace

bool set_record::has(std::string_view member) const noexcept { return std::find(members.begin(), members.end(), member) != members.end(); }

bool set_record::knows(std::string_view address) const noexcept
{
    return has(address) || std::find(left.begin(), left.end(), address) != left.end();
}

std::uint64_t set_record::joined_in(std::string_view member) const noexcept
{
    auto const at = static_cast<std::size_t>(std::find(members.begin(), members.end(), member) - members.begin());
    return at < joined.size() ? joined[at] : 0;
}

bool set_record::is_same_generation(set_record const& other) const noexcept
{
    return id == other.id && generation == other.generation && (generation == 0 || (members == other.members && size() == other.size()));
}

bool set_record::is_of_same_list(set_record const& other) const
{
    return members.size() == other.members.size() && name == other.name && shard == other.shard && shards == other.shards &&
           std::all_of(members.begin(), members.end(), [&](std::string const& m) { return other.has(m); });
}

std::string to_text(set_record const& r)
{
    auto state_word = r.complete ? complete_word : claimed_word;
    if (r.generation > 0) state_word = r.counts.is_of_leaver ? left_word : r.counts.moved ? moved_word : moving_word;
    std::string text{r.generation == 0 ? version : version_of_changes};
    auto const add = [&text](auto const& word) { (text += ' ') += word; };
    if (r.generation > 0) add(binding_of(r));
    add(r.id);
    add(std::to_string(r.generation));
    add(std::to_string(r.since));
    add(state_word);
    add(std::to_string(r.shard) + '/' + std::to_string(r.shards));
    add(r.name.empty() ? std::string{no_name} : escaped(r.name));
    if (r.generation > 0) add(std::to_string(r.members.size()));
    if (r.generation > 0)
        for (auto const n : {r.counts.size, r.counts.before, r.counts.fewest, r.counts.most}) text += '/' + std::to_string(n);
    for (std::string const& member : r.members) {
        if (r.generation > 0) add(std::to_string(r.joined_in(member)));
        add(escaped(member));
    }
    for (std::string const& member : r.left) add(escaped(member));
    return text;
}

std::string binding_of(set_record const& r)
{
    if (r.generation == 0) return {};
    auto hash = fnv_1a(r.id + ' ' + std::to_string(r.generation));
    for (std::string const& member : r.members) hash = fnv_1a(' ' + member + ' ' + std::to_string(r.joined_in(member)), hash);
    hash = fnv_1a('/' + std::to_string(r.size()), hash);
    std::array<char, set_binding_size + 1> text{};
    std::snprintf(text.data(), text.size(), "g%03u%06x:", static_cast<unsigned>(r.generation % generations_told_apart),
                  static_cast<unsigned>((hash ^ (hash >> 32)) & 0xffffff));
    return text.data();
}

std::string_view binding_in(std::string_view text) noexcept
{
    std::size_t const at = version_of_changes.size() + 1;
    bool const has_one = text.starts_with(version_of_changes) && text.size() > at + set_binding_size && text[at] == 'g' &&
                         text[at + set_binding_size - 1] == ':';
    return has_one ? text.substr(at, set_binding_size) : std::string_view{};
}

namespace {

set_record next_generation_of(set_record const& r)
{
    set_record next = r;
    ++next.generation;
    next.complete = true;
    next.joined.resize(next.members.size());
    return next;
}

void has_left(set_record& r, std::string const& member)
{
    r.left.push_back(member);
    if (r.left.size() > max_left) r.left.erase(r.left.begin());
}

// The next generation `next` has N = `size`.
void note_size(set_record& next, set_record const& r, std::size_t size)
{
    auto const [fewest, most] = std::minmax({next.members.size(), r.members.size()});
    next.counts.fewest = r.counts.fewest == 0 ? fewest : std::min(r.counts.fewest, fewest);
    next.counts.most = std::max(r.counts.most, most);
    next.counts.size = size;
    next.counts.before = r.size();
    next.counts.moved = next.counts.is_of_leaver = false;
}

}  // namespace

set_record with_members_added(set_record const& r, std::vector<std::string> const& join)
{
    set_record next = next_generation_of(r);
    for (std::string const& each : join) {
        next.members.push_back(each);
        next.joined.push_back(next.generation);
        std::erase(next.left, each);
    }
    note_size(next, r, next.members.size());
    return next;
}

// A majority of an odd N and one of N - 1 are equally many, so N - 1 counts only when what was decided by N is over. docs/proof.md, S64.
set_record with_member_removed(set_record const& r, std::string const& leaves)
{
    set_record next = next_generation_of(r);
    auto const at = std::find(next.members.begin(), next.members.end(), leaves) - next.members.begin();
    next.members.erase(next.members.begin() + at);
    next.joined.erase(next.joined.begin() + at);
    has_left(next, leaves);
    note_size(next, r, r.size() % 2 == 1 ? r.size() : next.members.size());
    return next;
}

set_record closed(set_record const& r)
{
    set_record next = next_generation_of(r);
    note_size(next, r, next.members.size());
    return next;
}

set_record with_member_replaced(set_record const& r, std::string const& leaves, std::string const& joins)
{
    set_record next = next_generation_of(r);
    auto const at = static_cast<std::size_t>(std::find(next.members.begin(), next.members.end(), leaves) - next.members.begin());
    next.members[at] = joins;
    next.joined[at] = next.generation;
    std::erase(next.left, joins);
    has_left(next, leaves);
    note_size(next, r, r.size());
    return next;
}

set_record generation_before(set_record const& r)
{
    set_record before = r;
    --before.generation;
    before.counts = {r.size_before(), r.size_before(), r.counts.fewest, r.counts.most, false, false};
    before.members.clear();
    before.joined.clear();
    for (std::string const& m : r.members) {
        if (r.joined_in(m) == r.generation) continue;
        before.members.push_back(m);
        before.joined.push_back(r.joined_in(m));
    }
    bool const is_replaced = r.size() == r.size_before() && before.members.size() < r.members.size();
    bool const has_become_smaller = r.is_open() || (r.size() < r.size_before() && r.size_before() % 2 == 0);
    if ((is_replaced || has_become_smaller) && !r.left.empty()) {
        before.members.push_back(r.left.back());
        before.joined.push_back(0);
        before.left.pop_back();
    }
    return before;
}

set_text read_set_text(std::string_view text)
{
    using enum set_text::kind;
    if (text.empty()) return {none};
    if (text.front() == unreadable_set) return {text.find("WRONGTYPE") != std::string_view::npos ? foreign : hidden};
    if (is_newer(text)) return {too_new};
    auto const words = words_of(text);
    if (!words || words->size() < 2) return {foreign};
    std::optional<set_record> record;
    if (words->front() == version) record = record_of(*words);
    if (words->front() == version_of_changes) record = record_of_change(*words);
    if (!record) return {foreign};
    return {good, std::move(*record)};
}

std::string member_name(std::string address)
{
    if (address.size() <= max_member_size) return address;
    auto const hash = fnv_1a(address);
    std::array<char, 20> number{};
    std::snprintf(number.data(), number.size(), "#%016llx", static_cast<unsigned long long>(hash));
    address.resize(max_member_size - 17);
    return address + number.data();
}

std::string list_of(std::vector<std::string> const& members)
{
    std::string text;
    for (std::string const& member : members) text += (text.empty() ? "" : ", ") + member;
    return text;
}

std::string in_words(set_record const& r)
{
    std::string text = "the set " + r.id.substr(0, 8);
    if (!r.name.empty()) text += " \"" + r.name + '"';
    if (r.shards > 0) text += " (shard " + std::to_string(r.shard) + " of " + std::to_string(r.shards) + ')';
    text += " of " + std::to_string(r.members.size()) + (r.members.size() == 1 ? " node" : " nodes");
    text += r.is_open() ? ", whose votes are still counted as of " + std::to_string(r.size()) + " (" : " (";
    text += list_of(r.members);
    if (r.generation > 0) text += ", generation " + std::to_string(r.generation);
    std::time_t const seconds = static_cast<std::time_t>(r.since);
    std::tm when{};
    std::array<char, 40> date{};
    if (::gmtime_r(&seconds, &when) != nullptr && std::strftime(date.data(), date.size(), "%Y-%m-%d %H:%M:%S UTC", &when) > 0)
        return text + "), founded " + date.data();
    return text + ')';
}

std::string set_name_problem(std::string_view name)
{
    constexpr std::size_t max_size = 64;
    if (name.size() > max_size) return "is longer than " + std::to_string(max_size) + " characters";
    if (!std::all_of(name.begin(), name.end(), [](char c) { return c >= '!' && c <= '~'; }))
        return "contains a character that it may not: it must be visible ASCII without spaces";
    return name == no_name ? "must not be \"-\"" : "";
}

}  // namespace redlock::quorum
