#include "core/lease/holder_info.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace redlock::detail {

namespace {

constexpr std::size_t random_digits = 32;
constexpr std::size_t max_host_size = 40;

bool is_hexadecimal(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); }

bool is_host_character(char c)
{
    bool const letter = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
    return letter || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
}

bool is_visible(char c) { return c >= '!' && c <= '~'; }

// Removes the first field of `text`, with the ':' after it, and returns the field.
std::string_view next_field(std::string_view& text)
{
    auto const colon = std::min(text.find(':'), text.size());
    auto const field = text.substr(0, colon);
    text.remove_prefix(std::min(colon + 1, text.size()));
    return field;
}

std::optional<std::uint64_t> to_number(std::string_view digits)
{
    std::uint64_t value{0};
    auto const end = digits.data() + digits.size();
    auto const [stop, error] = std::from_chars(digits.data(), end, value);
    if (error != std::errc{} || stop != end) return std::nullopt;
    return value;
}

}  // namespace

holder_mark::holder_mark(holder_info const& who)
    : before_{':' + host_in_values(who.host) + ':' + std::to_string(who.pid) + ':'}, after_{who.label.empty() ? "" : ':' + who.label}
{
    write(who.since);
}

shared_text_ptr const& holder_mark::at(std::uint64_t since)
{
    if (since != since_) write(since);
    return text_;
}

void holder_mark::write(std::uint64_t since)
{
    since_ = since;
    text_ = shared_text_ptr{new shared_text{before_ + std::to_string(since) + after_}};
}

holder_info this_process(std::string_view label)
{
    std::array<char, 256> name{};
    // A truncated host name is good enough. Without a host name, host_in_values writes "-".
    if (::gethostname(name.data(), name.size() - 1) != 0) name[0] = '\0';
    return {name.data(), static_cast<std::uint64_t>(::getpid()), 0, std::string{label}};
}

std::string host_in_values(std::string_view host)
{
    std::string result{host.substr(0, max_host_size)};
    std::replace_if(result.begin(), result.end(), [](char c) { return !is_host_character(c); }, '-');
    return result.empty() ? "-" : result;
}

std::optional<holder_info> holder_of(std::string_view value)
{
    auto const digits = value.substr(0, random_digits);
    if (value.size() <= random_digits || value[random_digits] != ':') return std::nullopt;
    if (!std::all_of(digits.begin(), digits.end(), is_hexadecimal)) return std::nullopt;

    auto rest = value.substr(random_digits + 1);
    auto const host = next_field(rest);
    auto const pid = to_number(next_field(rest));
    bool const labelled = rest.find(':') != std::string_view::npos;
    auto const since = to_number(next_field(rest));
    if (!pid || !since || host.empty() || host.size() > max_host_size) return std::nullopt;
    if (!std::all_of(host.begin(), host.end(), is_host_character)) return std::nullopt;
    if (labelled == rest.empty() || !std::all_of(rest.begin(), rest.end(), is_visible)) return std::nullopt;
    return holder_info{std::string{host}, *pid, *since, std::string{rest}};
}

}  // namespace redlock::detail
