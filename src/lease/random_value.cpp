#include "lease/random_value.hpp"

#include <sys/random.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <system_error>

namespace redlock::detail {

namespace {

// The two digits of every possible byte, one after the other.
constexpr auto hexadecimal = [] {
    constexpr std::string_view sixteen = "0123456789abcdef";
    std::array<char, 512> all{};
    for (std::size_t byte = 0; byte < 256; ++byte) {
        all[2 * byte] = sixteen[byte >> 4];
        all[2 * byte + 1] = sixteen[byte & 15];
    }
    return all;
}();

}  // namespace

lock_value::unique_part random_values::next()
{
    if (used_ == bytes_.size()) refill();
    lock_value::unique_part hex;
    for (std::size_t i = 0; i < bytes_each; ++i) std::memcpy(&hex[2 * i], &hexadecimal[2 * std::size_t{bytes_[used_ + i]}], 2);
    used_ += bytes_each;
    return hex;
}

std::string random_value()
{
    random_values source;
    auto const digits = source.next();
    return {digits.data(), digits.size()};
}

void random_values::refill()
{
    ssize_t n = -1;
    do {
        n = ::getrandom(bytes_.data(), bytes_.size(), 0);
    } while (n < 0 && errno == EINTR);
    static_assert(sizeof bytes_ <= 256);  // getrandom never returns fewer bytes than asked for, up to 256
    if (n != static_cast<ssize_t>(bytes_.size())) throw std::system_error{errno, std::generic_category(), "getrandom"};
    used_ = 0;
}

}  // namespace redlock::detail
