// Where the output goes: colours and redrawing on a terminal, plain text elsewhere.
#ifndef REDLOCK_CLI_OUTPUT_TERMINAL_HPP
#define REDLOCK_CLI_OUTPUT_TERMINAL_HPP

#include <cstddef>
#include <string>
#include <string_view>

namespace redlock::cli {

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

    // Writes to stdout at once. Throws failure when nobody reads it any more.
    void write(std::string_view text) const;

    // The same for a command that is in the middle of a change: it goes on, and check() throws in the end.
    void say(std::string_view text);
    void check() const;

    // Back to the top of an empty screen, for views that are drawn again.
    static constexpr std::string_view redraw = "\x1b[H\x1b[J";

private:
    bool live_;
    bool colours_;
    std::string problem_;  // why something could not be said; empty: all was
};

}  // namespace redlock::cli

#endif
