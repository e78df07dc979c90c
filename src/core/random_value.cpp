#include "core/environment.hpp"

#include <sys/random.h>

#include <cerrno>
#include <string_view>
#include <system_error>

namespace redlock::detail {

std::string random_value()
{
    std::array<unsigned char, 16> bytes;
    ssize_t n = -1;
    do {
        n = ::getrandom(bytes.data(), bytes.size(), 0);
    } while (n < 0 && errno == EINTR);
    // Up to 256 bytes come whole once the system's source is initialised.
    if (n != static_cast<ssize_t>(bytes.size())) throw std::system_error{errno, std::generic_category(), "getrandom"};

    constexpr std::string_view digits = "0123456789abcdef";
    std::string hex(2 * bytes.size(), '0');
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        hex[2 * i] = digits[bytes[i] >> 4];
        hex[2 * i + 1] = digits[bytes[i] & 15];
    }
    return hex;
}

}  // namespace redlock::detail
