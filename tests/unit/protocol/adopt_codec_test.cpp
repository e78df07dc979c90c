// An adoption on the wire, and what every answer to it is worth.
#include "protocol/fence_scripts.hpp"
#include "protocol/redis_replies.hpp"
#include "protocol/scripts.hpp"
#include "support/printing.hpp"
#include "wire_text.hpp"

#include <boost/test/unit_test.hpp>

#include <string>
#include <vector>

namespace {

using namespace redlock;
using namespace redlock::detail;
using boost::redis::resp3::node_view;
using boost::redis::resp3::type;
using namespace std::chrono_literals;
using testing::resp;
using testing::server_id;

enum class tokens { with, without };
enum class names { one, two };

std::string const value_of_it = "000fa099ff0000000000000000000000:host";

command adoption_of(tokens kind, names count = names::one)
{
    static std::vector<std::string> const second_name{"l"};  // a command refers to its names, and does not have them

    static constexpr random_bytes fresh{0x00, 0x0f, 0xa0, 0x99, 0xff};

    command c{verb::adopt, "k", ":host", 30s};
    c.change_more().former = "old";
    c.value_bytes = &fresh;
    c.fenced = kind == tokens::with;
    c.token = 17;
    c.retention = 60s;
    if (count == names::two) c.others = second_name;
    return c;
}

std::string sent(command const& c)
{
    batch b;
    b.commands = {c};
    redis_request const wire{b, server_id};
    return std::string{wire.request.payload()};
}

node_view resp3_node(type t, std::string_view text) { return {t, 1, 0, text}; }

reply answer_to(tokens kind, node_view const& n)
{
    batch b;
    b.commands = {adoption_of(kind)};
    redis_request const wire{b, server_id};
    std::vector<reply> replies(1);
    reply_reader reader{wire.calls, server_id, replies, replies.size()};
    reader.on_node(0, n);
    reader.conclude();
    return replies.front();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(adopt_codec)

BOOST_AUTO_TEST_CASE(with_tokens_it_carries_both_values_and_the_guard)
{
    BOOST_TEST(sent(adoption_of(tokens::with)) == resp({"EVALSHA", fence_adopt_script().sha1, "4", "redlock:node", "redlock:hw", "k",
                                                        "k:fence", server_id, "old", value_of_it, "17", "30000", "60000"}));
    BOOST_TEST(sent(adoption_of(tokens::with, names::two)) ==
               resp({"EVALSHA", fence_adopt_script().sha1, "6", "redlock:node", "redlock:hw", "k", "k:fence", "l", "l:fence", server_id,
                     "old", value_of_it, "17", "30000", "60000"}));
}

BOOST_AUTO_TEST_CASE(without_tokens_it_carries_both_values)
{
    BOOST_TEST(sent(adoption_of(tokens::without)) == resp({"EVALSHA", adopt_script().sha1, "1", "k", "old", value_of_it, "30000"}));
    BOOST_TEST(sent(adoption_of(tokens::without, names::two)) ==
               resp({"EVALSHA", adopt_script().sha1, "2", "k", "l", "old", value_of_it, "30000"}));
}

BOOST_AUTO_TEST_CASE(only_the_number_1_is_a_grant)
{
    for (auto const kind : {tokens::with, tokens::without}) {
        auto const said = [&](type t, std::string_view text) { return answer_to(kind, resp3_node(t, text)).vote; };
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
    // The numbers of fence_answers.hpp.
    auto const said = [](std::string_view text) {
        auto const answer = answer_to(tokens::with, resp3_node(type::number, text));
        BOOST_TEST(answer.vote != vote::granted, text);
        return answer;
    };
    BOOST_TEST(said("-1").error == errc::node_not_admitted);  // fence_not_admitted
    BOOST_TEST(said("-2").vote == vote::refused);  // fence_overtaken
    BOOST_TEST(said("-3").error == errc::ttl_too_long);  // fence_ttl_too_long
    BOOST_TEST(said("-4").error == errc::unexpected_reply);  // fence_no_counter
    BOOST_TEST(answer_to(tokens::without, resp3_node(type::number, "-2")).vote == vote::failed, "without tokens there is no such answer");
}

BOOST_AUTO_TEST_CASE(it_counts_only_from_the_server_that_was_meant)
{
    batch b;
    b.commands = {adoption_of(tokens::with)};
    request_extras extras;
    extras.identity = true;
    for (bool const same : {true, false}) {
        redis_request const wire{b, server_id, extras};
        std::vector<reply> replies(1);
        reply_reader reader{wire.calls, server_id, replies, replies.size()};
        reader.on_node(0, resp3_node(type::number, "1"));
        std::string const info = "# Replication\r\nrole:master\r\nmaster_replid:" + (same ? server_id : std::string(40, 'b')) + "\r\n";
        reader.on_node(1, {type::verbatim_string, 1, 0, info});
        reader.conclude();
        BOOST_TEST(replies.front().vote == (same ? vote::granted : vote::failed));
    }
}

BOOST_AUTO_TEST_SUITE_END()
