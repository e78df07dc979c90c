// What a server is asked first, with which password, and what its words are worth.
#include "node/connection/handshake.hpp"
#include "node/suitability_watch.hpp"
#include "protocol/rights.hpp"
#include "protocol/scripts.hpp"
#include "support/mentions.hpp"
#include "support/printing.hpp"

#include <boost/test/unit_test.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace {

using redlock::testing::mentions;

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

handshake const open_to_all{node_address{.host = "h", .password = {}}};
handshake const with_file{node_address{.host = "h", .username = "app", .password = {}, .password_file = "/p"}};

}  // namespace

BOOST_AUTO_TEST_SUITE(handshakes)

// Redis from 7.2 on does not answer a HELLO whose password it refuses, where other answers stand before it.
BOOST_AUTO_TEST_CASE(the_password_is_said_by_the_first_hello_alone)
{
    node_address const address{.host = "h", .username = "app", .password = "hunter2"};
    for (auto asks : {handshake{address}, handshake{address, {.replicas = 1}}, handshake{address, handshake::greeting_only{}}}) {
        BOOST_TEST(mentions(sent(asks), "HELLO"));
        BOOST_TEST(asks.has_password);
        asks.logs_in_with("next");
        for (char const* word : {"AUTH", "hunter2", "next"}) BOOST_TEST(!mentions(sent(asks), word));
        BOOST_TEST(asks.password() == "next");
    }
    BOOST_TEST(with_file.has_password);
    BOOST_TEST(!open_to_all.has_password);
}

BOOST_AUTO_TEST_CASE(a_refusal_is_told_in_the_servers_words_unless_they_repeat_ours)
{
    auto asks = with_file;
    asks.logs_in_with("hunter2");
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
    for (auto const& words : {open.words, old.words}) BOOST_TEST(mentions(words, "rename-command"), words);
}

// As something that answers `:1` to all.
BOOST_AUTO_TEST_CASE(what_answers_otherwise_than_redis_is_said_to_be_something_else)
{
    auto const hello = answer(open_to_all, question::hello, type::number, "1");
    BOOST_TEST((hello.why == errc::unexpected_reply));
    BOOST_TEST(hello.words == "HELLO was answered with \"1\" and not with a map: what listens there is no Redis or Valkey server");
    auto const script = answer(open_to_all, question::demand, type::number, "1");
    BOOST_TEST((script.why == errc::unexpected_reply));
    BOOST_TEST(mentions(script.words, "SCRIPT was answered with \"1\" and not with \"" + (*scripts_of_nodes().begin())->sha1),
               script.words);
    BOOST_TEST(mentions(script.words, "\": what listens there is no Redis or Valkey server"), script.words);
}

