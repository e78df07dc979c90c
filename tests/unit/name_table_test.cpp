// What is found by its names.
#include "core/name_table.hpp"

#include <boost/test/unit_test.hpp>

#include <deque>
#include <memory>
#include <string>
#include <vector>

namespace redlock::detail {
namespace {

struct thing {
    explicit thing(resource names) : what{std::make_unique<resource const>(std::move(names))} {}

    std::unique_ptr<resource const> what;
    thing* next_by_name{nullptr};
};

resource number(int n) { return resource{"name " + std::to_string(n)}; }

}  // namespace

BOOST_AUTO_TEST_SUITE(tables_of_names)

BOOST_AUTO_TEST_CASE(nothing_is_found_in_an_empty_one)
{
    name_table<thing> table;
    BOOST_TEST(table.find(number(1)) == nullptr);
    thing one{number(1)};
    table.add(one);
    table.clear();
    BOOST_TEST(table.find(number(1)) == nullptr);
}

BOOST_AUTO_TEST_CASE(what_was_added_is_found_until_it_is_removed)
{
    constexpr int count = 1'000;
    name_table<thing> table;
    std::deque<thing> things;
    for (int n = 0; n < count; ++n) table.add(things.emplace_back(number(n)));
    for (int n = 0; n < count; n += 2) table.remove(things[static_cast<std::size_t>(n)]);
    for (int n = 0; n < count; ++n) {
        thing* const expected = n % 2 == 0 ? nullptr : &things[static_cast<std::size_t>(n)];
        BOOST_TEST(table.find(number(n)) == expected);
    }
}

// Which AddressSanitizer would see.
BOOST_AUTO_TEST_CASE(what_is_gone_is_not_looked_at_when_all_are_removed)
{
    name_table<thing> table;
    {
        std::deque<thing> things;
        for (int n = 0; n < 100; ++n) table.add(things.emplace_back(number(n)));
    }
    table.clear();
    BOOST_TEST(table.find(number(1)) == nullptr);
}

BOOST_AUTO_TEST_CASE(what_is_disposed_of_may_be_destroyed)
{
    constexpr int count = 100;
    name_table<thing> table;
    for (int n = 0; n < count; ++n) table.add(*new thing{number(n)});
    int disposed = 0;
    table.clear_and_dispose([&](thing& each) {
        BOOST_TEST(table.find(*each.what) == nullptr);
        ++disposed;
        delete &each;
    });
    BOOST_TEST(disposed == count);
    thing again{number(1)};
    table.add(again);
    BOOST_TEST(table.find(number(1)) == &again);
}

BOOST_AUTO_TEST_CASE(several_names_are_another_thing_than_the_first_of_them)
{
    name_table<thing> table;
    thing both{resource{{"a", "b"}, "a, b"}};
    thing first{resource{"a"}};
    table.add(both);
    BOOST_TEST(table.find(resource{"a"}) == nullptr);
    table.add(first);
    BOOST_TEST(table.find(resource{"a"}) == &first);
    BOOST_TEST((table.find(resource{{"a", "b"}, "a, b"}) == &both));
    BOOST_TEST((table.find(resource{{"a", "c"}, "a, c"}) == nullptr));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::detail
