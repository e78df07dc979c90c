#include "protocol/state_text.hpp"

#include <charconv>

namespace redlock::detail {

namespace {

// Removes a number and the character behind it from the front of `text`.
std::optional<std::uint64_t> take_number(std::string_view& text, char behind)
{
    std::uint64_t number{0};
    auto const end = text.data() + text.size();
    auto const [stop, error] = std::from_chars(text.data(), end, number);
    if (error != std::errc{} || stop == end || *stop != behind) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(stop - text.data()) + 1);
    return number;
}

std::optional<quorum::state_stamp> take_stamp(std::string_view& text)
{
    auto const rank = take_number(text, ' ');
    auto const number = rank ? take_number(text, ' ') : std::nullopt;
    if (!number) return std::nullopt;
    return quorum::state_stamp{*rank, *number};
}

// The same for "SIZE:TEXT".
std::optional<std::string_view> take_text(std::string_view& text)
{
    auto const size = take_number(text, ':');
    if (!size || *size > text.size()) return std::nullopt;
    auto const taken = text.substr(0, static_cast<std::size_t>(*size));
    text.remove_prefix(taken.size());
    return taken;
}

}  // namespace

std::string state_text(std::uint64_t token, std::string_view writer, std::string_view bytes)
{
    std::string text = std::to_string(token) + ' ' + std::to_string(writer.size()) + ':';
    return text.append(writer).append(bytes);
}

std::optional<quorum::state_stamp> read_stamp(std::string_view whole) { return take_stamp(whole); }

std::optional<kept_state> read_state(std::string_view whole)
{
    kept_state s;
    auto const stamp = take_stamp(whole);
    if (!stamp) return std::nullopt;
    s.stamp = *stamp;
    s.text = whole;
    auto const token = take_number(whole, ' ');
    auto const writer = token ? take_text(whole) : std::nullopt;
    if (!writer) return std::nullopt;
    s.token = *token;
    s.writer = *writer;
    s.bytes = whole;
    return s;
}

std::string packed_holder(std::string_view value) { return (std::to_string(value.size()) + ':').append(value); }

seen_on_node unpack(std::string_view answer)
{
    auto const holder = take_text(answer);
    return holder ? seen_on_node{*holder, answer} : seen_on_node{};
}

}  // namespace redlock::detail
