#include "cli/output/text.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <ctime>

namespace redlock::cli {

namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

constexpr double max_duration_ms = 365.0 * 24 * 3'600 * 1'000;

std::optional<double> ms_in(std::string_view unit)
{
    struct known {
        std::string_view name;
        double ms;
    };
    for (known const k : {known{"ms", 1}, {"s", 1e3}, {"m", 6e4}, {"min", 6e4}, {"h", 3.6e6}, {"d", 8.64e7}})
        if (unit == k.name) return k.ms;
    return std::nullopt;
}

bool is_digit(char c) { return (c >= '0' && c <= '9') || c == '.'; }

std::optional<double> to_number(std::string_view digits)
{
    auto const points = std::count(digits.begin(), digits.end(), '.');
    if (points > 1 || digits.size() > 18 || digits.front() == '.' || digits.back() == '.') return std::nullopt;
    double value = 0, scale = 1;
    bool fraction = false;
    for (char const c : digits) {
        if (c == '.') {
            fraction = true;
            continue;
        }
        value = value * 10 + (c - '0');
        if (fraction) scale *= 10;
    }
    return value / scale;
}

std::string with_one_decimal(double value, char const* unit)
{
    std::array<char, 48> text{};
    std::snprintf(text.data(), text.size(), "%.1f %s", value, unit);
    return text.data();
}

std::string two_units(std::int64_t large, char const* large_name, std::int64_t small, char const* small_name)
{
    std::string text = std::to_string(large) + large_name;
    return small > 0 ? text + ' ' + std::to_string(small) + small_name : text;
}

// The length in bytes of the UTF-8 code point at the start; 0 if the bytes are not valid UTF-8, as with overlong forms and surrogates.
std::size_t code_point_size(std::string_view text)
{
    auto const byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
    auto const follows = [&](std::size_t i) { return (byte(i) & 0xc0u) == 0x80u; };
    unsigned const first = byte(0);
    if (first < 0x80) return 1;
    if (first >= 0xc2 && first <= 0xdf && follows(1)) return 2;
    bool const surrogate = first == 0xed && byte(1) >= 0xa0;
    if (first >= 0xe0 && first <= 0xef && follows(1) && follows(2) && !(first == 0xe0 && byte(1) < 0xa0) && !surrogate) return 3;
    bool const too_large = first == 0xf4 && byte(1) >= 0x90;
    bool const overlong = first == 0xf0 && byte(1) < 0x90;
    if (first >= 0xf0 && first <= 0xf4 && follows(1) && follows(2) && follows(3) && !overlong && !too_large) return 4;
    return 0;
}

bool is_control(std::string_view code_point)
{
    auto const byte = [&](std::size_t i) { return static_cast<unsigned char>(code_point[i]); };
    if (code_point.size() == 1) return byte(0) < ' ' || byte(0) == 0x7f;
    if (byte(0) == 0xc2) return byte(1) < 0xa0;  // U+0080 to U+009F, the C1 control characters
    if (byte(0) == 0xd8) return byte(1) == 0x9c;  // U+061C, the Arabic letter mark
    if (byte(0) == 0xef) return byte(1) == 0xbb && byte(2) == 0xbf;  // U+FEFF, which nobody sees
    if (byte(0) != 0xe2) return false;
    if (byte(1) == 0x80)
        return (byte(2) >= 0x8b && byte(2) <= 0x8f) || (byte(2) >= 0xa8 && byte(2) <= 0xae);  // U+200B to 200F, 2028 to 202E
    return byte(1) == 0x81 && byte(2) >= 0xa0 && byte(2) <= 0xaf;  // U+2060 to U+206F
}

}  // namespace

