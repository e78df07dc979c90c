// A Redis Cluster whose servers the test plays: what a bad primary, or a wrong number of shards, costs the servers that are well.
#include "base/strand.hpp"
#include "node/cluster/cluster_link.hpp"
#include "node/cluster/cluster_node.hpp"
#include "node/connection/node_address.hpp"
#include "played_server.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace redlock::detail {
namespace {

using namespace std::chrono_literals;
using testing::played_redis;
using testing::played_server;
using testing::text;
using steady = std::chrono::steady_clock;

constexpr std::uint16_t shards = 16;
constexpr std::uint16_t nowhere = 1;  // nothing listens there

struct shard_listener final : node_listener {
    void on_up(std::size_t, std::string const&, quorum::node_facts const&) override { up = true; }
    void on_down(std::size_t, error_code why, std::string const& words) override
    {
        up = false;
        ++downs;
        said = words.empty() ? why.message() : words;
    }
    void on_stopped(std::size_t) override { stopped = true; }
    void on_changed(std::size_t, std::string_view) override {}
    void on_time(std::size_t, quorum::wall_time, quorum::time_point, quorum::time_point) override {}
    void on_primary(std::size_t, std::string const& server) override { primary = server; }

    bool up{false};
    bool stopped{false};
    std::size_t downs{0};
    std::string said;
    std::string primary;
};

// Two primaries with half of the slots each, and a replica that nobody asks.
struct played_cluster {
    played_cluster()
    {
        settings.min_reconnect_delay = 50ms;
        settings.max_reconnect_delay = 1s;
        upper_port = upper.port();
    }

    ~played_cluster()
    {
        for (auto const& n : nodes) n->stop();
        BOOST_TEST(until([&] { return all([](auto const& l) { return l.stopped; }); }));
    }

    std::string line(std::string const& id, std::uint16_t port, std::string const& primary, std::string const& slots, int epoch) const
    {
        return id + " 127.0.0.1:" + std::to_string(port) + "@1 " + (primary == "-" ? "master" : "slave") + ' ' + primary + " 0 0 " +
               std::to_string(epoch) + " connected" + slots + '\n';
    }

    std::string said_by(played_redis const& redis, played_server::words const& command)
    {
        if (command.front() == "HELLO") {
            auto const at = std::find(command.begin(), command.end(), "AUTH");
            if (command.end() - at > 2) logins.insert(at[1] + ' ' + at[2]);  // the second HELLO of a connection has none
        }
        if (command.front() == "CLUSTER")
            return text(line("a", lower.port(), "-", " 0-8191", 1) + line("b", upper_port, "-", " 8192-16383", upper_epoch) +
                        line("c", nowhere, "a", "", 1) + line("d", nowhere, "b", "", 2));
        if (command.front() == "GET") return text(kept);
        return redis.answer(command);
    }

    void connect()
    {
        node_address cluster;
        cluster.cluster.emplace();
        cluster.cluster->addresses.push_back({"127.0.0.1", lower.port()});
        cluster.cluster->shards = shards;
        auto const strand = make_client_strand(io.get_executor());
        auto const link = std::make_shared<cluster_link>(strand, cluster, settings);
        for (std::size_t s = 0; s < shards; ++s) {
            listeners.push_back(std::make_shared<shard_listener>());
            nodes.push_back(std::make_unique<cluster_node>(strand, link, s, settings));
            nodes.back()->start(s, listeners.back());
        }
    }

    template <class Condition>
    bool until(Condition const& holds, steady::duration time = 8s)
    {
        auto const end = steady::now() + time;
        while (!holds() && steady::now() < end) io.run_one_for(10ms);
        return holds();
    }

    void pass(steady::duration time)
    {
        until([] { return false; }, time);
    }

    template <class Condition>
    bool all(Condition const& holds) const
    {
        return std::all_of(listeners.begin(), listeners.end(), [&](auto const& l) { return holds(*l); });
    }

