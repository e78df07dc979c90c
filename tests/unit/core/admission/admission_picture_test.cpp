// What is said of nodes without a vote, where no server is needed to see it. outage_story_test has the texts that a client comes to by itself.
#include "core/admission/admission_picture.hpp"

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

BOOST_AUTO_TEST_SUITE(admission_pictures)

// No wait helps a list that lacks members, and others may have their data.
BOOST_AUTO_TEST_CASE(a_list_that_lacks_members_is_told_from_a_set_that_lost_everything)
{
    redlock::detail::admission_picture p;
    p.state = redlock::admission_state::catching_up;
    p.nobody_remembers = true;
    std::string const all_lost = p.text({});
    BOOST_TEST(all_lost.find("a new beginning needs all of them") != std::string::npos, all_lost);
    p.lacks_members = true;
    std::string const lacks = p.text({});
    BOOST_TEST(lacks.find("name all of them") != std::string::npos, lacks);
    BOOST_TEST(lacks.find("a new beginning") == std::string::npos, lacks);
}

// The records of a group or a shard come with the replica that takes over.
BOOST_AUTO_TEST_CASE(what_a_short_process_can_do_is_said_where_the_set_is_new)
{
    redlock::detail::admission_picture p;
    p.state = redlock::admission_state::quarantined;
    p.nobody_remembers = true;
    p.nodes = 1;
    std::string const is_new = p.text({});
    std::string const short_processes = "; for processes that end sooner, run redlock admit, or set config::quarantine_folder";
    BOOST_TEST(is_new.ends_with("0 ms left until earlier leases have expired" + short_processes), is_new);
    p.is_noted = true;
    BOOST_TEST(p.text({}).ends_with("0 ms left until earlier leases have expired"), p.text({}));
    p.is_noted = false;
    p.started = redlock::quorum::time_point{};
    BOOST_TEST(p.text({}).ends_with("(its server has run for 0 ms)"), p.text({}));
    p.started.reset();
    p.nodes = 2;
    p.names = std::make_shared<std::vector<std::string> const>(std::vector<std::string>{"a", "b"});
    p.silent.add(1);
    std::string const not_known = p.text({});
    BOOST_TEST(
        not_known ==
        "no node that answers has data, so they are new, or lost it: 0 ms left until earlier leases have expired (not connected: b)");
    p.started = redlock::quorum::time_point{};
    p.drained = redlock::quorum::time_point{} + std::chrono::seconds{31};
    std::string const runs = p.text(redlock::quorum::time_point{} + std::chrono::seconds{22});
    BOOST_TEST(runs == "no node that answers has data, so they are new, or lost it: 9.0 s left until earlier leases have expired (its "
                       "server has run for 22 s) (not connected: b)");
    p.started.reset();
    p.drained = {};
    p.silent = {};
    p.has_traces = true;
    std::string const restarted = p.text({});
    BOOST_TEST(restarted.find("it restarted, or lost its data: ") == 0u, restarted);
    p.is_empty = true;
    std::string const empty = p.text({});
    BOOST_TEST(empty.find("it is new, or lost its data: ") == 0u, empty);
    p.is_another = true;
    for (auto const state : {redlock::admission_state::uninitialized, redlock::admission_state::quarantined}) {
        p.state = state;
        std::string const promoted = p.text({});
        BOOST_TEST(promoted.find("it was promoted, or restarted with the data that it had stored") == 0u, promoted);
        p.is_shard = true;
        std::string const moved = p.text({});
        BOOST_TEST(moved.find("its server was promoted, was given its slot, or restarted with the data that it had stored") == 0u, moved);
        p.is_shard = false;
    }
    p.state = redlock::admission_state::catching_up;
    std::string const waits = p.text({});
    BOOST_TEST(waits.find("no node is admitted; a new beginning needs all of them") == 0u, waits);
}

BOOST_AUTO_TEST_SUITE_END()
