// Where the output goes: colours and redrawing on a terminal, plain text elsewhere.
#ifndef REDLOCK_CLI_TERMINAL_HPP
#define REDLOCK_CLI_TERMINAL_HPP

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

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

    // Back to the top of an empty screen, for views that are drawn again.
    static constexpr std::string_view redraw = "\x1b[H\x1b[J";

private:
    bool live_;
    bool colours_;
};

// Columns as wide as what stands in them. The first row is the heading. What does not fit beside the first column of a narrow terminal
// stands in another table below it, with that column again.
class table {
public:
    struct cell {
        std::string text;
        tone in{tone::plain};
        bool note{false};  // the last of its row: it may go beyond its column; where it does not fit, it stands below
    };

    explicit table(std::vector<std::string> const& heading);

    void add(std::vector<cell> row) { rows_.push_back(std::move(row)); }
    std::string text(terminal const& out, std::string_view indent) const;

private:
    std::vector<std::size_t> widths() const;
    static std::string padded(terminal const& out, cell const& c, std::size_t width, bool last);

    std::vector<std::vector<cell>> rows_;
};

}  // namespace redlock::cli

#endif
