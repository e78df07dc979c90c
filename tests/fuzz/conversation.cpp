#include "conversation.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
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
    std::optional<std::chrono::milliseconds> expires_in{};
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
std::optional<verdict> of_acquire(std::vector<std::string> const& words, std::size_t index)
{
    if (2 * index + 1 >= words.size()) return std::nullopt;
    auto const said = integer({type::number, 1, 0, words[2 * index]});
    auto const counter = integer({type::number, 1, 0, words[2 * index + 1]});
    if (!said || !counter || *counter < 0 || *counter >= std::int64_t{1} << 53) return std::nullopt;
    if (said == 0 || said == -2) return verdict{vote::refused, static_cast<std::uint64_t>(*counter)};
    if (said != 1 || *counter == 0) return verdict{};
    return verdict{vote::granted, static_cast<std::uint64_t>(*counter)};
}

verdict of_mark(answer const& a)
{
    auto const e = elements(a);
    auto const what = vote_of(e.empty() ? std::nullopt : integer(e[0]), {0, 1}, {2, -1});
    if (what == vote::granted && (e.size() < 2 || e[1].data_type != type::blob_string || e[1].value.empty())) return {};
    return {what};
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
    case verb::acquire: return call.fenced ? of_acquire(words_of(a), 0).value_or(verdict{}) : of_plain_acquire(a);
    case verb::confirm: return {vote_of(root_number(a), {1}, {0, -2})};
    case verb::adopt: return {call.fenced ? vote_of(root_number(a), {1}, {0, -2}) : vote_of(root_number(a), {1}, {0})};
    case verb::release: return {vote_of(root_number(a), {1}, {0})};
    case verb::admit: return {vote_of(root_number(a), {1, 2}, {0, -1})};
    case verb::want: return {vote_of(root_number(a), {1}, {0})};
    case verb::mark: return of_mark(a);
    case verb::inspect: return {elements(a).size() >= 6 ? vote::granted : vote::failed};
    case verb::extend:
    case verb::climb:
    case verb::watch: break;
    }
    return {};
}

// One PTTL of a watch, on top of what those before it came to.
void add_watched(verdict& v, answer const& a, bool armed, bool first)
{
    auto const left = root_number(a);
    if (!first && v.what == vote::failed) return;
    if (!left || *left < -2) {
        v = {};
        return;
    }
    v.what = vote::granted;
    v.watching = armed && (first || v.watching);
    if (*left == -2) return;
    bool const stays = *left < 0 || std::chrono::milliseconds{*left} > std::chrono::days{365};
    auto const until = stays ? detail::never_expires : std::chrono::milliseconds{*left};
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
            add_watched(all[call.first], a, armed, !call.goes_on);
        } else if (is_error(a.front())) {
            for_all(locks(call.what) && a.front().value.starts_with("WRONGTYPE") ? vote::refused : vote::failed);
        } else if (call.what == verb::acquire && call.count > 1) {
            auto const words = words_of(a);
            for (std::size_t i = 0; i < call.count; ++i) {
                auto const one = of_acquire(words, i);
                if (!one) break;
                all[call.first + i] = *one;
            }
        } else if (call.what == verb::release && call.count > 1) {
            bool const is_text = a.front().data_type == type::blob_string;
            for (std::size_t i = 0; is_text && i < call.count && i < a.front().value.size(); ++i) {
                char const digit = a.front().value[i];
                all[call.first + i] = {digit == '1' ? vote::granted : digit == '0' ? vote::refused : vote::failed};
            }
        } else if (call.what == verb::extend || call.what == verb::climb) {
            std::size_t at = 0;
            for (std::size_t i = 0; i < call.count; ++i) {
                std::size_t const keys = call.key_counts.empty() ? 1 : call.key_counts[i];
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

conversation::conversation(input& in)
{
    std::size_t const commands = 1 + in.below(6);
    for (std::size_t i = 0; i < commands; ++i) {
        auto const what = static_cast<verb>(in.below(9));
        detail::command c{what, names_[in.below(3)], "value", 10s};
        bool const several = locks(what) || what == verb::watch;
        others_.emplace_back(several ? in.below(3) : 0, "other");
        c.fenced = what == verb::confirm || what == verb::climb ||
                   ((what == verb::acquire || what == verb::extend || what == verb::adopt) && in.flag());
        c.token = 1'000 + in.byte();
        c.block = 1 + in.byte();
        c.retention = 60s;
        c.id = server_id;
        c.former = "former";
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
    std::vector<reply> replies(work_.commands.size());
    detail::reply_reader reader{request_->calls, server_id, replies};
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
        check(is.watching == should.watching, "a node tells of changes if it said OK", which);
        check(is.expires_in == should.expires_in, "a key stays as long as the answer says", which);
        bool const has_facts = granted && work_.commands[i].what == verb::inspect;
        check((is.facts != nullptr) == has_facts, "whoever was inspected has facts, and nobody else", which);
        check(!reader.is_noscript(is) || reader.what_to_repeat().scripts || looked_in_vain, "a script that is missing is noticed", which);
    }
}

}  // namespace redlock::fuzz
