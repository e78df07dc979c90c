// Locks that several hold to read: redlock run --shared, and what inspect, watch, list and release say of it.
#include "program.hpp"

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <csignal>
#include <string>

namespace redlock::testing {
namespace {

using namespace std::chrono_literals;

arguments const reads{"sh", "-c", "echo ready; exec sleep 60"};

// Two that read.
struct two_readers : servers {
    two_readers()
        : servers{3},
          one{run("job", {"--shared", "--label", "first"}, reads), environment()},
          two{run("job", {"--shared", "--ttl", "3s"}, reads), environment()}
    {
        for (program* each : {&one, &two})
            BOOST_TEST_REQUIRE(eventually([&] { return contains(each->output(), "ready"); }), each->errors());
        BOOST_TEST_REQUIRE(eventually([&] { return readers_everywhere("3"); }));
    }

    // As many members, with the one that is no reader.
    bool readers_everywhere(std::string const& members)
    {
        for (auto& s : all)
            if (s.command({"ZCARD", "job"}) != members) return false;
        return true;
    }

    nlohmann::json inspected()
    {
        program p{{"inspect", "job", "--json"}, environment()};
        BOOST_TEST(p.wait() == 0, p.errors());
        return p.json().at("locks").at(0);
    }

    program one;
    program two;
};

// And one that waits to write.
struct and_a_writer : two_readers {
    and_a_writer() : writer{run("job", {}, {"echo", "written"}), environment()}
    {
        BOOST_TEST_REQUIRE(eventually([&] { return all[0].command({"EXISTS", "job:want"}) == "1"; }), writer.errors());
    }

