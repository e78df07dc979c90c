#include "core/random_value.hpp"

#include <sys/random.h>

#include <cerrno>
#include <cstring>
#include <system_error>

namespace redlock::detail {

random_bytes random_values::next()
{
    if (used_ == bytes_.size()) refill();
    random_bytes next;
    std::memcpy(next.data(), &bytes_[used_], next.size());
    used_ += next.size();
    return next;
}

std::string random_value() { return lock_value{random_values{}.next(), nullptr}.text(); }

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
