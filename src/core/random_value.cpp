#include "core/environment.hpp"

#include <sys/random.h>

#include <cerrno>
#include <string_view>
#include <system_error>

namespace redlock::detail {

void random_values::append_to(std::string& text)
{
    if (used_ == bytes_.size()) refill();
    constexpr std::string_view digits = "0123456789abcdef";
    std::array<char, 2 * bytes_each> hex;
    for (std::size_t i = 0; i < bytes_each; ++i) {
        unsigned char const byte = bytes_[used_ + i];
        hex[2 * i] = digits[byte >> 4];
        hex[2 * i + 1] = digits[byte & 15];
    }
    used_ += bytes_each;
    text.append(hex.data(), hex.size());
}

std::string random_value()
{
    random_values source;
    std::string value;
    source.append_to(value);
    return value;
}

void random_values::refill()
{
    ssize_t n = -1;
    do {
        n = ::getrandom(bytes_.data(), bytes_.size(), 0);
    } while (n < 0 && errno == EINTR);
    static_assert(sizeof bytes_ <= 256);  // so many come whole once the system's source is initialised
    if (n != static_cast<ssize_t>(bytes_.size())) throw std::system_error{errno, std::generic_category(), "getrandom"};
    used_ = 0;
}

}  // namespace redlock::detail
