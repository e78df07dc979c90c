#include "node/sentinel/sentinel_answers.hpp"

#include <boost/test/unit_test.hpp>

#include <string>
#include <utility>
#include <vector>

namespace redlock::detail {
namespace {

using boost::redis::resp3::node_view;
using boost::redis::resp3::type;
using outcome = sentinel_report::outcome;
using fields = std::vector<std::pair<std::string, std::string>>;

enum call : std::size_t { to_address, to_master, to_replicas };

struct conversation {
    sentinel_reader reader;

    void address(std::string const& host, std::string const& port)
    {
        reader.on_node(to_address, {type::array, 2, 0, ""});
        reader.on_node(to_address, {type::blob_string, 1, 1, host});
        reader.on_node(to_address, {type::blob_string, 1, 1, port});
    }
    void map(std::size_t call, std::size_t depth, fields const& all)
    {
        reader.on_node(call, {type::map, all.size(), depth, ""});
        for (auto const& [key, value] : all) {
            reader.on_node(call, {type::blob_string, 1, depth + 1, key});
            reader.on_node(call, {type::blob_string, 1, depth + 1, value});
        }
    }
    void replicas(std::vector<fields> const& all)
    {
        reader.on_node(to_replicas, {type::array, all.size(), 0, ""});
        for (auto const& one : all) map(to_replicas, 1, one);
    }
    void error(std::size_t call, std::string const& words) { reader.on_node(call, {type::simple_error, 1, 0, words}); }
};

fields server(std::string const& port) { return {{"name", "x"}, {"ip", "10.0.0.1"}, {"port", port}, {"flags", "slave"}}; }

fields master(std::string const& epoch)
{
    return {{"name", "m"}, {"ip", "10.0.0.1"}, {"port", "1"}, {"config-epoch", epoch}, {"down-after-milliseconds", "1000"}};
}

switch_reader::news push(switch_reader& reader, std::vector<std::string> const& elements)
{
    reader.on_node({type::push, elements.size(), 0, ""});
    auto news = switch_reader::news::none;
    for (auto const& e : elements)
        if (auto const n = reader.on_node({type::blob_string, 1, 1, e}); n != switch_reader::news::none) news = n;
    return news;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(sentinel_answers)

BOOST_AUTO_TEST_CASE(a_group_with_two_replicas)
{
    conversation c;
    c.address("10.0.0.1", "1");
    c.map(to_master, 0, master("7"));
    c.replicas({server("2"), server("3")});
    auto const r = c.reader.conclude();
    BOOST_TEST((r.is == outcome::answered), r.problem);
    BOOST_TEST(r.view.epoch == 7u);
    BOOST_TEST(to_string(r.view.primary) == "10.0.0.1:1");
    BOOST_TEST(r.view.servers.size() == 3u);
    BOOST_TEST(r.view.down_after.count() == 1000);
}

// While it fails over, MASTER still names the old primary, with the new epoch.
BOOST_AUTO_TEST_CASE(a_replica_that_is_being_promoted_is_the_primary)
{
    conversation c;
    c.address("10.0.0.1", "2");
    c.map(to_master, 0, master("8"));
    c.replicas({server("2"), server("3")});
    auto const r = c.reader.conclude();
    BOOST_TEST(to_string(r.view.primary) == "10.0.0.1:2");
    BOOST_TEST(r.view.servers.size() == 3u);
}

BOOST_AUTO_TEST_CASE(a_master_that_it_does_not_know)
{
    conversation c;
    c.reader.on_node(to_address, {type::null, 1, 0, ""});
    c.error(to_master, "ERR No such master with that name");
    c.error(to_replicas, "ERR No such master with that name");
    BOOST_TEST((c.reader.conclude().is == outcome::no_such_master));
}

BOOST_AUTO_TEST_CASE(a_server_that_is_no_sentinel)
{
    conversation c;
    for (std::size_t call : {to_address, to_master, to_replicas})
        c.error(call, "ERR unknown command 'SENTINEL', with args beginning with: 'MASTER' 'm' ");
    BOOST_TEST((c.reader.conclude().is == outcome::no_sentinel));
}

BOOST_AUTO_TEST_CASE(errors_are_repeated)
{
    conversation c;
    c.error(to_address, "NOPERM this user has no permissions to run the 'sentinel|get-master-addr-by-name' command");
    auto const r = c.reader.conclude();
    BOOST_TEST((r.is == outcome::failed));
    BOOST_TEST(r.problem.starts_with("NOPERM"));
}

BOOST_AUTO_TEST_CASE(answers_that_make_no_sense)
{
    auto const failed = [](auto tell) {
        conversation c;
        tell(c);
        auto const r = c.reader.conclude();
        return r.is == outcome::failed && r.problem == "its answers about the master make no sense";
    };
    BOOST_TEST(failed([](conversation&) {}));
    BOOST_TEST(failed([](conversation& c) { c.address("10.0.0.1", "1"); }));
    BOOST_TEST(failed([](conversation& c) {
        c.address("10.0.0.1", "70000");
        c.map(to_master, 0, master("7"));
    }));
    BOOST_TEST(failed([](conversation& c) {
        c.address("a b", "1");
        c.map(to_master, 0, master("7"));
    }));
    BOOST_TEST(failed([](conversation& c) {
        c.address("10.0.0.1", "1");
        c.map(to_master, 0, master("-7"));
    }));
    BOOST_TEST(failed([](conversation& c) {
        c.address("10.0.0.1", "1");
        c.map(to_master, 0, master("7"));
        c.replicas({server("0")});
    }));
}

BOOST_AUTO_TEST_CASE(messages_about_failovers)
{
    switch_reader reader{"m"};
    using news = switch_reader::news;
    BOOST_TEST((push(reader, {"subscribe", "+switch-master", "1"}) == news::subscribed));
    BOOST_TEST((push(reader, {"message", "+switch-master", "m 10.0.0.1 1 10.0.0.1 2"}) == news::switched));
    BOOST_TEST((push(reader, {"message", "+switch-master", "mm 10.0.0.1 1 10.0.0.1 2"}) == news::none));
    BOOST_TEST((push(reader, {"message", "+switch-master"}) == news::none));
    BOOST_TEST((push(reader, {"invalidate", "x", "m "}) == news::none));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::detail
