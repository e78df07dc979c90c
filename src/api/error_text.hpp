// The texts of exceptions: the lock, what the code says, and the reason.
#ifndef REDLOCK_API_ERROR_TEXT_HPP
#define REDLOCK_API_ERROR_TEXT_HPP

#include <redlock/error.hpp>

#include <algorithm>
#include <string>
#include <string_view>

namespace redlock::detail {

// A server chooses its own words; they must not be able to break a log into lines or to write to a terminal.
inline std::string on_one_line(std::string_view words)
{
    std::string text{words};
    std::replace_if(text.begin(), text.end(), [](unsigned char c) { return c < ' ' || c == 0x7f; }, ' ');
    return text;
}

inline std::string error_text(error_code why, std::string_view lock, std::string_view reason)
{
    std::string text{lock};
    text += (lock.empty() ? "" : ": ") + why.message();
    if (!reason.empty()) text += "; " + on_one_line(reason);
    return text;
}

}  // namespace redlock::detail

#endif
