// A password that is found wherever it gets to.
#ifndef REDLOCK_TESTS_FUZZ_SECRET_HPP
#define REDLOCK_TESTS_FUZZ_SECRET_HPP

#include "input.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace redlock::fuzz {

inline constexpr std::string_view secret = "Zq9Xk7Wv";

/// The characters that `in_clear` says no for are percent-encoded.
template <class Predicate>
std::string percent_encoded(std::string_view text, Predicate in_clear)
{
    constexpr std::string_view digits = "0123456789ABCDEF";
    std::string result;
    for (char const c : text) {
        auto const byte = static_cast<unsigned char>(c);
        if (in_clear(c)) {
            result += c;
        } else {
            result += '%';
            result += digits[byte >> 4];
            result += digits[byte & 15];
        }
    }
    return result;
}

inline std::string secret_in_code()
{
    return percent_encoded(secret, [](char) { return false; });
}

inline std::string secret_half_in_code()
{
    return percent_encoded(secret, [even = true](char) mutable { return even = !even; });
}

/// The marks 1, 2 and 3 stand for the secret: as it is, percent-encoded, and every other character encoded.
inline std::string with_secrets(std::string_view text)
{
    std::string result;
    for (char const c : text) {
        if (c == '\1') result += secret;
        else if (c == '\2') result += secret_in_code();
        else if (c == '\3') result += secret_half_in_code();
        else result += c;
    }
    return result;
}

/// Not even a part of it, in whatever form.
inline bool tells_the_secret(std::string_view text)
{
    constexpr std::size_t part = 4;
    for (std::size_t at = 0; at + part <= secret.size(); ++at)
        if (text.find(secret.substr(at, part)) != std::string_view::npos) return true;
    for (std::string const& form : {secret_in_code(), secret_half_in_code()})
        for (std::size_t at = 0; at + 2 * part <= form.size(); ++at)
            if (text.find(std::string_view{form}.substr(at, 2 * part)) != std::string_view::npos) return true;
    return false;
}

/// libFuzzer sees what we search for, and writes it into its inputs. What such a one tells, we did not put there.
inline bool spells_the_secret(std::uint8_t const* data, std::size_t size)
{
    return tells_the_secret({reinterpret_cast<char const*>(data), size});
}

}  // namespace redlock::fuzz

#endif