    std::size_t up() const
    {
        return static_cast<std::size_t>(std::count_if(listeners.begin(), listeners.end(), [](auto const& l) { return l->up; }));
    }

    asio::io_context io{1};
    config settings{};
    std::string kept{std::to_string(shards)};
    std::uint16_t upper_port{0};
    int upper_epoch{2};
    played_redis at_lower{.run_id = "a", .mode = "cluster", .replicas = 1}, at_upper{.run_id = "b", .mode = "cluster", .replicas = 1};
    played_server lower{io, [this](auto const& command) { return said_by(at_lower, command); }};
    played_server upper{io, [this](auto const& command) { return said_by(at_upper, command); }};
    std::multiset<std::string> logins;  // names and passwords
    std::vector<std::shared_ptr<shard_listener>> listeners;
    std::vector<std::unique_ptr<cluster_node>> nodes;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(cluster_links, played_cluster)

BOOST_AUTO_TEST_CASE(a_dead_primary_costs_the_others_no_connection_and_few_questions)
{
    std::size_t given = 0;
    settings.credentials = [&](node_address const&, credentials_handler handler) {
        ++given;
        std::move(handler)(nullptr, credentials{.username = "user", .password = "secret"});
    };
    connect();
    BOOST_TEST_REQUIRE(until([&] { return up() == shards; }), listeners.front()->said);
    upper.vanish();
    BOOST_TEST_REQUIRE(until([&] { return up() < shards; }));
    auto const left = up();
    pass(1s);  // while the pauses are short
    auto const connections = lower.accepted(), questions = lower.heard("CLUSTER"), logged_in = given;
    pass(4s);
    BOOST_TEST(lower.accepted() == connections);
    // A pause is drawn between 50 ms and one second.
    BOOST_TEST(lower.heard("CLUSTER") - questions <= 20u);
    BOOST_TEST(given - logged_in <= 20u);
    BOOST_TEST(up() == left);
    BOOST_TEST_MESSAGE("in 4 s: " << lower.heard("CLUSTER") - questions << " questions, " << given - logged_in << " logins");
}

BOOST_AUTO_TEST_CASE(shards_of_a_dead_primary_follow_to_the_promoted_server)
{
    connect();
    BOOST_TEST_REQUIRE(until([&] { return up() == shards; }), listeners.front()->said);
    played_redis promoted{.run_id = "c", .mode = "cluster", .replicas = 1};
    played_server replica{io, [&](auto const& command) { return said_by(promoted, command); }};
    upper.vanish();
    BOOST_TEST_REQUIRE(until([&] { return up() < shards; }));
    pass(500ms);
    upper_port = replica.port();
    ++upper_epoch;
    BOOST_TEST(until([&] { return up() == shards; }), listeners.front()->said);
}

BOOST_AUTO_TEST_CASE(a_primary_that_comes_back_is_used_again)
{
    auto proxy = std::make_unique<played_server>(io, [this](auto const& command) { return said_by(at_upper, command); });
    upper_port = proxy->port();
    connect();
    BOOST_TEST_REQUIRE(until([&] { return up() == shards; }), listeners.front()->said);
    proxy->drop_connections();
    BOOST_TEST_REQUIRE(until([&] { return up() < shards; }));
    BOOST_TEST(until([&] { return up() == shards; }), listeners.front()->said);
}

BOOST_AUTO_TEST_CASE(a_wrong_number_of_shards_is_asked_for_with_pauses_that_grow)
{
    kept = "7";
    connect();
    BOOST_TEST_REQUIRE(until([&] { return all([](auto const& l) { return l.downs > 0; }); }));
    BOOST_TEST(listeners.front()->said.find("use shards=7 in every client") != std::string::npos, listeners.front()->said);
    pass(2s);
    auto const connections = lower.accepted() + upper.accepted(), questions = lower.heard("CLUSTER") + upper.heard("CLUSTER");
    auto const inspections = lower.heard("EVALSHA") + upper.heard("EVALSHA");
    pass(4s);
    auto const more = lower.accepted() + upper.accepted() - connections;
    BOOST_TEST(more <= 20u);
    BOOST_TEST(lower.heard("CLUSTER") + upper.heard("CLUSTER") - questions <= more + 2);
    BOOST_TEST(lower.heard("EVALSHA") + upper.heard("EVALSHA") - inspections <= 20u * shards);
    BOOST_TEST_MESSAGE("in 4 s: " << more << " connections, " << lower.heard("EVALSHA") + upper.heard("EVALSHA") - inspections << " looks");
    kept = std::to_string(shards);
    BOOST_TEST(until([&] { return up() == shards; }), listeners.front()->said);
}

// After a server that was usable for a moment only, the pause is as long as before.
BOOST_AUTO_TEST_CASE(a_shard_is_looked_for_again_soon_if_its_server_was_used_for_long)
{
    settings.max_reconnect_delay = 1500ms;
    at_lower.error_of_inspection = at_upper.error_of_inspection = "ERR not now";
    connect();
    pass(3s);  // the pauses grow
    at_lower.error_of_inspection.clear();
    at_upper.error_of_inspection.clear();

    struct turn {
        std::size_t downs;
        steady::time_point since;
        bool is_back{false};
    };
    std::vector<std::optional<turn>> turns(shards);
    steady::duration longest{};
    auto const all_have_left_and_are_back = [&] {
        bool all_are = true;
        for (std::size_t s = 0; s < shards; ++s) {
            auto& of = turns[s];
            if (!of && listeners[s]->up) {
                of = turn{listeners[s]->downs, steady::now()};
                nodes[s]->reject(errc::node_unsuitable, "for a moment");
            }
            if (of && !of->is_back && listeners[s]->up && listeners[s]->downs > of->downs) {
                of->is_back = true;
                longest = std::max(longest, steady::now() - of->since);
            }
            all_are = all_are && of && of->is_back;
        }
        return all_are;
    };
    BOOST_TEST_REQUIRE(until(all_have_left_and_are_back), listeners.front()->said);
    BOOST_TEST((longest > 300ms), longest / 1ms << " ms");

    pass(1700ms);
    turns.assign(shards, {});
    longest = {};
    BOOST_TEST_REQUIRE(until(all_have_left_and_are_back), listeners.front()->said);
    BOOST_TEST((longest < 900ms), longest / 1ms << " ms");
}

BOOST_AUTO_TEST_CASE(credentials_that_take_longer_than_a_connection_may_are_waited_for)
{
    settings.connect_timeout = 200ms;
    settings.credentials_timeout = 5s;
    settings.credentials = [this](node_address const&, credentials_handler handler) {
        auto const timer = std::make_shared<asio::steady_timer>(io, 500ms);
        timer->async_wait([timer, handler = std::make_shared<credentials_handler>(std::move(handler))](auto) {
            std::move (*handler)(nullptr, credentials{.username = "user", .password = "secret"});
        });
    };
    connect();
    BOOST_TEST(until([&] { return up() == shards; }), listeners.front()->said);
    // Also the connection that asks which server has which slot.
    auto const right = [this] { return logins.count("user secret"); };
    BOOST_TEST(until([&] { return right() == lower.accepted() + upper.accepted(); }));
    BOOST_TEST(right() == logins.size());
}

// A vote that comes when the client has been stopped is released.
BOOST_AUTO_TEST_CASE(a_shard_that_is_stopped_takes_requests_until_it_is_down)
{
    connect();
    BOOST_TEST_REQUIRE(until([&] { return up() == shards; }), listeners.front()->said);
    batch work;
    work.commands.push_back({verb::inspect, {}, {}, {}});
    std::vector<reply> replies;
    std::size_t completed = 0;
    for (auto const& n : nodes) n->stop();
    BOOST_TEST(up() == shards);
    nodes.front()->exec(work, {}, replies, [&](error_code) { ++completed; });
    BOOST_TEST(until([&] { return completed == 1 && all([](auto const& l) { return l.stopped; }); }));
    BOOST_TEST(up() == 0u);
    BOOST_TEST(all([](auto const& l) { return l.downs == 1; }));
}

// It may be gone, or of another cluster, by the next time.
BOOST_AUTO_TEST_CASE(a_server_that_an_error_named_is_asked_once)
{
    connect();
    BOOST_TEST_REQUIRE(until([&] { return up() == shards; }), listeners.front()->said);
    played_redis stranger{.run_id = "c", .mode = "cluster", .replicas = 1};
    played_server named{io, [&](auto const& command) { return said_by(stranger, command); }};
    at_upper.error_of_inspection = "MOVED 9000 127.0.0.1:" + std::to_string(named.port());
    upper.drop_connections();
    BOOST_TEST_REQUIRE(until([&] { return named.heard("CLUSTER") > 0; }));
    at_upper.error_of_inspection.clear();
    BOOST_TEST_REQUIRE(until([&] { return up() == shards; }), listeners.front()->said);
    auto const asked = named.accepted();
    for (int i = 0; i < 3; ++i) {
        auto const questions = lower.heard("CLUSTER") + upper.heard("CLUSTER");
        upper.drop_connections();
        BOOST_TEST_REQUIRE(until([&] { return up() < shards; }));
        BOOST_TEST_REQUIRE(until([&] { return up() == shards && lower.heard("CLUSTER") + upper.heard("CLUSTER") > questions; }));
    }
    BOOST_TEST(named.accepted() == asked);
}

// Also in the answer to a request about a lock.
BOOST_AUTO_TEST_CASE(the_server_to_which_a_slot_has_moved_is_asked_for_the_map)
{
    connect();
    BOOST_TEST_REQUIRE(until([&] { return up() == shards; }), listeners.front()->said);
    played_redis stranger{.run_id = "c", .mode = "cluster", .replicas = 1};
    played_server named{io, [&](auto const& command) { return said_by(stranger, command); }};
    at_upper.error_of_scripts = "MOVED 9000 127.0.0.1:" + std::to_string(named.port());
    auto const of_upper = std::find_if(listeners.begin(), listeners.end(),
                                       [&](auto const& l) { return l->primary == "127.0.0.1:" + std::to_string(upper_port); });
    BOOST_TEST_REQUIRE((of_upper != listeners.end()));
    batch work;
    work.commands.push_back({verb::release, "job", "value", 1s});
    std::vector<reply> replies;
    cluster_node& shard = *nodes[static_cast<std::size_t>(of_upper - listeners.begin())];
    shard.exec(work, {}, replies, [](error_code) {});
    BOOST_TEST(until([&] { return named.heard("CLUSTER") > 0; }));
    BOOST_TEST((*of_upper)->said.find("MOVED") != std::string::npos, (*of_upper)->said);

    // Once.
    at_upper.error_of_scripts.clear();
    BOOST_TEST_REQUIRE(until([&] { return up() == shards; }), (*of_upper)->said);
    auto const asked = named.accepted();
    shard.reject(errc::node_unsuitable, "for a moment");
    BOOST_TEST_REQUIRE(until([&] { return !(*of_upper)->up; }));
    BOOST_TEST_REQUIRE(until([&] { return (*of_upper)->up; }));
    auto const questions = lower.heard("CLUSTER") + upper.heard("CLUSTER");
    upper.drop_connections();
    BOOST_TEST_REQUIRE(until([&] { return up() == shards && lower.heard("CLUSTER") + upper.heard("CLUSTER") > questions; }));
    BOOST_TEST(named.accepted() == asked);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::detail
