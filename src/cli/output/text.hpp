// Durations, names and moments as people write and read them. No I/O.
#ifndef REDLOCK_CLI_OUTPUT_TEXT_HPP
#define REDLOCK_CLI_OUTPUT_TEXT_HPP

#include <nlohmann/json_fwd.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace redlock::cli {

// Parses durations like "250ms", "30s", "1m30s", "1.5h", "2d". None: the text is no duration, or the duration is longer than 365 days.
std::optional<std::chrono::milliseconds> parse_duration(std::string_view text);

// Writes durations like "850 us", "12.3 ms", "4.5 s", "3 min 20 s", "2 h 5 min", "3 d 4 h".
std::string in_words(std::chrono::nanoseconds d);

// The text with control characters and invalid UTF-8 written as \xNN, so that it cannot move the cursor; also those that break lines or let text run from
// right to left, so that it cannot look like another one.
std::string printable(std::string_view text);

// A JSON document with those characters written as \uNNNN, which mean the same.
std::string printable_json(std::string_view document);

// The same of a document, and the end of its line. Names are bytes, and need not be UTF-8.
std::string dump(nlohmann::ordered_json const& document, int indent);

// The printable text, within quotation marks if it contains spaces, quotes or backslashes, is empty, or had to be changed.
std::string name_in_words(std::string_view text);

// How many columns a printable text takes: its code points.
std::size_t columns_of(std::string_view text);

// The text cut to `columns` columns; ".." at the end shows that something is missing.
std::string cut(std::string_view text, std::size_t columns);

// The text broken into lines of `columns` columns, between words where possible. Lines after the first begin with `hang` spaces. Escape sequences of
// colours take no columns.
std::string wrapped(std::string_view text, std::size_t columns, std::size_t hang);

// "2026-11-22 01:05:42", in the zone of this machine.
std::string local_time(std::uint64_t seconds_since_1970);

// The parts of a text between commas, without spaces around them. Empty parts are left out.
std::vector<std::string> split_list(std::string_view text);

// The same for URLs of nodes: the commas between the Sentinels of one URL do not divide.
std::vector<std::string> split_urls(std::string_view text);

// "1 node", "3 nodes".
std::string count_of(std::size_t n, std::string_view noun);
std::string count_of(std::size_t n, std::string_view noun, std::string_view nouns);

// "only 1 of 3 nodes answered", "none of 3 nodes answered", "the node did not answer".
std::string so_few_nodes(std::size_t n, std::size_t all, std::string_view did, std::string_view did_not);

}  // namespace redlock::cli

#endif
