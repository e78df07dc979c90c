// Answers in a form that no rule of the protocol knows: they are no grant, and no refusal either. What fuzzing showed.
#include "protocol/redis_replies.hpp"
#include "support/printing.hpp"

#include <boost/test/unit_test.hpp>

#include <string>
#include <vector>

namespace {

using namespace redlock;
using namespace redlock::detail;
using boost::redis::resp3::node_view;
using boost::redis::resp3::type;
using namespace std::chrono_literals;

command of(verb what)
{
    command c{what, "k", "v", 30s};
    c.fenced = c.what == verb::acquire || c.what == verb::confirm || c.what == verb::extend;
    return c;
}

// The answer to the last call of a command; calls before it are answered OK.
reply answered(command const& c, std::vector<node_view> const& nodes)
{
    batch b;
    b.commands.push_back(c);
    redis_request const wire{b};
    std::vector<reply> replies(1);
    reply_reader reader{wire.calls, {}, replies, replies.size()};
    for (std::size_t i = 0; i + 1 < wire.calls.size(); ++i) reader.on_node(i, {type::simple_string, 1, 0, "OK"});
    for (node_view const& n : nodes) reader.on_node(wire.calls.size() - 1, n);
    reader.conclude();
    return replies.front();
}

node_view number(std::string_view text, std::size_t depth = 0) { return {type::number, 1, depth, text}; }
node_view array(std::size_t size, std::size_t depth = 0) { return {type::array, size, depth, ""}; }

}  // namespace

BOOST_AUTO_TEST_SUITE(strange_answers)

BOOST_AUTO_TEST_CASE(what_is_no_number_is_no_zero)
{
    for (std::string_view const text : {"", "x", "0x", "+0", "99999999999999999999"}) {
        BOOST_TEST((answered(of(verb::confirm), {number(text)}).vote == vote::failed), text);
        BOOST_TEST((answered(of(verb::admit), {number(text)}).vote == vote::failed), text);
        BOOST_TEST((answered(of(verb::extend), {array(1), number(text, 1)}).vote == vote::failed), text);
        BOOST_TEST((answered(of(verb::acquire), {{type::blob_string, 1, 0, std::string{text} + " 7"}}).vote == vote::failed), text);
    }
}

BOOST_AUTO_TEST_CASE(what_begins_like_a_number_is_none)
{
    BOOST_TEST((answered(of(verb::confirm), {number("1abc")}).vote == vote::failed));
    BOOST_TEST((answered(of(verb::extend), {array(1), {type::blob_error, 1, 1, "1 problem"}}).vote == vote::failed));
    BOOST_TEST((answered(of(verb::extend), {array(1), {type::blob_string, 1, 1, "1"}}).vote == vote::failed));
}

BOOST_AUTO_TEST_CASE(an_answer_inside_of_others_is_none)
{
    BOOST_TEST((answered(of(verb::release), {array(1), array(1, 1), number("1", 2)}).vote == vote::failed));
    BOOST_TEST((answered(of(verb::extend), {{type::map, 1, 0, ""}, number("1", 1), number("1", 1)}).vote == vote::failed));
}

BOOST_AUTO_TEST_CASE(a_grant_comes_with_its_token)
{
    auto const ask = [](std::string_view text) { return answered(of(verb::acquire), {{type::blob_string, 1, 0, text}}); };
    auto const granted = ask("1 9007199254740991");
    BOOST_TEST((granted.vote == vote::granted));
    BOOST_TEST(granted.counter == 9'007'199'254'740'991u);
    for (std::string_view const text : {"1", "1 ", "1 0", "1 -7", "1 x", "1 9007199254740992", "2 7"})
        BOOST_TEST((ask(text).vote == vote::failed), text);
}

BOOST_AUTO_TEST_CASE(a_mark_is_one_with_its_name)
{
    BOOST_TEST((answered(of(verb::mark), {array(2), number("1", 1), {type::blob_string, 1, 1, "m"}}).vote == vote::granted));
    BOOST_TEST((answered(of(verb::mark), {array(1), number("1", 1)}).vote == vote::failed));
    BOOST_TEST((answered(of(verb::mark), {array(2), number("7", 1), {type::blob_string, 1, 1, "m"}}).vote == vote::failed));
}

// A question to a node that is refused has an answer; here there is none, and to ask again at once would never end.
BOOST_AUTO_TEST_CASE(a_foreign_key_in_place_of_the_record_is_a_failure)
{
    for (verb const what : {verb::inspect, verb::mark, verb::admit}) {
        auto const r = answered(of(what), {{type::simple_error, 1, 0, "WRONGTYPE Operation against a key"}});
        BOOST_TEST((r.vote == vote::failed));
        BOOST_TEST(r.error == errc::server_error);
    }
}

// In nanoseconds it would be more than a clock can count.
BOOST_AUTO_TEST_CASE(a_key_that_stays_for_ages_counts_as_one_that_stays)
{
    BOOST_TEST((answered(of(verb::watch), {number("9000000000000000")}).expires_in == never_expires));
    BOOST_TEST((answered(of(verb::watch), {number("60000")}).expires_in == 60s));
    BOOST_TEST((answered(of(verb::watch), {number("-3")}).vote == vote::failed));
    BOOST_TEST((answered(of(verb::watch), {number("x")}).vote == vote::failed));
}

BOOST_AUTO_TEST_SUITE_END()
