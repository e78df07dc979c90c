#include "protocol/server_words.hpp"

#include <algorithm>
#include <cstddef>

namespace redlock::detail {

namespace {

constexpr std::size_t max_told = 1'000;  // in bytes

// Redis and Valkey write this behind the name of a command that they do not know.
constexpr std::string_view before_arguments = ", with args beginning with";

// A server may cut off what it repeats, so the beginning of a secret is one, too.
constexpr std::size_t enough_of_a_secret = 8;

constexpr std::string_view left_out = "(the rest repeats what the server was sent)";

bool is_alphanumeric(char c) noexcept
{
    auto const lower = static_cast<char>(c | 0x20);
    return (lower >= 'a' && lower <= 'z') || (c >= '0' && c <= '9');
}

bool is_of_a_word(char c) noexcept { return is_alphanumeric(c) || c == '-' || c == '_'; }

// Whether a word that begins before `at` goes on there.
bool word_goes_on(std::string_view text, std::size_t at) noexcept
{
    if (at == 0 || at == text.size() || !is_of_a_word(text[at])) return false;
    return is_alphanumeric(text[at - 1]) || (is_of_a_word(text[at - 1]) && at > 1 && is_alphanumeric(text[at - 2]));
}

// Where the secret is repeated. Within a longer word it is not: a password may be a word of the message that refuses it.
std::size_t find_secret(std::string_view text, std::string_view secret)
{
    if (secret.empty()) return text.npos;
    auto const beginning = secret.substr(0, enough_of_a_secret);
    for (auto at = text.find(beginning); at != text.npos; at = text.find(beginning, at + 1)) {
        bool const ends_inside = secret.size() < enough_of_a_secret && word_goes_on(text, at + beginning.size());
        if (!word_goes_on(text, at) && !ends_inside) return at;
    }
    return text.npos;
}

}  // namespace

std::string words_of_server(std::string_view said, std::string_view secret)
{
    said = said.substr(0, said.find(before_arguments));
    auto const repeated = find_secret(said, secret);
    std::string told{said.substr(0, std::min(repeated, max_told))};
    if (repeated < max_told) told += left_out;
    std::replace_if(told.begin(), told.end(), [](unsigned char c) { return c < ' ' || c == 0x7f; }, ' ');
    return told;
}

}  // namespace redlock::detail
