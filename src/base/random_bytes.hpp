// 128 random bits, which stand in texts as 32 hexadecimal digits.
#ifndef REDLOCK_BASE_RANDOM_BYTES_HPP
#define REDLOCK_BASE_RANDOM_BYTES_HPP

#include <array>
#include <cstddef>
#include <cstring>

namespace redlock::detail {

using random_bytes = std::array<unsigned char, 16>;
inline constexpr std::size_t digits_of_random_bytes = 2 * sizeof(random_bytes);

// Writes the digits and returns their end. Without a table and with local arrays, since compilers make some vector instructions of that.
inline char* put_digits(char* to, random_bytes const& of) noexcept
{
    auto const digit = [](unsigned char half) { return static_cast<char>(half + '0' + (half > 9 ? 'a' - '0' - 10 : 0)); };
    random_bytes const bytes = of;
    std::array<char, digits_of_random_bytes> digits;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        digits[2 * i] = digit(static_cast<unsigned char>(bytes[i] >> 4));
        digits[2 * i + 1] = digit(static_cast<unsigned char>(bytes[i] & 15));
    }
    std::memcpy(to, digits.data(), digits.size());
    return to + digits.size();
}

}  // namespace redlock::detail

#endif
