#include "cli/terminal.hpp"

#include "cli/exit_codes.hpp"
#include "cli/text.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

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

}  // namespace

terminal::terminal() : live_{::isatty(STDOUT_FILENO) == 1 && can_move()}, colours_{live_ && !set("NO_COLOR")} {}

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

std::string table::text(terminal const& out, std::string_view indent) const
{
    std::vector<std::size_t> widths;
    for (auto const& row : rows_) {
        widths.resize(std::max(widths.size(), row.size()));
        for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], columns_of(row[c].text));
    }
    std::string result;
    for (auto const& row : rows_) {
        result += indent;
        for (std::size_t c = 0; c < row.size(); ++c) {
            result += out.paint(row[c].in, row[c].text);
            if (c + 1 < row.size()) result.append(widths[c] + 2 - columns_of(row[c].text), ' ');
        }
        result += '\n';
    }
    return result;
}

}  // namespace redlock::cli
