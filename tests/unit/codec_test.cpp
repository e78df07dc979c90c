// What goes over the wire, byte for byte, and what every possible answer is worth.
#include "node/redis_codec.hpp"
#include "node/scripts.hpp"
#include "support/printing.hpp"

#include <boost/test/unit_test.hpp>

#include <string>

namespace {

using namespace redlock;
using namespace redlock::detail;
using boost::redis::resp3::node_view;
using boost::redis::resp3::type;
using namespace std::chrono_literals;

batch of(std::vector<command> commands)
{
    batch b;
    b.commands = std::move(commands);
    return b;
}

command const acquire{verb::acquire, "k", "v", 30s};
command const extend{verb::extend, "k", "v", 30s};
command const release{verb::release, "k", "v", 30s};

std::string bulk(std::string_view s) { return "$" + std::to_string(s.size()) + "\r\n" + std::string{s} + "\r\n"; }

// Feeds RESP3 nodes as the answer to the one call of a batch.
std::vector<reply> answered(batch const& b, std::vector<node_view> const& nodes, bool* noscript = nullptr)
{
    redis_request const wire{b};
    std::vector<reply> replies(b.commands.size());
    reply_reader reader{wire.calls, replies};
    for (node_view const& n : nodes) reader.on_node(0, n);
    if (noscript) *noscript = reader.has_noscript();
    return replies;
}

vote vote_for(command const& c, node_view const& n)
{
    return answered(of({c}), {n}).front().vote;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(codec)

BOOST_AUTO_TEST_CASE(an_acquire_is_set_nx_px)
{
    redis_request const wire{of({acquire})};
    BOOST_TEST(wire.request.payload() == "*6\r\n" + bulk("SET") + bulk("k") + bulk("v") + bulk("NX") + bulk("PX") + bulk("30000"));
}

BOOST_AUTO_TEST_CASE(a_release_is_a_script)
{
    redis_request const wire{of({release})};
    BOOST_TEST(wire.request.payload() == "*5\r\n" + bulk("EVALSHA") + bulk(release_script().sha1) + bulk("1") + bulk("k") + bulk("v"));
}

BOOST_AUTO_TEST_CASE(binary_names_and_values_go_out_unchanged)
{
    std::string const name("a\0b\r\n", 5);
    redis_request const wire{of({command{verb::acquire, name, "v", 1s}})};
    BOOST_TEST(wire.request.payload().find("$5\r\n" + name + "\r\n") != std::string_view::npos);
}

BOOST_AUTO_TEST_CASE(extensions_that_stand_together_share_a_call_up_to_a_hundred)
{
    std::vector<command> commands(250, extend);
    commands.insert(commands.begin() + 120, release);
    redis_request const wire{of(commands)};
    BOOST_REQUIRE(wire.calls.size() == 5u);  // 100, 20, the release, 100, 30
    BOOST_TEST(wire.calls[0].count == 100u);
    BOOST_TEST(wire.calls[1].count == 20u);
    BOOST_TEST((wire.calls[2].what == verb::release));
    BOOST_TEST(wire.calls[4].first == 221u);
    BOOST_TEST(wire.calls[4].count == 30u);
}

BOOST_AUTO_TEST_CASE(answers_to_an_acquire)
{
    BOOST_TEST((vote_for(acquire, {type::simple_string, 1, 0, "OK"}) == vote::granted));
    BOOST_TEST((vote_for(acquire, {type::null, 1, 0, ""}) == vote::refused));
    BOOST_TEST((vote_for(acquire, {type::simple_error, 1, 0, "WRONGTYPE Operation against a key"}) == vote::refused));
    BOOST_TEST((vote_for(acquire, {type::simple_error, 1, 0, "OOM command not allowed"}) == vote::failed));
    BOOST_TEST((vote_for(acquire, {type::blob_error, 1, 0, "LOADING"}) == vote::failed));
    BOOST_TEST((vote_for(acquire, {type::simple_string, 1, 0, "QUEUED"}) == vote::failed));
    BOOST_TEST((vote_for(acquire, {type::number, 1, 0, "1"}) == vote::failed));
    BOOST_TEST((vote_for(acquire, {type::array, 1, 0, ""}) == vote::failed));
    BOOST_TEST((vote_for(acquire, {type::simple_string, 1, 1, "OK"}) == vote::failed));
}

BOOST_AUTO_TEST_CASE(answers_to_a_release)
{
    BOOST_TEST((vote_for(release, {type::number, 1, 0, "1"}) == vote::granted));
    BOOST_TEST((vote_for(release, {type::number, 1, 0, "0"}) == vote::refused));
    BOOST_TEST((vote_for(release, {type::number, 1, 0, "2"}) == vote::failed));
    BOOST_TEST((vote_for(release, {type::number, 1, 0, "-1"}) == vote::failed));
    BOOST_TEST((vote_for(release, {type::null, 1, 0, ""}) == vote::failed));
    BOOST_TEST((vote_for(release, {type::simple_error, 1, 0, "READONLY You can't write"}) == vote::failed));
}

BOOST_AUTO_TEST_CASE(errors_keep_the_words_of_the_server)
{
    auto const replies = answered(of({acquire}), {{type::simple_error, 1, 0, "MISCONF Redis is configured to save"}});
    BOOST_TEST(replies[0].error == errc::server_error);
    BOOST_TEST(replies[0].detail == "MISCONF Redis is configured to save");
}

BOOST_AUTO_TEST_CASE(one_answer_for_each_extension_of_a_call)
{
    auto const replies = answered(of({extend, extend, extend}), {{type::array, 3, 0, ""},
                                                                 {type::number, 1, 1, "1"},
                                                                 {type::number, 1, 1, "0"},
                                                                 {type::number, 1, 1, "1"}});
    BOOST_TEST((replies[0].vote == vote::granted));
    BOOST_TEST((replies[1].vote == vote::refused));
    BOOST_TEST((replies[2].vote == vote::granted));
}

BOOST_AUTO_TEST_CASE(too_few_or_too_many_answers_are_no_votes_for_the_missing_and_no_harm)
{
    auto const few = answered(of({extend, extend}), {{type::array, 1, 0, ""}, {type::number, 1, 1, "1"}});
    BOOST_TEST((few[0].vote == vote::granted));
    BOOST_TEST((few[1].vote == vote::failed));
    BOOST_TEST(few[1].error == errc::unexpected_reply);
    auto const many = answered(of({extend}), {{type::array, 2, 0, ""}, {type::number, 1, 1, "1"}, {type::number, 1, 1, "0"}});
    BOOST_TEST((many[0].vote == vote::granted));
    auto const nested = answered(of({extend}), {{type::array, 1, 0, ""}, {type::array, 1, 1, ""}, {type::number, 1, 2, "1"}});
    BOOST_TEST((nested[0].vote == vote::failed));
}

BOOST_AUTO_TEST_CASE(nothing_at_all_is_no_vote)
{
    auto const replies = answered(of({acquire, release}), {});
    for (reply const& r : replies) {
        BOOST_TEST((r.vote == vote::failed));
        BOOST_TEST(r.error == errc::unexpected_reply);
    }
}

BOOST_AUTO_TEST_CASE(an_unknown_script_is_noticed)
{
    bool noscript = false;
    auto const replies = answered(of({extend, extend}), {{type::simple_error, 1, 0, "NOSCRIPT No matching script."}}, &noscript);
    BOOST_TEST(noscript);
    BOOST_TEST(reply_reader::is_noscript(replies[0]));
    BOOST_TEST(reply_reader::is_noscript(replies[1]));
    answered(of({acquire}), {{type::simple_error, 1, 0, "OOM"}}, &noscript);
    BOOST_TEST(!noscript);
}

BOOST_AUTO_TEST_CASE(scripts_are_named_by_the_sha1_of_their_text)
{
    BOOST_TEST(extend_script().sha1.size() == 40u);
    BOOST_TEST(release_script().sha1.size() == 40u);
    BOOST_TEST(extend_script().sha1 != release_script().sha1);
}

BOOST_AUTO_TEST_SUITE_END()