// What rename-command took away, nobody can allow.
BOOST_AUTO_TEST_CASE(commands_that_are_missing)
{
    auto const scripts = answer(open_to_all, question::demand, type::simple_error, "ERR unknown command 'SCRIPT', with args");
    BOOST_TEST((scripts.why == errc::node_unsuitable));
    BOOST_TEST(mentions(scripts.words, "the server does not know SCRIPT,"), scripts.words);
    auto const evalsha = answer(open_to_all, question::rights, type::simple_error, "ERR unknown command 'EVALSHA', with args");
    BOOST_TEST((evalsha.why == errc::node_unsuitable));
    BOOST_TEST(mentions(evalsha.words, "the server does not know EVALSHA,"), evalsha.words);
    auto const within = answer(open_to_all, question::rights, type::blob_string, " +del -get -set");
    BOOST_TEST(mentions(within.words, "the server does not know GET, SET,"), within.words);
    for (auto const& words : {scripts.words, evalsha.words, within.words}) BOOST_TEST(mentions(words, "rename-command"), words);
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

BOOST_AUTO_TEST_CASE(what_a_sentinel_is_counts_more_than_what_it_does_not_know)
{
    handshake_reader reader{open_to_all};
    reader.on_node(0, {type::map, 1, 0, ""});
    for (char const* element : {"mode", "sentinel"}) reader.on_node(0, {type::blob_string, 1, 1, element});
    reader.on_node(4, {type::simple_error, 1, 0, "ERR unknown command 'SCRIPT'"});
    BOOST_TEST((reader.against().why == errc::node_unsuitable));
    BOOST_TEST(mentions(reader.against().words, "this is a Sentinel"), reader.against().words);
}

BOOST_AUTO_TEST_CASE(what_other_programs_say_of_themselves_is_doubted_unless_it_is_trusted)
{
    handshake_reader reader{open_to_all};
    reader.on_node(2, {type::verbatim_string, 1, 0, "# Server\r\nredis_version:7.4.0\r\ndragonfly_version:df-v1.40.1\r\n"});
    auto const doubt = reader.doubt(false);
    BOOST_TEST(mentions(doubt.words, "it is Dragonfly df-v1.40.1, "), doubt.words);
    quorum::node_facts facts;
    facts.id = facts.admitted = "a";
    reader.doubt(true).apply(facts);
    BOOST_TEST(facts.id == "a");
    BOOST_TEST(facts.why_unidentified.empty());
    doubt.apply(facts);
    BOOST_TEST(facts.id.empty());
    BOOST_TEST(facts.admitted.empty());
    BOOST_TEST(facts.why_unidentified == doubt.words);

    std::vector<reply> replies(2);
    facts.id = facts.admitted = "b";
    replies[1].set_facts(facts);
    doubt.apply(replies);
    BOOST_TEST(replies[1].facts()->id.empty());
}

BOOST_AUTO_TEST_CASE(where_rules_forbid_info_a_server_is_believed_and_where_it_is_renamed_that_is_said)
{
    handshake_reader forbidden{open_to_all};
    forbidden.on_node(2, {type::simple_error, 1, 0, "NOPERM this user has no permissions to run the 'info' command"});
    BOOST_TEST(forbidden.doubt(false).words.empty());
    BOOST_TEST(!forbidden.may_ask_info());

    handshake_reader renamed{open_to_all};
    renamed.on_node(2, {type::simple_error, 1, 0, "ERR unknown command 'INFO', with args beginning with: 'server'"});
    auto const doubt = renamed.doubt(false);
    BOOST_TEST(doubt.words.starts_with("it does not know INFO, which tells whether it lost its data"), doubt.words);
    BOOST_TEST(doubt.id_counts);
}

BOOST_AUTO_TEST_CASE(what_is_asked_of_a_server_every_two_seconds)
{
    BOOST_TEST(suitability_request().payload() ==
               "*2\r\n$4\r\nINFO\r\n$6\r\nmemory\r\n*2\r\n$4\r\nINFO\r\n$11\r\nreplication\r\n*1\r\n$4\r\nTIME\r\n");
    auto const found = [](std::string const& memory, std::string const& replication) {
        suitability_reader reader;
        reader.on_node(0, {type::verbatim_string, 1, 0, memory});
        reader.on_node(1, {type::verbatim_string, 1, 0, replication});
        reader.on_node(2, {type::array, 2, 0, ""});
        reader.on_node(2, {type::blob_string, 1, 1, "1700000000"});
        reader.on_node(2, {type::blob_string, 1, 1, "5"});
        BOOST_TEST((reader.clock() == quorum::wall_time{std::chrono::seconds{1'700'000'000}} + quorum::wall_time{5}));
        return reader.objection().value_or("nothing");
    };
    std::string const master = "# Replication\r\nrole:master\r\nconnected_slaves:0\r\n";
    BOOST_TEST(found("# Memory\r\nmaxmemory:0\r\nmaxmemory_policy:allkeys-lru\r\n", master) == "nothing");
    BOOST_TEST(mentions(found("# Memory\r\nmaxmemory:9\r\nmaxmemory_policy:allkeys-lru\r\n", master), "maxmemory-policy allkeys-lru"));
    BOOST_TEST(mentions(found("# Memory\r\nmaxmemory:0\r\n", "# Replication\r\nrole:slave\r\n"), "the server is a replica"));
    suitability_reader forbidden;
    forbidden.on_node(0, {type::simple_error, 1, 0, "NOPERM role:slave"});
    BOOST_TEST(!forbidden.objection().has_value());
}

BOOST_AUTO_TEST_SUITE_END()
