// Tables in the output of the command.
#ifndef REDLOCK_CLI_OUTPUT_TABLE_HPP
#define REDLOCK_CLI_OUTPUT_TABLE_HPP

#include "cli/output/terminal.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace redlock::cli {

// Columns as wide as what stands in them. The first row is the heading. What does not fit beside the first column of a narrow terminal
// stands in another table below it, with that column again.
class table {
public:
    struct cell {
        std::string text;
        tone colour{tone::plain};
        bool note{false};  // the last of its row: it may go beyond its column; where it does not fit, it stands below
    };

    explicit table(std::vector<std::string> const& heading);

    void add(std::vector<cell> row) { rows_.push_back(std::move(row)); }
    std::string text(terminal const& out, std::string_view indent) const;

    // As on a terminal with so many columns.
    static constexpr std::size_t unlimited = std::string::npos;
    std::string text(terminal const& out, std::string_view indent, std::size_t columns) const;

private:
    std::vector<std::size_t> widths(std::size_t width) const;
    static std::string padded(terminal const& out, cell const& c, std::size_t width, bool last);

    std::vector<std::vector<cell>> rows_;
};

}  // namespace redlock::cli

#endif
