// An adoption on the wire, and what every answer to it is worth.
#include "redis/fence_scripts.hpp"
#include "redis/redis_replies.hpp"
#include "redis/scripts.hpp"
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

std::string const server_of_it(40, 'a');
std::vector<std::string> const second{"l"};

command adoption_of(bool fenced, bool several)
{
    command c{verb::adopt, "k", "new", 30s};
    c.former = "old";
    c.value_end = ":host";
    c.fenced = fenced;
    c.token = 17;
    c.retention = 60s;
    if (several) c.others = second;
    return c;
}

std::string resp_of(std::vector<std::string> const& words)
{
    std::string text = "*" + std::to_string(words.size()) + "\r\n";
    for (auto const& word : words) text += "$" + std::to_string(word.size()) + "\r\n" + word + "\r\n";
    return text;
}

std::string sent(command const& c)
{
    batch b;
    b.commands = {c};
    redis_request const wire{b, server_of_it};
    return std::string{wire.request.payload()};
}

reply answer_to(bool fenced, node_view const& n)
{
    batch b;
    b.commands = {adoption_of(fenced, false)};
    redis_request const wire{b, server_of_it};
    std::vector<reply> replies(1);
    reply_reader reader{wire.calls, server_of_it, replies};
    reader.on_node(0, n);
    reader.conclude();
    return replies.front();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(adopt_codec)

BOOST_AUTO_TEST_CASE(with_tokens_it_carries_both_values_and_the_guard)
{
    BOOST_TEST(sent(adoption_of(true, false)) == resp_of({"EVALSHA", fence_adopt_script().sha1, "4", "redlock:node", "redlock:hw", "k",
                                                          "k:fence", server_of_it, "old", "new:host", "17", "30000", "60000"}));
    BOOST_TEST(sent(adoption_of(true, true)) ==
               resp_of({"EVALSHA", fence_adopt_script().sha1, "6", "redlock:node", "redlock:hw", "k", "k:fence", "l", "l:fence",
                        server_of_it, "old", "new:host", "17", "30000", "60000"}));
}

BOOST_AUTO_TEST_CASE(without_tokens_it_carries_both_values)
{
    BOOST_TEST(sent(adoption_of(false, false)) == resp_of({"EVALSHA", adopt_script().sha1, "1", "k", "old", "new:host", "30000"}));
    BOOST_TEST(sent(adoption_of(false, true)) == resp_of({"EVALSHA", adopt_script().sha1, "2", "k", "l", "old", "new:host", "30000"}));
}

BOOST_AUTO_TEST_CASE(only_one_is_a_grant)
{
    for (bool const fenced : {false, true}) {
        auto const said = [&](type t, std::string_view text) { return answer_to(fenced, {t, 1, 0, text}).vote; };
        BOOST_TEST(said(type::number, "1") == vote::granted);
        BOOST_TEST(said(type::number, "0") == vote::refused);
        for (char const* other : {"2", "3", "-9", "1x", "", "10"}) BOOST_TEST(said(type::number, other) == vote::failed, other);
        BOOST_TEST(said(type::blob_string, "1") == vote::failed);
        BOOST_TEST(said(type::null, "") == vote::failed);
        BOOST_TEST(said(type::simple_error, "WRONGTYPE Operation against a key") == vote::refused);
        BOOST_TEST(said(type::simple_error, "OOM command not allowed") == vote::failed);
    }
}

BOOST_AUTO_TEST_CASE(the_other_codes_say_why)
{
    auto const said = [](std::string_view text) { return answer_to(true, {type::number, 1, 0, text}); };
    BOOST_TEST(said("-2").vote == vote::refused);
    BOOST_TEST(said("-1").error == errc::node_not_admitted);
    BOOST_TEST(said("-3").error == errc::ttl_too_long);
    BOOST_TEST(said("-4").error == errc::unexpected_reply);
    BOOST_TEST(answer_to(false, {type::number, 1, 0, "-2"}).vote == vote::failed, "without tokens there is no such answer");
}

BOOST_AUTO_TEST_CASE(it_counts_only_from_the_server_that_was_meant)
{
    batch b;
    b.commands = {adoption_of(true, false)};
    request_extras extras;
    extras.identity = true;
    for (bool const same : {true, false}) {
        redis_request const wire{b, server_of_it, extras};
        std::vector<reply> replies(1);
        reply_reader reader{wire.calls, server_of_it, replies};
        reader.on_node(0, {type::number, 1, 0, "1"});
        std::string const info = "# Replication\r\nrole:master\r\nmaster_replid:" + (same ? server_of_it : std::string(40, 'b')) + "\r\n";
        reader.on_node(1, {type::verbatim_string, 1, 0, info});
        reader.conclude();
        BOOST_TEST(replies.front().vote == (same ? vote::granted : vote::failed));
    }
}

BOOST_AUTO_TEST_SUITE_END()
