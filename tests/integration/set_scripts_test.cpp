// The scripts of a member of a set that is changed: what its admission, its mark and older clients come to.
#include "support/fenced_server.hpp"

#include "quorum/set_record.hpp"

namespace redlock::testing {
namespace {

struct member : fenced_server {
    member()
    {
        BOOST_REQUIRE_EQUAL(server.command({"SCRIPT", "LOAD", std::string{detail::claim_script().text}}), detail::claim_script().sha1);
        server_id = id;
        BOOST_REQUIRE_EQUAL(claim("", quorum::to_text(first), false), "1 " + quorum::to_text(first));
        second = quorum::with_member_replaced(first, "c", "d");
    }

    std::string claim(std::string const& expected, std::string const& text, bool stays) const
    {
        return call(detail::claim_script(), {"redlock:node"}, {id, expected, text, stays ? "1" : "0"});
    }
    std::string id_in(quorum::set_record const& set) const { return detail::id_in_generation(quorum::binding_of(set), server_id); }

    std::string server_id;
    quorum::set_record first{"s", 0, 0, true, 0, 0, "", {"a", "b", "c"}};
    quorum::set_record second;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(set_scripts)

BOOST_FIXTURE_TEST_CASE(a_member_that_stays_takes_its_admission_along, member)
{
    std::string const rest = " " + record().substr(41);
    BOOST_TEST(acquire("v") == "1 " + std::to_string(start + 1));
    auto const before = quorum::to_text(first), after = quorum::to_text(second);
    BOOST_TEST(claim("another text", after, true) == "0 " + before);
    BOOST_TEST(claim(before, after, true) == "1 " + after);
    BOOST_TEST(record() == id_in(second) + rest);

    // What was begun before is refused, and changes nothing.
    BOOST_TEST(acquire("w") == "-1 0");
    BOOST_TEST(extend("v", start + 1, true) == "-1");
    BOOST_TEST(confirm("v", start + 1) == "-1");
    BOOST_TEST(mark("m2") == "-1 ");
    BOOST_TEST(admit(start, 30'000, "m2") == "-1");
    BOOST_TEST(record() == id_in(second) + rest);

    id = id_in(second);
    BOOST_TEST(extend("v", start + 1, true) == "1");
    BOOST_TEST(claim(before, after, true) == "1 " + after, "the same again");
    BOOST_TEST(mark("m2") == "2 ");
    BOOST_TEST(admit(start, 30'000, "m2") == "2");
}

BOOST_FIXTURE_TEST_CASE(a_member_that_joins_is_not_admitted_and_its_mark_is_gone, member)
{
    auto const after = quorum::to_text(second);
    run({"DEL", "redlock:node", "redlock:set"});
    BOOST_TEST(mark("early") == "1 early");
    BOOST_TEST(claim("", after, false) == "1 " + after);
    BOOST_TEST(admit(start, 30'000, "early") == "-1", "prepared by who knows no generation");
    id = id_in(second);
    BOOST_TEST(admit(start, 30'000, "early") == "0", "the wait begins anew");
    BOOST_TEST(mark("late") == "1 late");

    // Another change while it waits.
    auto const third = quorum::with_member_replaced(second, "b", "e");
    BOOST_TEST(claim(after, quorum::to_text(third), true) == "1 " + quorum::to_text(third));
    BOOST_TEST(admit(start, 30'000, "late") == "-1");
    id = id_in(third);
    BOOST_TEST(admit(start, 30'000, "late") == "0");
    BOOST_TEST(mark("last") == "1 last");
    BOOST_TEST(admit(start, 30'000, "last") == "1");
    BOOST_TEST(acquire("v").starts_with("1 "));
}

BOOST_FIXTURE_TEST_CASE(a_client_that_may_not_read_the_set_does_no_harm, member)
{
    claim(quorum::to_text(first), quorum::to_text(second), true);
    auto const before = record();
    run({"DEL", "redlock:set"});  // as such a client sees it
    BOOST_TEST(mark("m2") == "FENCE the set of this server was changed; its user may not read redlock:set");
    BOOST_TEST(admit(start, 30'000, "m2") == "FENCE the set of this server was changed; its user may not read redlock:set");
    BOOST_TEST(record() == before);
}

BOOST_FIXTURE_TEST_CASE(a_record_of_another_server_is_not_written, member)
{
    id = other_id;
    BOOST_TEST(claim(quorum::to_text(first), quorum::to_text(second), true) == "-1 ");
    BOOST_TEST(get("redlock:set") == quorum::to_text(first));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::testing
