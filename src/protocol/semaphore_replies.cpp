#include "protocol/semaphore_replies.hpp"

#include "protocol/fence_answers.hpp"
#include "protocol/fence_keys.hpp"
#include "protocol/redis_replies.hpp"
#include "protocol/semaphore_scripts.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>

namespace redlock::detail {

namespace {

// The words of a text, one after the other; empty when there are no more.
std::string_view next_word(std::string_view& text) noexcept
{
    auto const end = std::min(text.find(' '), text.size());
    auto const word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    return word;
}

// A number below `end`, and nothing else.
std::optional<std::int64_t> number_in(std::string_view word, std::int64_t end = script_number_end)
{
    std::int64_t n{0};
    auto const [stop, error] = std::from_chars(word.data(), word.data() + word.size(), n);
    if (error != std::errc{} || stop != word.data() + word.size() || n >= end) return std::nullopt;
    return n;
}

// The digits of a map; nothing if it is none.
bool read_map(std::string_view map, slots_answer& to) noexcept
{
    if (map.size() > quorum::max_slots) return false;
    for (std::size_t i = 0; i < map.size(); ++i) {
        if (map[i] < '0' || map[i] > '2') return false;
        if (map[i] == '0') to.free |= quorum::only_slot(i);
        if (map[i] == '2') to.ours |= quorum::only_slot(i);
    }
    return true;
}

constexpr char const* no_number = "the key of the number of permits (NAME:permits) holds something else";

}  // namespace

// "1 COUNTER MAP VERSION" or "0 HW MAP VERSION"; any other code with a number that belongs to it.
reply to_permits(std::string_view text)
{
    auto const code = number_in(next_word(text));
    auto const number = number_in(next_word(text));
    if (!code || !number || *number < 0) return unexpected();
    slots_answer said;
    if (*code == semaphore_other_permits) {
        auto const version = number_in(next_word(text));
        if (!version || *version < 1 || *number < 1 || *number > std::int64_t{UINT32_MAX}) return unexpected();
        said.version = static_cast<std::uint64_t>(*version);
        said.permits = static_cast<std::uint32_t>(*number);
        reply r{vote::failed, errc::permits_differ, "it keeps " + std::to_string(*number)};
        r.set_slots(said);
        return r;
    }
    if (*code != 0 && *code != 1) {
        reply r = to_reply(code);
        if (*code == fence_no_counter) r.set_words(no_number);
        if (r.error == errc::ttl_too_long) r.set_words("this node allows up to " + std::to_string(*number) + " ms");
        return r;
    }
    bool const is_map = read_map(next_word(text), said);
    auto const version = number_in(next_word(text));
    bool const granted = *code == 1;
    if (!is_map || !version || *version < 1 || (granted && (*number == 0 || said.ours == 0))) return unexpected();
    said.version = static_cast<std::uint64_t>(*version);
    reply r{granted ? vote::granted : vote::refused, {}, {}};
    r.counter = static_cast<quorum::token_number>(*number);
    r.set_slots(said);
    return r;
}

// "CODE K VERSION" of keep, and "K VERSION MAP" of look.
reply to_number_of_permits(verb of, std::string_view text)
{
    auto const code = of == verb::keep ? number_in(next_word(text)) : std::optional<std::int64_t>{1};
    auto const permits = number_in(next_word(text), std::int64_t{UINT32_MAX});
    auto const version = number_in(next_word(text));
    slots_answer said;
    if (!code || !permits || !version || *permits < 0 || *version < 0 || !read_map(text, said)) return unexpected();
    reply r = to_reply(code);
    if (code == fence_no_counter) r.set_words(no_number);
    if (r.vote == vote::failed) return r;
    said.permits = static_cast<std::uint32_t>(*permits);
    said.version = static_cast<std::uint64_t>(*version);
    r.set_slots(said);
    return r;
}

}  // namespace redlock::detail