    program writer;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(readers)

BOOST_FIXTURE_TEST_CASE(they_are_counted_and_named, two_readers)
{
    program p{{"inspect", "job"}, environment()};
    BOOST_TEST(p.wait() == 0, p.errors());
    BOOST_TEST(contains(p.output(), "held by 2 readers: "), p.output());
    BOOST_TEST(contains(p.output(), "label first"), p.output());
    BOOST_TEST(contains(p.output(), "on 3 of 3 nodes, a majority; survives 1 more fault; the first reader ends in "), p.output());
    BOOST_TEST(!contains(p.output(), "a writer waits"), p.output());
    for (program const* each : {&one, &two}) BOOST_TEST(contains(p.output(), "process " + std::to_string(each->pid())), p.output());
    auto const secret = all[0].command({"ZRANGE", "job", "1", "1"}).substr(0, 32);
    BOOST_TEST(!contains(p.output(), secret));

    auto const lock = inspected();
    BOOST_TEST(lock.at("state") == "held");
    BOOST_TEST(lock.at("mode") == "shared");
    BOOST_TEST(lock.at("readers") == 2);
    BOOST_TEST(lock.at("writer_waits") == false);
    BOOST_TEST(lock.at("holder").at("readers") == 2);
    BOOST_TEST(lock.at("holder").at("some_readers").size() == 2u);
    BOOST_TEST(lock.at("holder").at("some_readers").at(0).at("ttl_ms").get<int>() <= 3000);
    BOOST_TEST(lock.at("ttl_ms").get<int>() > 10'000);
}

BOOST_FIXTURE_TEST_CASE(a_writer_that_waits_is_shown, and_a_writer)
{
    BOOST_TEST(inspected().at("writer_waits") == true);
    program look{{"watch", "job", "--count", "1"}, environment()};
    BOOST_TEST(look.wait() == 0, look.errors());
    BOOST_TEST(contains(look.output(), "job held by 2 readers: "), look.output());
    BOOST_TEST(contains(look.output(), "; a writer waits, on 3 of 3 nodes"), look.output());
    program late{run("job", {"--shared", "--no-wait"}, {"true"}), environment()};
    BOOST_TEST(late.wait() == 75);
    BOOST_TEST(contains(late.errors(), "a writer waits"), late.errors());

    BOOST_TEST(eventually([&] { return contains(writer.errors(), "it is held by 2 readers: "); }), writer.errors());
    BOOST_TEST(!contains(writer.errors(), "a writer waits"), "that is this one: " + writer.errors());
    for (program* each : {&one, &two}) {
        BOOST_TEST(!contains(writer.output(), "written"));
        each->send(SIGTERM);
        each->wait();
    }
    BOOST_TEST(writer.wait() == 0, writer.errors());
    BOOST_TEST(writer.output() == "written\n");
}

// Nobody extends the lease of a reader that was killed: the others still read, and the writer comes when they have ended.
BOOST_FIXTURE_TEST_CASE(one_that_was_killed_is_no_reader_when_its_ttl_is_over, and_a_writer)
{
    two.send(SIGKILL);
    BOOST_TEST(two.wait() == 128 + SIGKILL);
    BOOST_TEST(eventually([&] { return inspected().at("readers") == 1; }));
    BOOST_TEST(!contains(writer.output(), "written"));
    program list{{"list", "--json"}, environment()};
    BOOST_TEST(list.wait() == 0, list.errors());
    BOOST_TEST(list.json().at("locks").at(0).at("readers") == 1);
    one.send(SIGTERM);
    one.wait();
    BOOST_TEST(writer.wait() == 0, writer.errors());
}

BOOST_FIXTURE_TEST_CASE(list_shows_the_mode, two_readers)
{
    program writer{run("other", {"--label", "alone"}, reads), environment()};
    BOOST_TEST_REQUIRE(eventually([&] { return contains(writer.output(), "ready"); }), writer.errors());
    for (auto& s : all) s.command({"ZADD", "ranks", "1", "somebody"});
    program p{{"list"}, environment()};
    BOOST_TEST(p.wait() == 0, p.errors());
    auto const lines = lines_of(p.output());
    BOOST_TEST_REQUIRE(lines.size() >= 3u, p.output());
    BOOST_TEST(lines[1].starts_with("job    shared     2 readers "), p.output());
    BOOST_TEST(lines[2].starts_with("other  exclusive  "), p.output());
    BOOST_TEST(contains(p.output(), "2 locks are held\n1 other key matches"), p.output());
    program j{{"list", "--json"}, environment()};
    BOOST_TEST(j.wait() == 0);
    auto const locks = j.json().at("locks");
    BOOST_TEST_REQUIRE(locks.size() == 2u);
    BOOST_TEST(locks.at(0).at("mode") == "shared");
    BOOST_TEST(locks.at(0).at("readers") == 2);
    BOOST_TEST(locks.at(0).at("until").is_number());
    BOOST_TEST(locks.at(1).at("mode") == "exclusive");
    BOOST_TEST(locks.at(1).at("readers") == 0);
}

BOOST_FIXTURE_TEST_CASE(release_removes_those_who_read, two_readers)
{
    program writer{run("job", {"--no-wait"}, {"true"}), environment()};
    BOOST_TEST(writer.wait() == 75);
    BOOST_TEST(contains(writer.errors(), "2 readers"), writer.errors());
    for (program* each : {&one, &two}) each->send(SIGSTOP);  // they set their leases again otherwise
    program p{{"release", "job", "--force", "--yes"}, environment()};
    BOOST_TEST(p.wait() == 0, p.errors());
    BOOST_TEST(contains(p.output(), "deleted on 3 of 3 nodes"), p.output());
    BOOST_TEST(contains(p.output(), "2 readers removed"), p.output());
    BOOST_TEST(count_with("job") == 0u);
}

// Between the look and the deletion somebody comes to read, who was not shown and stays.
BOOST_FIXTURE_TEST_CASE(release_leaves_readers_who_came_later, two_readers)
{
    program p{{"release", "job", "--force"}, {{{"REDLOCK_NODES", urls()}}, "", true}};
    BOOST_TEST_REQUIRE(eventually([&] { return contains(p.output(), "[y/N]"); }), p.output());
    program third{run("job", {"--shared"}, reads), environment()};
    BOOST_TEST_REQUIRE(eventually([&] { return contains(third.output(), "ready") && readers_everywhere("4"); }), third.errors());
    for (program* each : {&one, &two}) each->send(SIGSTOP);
    p.type("y\n");
    BOOST_TEST(p.wait() == 0, p.output());
    auto const lock = inspected();
    BOOST_TEST(lock.at("readers") == 1);
    BOOST_TEST(lock.at("holder").at("some_readers").at(0).at("pid") == third.pid());
    BOOST_TEST(lock.at("ttl_ms").get<int>() > 10'000);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::testing
