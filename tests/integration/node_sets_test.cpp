// Which servers belong together, on real servers: how a set comes about, who is refused, and clients of an older version beside newer ones.
#include "support/cluster.hpp"
#include "support/mentions.hpp"

#include "quorum/sets/set_record.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace redlock::testing {
namespace {

constexpr lock_options brief{.ttl = 2s, .node_timeout = 1s, .max_retry_delay = 50ms};

struct five_servers : cluster {
    // The client has the first three.
    explicit five_servers(beginning how = beginning::admitted) : cluster{5, quick_config(), {}, how} {}

    // A client of some of the servers.
    std::unique_ptr<redlock::client> client_of(std::vector<std::size_t> const& some, config settings = quick_config())
    {
        for (auto const i : some) settings.nodes.push_back(node_address::from_url(servers[i].url()));
        auto made = std::make_unique<redlock::client>(io.get_executor(), settings);
        start(*made);
        return made;
    }

    bool has_record(std::size_t server) const { return servers[server].command({"EXISTS", "redlock:set"}) == "1"; }
    quorum::set_text set_on(std::size_t server) const { return quorum::read_set_text(value(server, "redlock:set")); }

    bool all_of_one_set(std::vector<std::size_t> const& some) const
    {
        return std::all_of(some.begin(), some.end(), [&](std::size_t i) {
            auto const said = set_on(i);
            return said.is == quorum::set_text::kind::good && said.record.complete &&
                   value(i, "redlock:set") == value(some[0], "redlock:set");
        });
    }

    asio::awaitable<error_code> once(redlock::client& of, lock_options options = brief, std::string* words = nullptr)
    {
        lock const resource{of, "r", options};
        attempt_report report;
        auto [ec, held] = co_await resource.try_acquire(report, asio::as_tuple);
        // Without tokens, servers without a record of a set may have granted before another one said that it has one: the client has left them since.
        if (!ec) co_await held.release(asio::as_tuple);
        for (auto const& v : report.nodes)
            if (words) *words += v.detail + '\n';
        co_return ec;
    }

    // A client needs a moment to connect, and to be told.
    asio::awaitable<bool> comes_to(redlock::client& of, error_code expected, lock_options options = brief, std::string* words = nullptr)
    {
        for (int i = 0; i < 200; ++i) {
            if (words) words->clear();
            error_code const ec = co_await once(of, options, words);
            if (ec == expected) co_return true;
            co_await pause(20ms);
        }
        co_return false;
    }

    // A client of a set of three that is written on all of them.
    asio::awaitable<std::unique_ptr<redlock::client>> founder()
    {
        auto made = client_of({0, 1, 2});
        bool const founded = co_await comes_to(*made, {});
        BOOST_TEST_REQUIRE(founded);
        bool const complete = co_await eventually([&] { return all_of_one_set({0, 1, 2}); });
        BOOST_TEST_REQUIRE(complete);
        co_return made;
    }

    // One report with all these words. A node whose connection this client closed while the attempt was on its way has none in that report.
    asio::awaitable<bool> reports(redlock::client& of, std::vector<std::string> const& parts, std::string& words)
    {
        for (int i = 0; i < 200; ++i) {
            words.clear();
            co_await once(of, brief, &words);
            if (std::all_of(parts.begin(), parts.end(), [&](auto const& part) { return mentions(words, part); })) co_return true;
            co_await pause(20ms);
        }
        co_return false;
    }
};

struct five_new_servers : five_servers {
    five_new_servers() : five_servers{beginning::empty} {}
};

}  // namespace

BOOST_AUTO_TEST_SUITE(node_sets)

BOOST_FIXTURE_TEST_CASE(a_new_set_is_written_before_the_first_token, five_new_servers)
{
    run([&]() -> asio::awaitable<void> {
        auto settings = quick_config();
        settings.bootstrap = true;
        settings.set_name = "orders";
        auto const c = client_of({0, 1, 2}, settings);
        lock const resource{*c, "r", brief};
        lease held = co_await resource.acquire();
        BOOST_TEST(all_of_one_set({0, 1, 2}));
        auto const set = set_on(0).record;
        BOOST_TEST(set.name == "orders");
        BOOST_TEST(set.generation == 0u);
        BOOST_TEST_REQUIRE(set.members.size() == 3u);
        BOOST_TEST(set.members[1] == "127.0.0.1:" + std::to_string(servers[1].port()));
        BOOST_TEST(!has_record(3));
        co_await held.release();
        c->cancel();
    });
}

