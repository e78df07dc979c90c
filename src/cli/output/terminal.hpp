// Where the output goes: colours and redrawing on a terminal, plain text elsewhere.
#ifndef REDLOCK_CLI_OUTPUT_TERMINAL_HPP
#define REDLOCK_CLI_OUTPUT_TERMINAL_HPP

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace redlock::cli {

// Begins the sentence about an output that nobody gets.
inline constexpr char const* cannot_write = "cannot write to the output: ";

enum class tone { plain, quiet, strong, good, warning, alarm };

class terminal {
public:
    // Asks about stdout. NO_COLOR and TERM=dumb leave colours away.
    terminal();

    bool live() const noexcept { return live_; }

    // How wide it is now: COLUMNS, or what it says itself. 0: this is no terminal, and a line may be as long as it likes.
    std::size_t columns() const;

    // How many lines it shows now; 24 where it does not say.
    std::size_t lines() const;

    // Broken into lines that fit; those behind the first begin with `hang` spaces.
    std::string fold(std::string_view text, std::size_t hang) const;

    std::string paint(tone what, std::string_view text) const;

    // Writes to stdout at once, or waits for its reader. Throws failure when nobody reads it any more, and when `ends` returns the number of a signal while nobody
    // does: a signal that is handled does not end a write that has not begun.
    void write(std::string_view text, std::function<int()> const& ends = {}) const;

    // Back to the top of an empty screen, for views that are drawn again.
    static constexpr std::string_view redraw = "\x1b[H\x1b[J";

private:
    bool live_;
    bool colours_;
};

}  // namespace redlock::cli

#endif
