// Bytes as hexadecimal digits, two for each byte.
#ifndef REDLOCK_BASE_HEXADECIMAL_HPP
#define REDLOCK_BASE_HEXADECIMAL_HPP

#include <array>
#include <cstddef>
#include <cstring>
#include <string_view>

namespace redlock::detail {

// The two digits of every possible byte, one after the other.
inline constexpr auto digits_of_bytes = [] {
    constexpr std::string_view sixteen = "0123456789abcdef";
    std::array<char, 512> all{};
    for (std::size_t byte = 0; byte < 256; ++byte) {
        all[2 * byte] = sixteen[byte >> 4];
        all[2 * byte + 1] = sixteen[byte & 15];
    }
    return all;
}();

// Returns the end of what it has written.
inline char* put_hexadecimal(char* to, std::string_view bytes) noexcept
{
    for (char const each : bytes) {
        std::memcpy(to, &digits_of_bytes[2 * std::size_t{static_cast<unsigned char>(each)}], 2);
        to += 2;
    }
    return to;
}

}  // namespace redlock::detail

#endif
