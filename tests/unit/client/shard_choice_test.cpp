#include "client/shard_choice.hpp"

#include "unit/message_support.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

namespace redlock::detail {

BOOST_AUTO_TEST_SUITE(shard_choice)

BOOST_AUTO_TEST_CASE(the_part_in_braces_decides)
{
    BOOST_TEST(hash_tag("order") == "order");
    BOOST_TEST(hash_tag("{order:7}:stock") == "order:7");
    BOOST_TEST(hash_tag("a{b}c{d}") == "b");
    BOOST_TEST(hash_tag("a{b") == "a{b");
    BOOST_TEST(hash_tag("a}b{") == "a}b{");
    BOOST_TEST(hash_tag("a{}b{c}") == "a{}b{c}");
    BOOST_TEST(hash_tag("{{b}}") == "{b");
    BOOST_TEST(hash_tag("") == "");
    for (std::size_t shards : {1u, 2u, 7u, 64u}) BOOST_TEST(shard_of("{order:7}:stock", shards) == shard_of("order:7", shards));
}

// A lock must not move from one release of the library to the next: both releases would grant it.
BOOST_AUTO_TEST_CASE(the_choice_never_changes)
{
    std::vector<std::size_t> chosen;
    for (char const* key : {"a", "b", "reports:nightly", "{order:7}:stock", "order:8", ""}) chosen.push_back(shard_of(key, 8));
    std::vector<std::size_t> const expected{4, 3, 2, 2, 5, 4};
    BOOST_TEST(chosen == expected, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(keys_are_spread_evenly)
{
    constexpr std::size_t shards = 8, keys = 16'000;
    std::vector<std::size_t> count(shards);
    for (std::size_t i = 0; i < keys; ++i) ++count.at(shard_of("job:" + std::to_string(i), shards));
    auto const [least, most] = std::minmax_element(count.begin(), count.end());
    BOOST_TEST(*least > keys / shards * 9 / 10);
    BOOST_TEST(*most < keys / shards * 11 / 10);
}

BOOST_AUTO_TEST_CASE(one_more_shard_takes_only_what_it_gets)
{
    std::size_t moved = 0;
    for (std::size_t i = 0; i < 1'000; ++i) {
        auto const key = "job:" + std::to_string(i);
        auto const before = shard_of(key, 4), after = shard_of(key, 5);
        BOOST_TEST((after == before || after == 4));
        moved += after != before;
    }
    BOOST_TEST(moved > 150u);
    BOOST_TEST(moved < 250u);
}

BOOST_AUTO_TEST_CASE(several_keys_need_one_shard)
{
    std::vector<std::string> const same{"{7}:b", "{7}:c"};
    BOOST_TEST(shard_of("{7}:a", same, 16) == shard_of("7", 16));
    std::vector<std::string> others;
    for (int i = 0; i < 50; ++i) others.push_back("job:" + std::to_string(i));
    auto const said = redlock::message_of<std::invalid_argument>([&] { shard_of("job", others, 16); });
    REDLOCK_TEST_CONTAINS(said, "the names are in several shards (\"job\" in shard ");
    REDLOCK_TEST_CONTAINS(said, "give all of them the same part in braces, as in {order:7}:stock");
    BOOST_TEST(shard_of("job", others, 1) == 0u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::detail
