// redlock lead and redlock leader: a command on one of many hosts, and where it is.
#include "program.hpp"

#include <boost/test/unit_test.hpp>

#include <csignal>
#include <string>
#include <vector>

namespace redlock::testing {
namespace {

using namespace std::chrono_literals;

struct leaders : three_servers {
    program_options here() { return environment(); }

    arguments lead(std::string const& address, arguments const& command, std::string const& ttl = "2s")
    {
        arguments words{"lead", "api", "--publish", address, "--bootstrap", "--ttl", ttl, "-v", "--"};
        words.insert(words.end(), command.begin(), command.end());
        return words;
    }

    std::string leader()
    {
        program p{{"leader", "api"}, here()};
        auto const code = p.wait();
        BOOST_TEST((code == 0 || code == 1), p.errors());
        return p.output();
    }
};

std::string const says_token = "echo runs with $REDLOCK_TOKEN; exec sleep 60";

}  // namespace

BOOST_FIXTURE_TEST_SUITE(lead, leaders)

BOOST_AUTO_TEST_CASE(one_runs_and_another_one_goes_on)
{
    program watch{{"leader", "api", "--watch"}, here()};
    auto const is_shown = [&](std::string const& words) {
        return eventually([&] { return contains(lines_of(watch.output()).empty() ? "" : lines_of(watch.output()).back(), words); });
    };
    BOOST_TEST_REQUIRE(is_shown("nobody leads"), watch.errors());
    program nobody{{"leader", "api"}, here()};
    BOOST_TEST(nobody.wait() == 1);
    BOOST_TEST(nobody.output() == "");
    BOOST_TEST(contains(nobody.errors(), "nobody leads api"), nobody.errors());

    program first{lead("10.0.0.1:80", {"sh", "-c", says_token}), here()};
    BOOST_TEST_REQUIRE(eventually([&] { return contains(first.output(), "runs with "); }), first.errors());
    BOOST_TEST(leader() == "10.0.0.1:80\n");
    BOOST_TEST(is_shown(" 10.0.0.1:80 leads, token "), watch.output());
    program second{lead("10.0.0.2:80", {"sh", "-c", says_token}), here()};
    program view{{"leader", "api", "--json"}, here()};
    BOOST_TEST(view.wait() == 0, view.errors());
    auto const j = view.json();
    BOOST_TEST(j.at("leads") == true);
    BOOST_TEST(j.at("address") == "10.0.0.1:80");
    BOOST_TEST("runs with " + std::to_string(j.at("token").get<std::uint64_t>()) + '\n' == first.output());
    BOOST_TEST(j.at("pid") == first.pid());

    first.send(SIGTERM);
    BOOST_TEST(first.wait() == 128 + SIGTERM);
    BOOST_TEST_REQUIRE(eventually([&] { return contains(second.output(), "runs with "); }), second.errors());
    BOOST_TEST(leader() == "10.0.0.2:80\n");
    BOOST_TEST(is_shown(" 10.0.0.2:80 leads, token "), watch.output());
    second.send(SIGTERM);
    BOOST_TEST(second.wait() == 128 + SIGTERM);
    BOOST_TEST(leader() == "");

    BOOST_TEST(is_shown("nobody leads"), watch.output());
    watch.send(SIGINT);
    BOOST_TEST(watch.wait() == 0);
    auto const lines = lines_of(watch.output()).size();  // the second may have taken over before anybody saw that the first had gone
    BOOST_TEST((lines == 4 || lines == 5), watch.output());
}

BOOST_AUTO_TEST_CASE(who_cannot_keep_the_lock_is_ended_and_campaigns_again)
{
    program leads{lead("x", {"sh", "-c", says_token}), here()};
    BOOST_TEST_REQUIRE(eventually([&] { return contains(leads.output(), "runs with "); }), leads.errors());
    all[0].stop();
    all[1].stop();
    BOOST_TEST_REQUIRE(eventually([&] { return contains(leads.errors(), "is lost"); }), leads.errors());
    all[0].resume();
    all[1].resume();
    BOOST_TEST_REQUIRE(eventually([&] { return lines_of(leads.output()).size() == 2; }), leads.errors());
    auto const lines = lines_of(leads.output());
    BOOST_TEST(lines[0] != lines[1], "each term has its own token");
    leads.send(SIGTERM);
    BOOST_TEST(leads.wait() == 128 + SIGTERM);
}

BOOST_AUTO_TEST_CASE(a_command_that_ends_by_itself_ends_it)
{
    program p{lead("x", {"sh", "-c", "exit 7"}), here()};
    BOOST_TEST(p.wait() == 7, p.errors());
    BOOST_TEST(count_with("api") == 0u);
    BOOST_TEST(leader() == "");
}

BOOST_AUTO_TEST_CASE(wrong_usage_says_what_to_write)
{
    auto const fails = [&](arguments const& args, std::string const& words) {
        program p{args, here()};
        BOOST_TEST(p.wait() == 64, p.errors());
        BOOST_TEST(contains(p.errors(), words), p.errors());
    };
    fails({"lead", "api", "--", "true"}, "--publish is required");
    fails({"lead", "api", "--publish", "x"}, "redlock lead NAME --publish ADDRESS -- COMMAND");
    fails({"lead", "--publish", "x", "--", "true"}, "NAME is required");
    fails({"lead", "api", "--publish", "", "--", "true"}, "--publish: the address is empty");
    fails({"lead", "api", "--publish", std::string(4097, 'x'), "--", "true"}, "up to 4096 bytes");
    fails({"leader"}, "NAME is required");
    fails({"leader", "a", "b"}, "one argument too many");
}

BOOST_AUTO_TEST_CASE(too_few_servers_are_said)
{
    all[0].stop();
    all[1].stop();
    program p{{"leader", "api", "--timeout", "300ms"}, here()};
    BOOST_TEST(p.wait() == 69, p.errors());
    BOOST_TEST(contains(p.errors(), "it cannot be known who leads api"), p.errors());
    all[0].resume();
    all[1].resume();
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::testing
