#include "cli/output/terminal.hpp"

#include "cli/output/exit_codes.hpp"
#include "cli/output/text.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <climits>
#include <cstdlib>
#include <cstring>

#include <poll.h>
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
constexpr int looks_for_signals_every_ms = 100;

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

void terminal::write(std::string_view text, std::function<int()> const& ends) const
{
    auto const fail = [](int error) { throw failure{exit_code::internal, std::string{cannot_write} + std::strerror(error)}; };
    while (!text.empty()) {
        pollfd out{STDOUT_FILENO, POLLOUT, 0};
        int const ready = ::poll(&out, 1, ends ? looks_for_signals_every_ms : -1);
        if (ready < 0 && (errno != EINTR || !ends)) fail(errno);
        if (int const by = ends && ready <= 0 ? ends() : 0; by > 0)
            throw failure{ended_by(by), std::string{cannot_write} + "nobody reads it"};
        if (ready <= 0) continue;
        auto const written = ::write(STDOUT_FILENO, text.data(), std::min<std::size_t>(text.size(), PIPE_BUF));
        if (written > 0) text.remove_prefix(static_cast<std::size_t>(written));
        else if (written < 0 && errno != EAGAIN && (errno != EINTR || !ends)) fail(errno);
    }
}

}  // namespace redlock::cli