std::optional<milliseconds> parse_duration(std::string_view text)
{
    if (text == "0") return 0ms;
    double total = 0;
    bool any = false;
    while (!text.empty()) {
        auto const unit_at = static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), is_digit) - text.begin());
        auto const next = std::find_if(text.begin() + static_cast<std::ptrdiff_t>(unit_at), text.end(), is_digit);
        auto const end = static_cast<std::size_t>(next - text.begin());
        if (unit_at == 0) return std::nullopt;
        auto const number = to_number(text.substr(0, unit_at));
        auto const unit = ms_in(text.substr(unit_at, end - unit_at));
        if (!number || !unit) return std::nullopt;
        total += *number * *unit;
        any = true;
        text.remove_prefix(end);
    }
    if (!any || total > max_duration_ms) return std::nullopt;
    return milliseconds{std::llround(total)};
}

std::string in_words(std::chrono::nanoseconds d)
{
    if (d < 0ns) return '-' + in_words(-d);
    auto const us = std::chrono::duration<double, std::micro>{d}.count();
    if (us < 999.5) return std::to_string(std::llround(us)) + " us";
    if (us < 999'950) return with_one_decimal(us / 1e3, "ms");
    if (us < 59.95e6) return with_one_decimal(us / 1e6, "s");
    auto const s = static_cast<std::int64_t>(std::llround(us / 1e6));
    if (s < 3'600) return two_units(s / 60, " min", s % 60, " s");
    if (s < 86'400) return two_units(s / 3'600, " h", s % 3'600 / 60, " min");
    return two_units(s / 86'400, " d", s % 86'400 / 3'600, " h");
}

std::string printable(std::string_view text)
{
    constexpr std::string_view digits = "0123456789abcdef";
    std::string result;
    while (!text.empty()) {
        auto const size = code_point_size(text);
        auto const point = text.substr(0, std::max<std::size_t>(size, 1));
        if (size == 0 || is_control(point)) {
            for (char const c : point) {
                auto const byte = static_cast<unsigned char>(c);
                result += "\\x";
                result += digits[byte >> 4];
                result += digits[byte & 15];
            }
        } else {
            result += point;
        }
        text.remove_prefix(point.size());
    }
    return result;
}

std::string printable_json(std::string_view document)
{
    std::string result;
    while (!document.empty()) {
        auto const point = document.substr(0, std::max<std::size_t>(code_point_size(document), 1));
        document.remove_prefix(point.size());
        if (!is_control(point) || (point.size() == 1 && point[0] != '\x7f')) {
            result += point;  // of the others dump() has written what is in a text, and what is between texts lays it out
            continue;
        }
        unsigned number = static_cast<unsigned char>(point[0]) & (point.size() == 1 ? 0x7fu : point.size() == 2 ? 0x1fu : 0x0fu);
        for (char const c : point.substr(1)) number = number << 6 | (static_cast<unsigned char>(c) & 0x3fu);
        std::array<char, 8> text{};
        std::snprintf(text.data(), text.size(), "\\u%04x", number & 0xffffu);
        result += text.data();
    }
    return result;
}

std::string dump(nlohmann::ordered_json const& document, int indent)
{
    return printable_json(document.dump(indent, ' ', false, nlohmann::ordered_json::error_handler_t::replace)) + '\n';
}

std::string name_in_words(std::string_view text)
{
    std::string const shown = printable(text);
    bool const plain = !text.empty() && shown == text && text.find_first_of(" \"'\\") == std::string_view::npos;
    return plain ? shown : '"' + shown + '"';
}

std::size_t columns_of(std::string_view text)
{
    auto const is_first_byte = [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; };
    return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), is_first_byte));
}

std::string cut(std::string_view text, std::size_t columns)
{
    if (columns_of(text) <= columns) return std::string{text};
    std::size_t const kept = columns > 2 ? columns - 2 : 0;
    std::size_t end = 0;
    for (std::size_t c = 0; c < kept; ++c) end += std::max<std::size_t>(code_point_size(text.substr(end)), 1);
    return std::string{text.substr(0, end)} + std::string(columns - kept, '.');
}

namespace {

// Where the first `columns` columns of a word end. Escape sequences of colours take no column.
std::size_t piece_end(std::string_view word, std::size_t columns)
{
    std::size_t at = 0;
    for (std::size_t used = 0; at < word.size();) {
        if (word[at] == '\x1b') {
            at = std::min(word.find('m', at), word.size() - 1) + 1;
            continue;
        }
        if (used++ == columns) break;
        at += std::max<std::size_t>(code_point_size(word.substr(at)), 1);
    }
    return at;
}

// How many columns a word takes. Escape sequences of colours take none.
std::size_t visible_columns(std::string_view word)
{
    std::size_t columns = 0;
    for (std::size_t at = 0; at < word.size();) {
        if (word[at] == '\x1b') {
            at = std::min(word.find('m', at), word.size() - 1) + 1;
            continue;
        }
        ++columns;
        at += std::max<std::size_t>(code_point_size(word.substr(at)), 1);
    }
    return columns;
}

}  // namespace

std::string wrapped(std::string_view text, std::size_t columns, std::size_t hang)
{
    hang = columns > 2 * hang ? hang : 0;
    std::string result;
    std::size_t used = 0;
    while (!text.empty()) {
        auto const spaces = std::min(text.find_first_not_of(' '), text.size());
        auto const end = std::min(text.find(' ', spaces), text.size());
        auto word = text.substr(spaces, end - spaces);
        text.remove_prefix(end);
        bool const begins = result.empty() || used == hang;
        if (!begins && used + spaces + visible_columns(word) > columns) {
            result += '\n' + std::string(hang, ' ');
            used = hang;
        } else {
            result.append(spaces, ' ');
            used += spaces;
        }
        while (used + visible_columns(word) > columns) {
            auto const piece = word.substr(0, piece_end(word, columns > used ? columns - used : 1));
            word.remove_prefix(piece.size());
            result += std::string{piece} + '\n' + std::string(hang, ' ');
            used = hang;
        }
        result += word;
        used += visible_columns(word);
    }
    return result;
}

std::string local_time(std::uint64_t seconds_since_1970)
{
    constexpr std::uint64_t last = 253'402'300'799;  // the last second of the year 9999
    std::time_t const t = static_cast<std::time_t>(std::min(seconds_since_1970, last));
    std::tm parts{};
    std::array<char, 32> text{};
    if (::localtime_r(&t, &parts) == nullptr || std::strftime(text.data(), text.size(), "%F %T", &parts) == 0)
        return std::to_string(seconds_since_1970) + " s after 1970";
    return text.data();
}

std::vector<std::string> split_list(std::string_view text)
{
    std::vector<std::string> parts;
    for (std::size_t at = 0; at <= text.size();) {
        auto const end = std::min(text.find(',', at), text.size());
        auto part = text.substr(at, end - at);
        auto const first = part.find_first_not_of(" \t\r\n");
        if (first != std::string_view::npos) parts.emplace_back(part.substr(first, part.find_last_not_of(" \t\r\n") - first + 1));
        at = end + 1;
    }
    return parts;
}

std::vector<std::string> split_urls(std::string_view text)
{
    std::vector<std::string> urls;
    for (std::string& part : split_list(text)) {
        auto const list = urls.empty() ? std::string::npos : urls.back().find("+sentinel://");
        bool const hosts_only = list != std::string::npos &&
                                urls.back().find('/', list + std::string_view{"+sentinel://"}.size()) == std::string::npos;
        bool const of_cluster = !urls.empty() && urls.back().find("-cluster://") != std::string::npos;
        if ((hosts_only || of_cluster) && part.find("://") == std::string::npos) (urls.back() += ',') += part;
        else urls.push_back(std::move(part));
    }
    return urls;
}

std::string count_of(std::size_t n, std::string_view noun) { return count_of(n, noun, std::string{noun} + 's'); }

std::string count_of(std::size_t n, std::string_view noun, std::string_view nouns)
{
    return std::to_string(n) + ' ' + std::string{n == 1 ? noun : nouns};
}

std::string so_few_nodes(std::size_t n, std::size_t all, std::string_view did, std::string_view did_not)
{
    if (n == 0 && all == 1) return "the node " + std::string{did_not};
    return (n == 0 ? "none of " : "only " + std::to_string(n) + " of ") + count_of(all, "node") + ' ' + std::string{did};
}

}  // namespace redlock::cli
