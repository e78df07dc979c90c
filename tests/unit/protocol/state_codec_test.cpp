// The state of a lock on the wire: what is asked, and what every answer is worth; and its text.
#include "protocol/redis_replies.hpp"
#include "protocol/state_scripts.hpp"
#include "protocol/state_text.hpp"
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

std::string const value_of_it = "12ab0000000000000000000000000000:host";

command about_state(verb what)
{
    static constexpr random_bytes own{0x12, 0xab};

    command c{what, "k", ":host", 30s};
    c.value_bytes = &own;
    c.fenced = what != verb::peek;
    c.token = 17;
    c.change_more().goal = 15;
    c.change_more().since = 3;
    c.change_more().former = "17 0:bytes";
    c.retention = 60s;
    return c;
}

std::string sent(verb what)
{
    batch b;
    b.commands = {about_state(what)};
    redis_request const wire{b, server_id};
    return std::string{wire.request.payload()};
}

reply answer_to(verb what, std::vector<node_view> const& nodes)
{
    batch b;
    b.commands = {about_state(what)};
    redis_request const wire{b, server_id};
    std::vector<reply> replies(1);
    reply_reader reader{wire.calls, server_id, replies, replies.size()};
    for (node_view const& n : nodes) reader.on_node(0, n);
    reader.conclude();
    return replies.front();
}

reply inherit_said(std::string_view code, std::string_view state, type kind = type::blob_string)
{
    return answer_to(verb::inherit, {{type::array, 2, 0, ""}, {type::number, 1, 1, code}, {kind, 1, 1, state}});
}

reply peek_said(std::string_view holder, std::string_view left, std::string_view state)
{
    return answer_to(verb::peek, {{type::array, 3, 0, ""},
                                  {type::blob_string, 1, 1, holder},
                                  {type::number, 1, 1, left},
                                  {type::blob_string, 1, 1, state}});
}

}  // namespace

BOOST_AUTO_TEST_SUITE(state_codec)

BOOST_AUTO_TEST_CASE(what_is_asked)
{
    BOOST_TEST(sent(verb::publish) == resp({"EVALSHA", state_publish_script().sha1, "5", "k", "k:fence", "redlock:node", "redlock:hw",
                                            "k:published", server_id, value_of_it, "17", "60000", "15", "3", "17 0:bytes"}));
    BOOST_TEST(sent(verb::inherit) == resp({"EVALSHA", state_inherit_script().sha1, "5", "k", "k:fence", "redlock:node", "redlock:hw",
                                            "k:published", server_id, value_of_it, "17", "60000"}));
    BOOST_TEST(sent(verb::peek) == resp({"EVALSHA", state_peek_script().sha1, "2", "k", "k:published"}));
}

BOOST_AUTO_TEST_CASE(a_publication_is_granted_by_one)
{
    auto const said = [](std::string_view text) { return answer_to(verb::publish, {{type::number, 1, 0, text}}); };
    BOOST_TEST(said("1").vote == vote::granted);
    BOOST_TEST(said("0").vote == vote::refused);
    BOOST_TEST(said("-2").vote == vote::refused);
    BOOST_TEST(said("-1").error == errc::node_not_admitted);
    BOOST_TEST(said("-4").vote == vote::failed);
    BOOST_TEST(said("-7").words().find("NAME:published") != std::string::npos);
    for (char const* other : {"2", "-9", "", "1x"}) BOOST_TEST(said(other).error == errc::unexpected_reply, other);
    BOOST_TEST(answer_to(verb::publish, {{type::blob_string, 1, 0, "1"}}).vote == vote::failed);
}

BOOST_AUTO_TEST_CASE(what_is_inherited_comes_with_a_one)
{
    BOOST_TEST(inherit_said("1", "17 1 17 0:x").vote == vote::granted);
    BOOST_TEST(inherit_said("1", "17 1 17 0:x").words() == "17 1 17 0:x");
    BOOST_TEST(inherit_said("1", "").vote == vote::granted);
    BOOST_TEST(inherit_said("0", "").vote == vote::refused);
    BOOST_TEST(inherit_said("-2", "").vote == vote::refused);
    BOOST_TEST(inherit_said("-1", "x").error == errc::node_not_admitted);
    BOOST_TEST(inherit_said("2", "x").vote == vote::failed);
    BOOST_TEST(inherit_said("1", "x", type::null).vote == vote::failed);
    BOOST_TEST(answer_to(verb::inherit, {{type::array, 1, 0, ""}, {type::number, 1, 1, "1"}}).vote == vote::failed);
    BOOST_TEST(answer_to(verb::inherit, {{type::simple_error, 1, 0, "OOM"}}).error == errc::server_error);
}

BOOST_AUTO_TEST_CASE(what_a_look_shows)
{
    auto r = peek_said("mine:host", "1500", "17 1 17 0:x");
    BOOST_TEST(r.vote == vote::granted);
    BOOST_TEST((r.expires_in == 1500ms));
    BOOST_TEST(unpack(r.words()).holder == "mine:host");
    BOOST_TEST(unpack(r.words()).state == "17 1 17 0:x");
    BOOST_TEST(!peek_said("", "-2", "").expires_in.has_value());
    BOOST_TEST((peek_said("x", "-1", "").expires_in == never_expires));
    BOOST_TEST(peek_said("x", "-3", "").vote == vote::failed);
    BOOST_TEST(peek_said("x", "soon", "").vote == vote::failed);
    BOOST_TEST(
        answer_to(verb::peek, {{type::array, 3, 0, ""}, {type::null, 1, 1, ""}, {type::number, 1, 1, "1"}, {type::blob_string, 1, 1, ""}})
            .vote == vote::failed);
}

BOOST_AUTO_TEST_CASE(a_text_says_who_published_what)
{
    auto const text = "17 3 " + state_text(16, "writer: 1", std::string{"a b\0:c", 6});
    auto const s = read_state(text);
    BOOST_TEST_REQUIRE(s.has_value());
    BOOST_CHECK((s->stamp == quorum::state_stamp{17, 3}));
    BOOST_TEST(s->token == 16u);
    BOOST_TEST(s->writer == "writer: 1");
    BOOST_TEST(s->bytes == (std::string_view{"a b\0:c", 6}));
    BOOST_TEST(s->text == std::string_view{text}.substr(5));
    for (char const* other :
         {"", "17", "17 3", "17 3 ", "x 3 16 0:", "17 x 16 0:", "17 3 16 5:abc", "17 3 16 0", "-1 3 16 0:", "17 3 99999999999999999999 0:"})
        BOOST_TEST(!read_state(other).has_value(), other);
    BOOST_TEST(unpack("").holder.empty());
    BOOST_TEST(unpack("9:abc").holder.empty());
}

BOOST_AUTO_TEST_SUITE_END()
