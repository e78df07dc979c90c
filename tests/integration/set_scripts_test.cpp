// The scripts of a member of a set that is changed: what its admission, its mark and older clients come to.
#include "support/fenced_server.hpp"

#include "protocol/shared_scripts.hpp"
#include "quorum/sets/set_record.hpp"

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
    std::string claim_above(std::string const& expected, std::string const& text, bool stays, std::int64_t token) const
    {
        return call(detail::claim_script(), {"redlock:node"}, {id, expected, text, stays ? "1" : "0", std::to_string(token)});
    }
    std::string read(std::string const& value) const
    {
        return call(detail::shared_acquire_script(), {"redlock:node", "redlock:hw", "r", "r:fence", "r:want"},
                    {id, "30000", "3600000", value, "0", "-1"});
    }
    std::string extend_to_read(std::string const& value, std::int64_t token) const
    {
        return call(detail::shared_extend_script(), {"redlock:node", "redlock:hw", "r", "r:fence"},
                    {id, "3600000", "1", "0", value, std::to_string(token), "30000", "0"});
    }
    void become_smaller(std::int64_t above)
    {
        auto const open = quorum::with_member_removed(first, "c"), closed = quorum::closed(open);
        claim(quorum::to_text(first), quorum::to_text(open), true);
        id = id_in(open);
        BOOST_REQUIRE_EQUAL(claim_above(quorum::to_text(open), quorum::to_text(closed), true, above), "1 " + quorum::to_text(closed));
        id = id_in(closed);
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

// With the smaller N a member gets what the others know.
BOOST_FIXTURE_TEST_CASE(new_tokens_are_above_what_the_set_knew_before_it_became_smaller, member)
{
    auto const open = quorum::with_member_removed(first, "c"), closed = quorum::closed(open);
    BOOST_TEST(acquire("v") == "1 " + std::to_string(start + 1));
    BOOST_TEST(claim(quorum::to_text(first), quorum::to_text(open), true) == "1 " + quorum::to_text(open));
    BOOST_TEST(acquire("w") == "-1 0");
    id = id_in(open);
    auto const text = quorum::to_text(closed);
    BOOST_TEST(claim_above(quorum::to_text(first), text, true, start + 500) == "0 " + quorum::to_text(open), "another text");
    BOOST_TEST(get("redlock:hw") == std::to_string(start + 1));
    BOOST_TEST(claim_above(quorum::to_text(open), text, true, start + 500) == "1 " + text);
    BOOST_TEST(get("redlock:hw") == std::to_string(start + 500));
    BOOST_TEST(claim_above(quorum::to_text(open), text, true, start + 900) == "1 " + text, "the same again");
    BOOST_TEST(get("redlock:hw") == std::to_string(start + 500));
    id = id_in(closed);
    BOOST_TEST(extend("v", start + 1, true) == "1", "a lease of before goes on");
    run({"DEL", "r"});
    BOOST_TEST(acquire("w") == "1 " + std::to_string(start + 501), "new tokens are above it, also where a counter is there");
    BOOST_TEST(get("redlock:node").ends_with("- " + padded(start + 500, 16)), get("redlock:node"));

    // A smaller one changes nothing, and none is written where the mark is gone.
    auto again = closed;
    again.counts.moved = true;
    BOOST_TEST(claim_above(text, quorum::to_text(again), true, start) == "1 " + quorum::to_text(again));
    BOOST_TEST(get("redlock:hw") == std::to_string(start + 501));
    run({"DEL", "redlock:hw"});
    BOOST_TEST(claim_above(quorum::to_text(again), text, true, start + 600) == "-1 ");
    BOOST_TEST(get("redlock:set") == quorum::to_text(again));
    BOOST_TEST(get("redlock:hw") == "(nil)");
    run({"SET", "redlock:hw", "somebody's"});
    BOOST_TEST(claim_above(quorum::to_text(again), text, true, start + 600) == "-1 ");
    run({"SET", "redlock:hw", std::to_string(start + 501)});
    BOOST_TEST(claim_above(quorum::to_text(again), text, true, std::int64_t{1} << 53) == "-1 ", "no token is that large");
    BOOST_TEST(get("redlock:set") == quorum::to_text(again));
}

// model_test.cpp compares readers and semaphores.
BOOST_FIXTURE_TEST_CASE(the_token_of_several_names_is_above_it_too, member)
{
    acquire("v");
    run({"DEL", "r"});
    become_smaller(start + 500);
    BOOST_TEST(acquire_all({"r", "s"}, "w") == "1 " + std::to_string(start + 501));
}

// They were there before, and no writer can have been: only tokens of those that come have to be larger.
BOOST_FIXTURE_TEST_CASE(readers_go_on_when_another_joins_after_the_set_became_smaller, member)
{
    for (auto const* const s : {&detail::shared_acquire_script(), &detail::shared_extend_script()})
        BOOST_REQUIRE_EQUAL(server.command({"SCRIPT", "LOAD", std::string{s->text}}), s->sha1);
    BOOST_TEST(read("first") == "1 " + std::to_string(start + 1));
    become_smaller(start + 500);
    BOOST_TEST(extend_to_read("first", start + 1) == "1");
    BOOST_TEST(read("second") == "1 " + std::to_string(start + 501));
    BOOST_TEST(read("third") == "1 " + std::to_string(start + 501), "above it already");
    BOOST_TEST(extend_to_read("first", start + 1) == "1");
    BOOST_TEST(extend_to_read("second", start + 501) == "1");
    run({"DEL", "r"});
    BOOST_TEST(read("later") == "1 " + std::to_string(start + 502), "of a new set");
    BOOST_TEST(extend_to_read("first", start + 1) == "-2");
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
