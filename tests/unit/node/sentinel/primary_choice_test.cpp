#include "node/sentinel/primary_choice.hpp"
#include "support/mentions.hpp"

#include <boost/test/unit_test.hpp>

#include <string>
#include <vector>

namespace redlock::detail {
namespace {

using redlock::testing::mentions;

using outcome = sentinel_report::outcome;

group_member server(std::uint16_t port) { return {"10.0.0.1", port}; }

sentinel_report answer(std::string name, std::uint64_t epoch, std::uint16_t primary, std::vector<std::uint16_t> const& ports = {1, 2, 3})
{
    sentinel_report r{std::move(name), outcome::answered, {epoch, server(primary), {}, {}}, ""};
    for (auto const port : ports) r.view.servers.push_back(server(port));
    return r;
}

sentinel_report other(std::string name, outcome is, std::string problem = "") { return {std::move(name), is, {}, std::move(problem)}; }

std::string words_of(std::vector<sentinel_report> const& reports, std::uint64_t seen = 0)
{
    return choose_primary(reports, "m", {seen, {}}).words;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(primary_choices)

BOOST_AUTO_TEST_CASE(the_newest_epoch_is_believed_and_not_the_first_answer_or_the_most)
{
    auto const choice = choose_primary({answer("a", 4, 1), answer("b", 4, 1), answer("c", 5, 2)}, "m", {});
    BOOST_TEST_REQUIRE(choice.candidates.size() == 2u);
    BOOST_TEST((choice.candidates[0].primary == server(2)));
    BOOST_TEST(choice.candidates[0].epoch == 5u);
    BOOST_TEST((choice.candidates[1].primary == server(1)));
    BOOST_TEST(choice.candidates[1].sentinels == 2u);
}

BOOST_AUTO_TEST_CASE(of_one_epoch_what_more_sentinels_say_comes_first)
{
    auto const choice = choose_primary({answer("a", 4, 1), answer("b", 4, 2), answer("c", 4, 2)}, "m", {});
    BOOST_TEST((choice.candidates.at(0).primary == server(2)));
}

BOOST_AUTO_TEST_CASE(the_group_has_the_servers_that_most_of_them_know)
{
    auto const choice = choose_primary({answer("a", 4, 1, {1, 2}), answer("b", 4, 1, {1, 2, 3}), answer("c", 3, 1, {1, 3, 9})}, "m", {});
    BOOST_TEST(choice.candidates.at(0).size() == 3u);
    auto const ghosts = choose_primary({answer("a", 4, 1), answer("b", 4, 1, {1, 2, 3, 7, 8, 9}), answer("c", 4, 1)}, "m", {});
    BOOST_TEST(ghosts.candidates.at(0).size() == 3u, "servers that one of three lists, since it missed a SENTINEL RESET");
    auto const one_is_silent = choose_primary({answer("a", 4, 1), answer("b", 4, 1, {1, 2, 3, 7}), other("c", outcome::failed)}, "m", {});
    BOOST_TEST(one_is_silent.candidates.at(0).size() == 4u, "a vote that waits for too many replicas is safe, for too few it is not");
    BOOST_TEST(choose_primary({answer("a", 4, 1, {1, 2, 3, 4})}, "m", {}).candidates.at(0).size() == 4u, "a single one is most of them");
}

BOOST_AUTO_TEST_CASE(a_stranger_is_outvoted)
{
    auto const choice = choose_primary({answer("a", 4, 1), answer("b", 4, 1), answer("c", 9, 7, {7, 8})}, "m", {});
    BOOST_TEST_REQUIRE(choice.candidates.size() == 1u);
    BOOST_TEST((choice.candidates[0].primary == server(1)));
    BOOST_TEST(choice.candidates[0].size() == 3u);
    // A primary that is no server of the group is none for which it is left.
    auto const liar = choose_primary({answer("a", 4, 1), answer("b", 4, 1), answer("c", 9, 7, {7, 1, 2, 3})}, "m", {});
    BOOST_TEST(liar.candidates.size() == 1u);
}

BOOST_AUTO_TEST_CASE(a_stranger_that_answers_alone_is_no_news_to_a_client_that_knows_the_group)
{
    std::vector<sentinel_report> const alone{answer("a", 9, 7, {7, 8}), other("b", outcome::failed), other("c", outcome::failed)};
    BOOST_TEST(choose_primary(alone, "m", {}).candidates.size() == 1u);
    auto const choice = choose_primary(alone, "m", {4, {server(1), server(2), server(3)}});
    BOOST_TEST(choice.candidates.empty());
    BOOST_TEST((choice.why == errc::node_unreachable));
    BOOST_TEST(mentions(choice.words, "watch another master of the name \"m\" (a: 10.0.0.1:7); it is waited for the others"), choice.words);
    // All servers of a group may get other addresses.
    BOOST_TEST(choose_primary({answer("a", 9, 7, {7, 8}), answer("b", 9, 7, {7, 8}), other("c", outcome::failed)}, "m",
                              {4, {server(1), server(2), server(3)}})
                   .candidates.size() == 1u);
}

BOOST_AUTO_TEST_CASE(there_may_be_no_server_that_most_of_them_know)
{
    auto const choice = choose_primary({answer("a", 4, 1, {1, 2}), answer("b", 4, 2, {2, 3}), answer("c", 4, 3, {3, 1}),
                                        answer("d", 4, 9, {1, 9})},
                                       "m", {});
    BOOST_TEST_REQUIRE(choice.candidates.size() == 3u, "half of them know the servers 2 and 3");
    for (auto const& c : choice.candidates) BOOST_TEST((c.primary != server(9)));
    auto const words = words_of({answer("a", 4, 5, {5, 1}), answer("b", 4, 6, {6, 1}), answer("c", 4, 7, {7, 1})});
    BOOST_TEST(mentions(words,
                        "there is no primary of \"m\" that most of the Sentinels know (a: 10.0.0.1:5, b: 10.0.0.1:6, c: 10.0.0.1:7)"),
               words);
}

BOOST_AUTO_TEST_CASE(a_stale_sentinel_is_not_believed)
{
    auto const stale = {answer("a", 4, 1), other("b", outcome::failed), other("c", outcome::failed)};
    BOOST_TEST(choose_primary(stale, "m", {5, {}}).candidates.empty());
    BOOST_TEST(mentions(words_of(stale, 5), "have not heard of the last failover (a)"), words_of(stale, 5));
    BOOST_TEST(choose_primary(stale, "m", {4, {}}).candidates.size() == 1u);
}

BOOST_AUTO_TEST_CASE(sentinels_that_were_all_set_up_anew_are_believed)
{
    BOOST_TEST(choose_primary({answer("a", 0, 1), answer("b", 0, 1), other("c", outcome::failed)}, "m", {5, {}}).candidates.size() == 1u);
}

BOOST_AUTO_TEST_CASE(why_there_is_no_primary)
{
    auto const unknown = words_of({other("a", outcome::no_such_master), other("b", outcome::failed, "refused")});
    BOOST_TEST(mentions(unknown, "no Sentinel knows a master \"m\" (a); write the name behind \"sentinel monitor\""), unknown);
    auto const foreign = words_of({other("a", outcome::no_sentinel), other("b", outcome::no_such_master)});
    BOOST_TEST(mentions(foreign, "a is no Sentinel but another server; give the addresses of Sentinels"), foreign);
    auto const silent = choose_primary({other("a", outcome::failed, "refused"), other("b", outcome::failed, "no answer in time")}, "m", {});
    BOOST_TEST(silent.words == "no Sentinel of \"m\" answered (a: refused; b: no answer in time)");
    BOOST_TEST((silent.why == errc::node_unreachable));
}

BOOST_AUTO_TEST_CASE(sentinels_of_different_masters_are_refused)
{
    auto const choice = choose_primary({answer("a", 4, 1), answer("b", 9, 7, {7, 8})}, "m", {});
    BOOST_TEST(choice.candidates.empty());
    BOOST_TEST((choice.why == errc::node_unsuitable));
    BOOST_TEST(mentions(choice.words, "the Sentinels a and b watch different masters of the name \"m\" (10.0.0.1:1 and 10.0.0.1:7)"),
               choice.words);
}

BOOST_AUTO_TEST_CASE(one_sentinel_alone_cannot_make_a_client_leave)
{
    auto const leaves = [](std::vector<sentinel_report> const& reports) {
        std::vector<group_member> const servers{server(1), server(2), server(3)};
        primary_candidate const current{server(1), 4, servers, 3};
        auto const choice = choose_primary(reports, "m", {4, servers});
        auto const* const newer = successor_of(current, choice);
        return newer && newer->primary != server(1);
    };
    BOOST_TEST(!leaves({answer("a", 99, 2), answer("b", 4, 1), answer("c", 4, 1)}));
    BOOST_TEST(leaves({answer("a", 5, 2), answer("b", 5, 2), answer("c", 4, 1)}));
    BOOST_TEST(leaves({answer("a", 5, 2), other("b", outcome::failed), other("c", outcome::failed)}));
    BOOST_TEST(!leaves({answer("a", 5, 1), answer("b", 5, 1)}), "a failover that left the primary what it was");
    BOOST_TEST(!leaves({answer("a", 3, 2), answer("b", 3, 2)}), "older news");
    BOOST_TEST(!leaves({other("a", outcome::failed)}));
    BOOST_TEST(leaves({answer("a", 99, 1), answer("b", 5, 2), answer("c", 5, 2)}), "one lies that the primary is what it was");
    BOOST_TEST(leaves({answer("a", 5, 2), answer("b", 5, 2), answer("c", 0, 7, {7, 8})}), "one watches another group");
    BOOST_TEST(!leaves({answer("a", 5, 2), answer("c", 99, 7, {7, 8})}), "one watches another group, and one is silent");
    BOOST_TEST(!leaves({answer("c", 99, 7, {7, 8}), other("a", outcome::failed), other("b", outcome::failed)}), "only that one answers");
    BOOST_TEST(leaves({answer("a", 5, 7, {7, 8}), answer("b", 5, 7, {7, 8}), answer("c", 4, 1)}), "all servers have other addresses");
}

BOOST_AUTO_TEST_CASE(a_majority_of_the_group_has_each_vote)
{
    auto const acks = [](std::size_t size, std::uint16_t wanted) {
        primary_candidate group{server(1), 1, {}, 1};
        for (std::size_t i = 1; i <= size; ++i) group.servers.push_back(server(static_cast<std::uint16_t>(i)));
        return acknowledgements_of(group, wanted, "m");
    };
    BOOST_TEST(acks(2, 0).count == 1);
    BOOST_TEST(acks(3, 0).count == 1);
    BOOST_TEST(acks(4, 0).count == 2);
    BOOST_TEST(acks(5, 0).count == 2);
    BOOST_TEST(acks(3, 2).count == 2);
    BOOST_TEST(acks(3, 2).problem == "");
    BOOST_TEST(mentions(acks(3, 3).problem, "wait for 3 replicas, and the group \"m\" has 2 (S = 3); write replicas=2 or less"),
               acks(3, 3).problem);
    BOOST_TEST(mentions(acks(1, 0).problem, "a primary without replicas (10.0.0.1:1)"), acks(1, 0).problem);
    BOOST_TEST(mentions(acks(1, 0).problem, "write redis://10.0.0.1:1 for a single server"), acks(1, 0).problem);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::detail
