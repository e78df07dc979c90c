#include "conversation.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <limits>
#include <optional>
#include <sstream>

namespace redlock::fuzz {
namespace {

using detail::reply;
using detail::verb;
using detail::wire_call;
using resp3::type;
using namespace std::chrono_literals;

// What a reply should be: granted with what belongs to it, refused, or failed.
struct verdict {
    vote what{vote::failed};
    std::uint64_t counter{0};
    bool recreated{false};
    bool watching{false};
    bool writer_waits{false};
    std::optional<std::chrono::milliseconds> expires_in{};
    std::optional<detail::slots_answer> slots{};
};

bool is_error(owned_node const& n) { return n.data_type == type::simple_error || n.data_type == type::blob_error; }

// Decimal digits, with a minus or without, and nothing else.
std::optional<std::int64_t> integer(owned_node const& n)
{
    if (n.data_type != type::number) return std::nullopt;
    std::string_view digits = n.value;
    if (digits.starts_with('-')) digits.remove_prefix(1);
    auto const is_digit = [](unsigned char c) { return std::isdigit(c) != 0; };
    if (digits.empty() || !std::all_of(digits.begin(), digits.end(), is_digit)) return std::nullopt;
    errno = 0;
    long long const number = std::strtoll(n.value.c_str(), nullptr, 10);
    return errno == 0 ? std::optional<std::int64_t>{number} : std::nullopt;
}

// The elements of an answer that is an array.
std::vector<owned_node> elements(answer const& a)
{
    std::vector<owned_node> result;
    if (a.empty() || a.front().data_type != type::array) return result;
    std::copy_if(a.begin(), a.end(), std::back_inserter(result), [](owned_node const& n) { return n.depth == 1; });
    return result;
}

std::optional<std::int64_t> root_number(answer const& a) { return a.empty() ? std::nullopt : integer(a.front()); }

vote vote_of(std::optional<std::int64_t> answer, std::initializer_list<std::int64_t> granted, std::initializer_list<std::int64_t> refused)
{
    auto const among = [&](auto const& list) { return answer && std::find(list.begin(), list.end(), *answer) != list.end(); };
    return among(granted) ? vote::granted : among(refused) ? vote::refused : vote::failed;
}

verdict of_plain_acquire(answer const& a)
{
    if (a.front().data_type == type::null) return {vote::refused};
    return {a.front().data_type == type::simple_string && a.front().value == "OK" ? vote::granted : vote::failed};
}

// The words of a text, each behind one space.
std::vector<std::string> words_of(answer const& a)
{
    std::vector<std::string> words;
    if (a.empty() || a.front().data_type != type::blob_string) return words;
    words.emplace_back();
    for (char const c : a.front().value) {
        if (c == ' ') words.emplace_back();
        else words.back() += c;
    }
    return words;
}

// "CODE NUMBER", for each of some acquires. None: this is no answer, and what is behind it is none.
std::optional<verdict> of_acquire(std::vector<std::string> const& words, std::size_t index, bool shared)
{
    if (2 * index + 1 >= words.size()) return std::nullopt;
    auto const said = integer({type::number, 1, 0, words[2 * index]});
    auto const counter = integer({type::number, 1, 0, words[2 * index + 1]});
    if (!said || !counter || *counter < 0 || *counter >= std::int64_t{1} << 53) return std::nullopt;
    if (said == 0 || said == -2 || (said == -6 && shared)) {
        verdict v{vote::refused, static_cast<std::uint64_t>(*counter)};
        v.writer_waits = said == -6;
        return v;
    }
    if (said != 1 || *counter == 0) return verdict{};
    return verdict{vote::granted, static_cast<std::uint64_t>(*counter)};
}

// A number as the scripts of semaphores write it, at least `least` and below `end`.
std::optional<std::int64_t> number_at(std::vector<std::string> const& words, std::size_t index, std::int64_t least,
                                      std::int64_t end = std::int64_t{1} << 53)
{
    if (index >= words.size()) return std::nullopt;
    auto const n = integer({type::number, 1, 0, words[index]});
    return n && *n >= least && *n < end ? n : std::nullopt;
}

// Adds the digits of a map to the slots; false if it is none.
bool add_map(std::string const& map, detail::slots_answer& to)
{
    if (map.size() > 64 || map.find_first_not_of("012") != map.npos) return false;
    for (std::size_t i = 0; i < map.size(); ++i) {
        if (map[i] == '0') to.free |= std::uint64_t{1} << i;
        if (map[i] == '2') to.ours |= std::uint64_t{1} << i;
    }
    return true;
}

// "CODE NUMBER MAP VERSION".
verdict of_permits(std::vector<std::string> const& words)
{
    constexpr std::int64_t lowest = std::numeric_limits<std::int64_t>::min();
    auto const code = number_at(words, 0, lowest);
    auto const number = number_at(words, 1, 0);
    if (!code || !number) return {};
    detail::slots_answer said;
    verdict v;
    if (*code == -7) {
        auto const version = number_at(words, 2, 1);
        if (!version || *number < 1 || *number > std::int64_t{UINT32_MAX}) return {};
        said.permits = static_cast<std::uint32_t>(*number);
        said.version = static_cast<std::uint64_t>(*version);
        v.slots = said;
        return v;
    }
    if (*code != 0 && *code != 1) return {vote_of(code, {}, {-2})};
    auto const version = number_at(words, 3, 1);
    if (words.size() < 4 || !add_map(words[2], said) || !version || (*code == 1 && (*number == 0 || said.ours == 0))) return {};
    said.version = static_cast<std::uint64_t>(*version);
    v.what = *code == 1 ? vote::granted : vote::refused;
    v.counter = static_cast<std::uint64_t>(*number);
    v.slots = said;
    return v;
}

// "CODE K VERSION" of keep, "K VERSION MAP" of look.
verdict of_number_of_permits(verb what, std::vector<std::string> const& words)
{
    bool const keeps = what == verb::keep;
    auto const code = keeps ? number_at(words, 0, std::numeric_limits<std::int64_t>::min()) : std::optional<std::int64_t>{1};
    auto const permits = number_at(words, keeps ? 1 : 0, 0, std::int64_t{UINT32_MAX});
    auto const version = number_at(words, keeps ? 2 : 1, 0);
    std::size_t const map = keeps ? 3 : 2;
    detail::slots_answer said;
    if (!code || !permits || !version || words.size() > map + 1 || (words.size() > map && !add_map(words[map], said))) return {};
    verdict v{vote_of(code, {1}, {0, -2})};
    if (v.what == vote::failed) return v;
    said.permits = static_cast<std::uint32_t>(*permits);
    said.version = static_cast<std::uint64_t>(*version);
    v.slots = said;
    return v;
}

verdict of_mark(answer const& a)
{
    auto const e = elements(a);
    auto const what = vote_of(e.empty() ? std::nullopt : integer(e[0]), {0, 1}, {2, -1});
    if (what == vote::granted && (e.size() < 2 || e[1].data_type != type::blob_string || e[1].value.empty())) return {};
    return {what};
}

verdict of_claim(answer const& a)
{
    auto const e = elements(a);
    auto const what = vote_of(e.empty() ? std::nullopt : integer(e[0]), {1}, {0, -1});
    if (what != vote::failed && (e.size() < 2 || e[1].data_type != type::blob_string)) return {};
    return {what};
}

verdict of_inherit(answer const& a)
{
    auto const e = elements(a);
    auto const what = vote_of(e.empty() ? std::nullopt : integer(e[0]), {1}, {0, -2});
    if (what == vote::granted && (e.size() < 2 || e[1].data_type != type::blob_string)) return {};
    return {what};
}

verdict of_peek(answer const& a)
{
    auto const e = elements(a);
    auto const left = e.size() < 3 ? std::nullopt : integer(e[1]);
    if (!left || *left < -2 || e[0].data_type != type::blob_string || e[2].data_type != type::blob_string) return {};
    verdict v{vote::granted};
    bool const stays = *left < 0 || std::chrono::milliseconds{*left} > std::chrono::days{365};
    if (*left != -2) v.expires_in = stays ? detail::never_expires : std::chrono::milliseconds{*left};
    return v;
}

// Which guard the lease needs there; 0: the answer does not say.
std::uint64_t guard_in(std::optional<std::int64_t> answer)
{
    bool const says_it = answer && *answer < -100 && *answer > -100 - (std::int64_t{1} << 53);
    return says_it ? static_cast<std::uint64_t>(-100 - *answer) : 0;
}

// Of the elements that belong to one lease: all granted, or the worst.
verdict of_lease(wire_call const& call, std::vector<owned_node> const& e, std::size_t first, std::size_t keys)
{
    bool const may_recreate = call.fenced && call.what == verb::extend;
    bool hopeless = false;
    verdict all{vote::granted};
    for (std::size_t k = first; k < first + keys; ++k) {
        auto const said = k < e.size() ? integer(e[k]) : std::nullopt;
        auto const guard = may_recreate ? guard_in(said) : 0;
        bool const recreated = may_recreate && said == 2;
        vote const one = recreated     ? vote::granted
                         : guard > 0   ? vote::refused
                         : call.fenced ? vote_of(said, {1}, {0, -2})
                                       : vote_of(said, {1}, {0});
        hopeless = hopeless || (one != vote::granted && guard == 0);
        if (one == vote::failed) all.what = vote::failed;
        if (one == vote::refused && all.what == vote::granted) all.what = vote::refused;
        all.recreated = all.recreated || recreated;
        all.counter = std::max(all.counter, guard);
    }
    if (first + keys > e.size()) return {};  // never came: nothing is known of any of its keys
    if (hopeless) all.counter = 0;
    return all;
}

bool shows_the_server(answer const& a)
{
    if (a.empty() || is_error(a.front())) return false;
    std::istringstream lines{a.front().value};
    std::string id, role;
    for (std::string line; std::getline(lines, line);) {
        line = line.substr(0, line.find('\r'));
        if (line.starts_with("master_replid:") && id.empty()) id = line.substr(14);
        if (line.starts_with("role:") && role.empty()) role = line.substr(5);
    }
    return id == server_id && role == "master";
}

bool locks(verb what)
{
    return what == verb::acquire || what == verb::confirm || what == verb::extend || what == verb::climb || what == verb::release ||
           what == verb::adopt;
}

verdict of_one(wire_call const& call, answer const& a)
{
    switch (call.what) {
    case verb::acquire:
        if (call.of_slots) return of_permits(words_of(a));
        return call.fenced ? of_acquire(words_of(a), 0, call.shared).value_or(verdict{}) : of_plain_acquire(a);
    case verb::confirm: return {vote_of(root_number(a), {1}, {0, -2})};
    case verb::adopt: return {call.fenced ? vote_of(root_number(a), {1}, {0, -2}) : vote_of(root_number(a), {1}, {0})};
    case verb::release: return {vote_of(root_number(a), {1}, {0})};
    case verb::admit: return {vote_of(root_number(a), {1, 2}, {0, -1})};
    case verb::want: return {vote_of(root_number(a), {1}, {0})};
    case verb::publish: return {vote_of(root_number(a), {1}, {0, -2})};
    case verb::inherit: return of_inherit(a);
    case verb::peek: return of_peek(a);
    case verb::mark: return of_mark(a);
    case verb::claim: return of_claim(a);
    case verb::inspect: return {elements(a).size() >= 6 ? vote::granted : vote::failed};
    case verb::keep:
    case verb::look: return of_number_of_permits(call.what, words_of(a));
    case verb::extend:
    case verb::climb:
    case verb::watch: break;
    }
    return {};
}

// One PTTL of a watch, on top of what those before it came to. `any`: what counts is the first key that goes, and not the last.
void add_watched(verdict& v, answer const& a, bool armed, bool first, bool any)
{
    auto const left = root_number(a);
    if (!first && v.what == vote::failed) return;
    if (!left || *left < -2) {
        v = {};
        return;
    }
    v.what = vote::granted;
    v.watching = armed && (first || v.watching);
    bool const stays = *left < 0 || std::chrono::milliseconds{*left} > std::chrono::days{365};
    auto const until = stays ? detail::never_expires : std::chrono::milliseconds{*left};
    if (any) {
        bool const one_is_free = *left == -2 || (!first && !v.expires_in);
        v.expires_in = one_is_free ? std::nullopt : std::optional{std::min(v.expires_in.value_or(until), until)};
        return;
    }
    if (*left == -2) return;
    v.expires_in = std::max(v.expires_in.value_or(until), until);
}

// The verdict of every command.
std::vector<verdict> verdicts(std::vector<wire_call> const& calls, std::vector<answer> const& answers, std::size_t commands)
{
    std::vector<verdict> all(commands);
    bool armed = false;
    for (std::size_t c = 0; c < calls.size(); ++c) {
        wire_call const& call = calls[c];
        answer const& a = answers[c];
        if (call.is == wire_call::kind::arm) armed = !a.empty() && a.front().data_type == type::simple_string && a.front().value == "OK";
        if (call.is != wire_call::kind::commands || a.empty()) continue;
        auto const for_all = [&](vote v) { std::fill_n(all.begin() + static_cast<std::ptrdiff_t>(call.first), call.count, verdict{v}); };
        if (call.what == verb::watch) {
            add_watched(all[call.first], a, armed, !call.goes_on, call.of_slots);
        } else if (is_error(a.front())) {
            for_all(locks(call.what) && a.front().value.starts_with("WRONGTYPE") ? vote::refused : vote::failed);
        } else if (call.what == verb::acquire && call.count > 1) {
            auto const words = words_of(a);
            for (std::size_t i = 0; i < call.count; ++i) {
                auto const one = of_acquire(words, i, call.shared);
                if (!one) break;
                all[call.first + i] = *one;
            }
        } else if (call.what == verb::release && (call.count > 1 || call.shared)) {
            bool const is_text = a.front().data_type == type::blob_string;
            for (std::size_t i = 0; is_text && i < call.count && i < a.front().value.size(); ++i) {
                char const digit = a.front().value[i];
                all[call.first + i] = {digit == '1' ? vote::granted : digit == '0' ? vote::refused : vote::failed};
            }
        } else if (call.what == verb::extend || call.what == verb::climb) {
            std::size_t at = 0;
            for (std::size_t i = 0; i < call.count; ++i) {
                std::size_t const keys = !call.key_counts ? 1 : call.key_counts[i];
                all[call.first + i] = of_lease(call, elements(a), at, keys);
                at += keys;
            }
        } else {
            all[call.first] = of_one(call, a);
        }
    }
    if (calls.empty() || calls.back().is != wire_call::kind::identity || shows_the_server(answers.back())) return all;
    for (wire_call const& call : calls)
        if (call.fenced) std::fill_n(all.begin() + static_cast<std::ptrdiff_t>(call.first), call.count, verdict{});
    return all;
}

// What TIME says, if it says it as TIME does.
quorum::wall_time time_of(answer const& a)
{
    if (a.size() != 3 || a[0].data_type != type::array) return {};
    std::array<std::int64_t, 2> parts{};
    for (std::size_t i = 0; i < 2; ++i) {
        owned_node digits = a[i + 1];
        if (digits.depth != 1 || digits.data_type != type::blob_string) return {};
        digits.data_type = type::number;
        parts[i] = integer(digits).value_or(-1);
    }
    bool const sane = parts[0] >= 0 && parts[0] <= 9'000'000'000 && parts[1] >= 0 && parts[1] < 1'000'000;
    return sane ? quorum::wall_time{std::chrono::seconds{parts[0]}} + quorum::wall_time{parts[1]} : quorum::wall_time{};
}

}  // namespace

namespace {

struct kind_of_request {
    verb what;
    bool shared{false};
    bool was_writer{false};
    bool permits{false};
};

constexpr std::array<kind_of_request, 25> requests{{{verb::acquire},
                                                    {verb::confirm},
                                                    {verb::extend},
                                                    {verb::climb},
                                                    {verb::release},
                                                    {verb::watch},
                                                    {verb::inspect},
                                                    {verb::claim},
                                                    {verb::mark},
                                                    {verb::admit},
                                                    {verb::adopt},
                                                    {verb::want},
                                                    {verb::publish},
                                                    {verb::inherit},
                                                    {verb::peek},
                                                    {verb::acquire, true},
                                                    {verb::confirm, true},
                                                    {verb::extend, true},
                                                    {verb::extend, true, true},
                                                    {verb::release, true},
                                                    {verb::acquire, false, false, true},
                                                    {verb::extend, false, false, true},
                                                    {verb::watch, false, false, true},
                                                    {verb::keep, false, false, true},
                                                    {verb::look, false, false, true}}};

}  // namespace

conversation::conversation(input& in)
{
    std::size_t const commands = 1 + in.below(6);
    for (std::size_t i = 0; i < commands; ++i) {
        auto const [what, shared, was_writer, permits] = in.one_of(requests);
        detail::command c{what, names_[in.below(3)], "value", 10s};
        bool const several = !shared && (locks(what) || what == verb::watch || what == verb::look);
        others_.emplace_back(several ? in.below(3) : 0, "other");
        c.shared = shared;
        c.was_writer = was_writer;
        c.fenced = what == verb::confirm || what == verb::climb || c.is_about_state() || (shared && what != verb::release) ||
                   (permits && what != verb::watch && what != verb::look) ||
                   ((what == verb::acquire || what == verb::extend || what == verb::adopt) && in.flag());
        c.any = permits && what == verb::watch;
        if (permits && what != verb::watch) {
            c.change_more().permits_key = permits_key_;
            c.permits = 1 + static_cast<std::uint32_t>(in.below(3));
            c.change_more().version = 1 + in.below(3);
        }
        c.token = 1'000 + in.byte();
        c.block = 1 + in.byte();
        c.retention = 60s;
        c.change_more().id = server_id;
        c.change_more().former = "former";
        c.change_more().goal = c.token;
        c.change_more().since = c.is_about_state() ? 1
                                : c.token % 2 == 0 ? -1
                                                   : static_cast<std::int64_t>(c.token);  // of a state, its number
        work_.commands.push_back(c);
    }
    for (std::size_t i = 0; i < commands; ++i) work_.commands[i].others = others_[i];
    bool const identity = work_.votes_with_tokens() && in.flag();
    request_ = std::make_unique<detail::redis_request>(
        work_, server_id, detail::request_extras{.load_scripts = in.below(8) == 7, .time = true, .identity = identity});
}

void conversation::judge(std::vector<answer> const& answers) const
{
    check(answers.size() == calls(), "there is an answer to every call");
    reply old{vote::granted};  // of an earlier message
    old.counter = 1;
    old.set_words("old");
    std::vector<reply> replies(3, old);
    detail::reply_reader reader{request_->calls, server_id, replies, work_.commands.size()};
    for (std::size_t i = 0; i < answers.size(); ++i)
        for (owned_node const& n : answers[i]) reader.on_node(i, {n.data_type, n.aggregate_size, n.depth, n.value});
    reader.conclude();

    // Then the error of the look stands in the place of votes, whatever it says.
    bool const looked_in_vain = !answers.empty() && request_->calls.back().is == wire_call::kind::identity &&
                                is_error(answers.back().front());
    auto const expected = verdicts(request_->calls, answers, replies.size());
    for (std::size_t c = 0; c < answers.size(); ++c)
        if (call(c).is == wire_call::kind::time) check(replies.back().server_time == time_of(answers[c]), "the time is what TIME says");
    for (std::size_t i = 0; i < replies.size(); ++i) {
        reply const& is = replies[i];
        verdict const& should = expected[i];
        std::string const which = "command " + std::to_string(i) + ", verb " + std::to_string(static_cast<int>(work_.commands[i].what)) +
                                  ": is " + to_string(is.vote) + ", should be " + to_string(should.what);
        check(is.vote != vote::pending, "every reply ends in a verdict", which);
        check(is.vote == should.what, "a vote is what the answer to its command says", which);
        check((is.vote == vote::failed) == static_cast<bool>(is.error), "what failed has a reason, and nothing else has", which);
        bool const granted = is.vote == vote::granted;
        check(!granted || is.counter == should.counter, "a grant carries the token of its answer", which);
        bool const extends = work_.commands[i].what == verb::extend;
        check(!extends || is.counter == should.counter, "a refusal says which guard the lease needs if its answer does", which);
        check(is.recreated == should.recreated, "a key was set again if the answer says so", which);
        check(is.writer_waits == should.writer_waits, "a writer waits if the answer says so", which);
        check(is.watching == should.watching, "a node tells of changes if it said OK", which);
        check(is.expires_in == should.expires_in, "a key stays as long as the answer says", which);
        check((is.slots().has_value()) == should.slots.has_value(), "a reply has slots if its answer does", which);
        if (is.slots())
            check(is.slots()->ours == should.slots->ours && is.slots()->free == should.slots->free &&
                      is.slots()->version == should.slots->version && is.slots()->permits == should.slots->permits,
                  "the slots are those of the answer", which);
        bool const has_facts = granted && work_.commands[i].what == verb::inspect;
        check((is.facts() != nullptr) == has_facts, "whoever was inspected has facts, and nobody else", which);
        check(!reader.is_noscript(is) || reader.what_to_repeat().scripts || looked_in_vain, "a script that is missing is noticed", which);
    }
}

}  // namespace redlock::fuzz
