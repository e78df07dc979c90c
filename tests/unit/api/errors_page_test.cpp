// What docs/errors.md says that the operations of a lease complete with after its end.
#include "support/world.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/test/unit_test.hpp>

#include <array>
#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace redlock::testing;
using namespace redlock;

constexpr std::array<std::string_view, 3> operations{"extend", "release", "wait_lost"};

// From the row "| the lease | `extend` | ..." on: the first cell of each row, and the others without their backquotes.
std::map<std::string, std::vector<std::string>> table_of_the_page()
{
    std::ifstream page{REDLOCK_ERRORS_PAGE};
    std::map<std::string, std::vector<std::string>> rows;
    bool inside = false;
    for (std::string line; std::getline(page, line);) {
        if (line == "| the lease | `extend` | `release` | `wait_lost` |") inside = true;
        else if (line.empty()) inside = false;
        if (!inside || line.starts_with("|---")) continue;
        std::vector<std::string> cells;
        for (std::size_t begin = 2, end; (end = line.find(" |", begin)) != std::string::npos; begin = end + 3)
            cells.push_back(line.substr(begin, end - begin));
        auto const first = cells.at(0);
        cells.erase(cells.begin());
        if (first == "the lease") continue;
        for (auto& cell : cells)
            if (cell.starts_with('`')) cell = cell.substr(1, cell.size() - 2);
        BOOST_TEST(rows.emplace(first, std::move(cells)).second, first);
    }
    return rows;
}

std::string name_of(error_code ec)
{
    if (!ec) return "no error";
    if (ec == asio::error::operation_aborted) return "operation_aborted";
    BOOST_TEST_REQUIRE((ec.category() == error_code{errc::not_held}.category()));
    return to_string(static_cast<errc>(ec.value()));
}

struct with_a_lease : world {
    with_a_lease() { start(); }

    asio::awaitable<lease> ended(std::string const& how)
    {
        if (how == "is empty") co_return lease{};
        lock_options options{.ttl = 10s};
        if (how == "was held for `max_hold`") options.max_hold = 2s;
        lock const resource{*client, "resource", options};
        lease held = co_await resource.acquire();
        if (how == "was moved from") {
            lease const other = std::move(held);
            co_return held;
        }
        if (how == "was released") {
            co_await held.release();
        } else if (how == "could not be extended") {
            for (auto const& n : nodes) n->stop();
            co_await held.wait_lost(asio::as_tuple);
        } else if (how == "was held for `max_hold`") {
            co_await held.wait_lost(asio::as_tuple);
        } else if (how == "was of a client that was cancelled") {
            client->cancel();
            co_await held.wait_lost(asio::as_tuple);
        } else {
            BOOST_FAIL("the page has a row that nobody tries: " << how);
        }
        co_return held;
    }

    asio::awaitable<std::string> outcome(std::string const& how, std::string_view operation)
    {
        lease of = co_await ended(how);
        error_code ec;
        if (operation == "extend") std::tie(ec) = co_await of.extend(asio::as_tuple);
        if (operation == "release") std::tie(ec) = co_await of.release(asio::as_tuple);
        if (operation == "wait_lost") std::tie(ec) = co_await of.wait_lost(asio::as_tuple);
        co_return name_of(ec);
    }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(errors_page)

BOOST_AUTO_TEST_CASE(operations_of_a_lease_complete_with_what_the_page_says)
{
    auto const page = table_of_the_page();
    BOOST_TEST(page.size() == 6u);
    for (auto const& [how, says] : page) {
        BOOST_TEST_REQUIRE(says.size() == operations.size());
        for (std::size_t i = 0; i < operations.size(); ++i) {
            with_a_lease story;
            std::string result;
            auto telling = [&]() -> asio::awaitable<void> { result = co_await story.outcome(how, operations[i]); };
            story.run(telling());
            BOOST_TEST(result == says[i],
                       operations[i] << " of a lease that " << how << ": " << result << ", and the page has " << says[i]);
        }
    }
}

BOOST_AUTO_TEST_SUITE_END()
