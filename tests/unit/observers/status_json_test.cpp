// client::status() as JSON: nothing is missing, and nothing is mixed up. The structured bindings below do not compile when a member comes in.
#include <redlock/json.hpp>

#include <boost/test/unit_test.hpp>

#include <nlohmann/json.hpp>

#include <cstdint>
#include <map>
#include <string>

namespace redlock {

using nlohmann::json;

BOOST_AUTO_TEST_SUITE(status_json)

BOOST_AUTO_TEST_CASE(every_counter)
{
    client_counters c;
    auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21, m22, m23, m24, m25] = c;
    std::uint64_t n = 0;
    for (auto* each : {&m1,  &m2,  &m3,  &m4,  &m5,  &m6,  &m7,  &m8,  &m9,  &m10, &m11, &m12,
                       &m13, &m14, &m15, &m16, &m17, &m18, &m19, &m20, &m21, &m22, &m23, &m25})
        *each = ++n;
    m24 = std::chrono::milliseconds{77};
    json const found = c;
    std::map<std::string, std::uint64_t> const expected{
        {"acquired", c.acquired},
        {"handoffs", c.handoffs},
        {"nested", c.nested},
        {"confirmations", c.confirmations},
        {"permit_moves", c.permit_moves},
        {"contended", c.contended},
        {"no_majority", c.no_majority},
        {"validity_exhausted", c.validity_exhausted},
        {"wakeups", c.wakeups},
        {"polls", c.polls},
        {"self_deadlocks", c.self_deadlocks},
        {"late_grants_undone", c.late_grants_undone},
        {"extensions_renewed", c.extensions_renewed},
        {"extensions_held", c.extensions_held},
        {"extensions_unknown", c.extensions_unknown},
        {"extensions_lost", c.extensions_lost},
        {"recreated", c.recreated},
        {"released", c.released},
        {"releases_unconfirmed", c.releases_unconfirmed},
        {"leases_lost", c.leases_lost},
        {"clock_steps", c.clock_steps},
        {"overruns", c.overruns},
        {"watchdog_late", c.watchdog_late},
        {"events_dropped", c.events_dropped},
        {"max_overrun_us", 77'000},
    };
    BOOST_TEST(expected.size() == 25u);
    BOOST_TEST(found == json(expected));
}

BOOST_AUTO_TEST_CASE(every_member_of_a_node)
{
    node_status n;
    auto& [node, state, last_error, last_error_text, connects, admission, admission_text, clock_steps, last_clock_step, clock_text, primary,
           login_text, address_text, shard, is_group] = n;
    node = "10.0.0.1:6379";
    state = node_state::down;
    last_error = errc::node_unreachable;
    last_error_text = "refused";
    connects = 3;
    admission = redlock::admission_state::quarantined;
    admission_text = "so long";
    clock_steps = 2;
    last_clock_step = std::chrono::seconds{-40};
    clock_text = "it was set";
    primary = "10.0.0.2:6379";
    login_text = "refused";
    address_text = "several";
    shard = 4;
    is_group = true;
    json const expected = json::parse(R"({"node": "10.0.0.1:6379", "state": "down",
        "last_error": {"name": "node_unreachable", "message": "no usable connection to the node"}, "last_error_text": "refused", "connects": 3,
        "admission": "quarantined", "admission_text": "so long", "clock_steps": 2, "last_clock_step_ms": -40000, "clock_text": "it was set",
        "primary": "10.0.0.2:6379", "login_text": "refused", "address_text": "several", "shard": 4,
        "is_group": true})");
    BOOST_TEST(json(n) == expected);
    BOOST_TEST(json(node_status{}).at("last_error").is_null());
}

BOOST_AUTO_TEST_CASE(the_whole)
{
    client_status s;
    auto& [nodes, counters, leases, waiting, releases_pending] = s;
    nodes.resize(2);
    nodes[1].last_error_text = "no UTF-8: \xff";
    counters.acquired = 5;
    leases = 1;
    waiting = 2;
    releases_pending = 3;
    json const found = to_json(s);
    BOOST_TEST(found.size() == 5u);
    BOOST_TEST(found.at("nodes").size() == 2u);
    BOOST_TEST(found.at("nodes")[0] == json(node_status{}));
    BOOST_TEST(found.at("counters") == json(counters));
    BOOST_TEST(found.at("leases") == 1);
    BOOST_TEST(found.at("waiting") == 2);
    BOOST_TEST(found.at("releases_pending") == 3);
    BOOST_TEST(json(s) == found);
    BOOST_CHECK_NO_THROW(found.dump());
}

BOOST_AUTO_TEST_CASE(error_codes_have_the_names_of_their_enumerators)
{
    BOOST_TEST(to_string(errc::contended) == std::string{"contended"});
    BOOST_TEST(to_string(errc::unexpected_reply) == std::string{"unexpected_reply"});
    BOOST_TEST(to_string(static_cast<errc>(0)) == nullptr);
    std::map<std::string, int> names;
    for (int value = 1; to_string(static_cast<errc>(value)); ++value) ++names[to_string(static_cast<errc>(value))];
    BOOST_TEST(names.size() >= 23u);
    for (auto const& [name, times] : names) BOOST_TEST(times == 1, name);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock
