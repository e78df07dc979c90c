// What may be told of a server's words.
#include "protocol/server_words.hpp"

#include <boost/test/unit_test.hpp>

#include <string>
#include <string_view>

namespace redlock::detail {
namespace {

constexpr std::string_view left_out = "(the rest repeats what the server was sent)";

std::string told_until(std::string_view words) { return std::string{words}.append(left_out); }

}  // namespace

BOOST_AUTO_TEST_SUITE(words_of_servers)

BOOST_AUTO_TEST_CASE(usual_errors_are_told_as_they_are)
{
    for (std::string_view const words : {"", "ERR max number of clients reached",
                                         "WRONGPASS invalid username-password pair or user is disabled.", "MOVED 12182 127.0.0.1:7001"}) {
        BOOST_TEST(words_of_server(words) == words);
        BOOST_TEST(words_of_server(words, "eyJhbGciOiJSUzI1NiIsIm") == words);
    }
}

// As Redis 5, 6 and 7 write it.
BOOST_AUTO_TEST_CASE(the_arguments_of_an_unknown_command_are_not_told)
{
    BOOST_TEST(words_of_server("ERR unknown command `AUTH`, with args beginning with: `locker`, `hunter2`, ") ==
               "ERR unknown command `AUTH`");
    BOOST_TEST(words_of_server("ERR unknown command 'AUTH', with args beginning with: 'locker' 'hunter2' ") ==
               "ERR unknown command 'AUTH'");
}

BOOST_AUTO_TEST_CASE(a_secret_is_not_told_in_whatever_words_it_is_repeated)
{
    std::string_view const token = "eyJhbGciOiJSUzI1NiIsIm";
    for (std::string_view const before : {"ERR unknown command 'AUTH locker ", "$22\r\n", "ERR what does AUTH=", "-"}) {
        std::string const words = std::string{before}.append(token).append("' mean");
        auto const told = words_of_server(words, token);
        BOOST_TEST(told.find("eyJhbGci") == told.npos, told);
        BOOST_TEST(told.ends_with(left_out), told);
    }
    BOOST_TEST(words_of_server("ERR what is \"eyJhbGciOiJ...\"?", token) == told_until("ERR what is \""));
    BOOST_TEST(words_of_server("ERR what is \"abc\"?", "abc") == told_until("ERR what is \""));
    BOOST_TEST(words_of_server("abc", "abc") == left_out);
}

// Who reads that it was left out would know it.
BOOST_AUTO_TEST_CASE(a_password_that_is_part_of_a_word_is_not_looked_for_there)
{
    std::string_view const refusal = "WRONGPASS invalid username-password pair or user is disabled.";
    for (std::string_view const password : {"password", "pass", "use", "PASS", "valid", "name-passwordX"})
        BOOST_TEST(words_of_server(refusal, password) == refusal, password);
}

BOOST_AUTO_TEST_CASE(one_line_of_a_bounded_length_is_told)
{
    BOOST_TEST(words_of_server("ERR a\r\nb\tc\x1b[2J\x7f"
                               "d") == "ERR a  b c [2J d");
    BOOST_TEST(words_of_server(std::string(100'000, 'x')).size() == 1'000u);
    BOOST_TEST(words_of_server(std::string(100'000, 'x').append(" hunter2"), "hunter2").size() == 1'000u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::detail
