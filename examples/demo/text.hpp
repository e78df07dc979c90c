// How the demo writes numbers and columns.
#ifndef REDLOCK_DEMO_TEXT_HPP
#define REDLOCK_DEMO_TEXT_HPP

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace demo {

std::string grouped(std::int64_t number);                   // 12,345
std::string milliseconds(std::chrono::nanoseconds length);  // 1,234 ms
std::string tenths_of_ms(std::chrono::nanoseconds length);  // 199.8 ms
std::string seconds(std::chrono::nanoseconds length);       // 12.345 s

// Cut or filled with spaces to exactly `width`, the text to the left or to the right.
std::string left(std::string_view text, std::size_t width);
std::string right(std::string_view text, std::size_t width);

}  // namespace demo

#endif
