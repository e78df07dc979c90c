#include "cli/output/table.hpp"

#include "cli/output/text.hpp"

#include <algorithm>

namespace redlock::cli {

namespace {

constexpr std::size_t narrowest = 20;
constexpr std::size_t gap = 2;  // between two columns
constexpr std::string_view instead_of_note = "see below";

}  // namespace

table::table(std::vector<std::string> const& heading)
{
    rows_.emplace_back();
    for (std::string const& title : heading) rows_.back().push_back({title, tone::quiet});
}

std::vector<std::size_t> table::widths(std::size_t width) const
{
    std::vector<std::size_t> all;
    for (auto const& row : rows_) {
        all.resize(std::max(all.size(), row.size()));
        for (std::size_t c = 0; c < row.size(); ++c) {
            // A note needs no column of its own, except, where it may stand below, for the words that say so.
            auto const least = row[c].note ? (width == unlimited ? 0 : instead_of_note.size()) : std::string::npos;
            all[c] = std::max(all[c], std::min(columns_of(row[c].text), least));
        }
    }
    return all;
}

namespace {

// Where the block ends that begins with the column `first`: it has as many columns as fit beside the table's first one. A column that is too wide for any
// block is made narrower.
std::size_t end_of_block(std::vector<std::size_t>& widths, std::size_t first, std::size_t width)
{
    std::size_t end = first, used = widths.front();
    for (; end < widths.size(); ++end) {
        widths[end] = std::min(widths[end], width - widths.front() - gap);
        if (used + gap + widths[end] > width) break;
        used += gap + widths[end];
    }
    return end;
}

}  // namespace

std::string table::text(terminal const& out, std::string_view indent) const
{
    return text(out, indent, out.columns() == 0 ? unlimited : out.columns());
}

// Columns that do not fit beside the others follow in blocks of their own, each with the first column again. A row whose note stood in an earlier block
// ends there.
std::string table::text(terminal const& out, std::string_view indent, std::size_t columns) const
{
    std::size_t const width = columns == unlimited ? unlimited : std::max(columns, indent.size() + narrowest) - indent.size();
    auto widths = this->widths(width);
    widths.front() = std::min(widths.front(), width / 2);
    std::string result, below;
    std::size_t first = 1;
    do {
        auto const end = end_of_block(widths, first, width);
        if (first > 1) result += '\n';
        for (auto const& row : rows_) {
            if (row.back().note && row.size() <= first) continue;
            result += indent;
            auto const last = std::min(end, row.size());
            result += padded(out, row.front(), widths.front(), row.size() == 1);
            std::size_t used = widths.front() + gap;
            for (std::size_t c = first; c < last; used += widths[c++] + gap) {
                if (!row[c].note) {
                    result += padded(out, row[c], widths[c], c + 1 == last);
                } else if (columns_of(row[c].text) <= width - used) {
                    result += out.paint(row[c].colour, row[c].text);
                } else {
                    result += out.paint(row[c].colour, cut(instead_of_note, width - used));
                    auto const note = row.front().text + ": " + out.paint(row[c].colour, row[c].text);
                    below += '\n' + std::string{indent} + wrapped(note, width, indent.size() + 2) + '\n';
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
    return out.paint(c.colour, shown) + std::string(last ? 0 : width + gap - columns_of(shown), ' ');
}

}  // namespace redlock::cli