BOOST_FIXTURE_TEST_CASE(servers_of_an_older_version_are_taken_over_while_a_lease_goes_on, five_servers)
{
    run([&]() -> asio::awaitable<void> {
        lock const resource{nodes, "held", long_ttl};
        lease held = co_await resource.acquire();
        bool const on_all = co_await eventually([&] { return held.nodes_held() == 5; });
        BOOST_TEST(on_all);
        bool const taken_over = co_await eventually([&] { return all_of_one_set({0, 1, 2, 3, 4}); });
        BOOST_TEST(taken_over);
        co_await held.extend();
        BOOST_TEST(held.nodes_held() == 5u);
        // The record that an older version looks at is as it was.
        BOOST_TEST(mentions(value(0, "redlock:node"), " 0000000000000000 0000060000 -"));
        co_await held.release();
    });
}

BOOST_FIXTURE_TEST_CASE(other_lists_are_refused_with_an_error_of_their_own, five_servers)
{
    run([&]() -> asio::awaitable<void> {
        auto const right = co_await founder();
        lock const resource{*right, "r", long_ttl};
        lease held = co_await resource.acquire();
        for (auto const& list : std::vector<std::vector<std::size_t>>{{0, 1}, {2}, {0, 1, 2, 3, 4}, {0, 1, 3}, {2, 3, 4}}) {
            auto const other = client_of(list);
            bool const refused = co_await comes_to(*other, errc::wrong_node_set);
            BOOST_TEST(refused);
            std::string words;
            std::vector<std::string> const parts{"of 3 nodes (127.0.0.1:"};
            bool const told = co_await reports(*other, parts, words);
            BOOST_TEST(told, words);
            auto plain = brief;
            plain.fencing = false;
            bool const without_tokens = co_await comes_to(*other, errc::wrong_node_set, plain);
            BOOST_TEST(without_tokens);
            bool const said = co_await eventually([&] {
                auto const all = other->status().nodes;
                return std::all_of(all.begin(), all.end(), [](node_status const& n) { return n.last_error == errc::wrong_node_set; });
            });
            BOOST_TEST(said);
            other->cancel();
        }
        BOOST_TEST(held.valid());
        BOOST_TEST(!has_record(3));
        co_await held.release();
        right->cancel();
    });
}

// Each client asks before it has heard of all servers, and ends at once. The moment in which it hears of the last one is another one each time.
BOOST_FIXTURE_TEST_CASE(a_client_with_a_wrong_list_leaves_no_key, five_servers)
{
    run([&]() -> asio::awaitable<void> {
        auto const right = co_await founder();
        std::size_t refused = 0;
        auto const running = clients_running();
        for (std::size_t i = 0; i < 60; ++i) {
            auto const other = client_of({0, 1, 3});
            lock const resource{*other, "r" + std::to_string(i), long_ttl};
            auto [ec, held] = co_await resource.try_acquire(asio::as_tuple);
            refused += ec == errc::wrong_node_set;
            if (!ec) co_await held.release(asio::as_tuple);
            other->cancel();
            bool const ended = co_await eventually([&] { return clients_running() == running; });
            BOOST_TEST_REQUIRE(ended);
            BOOST_TEST(servers_with("r" + std::to_string(i)) == 0u, "client " << i);
        }
        BOOST_TEST(refused > 0u);
        right->cancel();
    });
}

BOOST_FIXTURE_TEST_CASE(another_name_or_place_is_refused_too, five_servers)
{
    run([&]() -> asio::awaitable<void> {
        auto const named = [](char const* name) {
            config c = quick_config();
            c.set_name = name;
            return c;
        };
        auto const right = client_of({0, 1, 2}, named("orders"));
        bool const founded = co_await comes_to(*right, {});
        BOOST_TEST(founded);
        bool const complete = co_await eventually([&] { return all_of_one_set({0, 1, 2}); });
        BOOST_TEST(complete);
        auto const nameless = client_of({0, 1, 2});
        bool const let_in = co_await comes_to(*nameless, {});
        BOOST_TEST(let_in);
        auto const other = client_of({0, 1, 2}, named("billing"));
        std::string words;
        bool const refused = co_await comes_to(*other, errc::wrong_node_set, brief, &words);
        BOOST_TEST(refused);
        BOOST_TEST(mentions(words, "this client's set_name is \"billing\""), words);
        config shard = quick_config();
        shard.place = shard_place{1, 2};
        auto const of_shards = client_of({0, 1, 2}, shard);
        bool const refused_place = co_await comes_to(*of_shards, errc::wrong_node_set, brief, &words);
        BOOST_TEST(refused_place);
        BOOST_TEST(mentions(words, "as shard 1 of 2"), words);
        for (auto const* c : {&right, &nameless, &other, &of_shards}) (*c)->cancel();
    });
}

BOOST_FIXTURE_TEST_CASE(a_member_that_lost_its_data_is_told_its_set_before_it_votes, five_servers)
{
    run([&]() -> asio::awaitable<void> {
        config settings = quick_config();
        settings.max_ttl = 2s;
        auto const c = client_of({0, 1, 2}, settings);
        bool const founded = co_await comes_to(*c, {});
        BOOST_TEST(founded);
        bool const complete = co_await eventually([&] { return all_of_one_set({0, 1, 2}); });
        BOOST_TEST(complete);
        servers[1].command({"DEL", "redlock:node", "redlock:set", "redlock:hw"});
        for (int i = 0; i < 400 && !all_of_one_set({0, 1, 2}); ++i) {
            co_await once(*c);
            co_await pause(20ms);
        }
        BOOST_TEST(all_of_one_set({0, 1, 2}));
        c->cancel();
    });
}

