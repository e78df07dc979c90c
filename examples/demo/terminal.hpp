// Standard output, and what it can show.
#ifndef REDLOCK_DEMO_TERMINAL_HPP
#define REDLOCK_DEMO_TERMINAL_HPP

#include <cstddef>
#include <cstdint>
#include <exception>
#include <string>
#include <string_view>

namespace demo {

enum class tone : std::uint8_t { plain, quiet, strong, good, waiting, warning, alarm, worker_a, worker_b, worker_c };

// The reader of our output has gone, as in `redlock_demo | head`.
class output_closed : public std::exception {
public:
    char const* what() const noexcept override { return "nobody reads the output any more"; }
};

class terminal {
public:
    struct extent {
        std::size_t columns;
        std::size_t rows;
    };

    terminal();

    // Whether it can be redrawn; if not, it is a pipe, a file, or too small.
    bool live() const noexcept { return live_; }

    extent size() const noexcept;

    // The text in colour, unless NO_COLOR is set (no-color.org) or this is no terminal.
    std::string paint(tone what, std::string_view text) const;

    void write(std::string_view text) const;  // throws output_closed

private:
    bool live_;
    bool colours_;
};

}  // namespace demo

#endif
