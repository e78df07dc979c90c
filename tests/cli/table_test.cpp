// Tables on narrow terminals: no row and no note is lost when columns go to blocks of their own.
#include "cli/output/table.hpp"
#include "cli/output/text.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace redlock::cli {
namespace {

// The last cell of a row.
table::cell note_of(std::string text) { return {.text = std::move(text), .note = true}; }

table six_columns(std::string note)
{
    table rows{{"slot", "holder", "nodes", "ends", "token", "held"}};
    rows.add({{"0"}, {"web-3:4711"}, {"3 of 3"}, {"in 12.3 s"}, {"17"}, note_of(std::move(note))});
    rows.add({{"1"}, {"web-4:4712"}, {"2 of 3"}, {"in 8.1 s"}, {"18"}, note_of("4.5 s")});
    return rows;
}

bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

std::size_t widest(std::string_view text)
{
    std::size_t most = 0;
    for (std::size_t begin = 0, end = 0; begin < text.size(); begin = end + 1) {
        end = std::min(text.find('\n', begin), text.size());
        most = std::max(most, columns_of(text.substr(begin, end - begin)));
    }
    return most;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(tables)

BOOST_AUTO_TEST_CASE(a_row_whose_note_is_in_the_last_of_six_columns_is_in_each_block)
{
    auto const text = six_columns("12 s").text(terminal{}, "  ", 30);
    for (char const* const cell : {"web-3:4711", "3 of 3", "in 12.3 s", "17", "12 s", "web-4:4712", "2 of 3", "in 8.1 s", "18", "4.5 s"})
        BOOST_TEST(contains(text, cell), cell << " is missing:\n" << text);
    BOOST_TEST(widest(text) <= 30u, text);
    BOOST_TEST(!contains(text, "see below"), text);
}

BOOST_AUTO_TEST_CASE(a_note_that_does_not_fit_behind_its_row_stands_below)
{
    std::string const note = "20 min 3 s, above the number";
    // From the narrowest that a table can be, to more than the 72 columns of a whole row with its note.
    for (std::size_t width = 20; width < 90; ++width) {
        auto const text = six_columns(note).text(terminal{}, "", width);
        BOOST_TEST(widest(text) <= width, width << ":\n" << text);
        BOOST_TEST((contains(text, note) || contains(text, "see below")), width << ":\n" << text);
        BOOST_TEST(contains(text, "4.5 s"), width << ":\n" << text);
    }
    // The block with the note has 24 columns before it, and the note has 28. Below, it has 31 with "0: ".
    auto const narrow = six_columns(note).text(terminal{}, "", 33);
    BOOST_TEST(contains(narrow, "\n0: " + note), narrow);
    // As wide as a terminal usually is.
    BOOST_TEST(!contains(six_columns(note).text(terminal{}, "", 80), "see below"));
}

BOOST_AUTO_TEST_CASE(a_row_that_is_all_note_is_in_the_first_block)
{
    table rows{{"node", "version", "role", "up for", "round trip"}};
    rows.add({{"127.0.0.1:7001"}, note_of("refused")});
    rows.add({{"127.0.0.1:7002"}, {"7.0.15"}, {"master"}, {"3 d 4 h"}, {"850 us"}});
    auto const text = rows.text(terminal{}, "", 30);
    auto const at = text.find("127.0.0.1:7001");
    BOOST_TEST_REQUIRE(at != std::string::npos);
    BOOST_TEST(text.find("127.0.0.1:7001", at + 1) == std::string::npos, text);
    BOOST_TEST(contains(text, "refused"), text);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::cli
