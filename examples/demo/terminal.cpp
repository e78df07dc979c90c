#include "terminal.hpp"

#include <cerrno>
#include <cstdlib>

#include <sys/ioctl.h>
#include <unistd.h>

namespace demo {
namespace {

constexpr std::size_t min_columns = 80;
constexpr std::size_t min_rows = 22;

char const* code(tone what)
{
    switch (what) {
    case tone::plain: break;
    case tone::quiet: return "2";
    case tone::strong: return "1";
    case tone::good: return "32";
    case tone::waiting: return "36";
    case tone::warning: return "33";
    case tone::alarm: return "1;31";
    case tone::worker_a: return "97;44";
    case tone::worker_b: return "97;45";
    case tone::worker_c: return "30;46";
    }
    return "0";
}

bool is_set(char const* variable)
{
    char const* const value = std::getenv(variable);
    return value != nullptr && *value != '\0';
}

}  // namespace

terminal::terminal() : live_{::isatty(STDOUT_FILENO) == 1}, colours_{live_ && !is_set("NO_COLOR")}
{
    char const* const type = std::getenv("TERM");
    bool const can_move = type != nullptr && std::string_view{type} != "dumb";
    auto const now = size();
    if (!can_move) colours_ = false;
    live_ = live_ && can_move && now.columns >= min_columns && now.rows >= min_rows;
}

terminal::extent terminal::size() const noexcept
{
    winsize window{};
    if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) != 0) return {0, 0};
    return {window.ws_col, window.ws_row};
}

std::string terminal::paint(tone what, std::string_view text) const
{
    if (!colours_ || what == tone::plain) return std::string{text};
    return std::string{"\x1b["} + code(what) + "m" + std::string{text} + "\x1b[0m";
}

void terminal::write(std::string_view text) const
{
    while (!text.empty()) {
        auto const n = ::write(STDOUT_FILENO, text.data(), text.size());
        if (n >= 0) text.remove_prefix(static_cast<std::size_t>(n));
        else if (errno != EINTR) throw output_closed{};
    }
}

}  // namespace demo
