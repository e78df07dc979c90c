// How much a server may send, and in which form.
#include "node/connection/reply_bounds.hpp"

#include <boost/test/unit_test.hpp>

#include <string>
#include <string_view>

namespace {

using redlock::detail::reply_bounds;

constexpr auto max_handshake = reply_bounds::max_handshake;
constexpr auto max_besides = reply_bounds::max_besides;

void send(reply_bounds& to, std::string_view bytes)
{
    to.received(bytes.size());
    if (to.objection().empty()) to.look(bytes);
}

// What is said of these bytes, whether they come at once or one after the other.
std::string objection_to(std::string_view bytes)
{
    reply_bounds at_once, one_by_one;
    send(at_once, bytes);
    for (char const c : bytes) send(one_by_one, {&c, 1});
    BOOST_TEST(at_once.objection() == one_by_one.objection(), bytes);
    BOOST_TEST(at_once.foreign() == one_by_one.foreign());
    return at_once.objection();
}

std::string times(std::size_t n, std::string_view text)
{
    std::string all;
    for (std::size_t i = 0; i < n; ++i) all += text;
    return all;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(bounds_of_replies)

BOOST_AUTO_TEST_CASE(what_servers_send_is_passed_on)
{
    for (std::string_view const good :
         {"+OK\r\n", "-ERR no\rreason\r\n", ":-17\r\n", "_\r\n", "#t\r\n", ",3.5\r\n", "(123456789012345678901234567890\r\n", "$0\r\n\r\n",
          "$5\r\n\r\n$9\r\r\n", "=7\r\ntxt:abc\r\n", "!5\r\nERR x\r\n", "*0\r\n+OK\r\n", "*2\r\n:1\r\n*1\r\n_\r\n+OK\r\n",
          "%2\r\n+a\r\n:1\r\n+b\r\n~1\r\n:1\r\n:7\r\n", "|1\r\n+a\r\n+b\r\n:1\r\n", ">2\r\n$10\r\ninvalidate\r\n*1\r\n$1\r\nk\r\n:1\r\n",
          "*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n:1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n:1\r\n"})
        BOOST_TEST(objection_to(good) == "", good);
}

// The second `$…` would be a length if the first string or array ended elsewhere than it does.
BOOST_AUTO_TEST_CASE(ends_are_found_where_they_are)
{
    for (std::string_view const whole : {"$3\r\n$x\r\r\n", "*2\r\n+a\r\n$2\r\n$\r\r\n", "%1\r\n+a\r\n$1\r\n$\r\n", "+$\r$\n$\r\n"}) {
        BOOST_TEST(objection_to(whole) == "", whole);
        BOOST_TEST(objection_to(std::string{whole} + "$x\r\n") == "it does not speak the Redis protocol", whole);
    }
}

BOOST_AUTO_TEST_CASE(what_is_another_protocol_is_not)
{
    for (std::string_view const strange :
         {"HTTP/1.1 400 Bad Request\r\n", "\r\n", "$\r\n", "$?\r\n", "$-1\r\n", "$1x\r\n", "$ 1\r\n", "*?\r\n", "*-1\r\n", "*\r\n", "!\r\n",
          "=\r\n", ";3\r\n", ";0\r\n", ".\r\n", "$99999999999999999999999999\r\n", "$18446744073709551616\r\n", "\x15\x03\x01\r\n"}) {
        BOOST_TEST(objection_to(strange) == "it does not speak the Redis protocol", strange);
    }
    reply_bounds b;
    send(b, "$x\r\n");
    BOOST_TEST(b.foreign());
}

BOOST_AUTO_TEST_CASE(lengths_are_not_believed)
{
    for (char const type : {'$', '='}) {
        std::string const header = type + std::string{"2000000000\r\n"};
        BOOST_TEST(objection_to(header) == "it announced a text of 2000000000 bytes, more than any answer to what it was asked can be");
        BOOST_TEST(objection_to(type + std::string{"18446744073709551615\r\n"}) != "");
    }
    for (char const type : {'*', '~', '%', '>', '|'}) {
        std::string const header = type + std::string{"2000000000\r\n"};
        BOOST_TEST(objection_to(header) == "it announced 2000000000 elements, more than any answer to what it was asked can have");
        BOOST_TEST(objection_to(type + std::string{"18446744073709551615\r\n"}) != "");
    }
    BOOST_TEST(objection_to("!4097\r\n") == "it sent an error of more than 4 KB");
    BOOST_TEST(objection_to("!4096\r\n") == "");

    reply_bounds b;
    send(b, "$2000000000\r\n");
    BOOST_TEST(!b.foreign());
}

BOOST_AUTO_TEST_CASE(a_length_is_believed_up_to_what_may_still_come)
{
    BOOST_TEST(objection_to("$65536\r\n") == "");
    BOOST_TEST(objection_to("$65537\r\n") != "");
    for (std::size_t const left : {50'000u, 49'999u}) {
        reply_bounds b;
        b.received(max_handshake - left);
        b.look("$50000\r\n");
        BOOST_TEST((b.objection() == "") == (left == 50'000u));
    }
    std::size_t const elements = (max_handshake - 8) / 3;
    BOOST_TEST(objection_to("*" + std::to_string(elements) + "\r\n") == "");
    BOOST_TEST(objection_to("*" + std::to_string(elements + 1) + "\r\n") != "");
    BOOST_TEST(objection_to("%" + std::to_string(elements / 2) + "\r\n") == "");
    BOOST_TEST(objection_to("%" + std::to_string(elements / 2 + 1) + "\r\n") != "");
}

BOOST_AUTO_TEST_CASE(depths_and_lines_have_ends)
{
    BOOST_TEST(objection_to(times(5, "*1\r\n")) == "");
    BOOST_TEST(objection_to(times(6, "*1\r\n")) == "what it sent is nested deeper than 5 levels");
    std::string const line(4'090, 'x');
    BOOST_TEST(objection_to("+" + line + "\r\n") == "");
    BOOST_TEST(objection_to("-" + line + "12345\r\n") == "it sent a line of more than 4 KB");
    BOOST_TEST(objection_to("+" + line + "123456") == "it sent a line of more than 4 KB");
    BOOST_TEST(objection_to("*" + line) == "");
    BOOST_TEST(objection_to("*" + line + "\r\n") == "it does not speak the Redis protocol");
}

BOOST_AUTO_TEST_CASE(a_handshake_is_bounded)
{
    reply_bounds b;
    b.received(max_handshake);
    BOOST_TEST(b.objection() == "");
    b.received(1);
    BOOST_TEST(b.objection() == "it sent more than 256 KB while shaking hands");

    // Of many small ones as well.
    BOOST_TEST(objection_to(times(max_handshake / 5 + 1, "+OK\r\n")) == "it sent more than 256 KB while shaking hands");
}

BOOST_AUTO_TEST_CASE(afterwards_the_bound_is_that_of_what_was_asked)
{
    reply_bounds b{100};
    b.opened();
    b.asked({1'000, 3});
    b.asked({7, 1});
    b.received(max_besides + 1'300 + 107);
    BOOST_TEST(b.objection() == "");
    b.answered({1'000, 3});
    b.answered({7, 1});
    b.received(1);
    BOOST_TEST(b.objection() == "it sent more than the answers to what it was asked can be, and 1024 KB besides");
}

BOOST_AUTO_TEST_CASE(what_answers_left_over_is_not_saved_up)
{
    reply_bounds b{100};
    b.opened();
    for (int i = 0; i < 10; ++i) {
        b.asked({1'000'000, 1});
        b.answered({1'000'000, 1});
    }
    b.received(max_besides);
    BOOST_TEST(b.objection() == "");
    b.received(1);
    BOOST_TEST(b.objection() != "");
}

BOOST_AUTO_TEST_CASE(each_answer_was_asked_for)
{
    reply_bounds b;
    b.opened();
    b.asked({100, 2});
    send(b, "*2\r\n:1\r\n:2\r\n>1\r\n+push\r\n+OK\r\n>0\r\n");
    BOOST_TEST(b.objection() == "");
    b.answered({100, 2});
    send(b, "+");
    BOOST_TEST(b.objection() == "it answered what it was not asked");
    BOOST_TEST(!b.foreign());
}

BOOST_AUTO_TEST_CASE(pushes_are_as_many_as_what_was_asked_about)
{
    std::string const push = ">2\r\n+invalidate\r\n*1\r\n$50\r\n" + std::string(50, 'k') + "\r\n";
    std::string const most = times(max_besides / push.size(), push);
    std::size_t const left = max_besides % push.size();
    for (std::size_t const bytes : {push.size() - left, push.size() - left - 1}) {
        reply_bounds b;
        b.opened();
        send(b, most);
        b.renew();
        send(b, most);
        b.asked({bytes, 1});
        send(b, ":1\r\n");
        b.answered({bytes, 1});  // of what its answer left over, pushes have nothing
        BOOST_TEST(b.objection() == "");
        send(b, push);
        bool const room = bytes + left == push.size();
        BOOST_TEST(b.objection() == (room ? "" : "it sent more than 1024 KB that nobody asked for"));
    }
}

BOOST_AUTO_TEST_CASE(the_smallest_pushes_count_as_some_bytes)
{
    std::size_t const most = max_besides / reply_bounds::min_push;
    reply_bounds b;
    b.opened();
    send(b, times(most, ">0\r\n"));
    BOOST_TEST(b.objection() == "");
    send(b, ">0\r\n");
    BOOST_TEST(b.objection() == "it sent more than 1024 KB that nobody asked for");
}

// A handshake that is over has no room left of its own.
BOOST_AUTO_TEST_CASE(an_announcement_is_held_against_what_may_come_now)
{
    reply_bounds b{6'000'000};
    b.opened();
    b.asked({100, 2});
    send(b, "$6000000\r\n");
    BOOST_TEST(b.objection() == "");
    send(b, std::string(6'000'002, 'x'));
    BOOST_TEST(b.objection() == "");
    b.answered({100, 2});
    send(b, "$2000000\r\n");
    BOOST_TEST(b.objection() == "it announced a text of 2000000 bytes, more than any answer to what it was asked can be");
}

BOOST_AUTO_TEST_SUITE_END()
