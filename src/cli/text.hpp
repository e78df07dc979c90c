// Durations, names and moments as people write and read them. No I/O.
#ifndef REDLOCK_CLI_TEXT_HPP
#define REDLOCK_CLI_TEXT_HPP

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace redlock::cli {

// "250ms", "30s", "1m30s", "1.5h", "2d". None: that is no duration, or a longer one than 365 days.
std::optional<std::chrono::milliseconds> parse_duration(std::string_view text);

// "850 us", "12.3 ms", "4.5 s", "3 min 20 s", "2 h 5 min", "3 d 4 h".
std::string in_words(std::chrono::nanoseconds d);

// Without what would move the cursor: control characters and broken UTF-8 become \xNN.
std::string printable(std::string_view text);

// The same, within quotation marks where it would be mistaken for several words.
std::string name_in_words(std::string_view text);

// How many columns a printable text takes: its code points.
std::size_t columns_of(std::string_view text);

// Not wider than so many columns; what is cut away is shown by "..".
std::string cut(std::string_view text, std::size_t columns);

// Lines of so many columns, broken between words where that is possible; those behind the first begin with `hang` spaces. Colours take no
// columns.
std::string wrapped(std::string_view text, std::size_t columns, std::size_t hang);

// "2026-11-22 01:05:42", in the zone of this machine.
std::string local_time(std::uint64_t seconds_since_1970);

// Parts between commas, without the spaces around them and without empty ones.
std::vector<std::string> split_list(std::string_view text);

// What the library says of its own interface, in terms of the command's options.
std::string for_users(std::string text);

// "1 node", "3 nodes".
std::string count_of(std::size_t n, std::string_view noun);
std::string count_of(std::size_t n, std::string_view noun, std::string_view nouns);

}  // namespace redlock::cli

#endif
