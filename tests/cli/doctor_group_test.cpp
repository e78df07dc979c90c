// What the doctor finds in the answers of Sentinels and primaries.
#include "cli/doctor/doctor_group.hpp"

#include <boost/test/unit_test.hpp>

#include <string>
#include <vector>

namespace redlock::cli {
namespace {

using namespace std::chrono_literals;
using detail::group_member;
using detail::sentinel_report;
using outcome = sentinel_report::outcome;

group_member at(std::uint16_t port) { return {"10.0.0.1", port}; }

sentinel_report says(std::string name, std::uint64_t epoch, std::uint16_t primary)
{
    return {std::move(name), outcome::answered, {epoch, at(primary), 5s, {at(1), at(2), at(3)}}, ""};
}

struct group_at_the_doctor {
    node_address address = node_address::from_url("redis+sentinel://a,b,c/m");
    std::vector<sentinel_report> reports{says("a", 4, 1), says("b", 4, 1), says("c", 4, 1)};
    std::string info = "role:master\r\nconnected_slaves:2\r\nslave0:ip=10.0.0.1,port=2,state=online,offset=1,lag=0\r\n"
                       "slave1:ip=10.0.0.1,port=3,state=online,offset=1,lag=0\r\n";
    config settings;
    lock_options lock;

    std::vector<finding> diagnose() const
    {
        doctor_probe n;
        n.node = "a,b,c/m";
        n.group = examine_group(address, {detail::choose_primary(reports, "m", {}), reports}, info);
        return diagnose_group(n, settings, lock);
    }
    bool finds(severity is, std::string const& words) const
    {
        for (finding const& f : diagnose())
            if (f.is == is && f.what.find(words) != std::string::npos) return true;
        for (finding const& f : diagnose()) BOOST_TEST_MESSAGE(f.what);
        return false;
    }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(groups_at_the_doctor, group_at_the_doctor)

BOOST_AUTO_TEST_CASE(a_healthy_group_is_described)
{
    auto const all = diagnose();
    BOOST_TEST_REQUIRE(all.size() == 1u);
    BOOST_TEST((all[0].is == severity::note));
    BOOST_TEST(all[0].what == "a group of S = 3 servers with the primary 10.0.0.1:1 (epoch 4); votes wait for k = 1. A failover now would "
                              "lose no lock, and nobody "
                              "could acquire one for 35.0 s and a few seconds (down-after-milliseconds + max_ttl)");
}

BOOST_AUTO_TEST_CASE(sentinels_that_are_silent_or_disagree)
{
    reports[1] = {"b", outcome::failed, {}, "Connection refused"};
    reports[2] = says("c", 3, 2);
    BOOST_TEST(finds(severity::warning, "the Sentinel b does not answer: Connection refused"));
    BOOST_TEST(finds(severity::warning, "the Sentinel c names 10.0.0.1:2 as the primary (epoch 3; the newest epoch is 4)"));
    reports[2] = {"c", outcome::no_such_master, {}, ""};
    BOOST_TEST(finds(severity::warning, "the Sentinel c does not know this master"));
    reports[2] = {"c", outcome::no_sentinel, {}, ""};
    BOOST_TEST(finds(severity::danger, "the Sentinel c is no Sentinel but another server"));
}

BOOST_AUTO_TEST_CASE(sentinels_that_are_outvoted)
{
    reports[2].view = {9, at(7), 5s, {at(7), at(8)}};
    BOOST_TEST(finds(severity::danger, "the Sentinel c watches another group under this name, whose primary is 10.0.0.1:7"));
    BOOST_TEST(finds(severity::note, "a group of S = 3 servers with the primary 10.0.0.1:1"));
    reports[2] = says("c", 4, 1);
    reports[2].view.servers.push_back(at(9));
    BOOST_TEST(finds(severity::warning, "the Sentinel c lists servers that most Sentinels do not know, and that do not count: 10.0.0.1:9"));
    BOOST_TEST(finds(severity::note, "a group of S = 3 servers with the primary 10.0.0.1:1"));
}

BOOST_AUTO_TEST_CASE(replicas_that_are_missing_or_unknown)
{
    info = "role:master\r\nconnected_slaves:2\r\nslave0:ip=10.0.0.1,port=2,state=online\r\nslave1:ip=10.0.0.9,port=9,state=online\r\n";
    BOOST_TEST(finds(severity::warning, "not attached to the primary: 10.0.0.1:3"));
    BOOST_TEST(finds(severity::warning, "no Sentinel knows, and whose acknowledgements count all the same: 10.0.0.9:9"));
    info = "role:master\r\nconnected_slaves:0\r\n";
    BOOST_TEST(finds(severity::danger, "wait for 1 replica, and the primary has 0: they never count"));
}

BOOST_AUTO_TEST_CASE(how_long_a_failover_would_stop_acquisitions)
{
    // One of two replicas is missing: the other one would be promoted, and nobody could acknowledge its votes.
    info = "role:master\r\nconnected_slaves:1\r\nslave0:ip=10.0.0.1,port=2,state=online\r\n";
    std::string const until = "nobody could acquire one until the old primary is back as a replica, since the promoted server would have ";
    BOOST_TEST(finds(severity::warning, "A failover now would lose no lock, and " + until + "0 replicas"));
    // Where votes wait for all replicas, that is how it is.
    info = "role:master\r\nconnected_slaves:2\r\nslave0:ip=10.0.0.1,port=2,state=online\r\nslave1:ip=10.0.0.1,port=3,state=online\r\n";
    address.replicas = 2;
    BOOST_TEST(finds(severity::note, "A failover now would lose no lock, and " + until + "1 replica"));
    // Without fencing nothing waits for the end of a quarantine.
    lock.fencing = false;
    address.replicas = 1;
    BOOST_TEST(finds(severity::danger,
                     "without fencing it takes 2: a failover can lose a lock that is held, and a second client could get it as "
                     "soon as a replica is promoted"));
    BOOST_TEST(finds(severity::note, "A failover now could lose a lock, and nobody could acquire one until the Sentinels have promoted a "
                                     "replica (5.0 s and a few seconds)"));
}

BOOST_AUTO_TEST_CASE(too_few_acknowledgements)
{
    for (auto& r : reports)
        for (std::uint16_t port = 4; port <= 5; ++port) r.view.servers.push_back(at(port));
    address.replicas = 1;
    BOOST_TEST(
        finds(severity::danger, "votes wait for k = 1 of 4 replicas, and a majority of S = 5 servers needs 2: a failover can lose a lock"));
    address.replicas = 2;
    BOOST_TEST(!finds(severity::danger, "a failover can lose a lock"));
    lock.fencing = false;
    BOOST_TEST(finds(severity::danger, "without fencing it takes 4: a failover can lose a lock"));
    address.replicas = 9;
    BOOST_TEST(finds(severity::danger, "votes are to wait for 9 replicas"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::cli
