#include "cli/output/terminal.hpp"

#include "cli/output/exit_codes.hpp"
#include "cli/output/text.hpp"

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

constexpr std::size_t default_columns = 80, default_lines = 24;

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
    return ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : default_columns;
}

std::size_t terminal::lines() const
{
    winsize size{};
    return ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0 ? size.ws_row : default_lines;
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

namespace {

// Why the text could not be written; empty: it was.
std::string written(std::string_view text)
{
    if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0) return {};
    return std::string{"cannot write to the output: "} + std::strerror(errno);
}

}  // namespace

void terminal::write(std::string_view text) const
{
    if (auto const problem = written(text); !problem.empty()) throw failure{exit_code::internal, problem};
}

void terminal::say(std::string_view text)
{
    if (auto const problem = written(text); problem_.empty()) problem_ = problem;
}

void terminal::check() const
{
    if (!problem_.empty()) throw failure{exit_code::internal, problem_ + "; all else was done"};
}

}  // namespace redlock::cli
