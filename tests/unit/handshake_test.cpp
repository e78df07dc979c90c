// What a server is asked first, with which password, and what its words are worth.
#include "node/handshake.hpp"
#include "node/rights.hpp"
#include "support/printing.hpp"

#include <boost/test/unit_test.hpp>

#include <string>

namespace {

using namespace redlock;
using namespace redlock::detail;
using boost::redis::resp3::type;
using question = handshake::question;

std::string sent(handshake const& asks) { return std::string{asks.request.payload()}; }

// The first question of a kind is answered with this.
handshake_reader::objection answer(handshake const& asks, question to, type how, std::string const& words)
{
    handshake_reader reader{asks};
    for (std::size_t i = 0; i < asks.calls.size(); ++i) {
        if (asks.calls[i].is != to) continue;
        reader.on_node(i, {how, 1, 0, words});
        break;
    }
    reader.conclude();
    return reader.against();
}

bool mentions(std::string const& text, std::string_view part) { return text.find(part) != std::string::npos; }

handshake const open_to_all{node_address{.host = "h", .password = {}}};
handshake const with_file{node_address{.host = "h", .username = "app", .password = {}, .password_file = "/p"}};

}  // namespace

BOOST_AUTO_TEST_SUITE(handshakes)

BOOST_AUTO_TEST_CASE(the_password_is_that_of_this_connection)
{
    BOOST_TEST(!mentions(sent(open_to_all), "AUTH"));
    BOOST_TEST(!mentions(sent(with_file), "AUTH"));
    BOOST_TEST(with_file.has_password);
    auto const now = with_file.with_password("hunter2");
    BOOST_TEST(mentions(sent(now), "AUTH\r\n$3\r\napp\r\n$7\r\nhunter2"));
    BOOST_TEST(mentions(sent(now.with_password("next")), "$3\r\napp\r\n$4\r\nnext"));
    BOOST_TEST(sent(open_to_all.with_password("")) == sent(open_to_all));
    handshake const waits{node_address{.host = "h", .password = {}}, {.replicas = 1}};
    BOOST_TEST(sent(waits.with_password("")) == sent(waits));
}

BOOST_AUTO_TEST_CASE(a_refusal_is_told_in_the_servers_words_unless_they_repeat_ours)
{
    auto const asks = with_file.with_password("hunter2");
    auto const wrong = answer(asks, question::hello, type::simple_error, "WRONGPASS invalid username-password pair");
    BOOST_TEST((wrong.why == errc::handshake_refused));
    BOOST_TEST(mentions(wrong.words, "wrong user name or password, or a server older than Redis 6 (WRONGPASS invalid"));
    auto const old = answer(asks, question::hello, type::simple_error,
                            "ERR unknown command `HELLO`, with args beginning with: `3`, `AUTH`, `app`, `hunter2`");
    BOOST_TEST((old.why == errc::handshake_refused));
    BOOST_TEST(!mentions(old.words, "hunter2"), old.words);
    auto const open = answer(open_to_all, question::hello, type::simple_error,
                             "ERR unknown command `HELLO`, with args beginning with: `3`");
    BOOST_TEST(mentions(open.words, "unknown command"), open.words);
}

BOOST_AUTO_TEST_CASE(rights_that_are_missing)
{
    auto const some = answer(open_to_all, question::rights, type::blob_string, " +get +del");
    BOOST_TEST((some.why == errc::node_unsuitable));
    BOOST_TEST(some.words.ends_with("allow it (ACL SETUSER) +get +del"), some.words);
    auto const no_scripts = answer(open_to_all, question::rights, type::simple_error,
                                   "NOPERM this user has no permissions to run the 'evalsha' command");
    BOOST_TEST((no_scripts.why == errc::node_unsuitable));
    BOOST_TEST(no_scripts.words.ends_with("+evalsha"), no_scripts.words);
}

// Whatever else is answered says nothing of rights.
BOOST_AUTO_TEST_CASE(rights_that_cannot_be_told)
{
    BOOST_TEST(!answer(open_to_all, question::rights, type::blob_string, "").why);
    BOOST_TEST(!answer(open_to_all, question::rights, type::blob_string, "something").why);
    BOOST_TEST(!answer(open_to_all, question::rights, type::simple_error, "NOSCRIPT No matching script").why);
    BOOST_TEST(!answer(open_to_all, question::rights, type::simple_error, "BUSY Redis is busy").why);
}

BOOST_AUTO_TEST_SUITE_END()
