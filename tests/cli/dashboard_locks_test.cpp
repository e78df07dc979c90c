// redlock dashboard with many locks: which part of them is told, and which of them have lanes in the time line.
#include "cli/dashboard/history.hpp"
#include "cli/dashboard/page.hpp"
#include "cli/dashboard/picture.hpp"
#include "cli/dashboard/web_answers.hpp"
#include "cli/locks/list_part.hpp"

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <string>
#include <vector>

namespace redlock::cli {
namespace {

using namespace std::chrono_literals;

moment since_start(std::chrono::milliseconds passed) { return moment{std::chrono::hours{480'000} + passed}; }

turn const is_held{"held", "x", "x", "", std::nullopt, false};

lock_view lock_of(std::string const& name, std::string const& holder)
{
    key_view key;
    key.present = true;
    key.type = "string";
    key.value = holder;
    key.holder = detail::holder_info{.host = holder, .pid = 7, .since = 1'000, .label = "Import"};
    return judge(name, {key, key, key});
}

lock_watch::found all_of(std::vector<lock_view> locks, std::vector<semaphore_view> semaphores = {})
{
    lock_watch::found found;
    found.result.nodes.resize(3);
    for (auto& node : found.result.nodes) node.complete = true;
    found.result.locks = std::move(locks);
    found.result.semaphores = std::move(semaphores);
    return found;
}

std::vector<std::string> names_in(list_rows const& rows)
{
    std::vector<std::string> all;
    for (list_row const& r : rows.chosen) all.push_back(r.lock ? r.lock->name : r.semaphore->name + '+' + std::to_string(r.slots));
    return all;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(dashboard_locks)

BOOST_AUTO_TEST_CASE(a_part_of_the_list_can_be_asked_for)
{
    std::vector<slot_view> slots;
    for (std::uint32_t n = 0; n < 4; ++n) slots.push_back({n, lock_of(slot_name("b", n), n == 3 ? "delta" : "alpha")});
    auto const found = all_of({lock_of("a", "alpha"), lock_of("c", "BETA"), lock_of("d", "alpha")},
                              {judge_semaphore("b", std::vector<number_view>(3), slots)});
    auto const part = [&](list_part const& wanted) { return choose(found.result, wanted); };
    using names = std::vector<std::string>;
    auto const all = part({});
    BOOST_TEST(names_in(all) == (names{"a", "b+4", "c", "d"}), boost::test_tools::per_element());
    BOOST_TEST(all.all == 8u);
    BOOST_TEST(all.held == 4u);
    BOOST_TEST(names_in(part({"", 0, 3})) == (names{"a", "b+1"}), boost::test_tools::per_element());
    auto const middle = part({"", 3, 3});
    BOOST_TEST(names_in(middle) == (names{"b+3"}), boost::test_tools::per_element());
    BOOST_TEST(middle.chosen.front().first_slot == 1u);
    BOOST_TEST(middle.chosen.front().number == 1u);
    BOOST_TEST(part({"", 100, 3}).first == 5u, "the last ones");
    BOOST_TEST(names_in(part({"", 100, 3})) == (names{"b+1", "c", "d"}), boost::test_tools::per_element());
    BOOST_TEST(names_in(part({"beta 7 imp", 0, 3})) == (names{"c"}), boost::test_tools::per_element());
    BOOST_TEST(names_in(part({"DELTA", 0, 9})) == (names{"b+4"}), boost::test_tools::per_element());
    BOOST_TEST(part({"nobody", 0, 3}).all == 0u);
    BOOST_TEST(part({"nobody", 0, 3}).held == 4u);

    config nodes;
    for (char const* const url : {"redis://a", "redis://b", "redis://c"}) nodes.nodes.push_back(node_address::from_url(url));
    picture shown{nodes, 1s, {}};
    shown.add(all_of({lock_of("a", "alpha"), lock_of("c", "BETA")}));
    auto const json_of = [&](list_part const& wanted) { return nlohmann::json::parse(*shown.json(since_start(0s), wanted)).at("locks"); };
    BOOST_TEST(json_of({}).at("locks").size() == 2u);
    auto const one = json_of({"beta", 0, 10});
    BOOST_TEST(one.at("locks").at(0).at("name") == "c");
    BOOST_TEST(one.at("locks").at(0).at("row") == 0);
    BOOST_TEST(one.at("rows") == 1);
    BOOST_TEST(one.at("held") == 2);
}

BOOST_AUTO_TEST_CASE(what_part_is_meant_is_in_the_query)
{
    list_part asked;
    web_answers const site{std::string{dashboard_page()},
                           [&](list_part const& part) {
                               asked = part;
                               return std::make_shared<std::string const>("{}");
                           },
                           {},
                           std::nullopt};
    auto const get = [&](std::string const& query) { return site.to({"GET", "/api/status.json" + query, "localhost", {}}).status; };
    BOOST_TEST(get("?search=a%20b%2B+c&from=100&rows=50") == 200u);
    BOOST_TEST((asked == list_part{"a b+ c", 100, 50}));
    BOOST_TEST(get("?") == 200u);
    BOOST_TEST((asked == list_part{}));
    for (char const* const wrong :
         {"?search=%", "?search=%2", "?search=%zz", "?from=-1", "?from=", "?rows=1x", "?other=1", "?rows=99999999999999999999"})
        BOOST_TEST(get(wrong) == 400u, wrong);
}

// As many lanes as there may be, and the same ones each time.
BOOST_AUTO_TEST_CASE(lanes_of_many_locks_stay)
{
    history_limits limits;
    limits.lanes = 5;
    history h{1, limits};
    std::vector<lock_turn> many;
    for (int l = 0; l < 5'000; ++l) many.push_back({"lock-" + std::to_string(10'000 + l), is_held});
    h.add_locks({{"zz", is_held}}, true, since_start(0s));
    std::vector<std::string> before;
    for (int i = 1; i < 4; ++i) {
        auto now = many;
        now.push_back({"zz", is_held});
        h.add_locks(std::move(now), true, since_start(std::chrono::seconds{i}));
        std::vector<std::string> names;
        for (auto const& [name, states] : h.locks()) names.push_back(name);
        BOOST_TEST(names.size() == 5u);
        BOOST_TEST(names.back() == "zz", "it was there first");
        if (i > 1) BOOST_TEST(names == before, boost::test_tools::per_element());
        before = std::move(names);
        BOOST_TEST(h.seen_now() == 5'001u);
    }
    h.add_locks({{"zz", is_held}}, false, since_start(9s));
    BOOST_TEST(h.seen_now() == 5u, "of four it is not known");
    h.add_locks({{"zz", is_held}}, true, since_start(10s));
    BOOST_TEST(h.seen_now() == 1u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::cli
