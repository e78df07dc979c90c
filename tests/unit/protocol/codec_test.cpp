// What goes over the wire, byte for byte, and what every possible answer is worth.
#include "node/connection/push_reader.hpp"
#include "protocol/admission_scripts.hpp"
#include "protocol/fence_scripts.hpp"
#include "protocol/redis_replies.hpp"
#include "protocol/scripts.hpp"
#include "support/printing.hpp"
#include "wire_text.hpp"

#include <boost/test/unit_test.hpp>

#include <string>

namespace {

using namespace redlock;
using namespace redlock::detail;
using boost::redis::resp3::node_view;
using boost::redis::resp3::type;
using namespace std::chrono_literals;
using testing::bulk;
using testing::resp;

batch of(std::vector<command> commands)
{
    batch b;
    b.commands = std::move(commands);
    return b;
}

command const acquire{verb::acquire, "k", "v", 30s};
command const extend{verb::extend, "k", "v", 30s};
command const release{verb::release, "k", "v", 30s};

// What an earlier message has left in the memory that the next one uses.
std::vector<reply> old_grants(std::size_t count)
{
    reply old{vote::granted};
    old.counter = 9;
    old.recreated = old.watching = old.writer_waits = true;
    old.expires_in = 5s;
    old.server_time = 1s;
    old.admission = 3;
    old.set_words("old");
    old.set_slots({1, 2, 3, 4});
    old.set_facts({});
    return std::vector<reply>(count, old);
}

// Feeds RESP3 nodes as the answer to the one call of a batch.
std::vector<reply> answered(batch const& b, std::vector<node_view> const& nodes, bool* noscript = nullptr)
{
    redis_request const wire{b};
    auto replies = old_grants(3);
    reply_reader reader{wire.calls, {}, replies, b.commands.size()};
    for (node_view const& n : nodes) reader.on_node(0, n);
    reader.conclude();
    if (noscript) *noscript = reader.what_to_repeat().scripts;
    return replies;
}

vote vote_for(command const& c, node_view const& n) { return answered(of({c}), {n}).front().vote; }

// Tokens. Servers are called by 40 digits.
std::string const server(40, 'a');
std::string const other_server(40, 'b');

command fenced(verb what, std::string_view name = "k")
{
    command c{what, name, "v", 30s};
    c.fenced = true;
    c.token = 77;
    c.block = 3;
    c.retention = 60s;
    return c;
}

std::string replication(std::string const& id, std::string const& role)
{
    return "# Replication\r\nrole:" + role + "\r\nconnected_slaves:0\r\nmaster_replid:" + id + "\r\nmaster_replid2:0\r\n";
}

// Numbers in an array, as most scripts answer.
std::vector<node_view> numbers(std::vector<std::string_view> const& texts)
{
    std::vector<node_view> nodes{{type::array, texts.size(), 0, ""}};
    for (auto const text : texts) nodes.push_back({type::number, 1, 1, text});
    return nodes;
}

// The answers to the calls of a message that ends with a look at the server, which says `info`.
std::vector<reply> answered_by(batch const& b, std::vector<std::vector<node_view>> const& calls, node_view const& info)
{
    redis_request const wire{b, server, {.load_scripts = false, .time = false, .identity = true}};
    BOOST_TEST_REQUIRE(wire.calls.size() == calls.size() + 1);
    std::vector<reply> replies(b.commands.size());
    reply_reader reader{wire.calls, server, replies, replies.size()};
    for (std::size_t i = 0; i < calls.size(); ++i)
        for (node_view const& n : calls[i]) reader.on_node(i, n);
    reader.on_node(calls.size(), info);
    reader.conclude();
    return replies;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(codec)

// benchmarks/decisions.md says what these sizes are good for.
static_assert(sizeof(void*) != 8 || (sizeof(reply) <= 64 && sizeof(command) <= 112 && sizeof(wire_call) <= 24));

BOOST_AUTO_TEST_CASE(replies_have_nothing_of_an_earlier_message)
{
    for (std::size_t const commands : {1u, 3u, 5u})
        for (std::size_t const answers : {0u, 1u}) {
            batch const b = of(std::vector<command>(commands, acquire));
            redis_request const wire{b};
            auto replies = old_grants(3);
            reply_reader reader{wire.calls, {}, replies, commands};
            for (std::size_t i = 0; i < answers; ++i) reader.on_node(i, {type::simple_string, 1, 0, "OK"});
            reader.conclude();
            BOOST_TEST_REQUIRE(replies.size() == commands);
            for (std::size_t i = 0; i < commands; ++i) {
                reply const& r = replies[i];
                BOOST_TEST((r.vote == (i < answers ? vote::granted : vote::failed)));
                BOOST_TEST((r.error == (i < answers ? errc{} : errc::unexpected_reply)));
                BOOST_TEST((r.counter == 0 && r.admission == 0 && r.server_time == 0s && !r.expires_in));
                BOOST_TEST((!r.recreated && !r.watching && !r.writer_waits));
                BOOST_TEST((r.words().empty() && !r.slots() && !r.facts()));
            }
        }
}

BOOST_AUTO_TEST_CASE(copies_of_a_reply_share_what_few_have_until_one_is_changed)
{
    reply const first = old_grants(1).front();
    reply second = first;
    BOOST_TEST(&second.words() == &first.words());
    second.set_words("new");
    BOOST_TEST(first.words() == "old");
    BOOST_TEST(second.words() == "new");
    BOOST_TEST((second.slots() && second.slots()->permits == 4));
    BOOST_TEST(reply{}.words() == "");
}

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
    BOOST_TEST(replies[0].words() == "MISCONF Redis is configured to save");
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

BOOST_AUTO_TEST_CASE(one_answer_for_each_release_of_a_call)
{
    auto const five = of({release, release, release, release, release});
    auto const no_vote = [](reply const& r) { return r.vote == vote::failed && r.error == errc::unexpected_reply; };
    auto const replies = answered(five, {{type::blob_string, 1, 0, "102"}});
    BOOST_TEST((replies[0].vote == vote::granted));
    BOOST_TEST((replies[1].vote == vote::refused));
    for (std::size_t i = 2; i < 5; ++i) BOOST_TEST(no_vote(replies[i]), "something else, or missing");

    auto const longer = answered(five, {{type::blob_string, 1, 0, "0101111111"}});
    BOOST_TEST((longer[0].vote == vote::refused && longer[4].vote == vote::granted));
    for (auto const& other : {node_view{type::simple_string, 1, 0, "11111"}, node_view{type::number, 1, 0, "11111"}})
        for (reply const& r : answered(five, {other})) BOOST_TEST(no_vote(r));
    for (reply const& r : answered(five, {{type::array, 1, 0, ""}, {type::blob_string, 1, 1, "11111"}})) BOOST_TEST(no_vote(r));
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

BOOST_AUTO_TEST_CASE(an_acquire_with_tokens_names_the_server_the_floor_and_the_block)
{
    redis_request const wire{of({fenced(verb::acquire)}), server};
    BOOST_TEST(wire.request.payload() == resp({"EVALSHA", fence_acquire_script().sha1, "4", "redlock:node", "redlock:hw", "k", "k:fence",
                                               server, "30000", "3", "60000", "v", "77"}));
}

BOOST_AUTO_TEST_CASE(acquires_with_the_same_options_share_a_call)
{
    auto longer = fenced(verb::acquire, "n");
    longer.ttl = 31s;
    auto other_block = fenced(verb::acquire, "o");
    other_block.block = 4;
    auto kept_longer = fenced(verb::acquire, "p");
    kept_longer.retention = 61s;
    redis_request const wire{of({fenced(verb::acquire), fenced(verb::acquire, "l"), fenced(verb::confirm), fenced(verb::acquire, "m"),
                                 longer, other_block, kept_longer, acquire}),
                             server};
    std::vector<std::size_t> counts;
    for (wire_call const& c : wire.calls) counts.push_back(c.count);
    std::vector<std::size_t> const expected{2, 1, 1, 1, 1, 1, 1};
    BOOST_TEST(counts == expected, boost::test_tools::per_element());
    BOOST_TEST(wire.request.payload().starts_with(resp({"EVALSHA", fence_acquire_script().sha1, "6", "redlock:node", "redlock:hw", "k",
                                                        "k:fence", "l", "l:fence", server, "30000", "3", "60000", "v", "77", "v", "77"})));
}

// The right to use a key is looked at before anything of a call is executed, and those who share the call must not suffer for it.
BOOST_AUTO_TEST_CASE(a_call_with_a_key_that_is_forbidden_is_repeated_apart)
{
    auto const work = of({fenced(verb::acquire, "mine"), fenced(verb::acquire, "forbidden"), release, release});
    redis_request const wire{work, server, {.load_scripts = false, .time = true, .identity = false, .apart = true}};
    BOOST_TEST(wire.calls.size() == 5u);
    for (std::size_t i = 0; i < 4; ++i) BOOST_TEST(wire.calls[i].count == 1u);

    auto const together = [](batch const& b, std::string_view error) {
        redis_request const sent{b, server};
        std::vector<reply> replies(b.commands.size());
        reply_reader reader{sent.calls, server, replies, replies.size()};
        reader.on_node(0, {type::simple_error, 1, 0, error});
        reader.conclude();
        bool const all = std::all_of(replies.begin(), replies.end(), [&](reply const& r) { return reader.what_to_repeat().is(r); });
        return static_cast<bool>(reader.what_to_repeat()) && all;
    };
    std::string_view const forbidden = "NOPERM No permissions to access a key";
    BOOST_TEST(together(of({fenced(verb::acquire), fenced(verb::acquire)}), forbidden));
    BOOST_TEST(together(of({release, release}), forbidden));
    BOOST_TEST(!together(of({release}), forbidden), "alone it would end the same");
    BOOST_TEST(!together(of({release, release}), "OOM command not allowed"));
}

BOOST_AUTO_TEST_CASE(one_answer_for_each_acquire_of_a_call)
{
    std::vector<command> const four(4, fenced(verb::acquire));
    auto const answer = [&](std::string_view text) { return answered(of(four), {{type::blob_string, 1, 0, text}}); };
    auto const all = answer("1 80 0 7 -5 0 -4 0");
    BOOST_TEST((all[0].vote == vote::granted && all[0].counter == 80));
    BOOST_TEST((all[1].vote == vote::refused && all[1].counter == 7));
    BOOST_TEST((all[2].vote == vote::failed && all[2].error == errc::server_error));
    BOOST_TEST((all[3].vote == vote::failed && all[3].error == errc::unexpected_reply));
    auto const spoilt = answer("1 80 1 x 1 82 1 83");
    BOOST_TEST((spoilt[0].vote == vote::granted));
    for (std::size_t i = 1; i < 4; ++i) BOOST_TEST((spoilt[i].vote == vote::failed), "behind what is no answer nothing counts");
    auto const few = answer("1 80 1 81");
    BOOST_TEST((few[1].vote == vote::granted && few[2].vote == vote::failed));
    BOOST_TEST((answer("1 80 1 81 1 82 1 83 1 84")[3].vote == vote::granted), "more than was asked changes nothing");
}

BOOST_AUTO_TEST_CASE(a_confirmation)
{
    redis_request const wire{of({fenced(verb::confirm)}), server};
    BOOST_TEST(wire.request.payload() == resp({"EVALSHA", fence_confirm_script().sha1, "4", "k", "k:fence", "redlock:node", "redlock:hw",
                                               server, "v", "77", "60000"}));
}

// All that names a server, in one message: also where lengths before it differ, and a value looks like an id.
BOOST_AUTO_TEST_CASE(a_copy_for_another_server_is_what_would_be_encoded_for_it)
{
    std::string const other(40, '5');
    std::string const long_name(300, 'n');
    command several = fenced(verb::acquire, "a");
    std::vector<std::string> const more{"b", "c"};
    several.others = more;
    command looks_alike = fenced(verb::confirm, long_name);
    looks_alike.value = server;
    auto const work = of({fenced(verb::acquire), release, fenced(verb::extend), fenced(verb::extend, long_name), looks_alike, several,
                          acquire, fenced(verb::acquire, long_name)});
    request_extras const extras{.load_scripts = false, .time = true, .identity = true};
    redis_request const first{work, server, extras};
    BOOST_TEST(first.is_for(server));
    BOOST_TEST(!first.is_for(other));

    redis_request copy;
    BOOST_REQUIRE(copy.copy_bytes(first, other));
    BOOST_TEST(copy.request.payload() == (redis_request{work, other, extras}.request.payload()));
    BOOST_TEST(copy.request.get_expected_responses() == first.request.get_expected_responses());
    BOOST_TEST(first.request.payload() == (redis_request{work, server, extras}.request.payload()),
               "what was copied from stays what it was");

    BOOST_REQUIRE(copy.copy_bytes(redis_request{of({fenced(verb::confirm)}), server}, other));
    BOOST_TEST(copy.request.payload() == (redis_request{of({fenced(verb::confirm)}), other}.request.payload()), "memory is used again");
    BOOST_TEST(!copy.copy_bytes(first, "shorter"));
    BOOST_TEST((redis_request{of({acquire}), server}.is_for(other)), "without tokens no server is named");
}

BOOST_AUTO_TEST_CASE(extensions_with_tokens_share_a_call_among_themselves)
{
    auto refreshing = fenced(verb::extend, "l");
    refreshing.refresh = true;
    redis_request const wire{of({fenced(verb::extend), refreshing, extend, fenced(verb::extend)}), server};
    BOOST_TEST_REQUIRE(wire.calls.size() == 3u);
    BOOST_TEST(wire.calls[0].count == 2u);
    BOOST_TEST(wire.calls[0].fenced);
    BOOST_TEST(!wire.calls[1].fenced);
    auto const two = resp({"EVALSHA", fence_extend_script().sha1, "6", "redlock:node", "redlock:hw", "k", "k:fence", "l", "l:fence", server,
                           "60000", "1", "1", "v", "77", "30000", "v", "77", "30000"});
    auto const one = resp({"EVALSHA", fence_extend_script().sha1, "4", "redlock:node", "redlock:hw", "k", "k:fence", server, "60000", "1",
                           "0", "v", "77", "30000"});
    BOOST_TEST(wire.request.payload().starts_with(two));
    BOOST_TEST(wire.request.payload().ends_with(one), "the last one refreshes nothing");
}

BOOST_AUTO_TEST_CASE(a_message_can_begin_with_the_scripts_and_end_with_a_look_at_the_server)
{
    redis_request const wire{of({release}), server, {.load_scripts = true, .time = true, .identity = true}};
    BOOST_TEST(wire.request.payload().starts_with("*3\r\n" + bulk("SCRIPT") + bulk("LOAD")));
    BOOST_TEST(wire.request.payload().ends_with("*2\r\n" + bulk("INFO") + bulk("replication")));
    BOOST_TEST(wire.calls.size() == scripts_of_nodes().size() + 3);
    BOOST_TEST((wire.calls.back().is == wire_call::kind::identity));
    BOOST_TEST((wire.calls[wire.calls.size() - 2].is == wire_call::kind::time));
}

BOOST_AUTO_TEST_CASE(answers_to_an_acquire_with_tokens)
{
    auto const answer = [](std::string_view text) {
        return answered(of({fenced(verb::acquire)}), {{type::blob_string, 1, 0, text}}).front();
    };
    auto const granted = answer("1 80");
    BOOST_TEST((granted.vote == vote::granted));
    BOOST_TEST(granted.counter == 80u);
    auto const refused = answer("0 81");
    BOOST_TEST((refused.vote == vote::refused));
    BOOST_TEST(refused.counter == 81u);
    auto const forgetful = answer("-1 0");
    BOOST_TEST((forgetful.vote == vote::failed));
    BOOST_TEST(forgetful.error == errc::node_not_admitted);
    auto const too_long = answer("-3 20000");
    BOOST_TEST(too_long.error == errc::ttl_too_long);
    BOOST_TEST(too_long.words() == "this node allows up to 20000 ms");
    auto const spoilt = answer("-4 0");
    BOOST_TEST(spoilt.error == errc::unexpected_reply);
    BOOST_TEST(!spoilt.words().empty());
    for (std::string_view const other : {"7 80", "", "1", "1 ", "1 0", "1 -5", "1  80", "1 80x", "x1 80", "1 9007199254740992"}) {
        BOOST_TEST((answer(other).vote == vote::failed), other);
        BOOST_TEST(answer(other).error == errc::unexpected_reply, other);
    }
    BOOST_TEST((answered(of({fenced(verb::acquire)}), numbers({"1", "80"})).front().vote == vote::failed), "an array is another answer");
    auto const full = answered(of({fenced(verb::acquire)}), {{type::simple_error, 1, 0, "OOM command not allowed"}}).front();
    BOOST_TEST(full.error == errc::server_error);
}

BOOST_AUTO_TEST_CASE(answers_to_confirmations_and_extensions_with_tokens)
{
    auto const confirmed = [](std::string_view n) { return vote_for(fenced(verb::confirm), {type::number, 1, 0, n}); };
    BOOST_TEST((confirmed("1") == vote::granted));
    BOOST_TEST((confirmed("0") == vote::refused));
    BOOST_TEST((confirmed("-2") == vote::refused));
    BOOST_TEST((confirmed("-1") == vote::failed));
    BOOST_TEST((confirmed("-4") == vote::failed));

    std::vector<command> const six(6, fenced(verb::extend));
    auto const extended = answered(of(six), numbers({"1", "2", "0", "-2", "-1", "-3"}));
    BOOST_TEST((extended[0].vote == vote::granted && !extended[0].recreated));
    BOOST_TEST((extended[1].vote == vote::granted && extended[1].recreated));
    BOOST_TEST((extended[2].vote == vote::refused));
    BOOST_TEST((extended[3].vote == vote::refused));
    BOOST_TEST(extended[4].error == errc::node_not_admitted);
    BOOST_TEST(extended[5].error == errc::ttl_too_long);
    for (auto const& r : extended) BOOST_TEST(r.counter == 0u);
}

BOOST_AUTO_TEST_CASE(a_refused_extension_says_which_guard_the_lease_needs)
{
    std::vector<command> const five(5, fenced(verb::extend));
    auto const extended = answered(of(five), numbers({"-101", "-1797000000000100", "-100", "-9007199254741091", "-9007199254741092"}));
    for (std::size_t i : {0u, 1u, 3u}) BOOST_TEST((extended[i].vote == vote::refused && extended[i].error == errc{}), i);
    BOOST_TEST(extended[0].counter == 1u);
    BOOST_TEST(extended[1].counter == 1'797'000'000'000'000u);
    BOOST_TEST(extended[3].counter == (std::uint64_t{1} << 53) - 1);
    for (std::size_t i : {2u, 4u}) BOOST_TEST((extended[i].error == errc::unexpected_reply), i);
    BOOST_TEST((vote_for(extend, {type::array, 1, 0, ""}) == vote::failed));
    auto const plain = answered(of({extend}), numbers({"-101"}));
    BOOST_TEST((plain[0].error == errc::unexpected_reply));
}

BOOST_AUTO_TEST_CASE(votes_with_tokens_count_only_if_the_server_is_the_one_that_was_meant)
{
    for (auto const what : {verb::confirm, verb::extend, verb::climb}) BOOST_TEST(fenced(what).votes_with_tokens());
    std::vector<std::vector<node_view>> const climbed{{{type::array, 1, 0, ""}, {type::number, 1, 1, "1"}}};
    auto const elsewhere = answered_by(of({fenced(verb::climb)}), climbed, {type::blob_string, 1, 0, replication(other_server, "master")});
    BOOST_TEST(elsewhere[0].error == errc::node_not_admitted);

    auto const b = of({fenced(verb::acquire), release, acquire});
    std::vector<std::vector<node_view>> const calls{{{type::blob_string, 1, 0, "1 80"}},
                                                    {{type::number, 1, 0, "1"}},
                                                    {{type::simple_string, 1, 0, "OK"}}};
    auto const good = answered_by(b, calls, {type::verbatim_string, 1, 0, replication(server, "master")});
    for (auto const& r : good) BOOST_TEST((r.vote == vote::granted));

    for (auto const& info : {replication(other_server, "master"), replication(server, "slave"), std::string{}}) {
        auto const other = answered_by(b, calls, {type::blob_string, 1, 0, info});
        BOOST_TEST((other[0].vote == vote::failed));
        BOOST_TEST(other[0].error == errc::node_not_admitted);
        BOOST_TEST((other[1].vote == vote::granted), "a release does not depend on who it is");
        BOOST_TEST((other[2].vote == vote::granted), "nor does a plain lock");
    }
    auto const mute = answered_by(b, calls, {type::simple_error, 1, 0, "NOPERM this user has no permissions to run the 'info' command"});
    BOOST_TEST(mute[0].error == errc::server_error);
    BOOST_TEST(mute[0].words().starts_with("NOPERM"));
    auto const unknown = answered_by(b, {{{type::simple_error, 1, 0, "NOSCRIPT No matching script."}}, calls[1], calls[2]},
                                     {type::blob_string, 1, 0, replication(other_server, "master")});
    BOOST_TEST(reply_reader::is_noscript(unknown[0]), "nothing was executed, so it can be repeated");
}

BOOST_AUTO_TEST_CASE(the_last_reply_says_what_the_clock_showed)
{
    auto const b = of({acquire, release});
    redis_request const wire{b, {}, {.load_scripts = false, .time = true, .identity = false}};
    BOOST_TEST_REQUIRE(wire.calls.size() == 3u);
    auto const shown = [&](std::vector<node_view> const& answer) {
        std::vector<reply> replies(2);
        reply_reader reader{wire.calls, {}, replies, replies.size()};
        reader.on_node(0, {type::simple_string, 1, 0, "OK"});
        reader.on_node(1, {type::number, 1, 0, "1"});
        for (node_view const& n : answer) reader.on_node(2, n);
        reader.conclude();
        for (reply const& r : replies) BOOST_TEST((r.vote == vote::granted), "whatever the clock says");
        BOOST_TEST((replies[0].server_time == 0us));
        return replies[1].server_time;
    };
    auto const time = [](std::string_view seconds, std::string_view micros) {
        return std::vector<node_view>{{type::array, 2, 0, ""}, {type::blob_string, 1, 1, seconds}, {type::blob_string, 1, 1, micros}};
    };
    BOOST_TEST((shown(time("1795297616", "470733")) == 1'795'297'616'470'733us));
    BOOST_TEST((shown(time("1795297616", "0")) == 1'795'297'616s));
    for (auto const& [seconds, micros] :
         {std::pair{"-1", "5"}, {"1", "-5"}, {"1", "1000000"}, {"", ""}, {"1", ""}, {"x", "1"}, {"1x", "1"}, {"99999999999999999999", "1"}})
        BOOST_TEST((shown(time(seconds, micros)) == 0us), seconds << ", " << micros);
    BOOST_TEST((shown({{type::simple_error, 1, 0, "NOPERM"}}) == 0us));
    BOOST_TEST((shown({}) == 0us));
    BOOST_TEST((shown({{type::array, 1, 0, ""}, {type::blob_string, 1, 1, "1795297616"}}) == 0us));
    auto three = time("1795297616", "470733");
    three.push_back({type::blob_string, 1, 1, "7"});
    BOOST_TEST((shown(three) == 0us));
}

// Locks of several keys.
std::vector<std::string> const l_and_m{"l", "m"};

command with_others(command c)
{
    c.others = l_and_m;
    return c;
}

BOOST_AUTO_TEST_CASE(several_keys_are_acquired_and_released_by_one_script)
{
    redis_request const wire{of({with_others(acquire), with_others(release)})};
    BOOST_TEST(wire.request.payload() == resp({"EVALSHA", acquire_several_script().sha1, "3", "k", "l", "m", "v", "30000"}) +
                                             resp({"EVALSHA", release_several_script().sha1, "3", "k", "l", "m", "v"}));
    auto const acquired = [](node_view const& n) { return vote_for(with_others(acquire), n); };
    BOOST_TEST((acquired({type::simple_string, 1, 0, "OK"}) == vote::granted));
    BOOST_TEST((acquired({type::null, 1, 0, ""}) == vote::refused));
    BOOST_TEST((acquired({type::simple_error, 1, 0, "OOM command not allowed"}) == vote::failed));
    BOOST_TEST((vote_for(with_others(release), {type::number, 1, 0, "1"}) == vote::granted));
    BOOST_TEST((vote_for(with_others(release), {type::number, 1, 0, "0"}) == vote::refused));
}

BOOST_AUTO_TEST_CASE(several_keys_with_tokens)
{
    redis_request const wire{of({with_others(fenced(verb::acquire)), with_others(fenced(verb::confirm))}), server};
    BOOST_TEST(wire.request.payload() == resp({"EVALSHA", fence_acquire_several_script().sha1, "8", "redlock:node", "redlock:hw", "k",
                                               "k:fence", "l", "l:fence", "m", "m:fence", server, "v", "30000", "77", "3", "60000"}) +
                                             resp({"EVALSHA", fence_confirm_several_script().sha1, "8", "redlock:node", "redlock:hw", "k",
                                                   "k:fence", "l", "l:fence", "m", "m:fence", server, "v", "77", "60000"}));
    auto const acquired = [](std::string_view text) {
        return answered(of({with_others(fenced(verb::acquire))}), {{type::blob_string, 1, 0, text}}).front();
    };
    BOOST_TEST((acquired("1 80").vote == vote::granted));
    BOOST_TEST(acquired("1 80").counter == 80u);
    BOOST_TEST((acquired("0 81").vote == vote::refused));
    BOOST_TEST(acquired("-1 0").error == errc::node_not_admitted);
    BOOST_TEST(acquired("-3 20000").words() == "this node allows up to 20000 ms");
    BOOST_TEST((vote_for(with_others(fenced(verb::confirm)), {type::number, 1, 0, "1"}) == vote::granted));
    BOOST_TEST((vote_for(with_others(fenced(verb::confirm)), {type::number, 1, 0, "-2"}) == vote::refused));
}

BOOST_AUTO_TEST_CASE(extensions_of_several_keys_stand_among_the_others)
{
    redis_request const wire{of({extend, with_others(extend)})};
    BOOST_TEST(wire.request.payload() ==
               resp({"EVALSHA", extend_script().sha1, "4", "k", "k", "l", "m", "v", "30000", "v", "30000", "v", "30000", "v", "30000"}));
    redis_request const with_tokens{of({with_others(fenced(verb::extend)), fenced(verb::extend, "n")}), server};
    BOOST_TEST(with_tokens.request.payload() == resp({"EVALSHA",    fence_extend_script().sha1,
                                                      "10",         "redlock:node",
                                                      "redlock:hw", "k",
                                                      "k:fence",    "l",
                                                      "l:fence",    "m",
                                                      "m:fence",    "n",
                                                      "n:fence",    server,
                                                      "60000",      "1",
                                                      "0",          "v",
                                                      "77",         "30000",
                                                      "v",          "77",
                                                      "30000",      "v",
                                                      "77",         "30000",
                                                      "v",          "77",
                                                      "30000"}));
}

BOOST_AUTO_TEST_CASE(climbs_share_a_call_and_carry_both_guards)
{
    auto first = fenced(verb::climb);
    first.change_more().goal = 90;
    auto second = with_others(fenced(verb::climb));
    second.change_more().goal = 91;
    redis_request const wire{of({first, second, fenced(verb::extend)}), server};
    BOOST_REQUIRE(wire.calls.size() == 2u);
    BOOST_TEST((wire.calls[0].what == verb::climb && wire.calls[0].count == 2u));
    auto const climbs = resp({"EVALSHA",    fence_climb_script().sha1,
                              "10",         "redlock:node",
                              "redlock:hw", "k",
                              "k:fence",    "k",
                              "k:fence",    "l",
                              "l:fence",    "m",
                              "m:fence",    server,
                              "60000",      "v",
                              "77",         "90",
                              "30000",      "v",
                              "77",         "91",
                              "30000",      "v",
                              "77",         "91",
                              "30000",      "v",
                              "77",         "91",
                              "30000"});
    BOOST_TEST(wire.request.payload().starts_with(climbs));

    auto const answers = [&](std::vector<std::string_view> const& texts) { return answered(of({first, second}), numbers(texts)); };
    auto const all = answers({"1", "1", "1", "1"});
    for (auto const& r : all) BOOST_TEST((r.vote == vote::granted));
    BOOST_TEST((answers({"-2", "1", "1", "1"})[0].vote == vote::refused));
    BOOST_TEST((answers({"1", "1", "0", "1"})[1].vote == vote::refused));
    BOOST_TEST(answers({"1", "1", "-3", "1"})[1].error == errc::ttl_too_long);
    BOOST_TEST(answers({"-1", "-1", "-1", "-1"})[0].error == errc::node_not_admitted);
    BOOST_TEST((answers({"2", "1", "1", "1"})[0].vote == vote::failed));
    BOOST_TEST((answers({"-101", "1", "1", "1"})[0].vote == vote::failed));
}

BOOST_AUTO_TEST_CASE(a_call_extends_a_hundred_keys_and_splits_no_lock)
{
    std::vector<command> commands(33, with_others(extend));
    commands.push_back(extend);
    commands.push_back(with_others(extend));
    redis_request const full{of(commands)};  // 99 and 1, 3
    BOOST_TEST_REQUIRE(full.calls.size() == 2u);
    BOOST_TEST(full.calls[0].count == 34u);
    commands[33] = with_others(extend);
    redis_request const wire{of(commands)};  // 99, 6
    BOOST_TEST_REQUIRE(wire.calls.size() == 2u);
    BOOST_TEST(wire.calls[0].count == 33u);
    BOOST_TEST(wire.calls[1].first == 33u);

    std::vector<std::string> const many(120, "x");
    command huge = extend;
    huge.others = many;
    redis_request const alone{of({extend, huge, extend})};
    BOOST_TEST(alone.calls.size() == 3u);
}

BOOST_AUTO_TEST_CASE(the_worst_answer_for_a_key_is_the_answer_for_the_lock)
{
    auto const extended = [](std::vector<std::string_view> const& texts) {
        return answered(of({fenced(verb::extend), with_others(fenced(verb::extend)), fenced(verb::extend)}), numbers(texts));
    };
    auto const all = extended({"2", "1", "1", "1", "0"});
    BOOST_TEST((all[0].recreated && all[0].vote == vote::granted));
    BOOST_TEST((!all[1].recreated && all[1].vote == vote::granted));
    BOOST_TEST((all[2].vote == vote::refused));

    auto const lock = [&](std::string_view k, std::string_view l, std::string_view m) { return extended({"1", k, l, m, "1"})[1]; };
    BOOST_TEST((lock("1", "2", "1").vote == vote::granted));
    BOOST_TEST(lock("1", "2", "1").recreated);
    BOOST_TEST((lock("1", "1", "0").vote == vote::refused));
    BOOST_TEST((lock("-2", "1", "1").vote == vote::refused));
    BOOST_TEST(lock("0", "-4", "1").error == errc::unexpected_reply);
    BOOST_TEST(lock("-3", "-4", "0").error == errc::ttl_too_long);
    BOOST_TEST(lock("-3", "0", "-1").error == errc::node_not_admitted);
    auto const in_part = lock("2", "0", "1");
    BOOST_TEST((in_part.vote == vote::refused));
    BOOST_TEST(in_part.recreated, "it must be deleted again");
    BOOST_TEST(lock("0", "1", "2").recreated);
    BOOST_TEST(lock("-150", "1", "-170").counter == 70u, "the largest guard that a key needs");
    BOOST_TEST(lock("-150", "0", "-170").counter == 0u, "none would help");
    BOOST_TEST((lock("-150", "0", "-170").vote == vote::refused));
    BOOST_TEST(lock("-150", "-4", "-170").counter == 0u);

    auto const few = extended({"1", "1", "1"});
    BOOST_TEST((few[0].vote == vote::granted));
    BOOST_TEST((few[1].vote == vote::failed));
    BOOST_TEST((few[2].vote == vote::failed));
    auto const many = extended({"1", "1", "1", "1", "1", "0", "0"});
    for (auto const& r : many) BOOST_TEST((r.vote == vote::granted));

    auto const plain = answered(of({with_others(extend), extend}), numbers({"1", "0", "1", "1"}));
    BOOST_TEST((plain[0].vote == vote::refused));
    BOOST_TEST((plain[1].vote == vote::granted));
    auto const strange = answered(of({with_others(extend)}), numbers({"1", "7", "0"}));
    BOOST_TEST(strange[0].error == errc::unexpected_reply);
}

BOOST_AUTO_TEST_CASE(admission_commands)
{
    command mark{verb::mark, {}, "m1", 0ms};
    mark.change_more().id = server;
    command admit{verb::admit, {}, "m1", 30s};
    admit.change_more().id = server;
    admit.token = 500;
    redis_request const wire{of({command{verb::inspect, {}, {}, 0ms}, mark, admit})};
    BOOST_TEST(wire.request.payload() ==
               resp({"EVALSHA", inspect_script().sha1, "2", "redlock:node", "redlock:hw"}) +
                   resp({"EVALSHA", mark_script().sha1, "2", "redlock:node", "redlock:hw", server, "m1"}) +
                   resp({"EVALSHA", admit_script().sha1, "2", "redlock:node", "redlock:hw", server, "500", "30000", "m1"}));

    auto const marked = [&](std::string_view n, std::string_view m) {
        return answered(of({mark}), {{type::array, 2, 0, ""}, {type::number, 1, 1, n}, {type::blob_string, 1, 1, m}}).front();
    };
    BOOST_TEST((marked("1", "m1").vote == vote::granted));
    BOOST_TEST(marked("0", "theirs").words() == "theirs");
    BOOST_TEST((marked("2", "").vote == vote::refused));
    BOOST_TEST((marked("-1", "").vote == vote::refused));
    BOOST_TEST((vote_for(admit, {type::number, 1, 0, "1"}) == vote::granted));
    BOOST_TEST((vote_for(admit, {type::number, 1, 0, "2"}) == vote::granted));
    BOOST_TEST((vote_for(admit, {type::number, 1, 0, "0"}) == vote::refused));
    BOOST_TEST((vote_for(admit, {type::number, 1, 0, "-1"}) == vote::refused));
}

BOOST_AUTO_TEST_CASE(the_record_of_a_set_is_written_where_the_expected_one_is)
{
    command claim{verb::claim, {}, "new text", 0ms};
    claim.change_more().former = "old text";
    claim.change_more().id = server;
    redis_request const wire{of({claim})};
    BOOST_TEST(wire.request.payload() ==
               resp({"EVALSHA", claim_script().sha1, "1", "redlock:node", server, "old text", "new text", "0", "0"}));
    claim.stays = true;
    claim.token = 4711;  // the base
    redis_request const of_a_member_that_stays{of({claim})};
    BOOST_TEST(of_a_member_that_stays.request.payload() ==
               resp({"EVALSHA", claim_script().sha1, "1", "redlock:node", server, "old text", "new text", "1", "4711"}));
    auto const answer = [&](std::string_view n, std::string_view text) {
        return answered(of({claim}), {{type::array, 2, 0, ""}, {type::number, 1, 1, n}, {type::blob_string, 1, 1, text}}).front();
    };
    BOOST_TEST((answer("1", "new text").vote == vote::granted));
    BOOST_TEST(answer("1", "new text").words() == "new text");
    BOOST_TEST((answer("0", "another").vote == vote::refused));
    BOOST_TEST(answer("0", "another").words() == "another");
    BOOST_TEST((answer("-1", "").vote == vote::refused));
    BOOST_TEST(answer("-1", "").words() == "");
    BOOST_TEST((answer("7", "another").vote == vote::failed));
}

BOOST_AUTO_TEST_CASE(what_an_inspected_node_says)
{
    auto const inspected = [](std::vector<std::string> const& texts) {
        std::vector<node_view> nodes{{type::array, texts.size(), 0, ""}};
        for (auto const& text : texts) nodes.push_back({type::blob_string, 1, 1, text});
        return answered(of({command{verb::inspect, {}, {}, 0ms}}), nodes).front();
    };
    std::string const record = other_server + " 0000000000000500 0000030000 m7";
    auto const r = inspected({server, "master", "1700000000", "1", record, "900", "7.0.15", "0", "0", "noeviction", "0"});
    BOOST_TEST_REQUIRE(r.facts() != nullptr);
    BOOST_TEST(r.facts()->id == server);
    BOOST_TEST(r.facts()->master);
    BOOST_TEST(r.facts()->admitted == other_server);
    BOOST_TEST(r.facts()->mark == "m7");
    BOOST_TEST(r.facts()->high_water == 900u);
    BOOST_TEST((r.facts()->max_ttl == 30s));

    BOOST_TEST(r.facts()->set == "");
    auto const of_set = inspected({server, "master", "1", "1", record, "900", "7.0.15", "0", "0", "noeviction", "0", "v1 abc"});
    BOOST_TEST(of_set.facts()->set == "v1 abc");
    BOOST_TEST(of_set.facts()->id == server);
    // Of a set that was changed, the id is the one in the record of an admission in that generation.
    std::string const binding = "g001abcdef:", bound = (binding + server).substr(0, server.size());
    auto const changed = inspected({server, "master", "1", "1", bound + record.substr(server.size()), "900", "7.0.15", "0", "0",
                                    "noeviction", "0", "v2 " + binding + " abc"});
    BOOST_TEST(changed.facts()->id == bound);
    BOOST_TEST(changed.facts()->admitted == bound);
    auto const silent = inspected(
        {"", "", "1", "1", bound + record.substr(server.size()), "900", "", "", "0", "noeviction", "0", "v2 " + binding + " abc"});
    BOOST_TEST(silent.facts()->id == bound);
    auto const lost = inspected({server, "slave", "1", "1", record, ""});
    BOOST_TEST(!lost.facts()->master);
    BOOST_TEST(lost.facts()->admitted.empty(), "no high-water mark, no admission");
    BOOST_TEST(lost.facts()->high_water == 500u);
    auto const marked = inspected({server, "master", "1", "1", std::string(40, '0') + " 0000000000000000 0000000000 m8", ""});
    BOOST_TEST(marked.facts()->admitted.empty());
    BOOST_TEST(marked.facts()->mark == "m8");
    auto const empty = inspected({server, "master", "1", "1", "", ""});
    BOOST_TEST(empty.facts()->admitted.empty());
    auto const strange = inspected({server, "master", "1", "1", "what is this", "x"});
    BOOST_TEST(strange.facts()->admitted.empty());
    BOOST_TEST(strange.facts()->high_water == 0u);
    auto const mute = inspected({"", "", "1", "1", record, "900"});
    BOOST_TEST(mute.facts()->id == other_server, "it is believed to be the one in its record");
    BOOST_TEST(inspected({server, "master"}).error == errc::unexpected_reply);
}

// The answers to the calls of a watch: one node each.
reply watched(command const& c, std::vector<node_view> const& nodes)
{
    batch const b = of({c});
    redis_request const wire{b};
    BOOST_REQUIRE_EQUAL(wire.calls.size(), nodes.size());
    std::vector<reply> replies(1);
    reply_reader reader{wire.calls, {}, replies, replies.size()};
    for (std::size_t i = 0; i < nodes.size(); ++i) reader.on_node(i, nodes[i]);
    reader.conclude();
    return replies.front();
}

node_view const ok{type::simple_string, 1, 0, "OK"};
node_view const forbidden{type::simple_error, 1, 0, "NOPERM this user has no permissions"};
node_view const not_tracking{type::simple_error, 1, 0, "ERR CLIENT CACHING can be called only when the client is in tracking mode"};
node_view left(std::string_view ms) { return {type::number, 1, 0, ms}; }

BOOST_AUTO_TEST_CASE(a_watch_arms_the_key_that_it_reads)
{
    command const watch{verb::watch, "k", {}, 0ms};
    redis_request const wire{of({release, watch, release})};
    BOOST_TEST(wire.request.payload() == resp({"EVALSHA", release_script().sha1, "1", "k", "v"}) + resp({"CLIENT", "CACHING", "YES"}) +
                                             resp({"PTTL", "k"}) + resp({"EVALSHA", release_script().sha1, "1", "k", "v"}));
    BOOST_TEST_REQUIRE(wire.calls.size() == 4u);
    BOOST_TEST(wire.calls[2].first == 1u);
    BOOST_TEST(wire.calls[3].first == 2u);

    auto const held = watched(watch, {ok, left("1500")});
    BOOST_TEST((held.vote == vote::granted && held.watching && held.error == errc{}));
    BOOST_TEST((held.expires_in == 1500ms));
    BOOST_TEST((watched(watch, {ok, left("0")}).expires_in == 0ms));
    BOOST_TEST((watched(watch, {ok, left("-1")}).expires_in == never_expires));
    auto const free = watched(watch, {ok, left("-2")});
    BOOST_TEST((free.vote == vote::granted && free.watching && !free.expires_in));
}

BOOST_AUTO_TEST_CASE(a_server_that_may_not_track_says_nevertheless_how_long_a_key_stays)
{
    command const watch{verb::watch, "k", {}, 0ms};
    for (auto const& error : {forbidden, not_tracking}) {
        auto const r = watched(watch, {error, left("1500")});
        BOOST_TEST((r.vote == vote::granted && !r.watching && r.expires_in == 1500ms));
    }
    auto const refused = watched(watch, {ok, forbidden});
    BOOST_TEST((refused.vote == vote::failed && !refused.watching && refused.error == errc::server_error));
    BOOST_TEST(refused.words() == forbidden.value);
    BOOST_TEST(watched(watch, {ok, {type::blob_string, 1, 0, "1500"}}).error == errc::unexpected_reply);
}

BOOST_AUTO_TEST_CASE(a_watch_of_several_keys_waits_for_the_last_of_them)
{
    std::vector<std::string> const others{"l", "m"};
    command watch{verb::watch, "k", {}, 0ms};
    watch.others = others;
    BOOST_TEST(redis_request{of({watch})}.request.payload() == resp({"CLIENT", "CACHING", "YES"}) + resp({"PTTL", "k"}) +
                                                                   resp({"CLIENT", "CACHING", "YES"}) + resp({"PTTL", "l"}) +
                                                                   resp({"CLIENT", "CACHING", "YES"}) + resp({"PTTL", "m"}));

    BOOST_TEST((watched(watch, {ok, left("-2"), ok, left("70"), ok, left("50")}).expires_in == 70ms));
    BOOST_TEST((watched(watch, {ok, left("70"), ok, left("-1"), ok, left("-2")}).expires_in == never_expires));
    BOOST_TEST(!watched(watch, {ok, left("-2"), ok, left("-2"), ok, left("-2")}).expires_in);
    BOOST_TEST(watched(watch, {ok, left("-2"), ok, left("-2"), ok, left("-2")}).watching);
    BOOST_TEST(!watched(watch, {ok, left("5"), not_tracking, left("5"), ok, left("5")}).watching);
    for (auto const& answers : std::vector<std::vector<node_view>>{{ok, forbidden, ok, left("5"), ok, left("5")},
                                                                   {ok, left("5"), ok, forbidden, ok, left("5")},
                                                                   {ok, left("5"), ok, left("5"), ok, forbidden}})
        BOOST_TEST(watched(watch, answers).error == errc::server_error);
}

std::vector<std::string> changed(std::vector<node_view> const& nodes)
{
    std::vector<std::string> keys;
    push_reader reader;
    for (int twice = 0; twice < 2; ++twice)
        for (node_view const& n : nodes)
            if (auto const key = reader.on_node(n)) keys.emplace_back(*key);
    return keys;
}

BOOST_AUTO_TEST_CASE(pushes_say_what_has_changed)
{
    using keys = std::vector<std::string>;
    node_view const push{type::push, 2, 0, ""};
    node_view const invalidate{type::blob_string, 1, 1, "invalidate"};
    node_view const two{type::array, 2, 1, ""};
    BOOST_TEST(
        (changed({push, invalidate, two, {type::blob_string, 1, 2, "a"}, {type::blob_string, 1, 2, "b"}}) == keys{"a", "b", "a", "b"}));
    BOOST_TEST((changed({push, invalidate, {type::null, 1, 1, ""}}) == keys{"", ""}));
}

BOOST_AUTO_TEST_CASE(other_pushes_say_nothing)
{
    node_view const push{type::push, 3, 0, ""};
    node_view const a{type::blob_string, 1, 2, "a"};
    BOOST_TEST(
        changed({push, {type::blob_string, 1, 1, "message"}, {type::blob_string, 1, 1, "invalidate"}, {type::blob_string, 1, 1, "a"}})
            .empty());
    BOOST_TEST(changed({push, {type::blob_string, 1, 1, "else"}, {type::array, 1, 1, ""}, a}).empty());
    BOOST_TEST(changed({push, {type::blob_string, 1, 1, "else"}, {type::null, 1, 1, ""}}).empty());
    BOOST_TEST(changed({push, {type::blob_string, 1, 1, "invalidate"}, {type::blob_string, 1, 1, "a"}}).empty());
    BOOST_TEST(changed({{type::simple_error, 1, 0, "MISCONF what nobody asked for"}}).empty());
    BOOST_TEST(changed({{type::push, 0, 0, ""}}).empty());
}

BOOST_AUTO_TEST_CASE(a_server_that_was_demoted_shows_it)
{
    auto const demoted = [](batch const& work, std::size_t call, node_view const& answer, request_extras extras) {
        redis_request const wire{work, server, extras};
        std::vector<reply> replies(work.commands.size());
        reply_reader reader{wire.calls, server, replies, replies.size()};
        reader.on_node(call, answer);
        reader.conclude();
        return reader.is_demoted();
    };
    request_extras const nothing{};
    request_extras const look{.load_scripts = false, .time = false, .identity = true};
    auto const error = [](std::string_view text) { return node_view{type::simple_error, 1, 0, text}; };
    auto const info = [](std::string_view text) { return node_view{type::verbatim_string, 1, 0, text}; };
    BOOST_TEST(demoted(of({acquire}), 0, error("READONLY You can't write against a read only replica."), nothing));
    BOOST_TEST(demoted(of({release}), 0,
                       error("ERR Error running script (call to f_0): @user_script:1: @user_script: 1: -READONLY You can't write "
                             "against a read only replica."),
                       nothing));
    BOOST_TEST(!demoted(of({acquire}), 0, error("NOREPLICAS Not enough good replicas to write."), nothing));
    BOOST_TEST(!demoted(of({acquire}), 0, error("ERR what somebody called -READONLY"), nothing));
    BOOST_TEST(demoted(of({fenced(verb::acquire)}), 1, info("# Replication\r\nrole:slave\r\nmaster_replid:" + server + "\r\n"), look));
    BOOST_TEST(!demoted(of({fenced(verb::acquire)}), 1, info("# Replication\r\nrole:master\r\nmaster_replid:x\r\n"), look));
    BOOST_TEST(!demoted(of({fenced(verb::acquire)}), 1, error("NOPERM no INFO"), look));
}

BOOST_AUTO_TEST_SUITE_END()