BOOST_FIXTURE_TEST_CASE(a_record_that_is_none_gives_no_vote_and_is_left_alone, five_servers)
{
    for (std::size_t i = 0; i < 3; ++i) servers[i].command({"SET", "redlock:set", i == 0 ? "v3 of the future" : "somebody else's"});
    servers[3].command({"HSET", "redlock:set", "a", "b"});
    usable_at_start = 0;
    run([&]() -> asio::awaitable<void> {
        auto const c = client_of({0, 1, 2, 3});
        bool const refused = co_await comes_to(*c, errc::wrong_node_set);
        BOOST_TEST(refused);
        std::string words;
        std::vector<std::string> const parts{"update this client", "DEL redlock:node redlock:set"};
        bool const told = co_await reports(*c, parts, words);
        BOOST_TEST(told, words);
        BOOST_TEST(value(0, "redlock:set") == "v3 of the future");
        BOOST_TEST(servers[3].command({"HGET", "redlock:set", "a"}) == "b");
        c->cancel();
    });
}

BOOST_FIXTURE_TEST_CASE(a_client_that_holds_a_plain_lock_with_another_list_hears_of_the_set, five_servers)
{
    run([&]() -> asio::awaitable<void> {
        auto plain = long_ttl;
        plain.fencing = false;
        auto const other = client_of({0, 3, 4});
        lock const without_tokens{*other, "r", plain};
        lease held = co_await without_tokens.acquire();
        auto const right = client_of({0, 1, 2});
        bool const founded = co_await comes_to(*right, {});
        BOOST_TEST(founded);
        bool const told = co_await eventually([&] { return other->status().nodes[0].last_error == errc::wrong_node_set; });
        BOOST_TEST(told);
        BOOST_TEST(!has_record(3));
        other->cancel();
        right->cancel();
        keys_may_stay = true;
    });
}

// The members of another set answer last: what the other servers granted before is no lease of theirs, and its release is not confirmed.
BOOST_FIXTURE_TEST_CASE(a_plain_lock_that_was_granted_before_the_set_was_known_has_no_confirmed_release, five_servers)
{
    run([&]() -> asio::awaitable<void> {
        auto const right = client_of({0, 1, 2});
        bool const founded = co_await comes_to(*right, {});
        BOOST_TEST_REQUIRE(founded);
        auto plain = long_ttl;
        plain.fencing = false;
        servers[2].stop();
        auto const other = client_of({2, 3, 4});
        lock const without_tokens{*other, "r", plain};
        lease held = co_await without_tokens.acquire();
        servers[2].resume();
        bool const told = co_await eventually([&] {
            auto const all = other->status().nodes;
            return std::all_of(all.begin(), all.end(), [](node_status const& n) { return n.last_error == errc::wrong_node_set; });
        });
        BOOST_TEST(told);
        auto const [ec] = co_await held.release(asio::as_tuple);
        BOOST_TEST(ec == errc::release_unconfirmed, ec.message());
        BOOST_TEST(!has_record(3));
        bool const gone = co_await eventually([&] { return servers_with("r") == 0; });
        BOOST_TEST(gone);
        other->cancel();
        right->cancel();
    });
}

// The rights that the documentation of earlier versions named.
BOOST_FIXTURE_TEST_CASE(a_user_without_the_right_to_the_new_key_loses_nothing, five_servers)
{
    for (auto const& s : servers)
        s.command({"ACL",
                   "SETUSER",
                   "old",
                   "on",
                   ">pw",
                   "+set",
                   "+get",
                   "+del",
                   "+pexpire",
                   "+exists",
                   "+evalsha",
                   "+script|load",
                   "+time",
                   "+pttl",
                   "+client|tracking",
                   "+client|caching",
                   "~r",
                   "~r:fence",
                   "+mget",
                   "+info",
                   "~redlock:node",
                   "~redlock:hw"});
    run([&]() -> asio::awaitable<void> {
        config settings = quick_config();
        for (auto const i : {0u, 1u, 2u}) {
            auto address = node_address::from_url(servers[i].url());
            address.username = "old";
            address.password = "pw";
            settings.nodes.push_back(address);
        }
        auto const c = client_of({}, settings);
        bool const works = co_await comes_to(*c, {});
        BOOST_TEST(works);
        BOOST_TEST(!has_record(0));
        auto const right = co_await founder();
        bool const still_works = co_await comes_to(*c, {});
        BOOST_TEST(still_works);
        c->cancel();
        right->cancel();
    });
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::testing
