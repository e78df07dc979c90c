#include "cli/terminal.hpp"

#include "cli/exit_codes.hpp"
#include "cli/text.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <sys/ioctl.h>
#include <unistd.h>

namespace redlock::cli {

namespace {

char const* code(tone what)
{
    switch (what) {
    case tone::plain: break;
    case tone::quiet: return "2";
    case tone::strong: return "1";
    case tone::good: return "32";
    case tone::warning: return "33";
    case tone::alarm: return "1;31";
    }
    return "0";
}

bool set(char const* variable)
{
    char const* const value = std::getenv(variable);
    return value != nullptr && *value != '\0';
}

bool can_move()
{
    char const* const type = std::getenv("TERM");
    return type != nullptr && std::string_view{type} != "dumb";
}

constexpr std::size_t columns_of_old = 80, lines_of_old = 24, narrowest = 20;
constexpr std::size_t gap = 2;  // between two columns of a table

}  // namespace

terminal::terminal() : live_{::isatty(STDOUT_FILENO) == 1 && can_move()}, colours_{live_ && !set("NO_COLOR")} {}

std::size_t terminal::columns() const
{
    if (::isatty(STDOUT_FILENO) != 1) return 0;
    if (char const* const wanted = std::getenv("COLUMNS")) {
        std::size_t columns = 0;
        std::from_chars(wanted, wanted + std::strlen(wanted), columns);
        if (columns > 0) return columns;
    }
    winsize size{};
    return ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : columns_of_old;
}

std::size_t terminal::lines() const
{
    winsize size{};
    return ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0 ? size.ws_row : lines_of_old;
}

std::string terminal::fold(std::string_view text, std::size_t hang) const
{
    auto const width = columns();
    return width == 0 ? std::string{text} : wrapped(text, width, hang);
}

std::string terminal::paint(tone what, std::string_view text) const
{
    if (!colours_ || what == tone::plain) return std::string{text};
    return std::string{"\x1b["} + code(what) + 'm' + std::string{text} + "\x1b[0m";
}

void terminal::write(std::string_view text) const
{
    if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0) return;
    throw failure{exit_code::internal, std::string{"cannot write to the output: "} + std::strerror(errno)};
}

table::table(std::vector<std::string> const& heading)
{
    rows_.emplace_back();
    for (std::string const& title : heading) rows_.back().push_back({title, tone::quiet});
}

std::vector<std::size_t> table::widths() const
{
    std::vector<std::size_t> all;
    for (auto const& row : rows_) {
        all.resize(std::max(all.size(), row.size()));
        for (std::size_t c = 0; c < row.size(); ++c)
            if (!row[c].note) all[c] = std::max(all[c], columns_of(row[c].text));
    }
    return all;
}

namespace {

// Where the block ends that begins with the column `first`: it has as many columns as fit beside the table's first one. A column that is too wide for any
// block is made narrower.
std::size_t end_of_block(std::vector<std::size_t>& widths, std::size_t first, std::size_t most)
{
    std::size_t end = first, used = widths.front();
    for (; end < widths.size(); ++end) {
        widths[end] = std::min(widths[end], most - widths.front() - gap);
        if (used + gap + widths[end] > most) break;
        used += gap + widths[end];
    }
    return end;
}

}  // namespace

// Columns that do not fit beside the others follow in blocks of their own, each with the first column again.
std::string table::text(terminal const& out, std::string_view indent) const
{
    auto widths = this->widths();
    std::size_t const most = out.columns() == 0 ? std::string::npos : std::max(out.columns(), indent.size() + narrowest) - indent.size();
    widths.front() = std::min(widths.front(), most / 2);
    std::string result, below;
    std::size_t first = 1;
    do {
        auto const end = end_of_block(widths, first, most);
        if (first > 1) result += '\n';
        for (auto const& row : rows_) {
            if (first > 1 && row.back().note) continue;
            result += indent;
            auto const last = std::min(end, row.size());
            result += padded(out, row.front(), widths.front(), row.size() == 1);
            for (std::size_t c = first; c < last; ++c) {
                if (!row[c].note) {
                    result += padded(out, row[c], widths[c], c + 1 == last);
                } else if (widths.front() + gap + columns_of(row[c].text) <= most) {
                    result += out.paint(row[c].in, row[c].text);
                } else {
                    result += out.paint(row[c].in, "see below");
                    auto const note = row.front().text + ": " + out.paint(row[c].in, row[c].text);
                    below += '\n' + std::string{indent} + wrapped(note, most, indent.size() + 2) + '\n';
                }
            }
            result += '\n';
        }
        first = end;
    } while (first < widths.size());
    return result + below;
}

// The cell in its column. The last one of a line has no spaces behind it.
std::string table::padded(terminal const& out, cell const& c, std::size_t width, bool last)
{
    auto const shown = cut(c.text, width);
    return out.paint(c.in, shown) + std::string(last ? 0 : width + gap - columns_of(shown), ' ');
}

}  // namespace redlock::cli
