// The parts of redlock dashboard that decide without I/O: who may ask, what is answered, and how much is remembered.
#include "cli/dashboard/access_token.hpp"
#include "cli/dashboard/history.hpp"
#include "cli/dashboard/listen_address.hpp"
#include "cli/dashboard/page.hpp"
#include "cli/dashboard/picture.hpp"
#include "cli/dashboard/web_answers.hpp"
#include "cli/output/exit_codes.hpp"
#include "quorum/sets/set_record.hpp"

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <string>

namespace redlock::cli {
namespace {

using namespace std::chrono_literals;

moment at(std::chrono::milliseconds since) { return moment{std::chrono::hours{480'000} + since}; }

std::string header(web_answer const& answer, std::string_view name)
{
    for (auto const& [key, value] : answer.headers)
        if (key == name) return value;
    return {};
}

struct dashboard_site {
    web_answers site{std::string{dashboard_page()},
                     [](list_part const&) { return std::make_shared<std::string const>("{}"); },
                     {"Redlock.example"},
                     std::nullopt};
    web_answer get(std::string_view target, std::string_view host = "127.0.0.1:8480") const { return site.to({"GET", target, host, {}}); }
};

config config_of(std::vector<std::string> const& hosts)
{
    config nodes;
    for (std::string const& host : hosts) nodes.nodes.push_back(node_address::from_url("redis://" + host));
    return nodes;
}

turn held_by(std::string const& who) { return {"held", who, who, "", std::nullopt, false}; }

doctor_probe voting_node()
{
    doctor_probe n;
    std::string const id(40, 'a');
    n.info = "role:master\r\nmaster_replid:" + id + "\r\nredis_version:7.0.15\r\n";
    n.record = id + " 0000000000000000 0000030000 -";
    n.has_high_water = true;
    n.clock.push_back({100us, 1ms});
    return n;
}

doctor_probe node_that_lost_its_data()
{
    auto n = voting_node();
    n.record.clear();
    n.has_high_water = false;
    return n;
}

doctor_probe silent_node()
{
    doctor_probe n;
    n.problem = "Connection refused";
    return n;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(dashboard_parts)

BOOST_AUTO_TEST_CASE(where_it_listens)
{
    BOOST_TEST(url_of(parse_listen_address("127.0.0.1:8480")) == "http://127.0.0.1:8480/");
    BOOST_TEST(url_of(parse_listen_address("[::1]:1")) == "http://[::1]:1/");
    BOOST_TEST(url_of(parse_listen_address("localhost:0")) == "http://127.0.0.1:0/");
    for (char const* const wrong : {"", "8480", ":8480", "127.0.0.1", "127.0.0.1:", "127.0.0.1:http", "127.0.0.1:65536", "127.0.0.1:-1",
                                    "::1:8480", "[127.0.0.1]:1", "[::1]", "[::1]8480", "example.org:80"})
        BOOST_CHECK_EXCEPTION(parse_listen_address(wrong), failure, [](failure const& f) { return f.code == exit_code::usage; });
    BOOST_TEST(is_loopback(parse_listen_address("127.9.9.9:1")));
    BOOST_TEST(is_loopback(parse_listen_address("[::1]:1")));
    BOOST_TEST(!is_loopback(parse_listen_address("0.0.0.0:1")));
    BOOST_TEST(!is_loopback(parse_listen_address("[::]:1")));
    BOOST_TEST(!is_loopback(parse_listen_address("10.0.0.1:1")));
}

BOOST_AUTO_TEST_CASE(names_of_others_are_not_answered)
{
    for (char const* const host : {"127.0.0.1", "127.0.0.1:8480", "10.1.2.3:80", "[::1]", "[::1]:8480", "localhost", "LocalHost:9",
                                   "own.example", "OWN.example:443"})
        BOOST_TEST(may_ask(host, {"own.example"}), host);
    for (char const* const host :
         {"", ":8480", "evil.example", "evil.example:8480", "127.0.0.1.evil.example", "localhost.evil.example", "own.example.evil",
          "127.0.0.1:80:80", "::1", "[::1", "[localhost]", "localhost:x", "127.0.0.1@evil.example", "0x7f.1", "own.example "})
        BOOST_TEST(!may_ask(host, {"own.example"}), host);
}

BOOST_AUTO_TEST_CASE(who_knows_the_token)
{
    access_token const token{"0123456789abcdef"};
    BOOST_TEST(token.is_in("Bearer 0123456789abcdef"));
    BOOST_TEST(token.is_in("bearer  0123456789abcdef "));
    BOOST_TEST(token.is_in("Basic dXNlcjowMTIzNDU2Nzg5YWJjZGVm"), "user:0123456789abcdef");
    BOOST_TEST(token.is_in("basic OjAxMjM0NTY3ODlhYmNkZWY="), ":0123456789abcdef");
    for (char const* const wrong :
         {"", "Bearer", "Bearer ", "Bearer 0123456789abcde", "Bearer 0123456789abcdef0", "0123456789abcdef", "Basic", "Basic ",
          "Basic ====", "Basic 0123456789abcdef", "Basic dXNlcjp3cm9uZw==", "Digest 0123456789abcdef"})
        BOOST_TEST(!token.is_in(wrong), wrong);
    BOOST_TEST(!token.is_in("Bearer " + std::string(10'000, 'x')));
    BOOST_CHECK_THROW(access_token{"short"}, failure);
}

BOOST_FIXTURE_TEST_CASE(what_is_answered, dashboard_site)
{
    BOOST_TEST(get("/").status == 200u);
    BOOST_TEST(get("/?x=1").status == 200u);
    BOOST_TEST(*get("/api/status.json").body == "{}");
    BOOST_TEST(get("/api").status == 404u);
    BOOST_TEST(get("//").status == 404u);
    BOOST_TEST(get("http://127.0.0.1/").status == 400u);
    BOOST_TEST(get("*").status == 400u);
    BOOST_TEST(get("/", "redlock.example:8480").status == 200u);
    BOOST_TEST(get("/", "evil.example").status == 421u);
    BOOST_TEST(site.to({"GET", "/", std::nullopt, {}}).status == 400u);
    auto const post = site.to({"POST", "/", "localhost", {}});
    BOOST_TEST(post.status == 405u);
    BOOST_TEST(header(post, "Allow") == "GET, HEAD");
    auto const head = site.to({"HEAD", "/api/status.json", "localhost", {}});
    BOOST_TEST(head.status == 200u);
    BOOST_TEST(head.without_body);
    for (auto const& answer : {get("/"), get("/api/status.json"), get("/x"), post}) {
        BOOST_TEST(header(answer, "X-Content-Type-Options") == "nosniff");
        BOOST_TEST(header(answer, "Cache-Control") == "no-store");
    }
}

BOOST_AUTO_TEST_CASE(without_the_token_nothing_is_told)
{
    web_answers const site{std::string{dashboard_page()},
                           [](list_part const&) { return std::make_shared<std::string const>("secret"); },
                           {},
                           access_token{"0123456789abcdef"}};
    for (char const* const target : {"/", "/api/status.json", "/nothing"}) {
        auto const answer = site.to({"GET", target, "10.0.0.1", "Bearer wrong"});
        BOOST_TEST(answer.status == 401u);
        BOOST_TEST(header(answer, "WWW-Authenticate").starts_with("Basic "));
    }
    BOOST_TEST(site.to({"DELETE", "/", "10.0.0.1", ""}).status == 401u);
    BOOST_TEST(*site.to({"GET", "/api/status.json", "10.0.0.1", "Bearer 0123456789abcdef"}).body == "secret");
}

BOOST_FIXTURE_TEST_CASE(the_page_has_all_that_it_needs_in_it, dashboard_site)
{
    auto const page = dashboard_page();
    for (char const* const wrong : {"src=", "@import", "url(http", "innerHTML", "insertAdjacentHTML", "document.write", "eval(",
                                    " style=\"", "onclick", "@STYLE@", "@SCRIPT@"})
        BOOST_TEST(page.find(wrong) == std::string_view::npos, wrong);
    auto const policy = header(get("/"), "Content-Security-Policy");
    BOOST_TEST(policy.starts_with("default-src 'none'; script-src 'sha256-"));
    BOOST_TEST(policy.find("unsafe") == std::string::npos);
    BOOST_TEST(policy.find("frame-ancestors 'none'") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(spans_of_one_holder_are_one)
{
    history h{1};
    h.add_locks({{"a", held_by("x")}}, true, at(0s));
    h.add_locks({{"a", held_by("x")}}, true, at(1s));
    h.add_locks({{"a", held_by("y")}}, true, at(2s));
    h.add_locks({}, true, at(3s));
    h.add_locks({}, true, at(4s));
    h.add_locks({{"a", held_by("y")}}, true, at(5s));
    auto const& spans = h.locks().at("a").spans();
    BOOST_TEST_REQUIRE(spans.size() == 3u);
    BOOST_TEST((spans[0].from == at(0s) && spans[0].to == at(2s)));
    BOOST_TEST((spans[1].from == at(2s) && spans[1].to == at(3s)));
    BOOST_TEST((spans[2].from == at(5s) && h.locks().at("a").is_open()));
}

BOOST_AUTO_TEST_CASE(what_could_not_be_seen_is_unknown_and_not_free)
{
    history h{1};
    h.add_locks({{"a", held_by("x")}}, true, at(0s));
    h.add_locks({}, false, at(1s));
    h.add_locks({}, false, at(2s));
    auto const& spans = h.locks().at("a").spans();
    BOOST_TEST_REQUIRE(spans.size() == 2u);
    BOOST_TEST(spans[1].what.state == "unknown");
    h.add_locks({{"b", held_by("x")}}, true, at(3s));
    BOOST_TEST(!h.locks().at("a").is_open());
}

BOOST_AUTO_TEST_CASE(memory_is_bounded_whatever_happens)
{
    history_limits limits;
    limits.window = 10s;
    limits.lanes = 5;
    limits.spans = 20;
    limits.points = 8;
    limits.events = 3;
    limits.text = 10;
    history h{1, limits};
    for (int i = 0; i < 300; ++i) {
        std::vector<lock_turn> found;
        for (int l = 0; l < 30; ++l)
            found.push_back({"lock-" + std::to_string((i * 7 + l) % 90), held_by(std::to_string(i / 2) + std::string(500, 'x'))});
        auto const now = at(std::chrono::milliseconds{100} * i);
        h.add_locks(std::move(found), true, now);
        h.add_node(0, {i % 2 == 0 ? "down" : "admitted", {}, std::string(500, 'x'), {}, {}, false}, 1ms, now);
        h.add_event({now, "good", "", std::string(500, 'x')});
        std::size_t spans = 0;
        for (auto const& [name, states] : h.locks()) {
            spans += states.spans().size();
            BOOST_TEST(states.spans().front().what.holder.size() <= 10u);
        }
        BOOST_TEST(h.locks().size() <= 5u);
        BOOST_TEST(spans <= 20u);
    }
    BOOST_TEST(h.node(0).spans().size() <= 2u);
    BOOST_TEST(h.round_trips(0).size() == 8u);
    BOOST_TEST(h.events().size() == 3u);
    BOOST_TEST(h.events().back().text.size() == 10u);
    h.add_locks({}, true, at(10min));
    h.add_locks({}, true, at(11min));
    BOOST_TEST(h.locks().size() == 0u);
}

BOOST_AUTO_TEST_CASE(whether_locks_can_be_had)
{
    picture p{config_of({"a", "b", "c"}), 1s, {}};
    BOOST_TEST(p.current_verdict().level == "wait");
    BOOST_TEST(nlohmann::json::parse(*p.json(at(0s))).at("nodes").at(0).at("server").is_null());
    for (std::size_t n = 0; n < 3; ++n) p.add(n, node_that_lost_its_data(), at(0s));
    BOOST_TEST(p.current_verdict().text == "No lock with a token can be acquired: no node was ever admitted; redlock admit begins that");
    for (std::size_t n = 0; n < 3; ++n) p.add(n, voting_node(), at(1s));
    BOOST_TEST(p.current_verdict().level == "good");
    BOOST_TEST(p.current_verdict().text == "Locks can be acquired: all 3 nodes vote; 1 may fail");
    p.add(0, silent_node(), at(2s));
    BOOST_TEST(p.current_verdict().level == "warning");
    BOOST_TEST(p.current_verdict().text == "Locks can be acquired: 2 of 3 nodes vote; no further node may fail");
    p.add(1, node_that_lost_its_data(), at(3s));
    BOOST_TEST(p.current_verdict().level == "danger");
    BOOST_TEST(p.current_verdict().text == "No lock with a token can be acquired or extended: 1 of 3 nodes votes, and 2 are needed");
    BOOST_TEST(p.problems().at(0) == "Connection refused");
    p.add(2, voting_node(), at(3'500ms));

    auto const j = nlohmann::json::parse(*p.json(at(4s)));
    BOOST_TEST(j.at("nodes").at(0).at("state") == "down");
    BOOST_TEST(j.at("nodes").at(0).at("clock_ahead_us").is_null());
    BOOST_TEST(j.at("nodes").at(1).at("state") == "uninitialized");
    BOOST_TEST(j.at("nodes").at(2).at("state") == "admitted");
    BOOST_TEST(j.at("nodes").at(2).at("clock_ahead_us") == 1'000);
    BOOST_TEST(j.at("timeline").at("nodes").at(0).at("spans").size() == 3u);
    BOOST_TEST(j.at("events").back().at("node").is_null(), "the lost majority is told of");
}

// As a client with this list: it would get no vote, whatever the nodes say of their admission.
BOOST_AUTO_TEST_CASE(a_list_that_is_not_that_of_the_set_is_told_of_at_the_top)
{
    quorum::set_record set;
    set.id = "abc";
    set.complete = true;
    set.members = {"a:6379", "b:6379", "c:6379"};
    auto member = voting_node();
    member.set = to_text(set);
    picture right{config_of({"a", "b", "c"}), 1s, {}}, wrong{config_of({"a", "b", "c", "d"}), 1s, {}};
    for (std::size_t n = 0; n < 3; ++n) {
        right.add(n, member, at(0s));
        wrong.add(n, member, at(0s));
    }
    wrong.add(3, node_that_lost_its_data(), at(0s));
    BOOST_TEST(right.current_verdict().text == "Locks can be acquired: all 3 nodes vote; 1 may fail");
    for (std::size_t n = 0; n < 3; ++n) wrong.add(n, member, at(1s));
    BOOST_TEST(wrong.current_verdict().level == "danger");
    BOOST_TEST(wrong.current_verdict().text == "No lock with a token can be acquired or extended: no node votes, and 3 are needed; "
                                               "the list of nodes is not that of the set");
    auto const j = nlohmann::json::parse(*wrong.json(at(1s)));
    BOOST_TEST(j.at("nodes").at(0).at("state") == "wrong_node_set");
    BOOST_TEST(j.at("nodes").at(0).at("text").get<std::string>().find("a:6379") != std::string::npos);
}

// In the time line, a slot is a lock of its own.
BOOST_AUTO_TEST_CASE(slots_of_semaphores_have_lanes)
{
    auto const slot = [](std::uint32_t number, std::string const& value) {
        key_view key;
        key.present = !value.empty();
        key.type = "string";
        key.value = value;
        key.ttl_ms = 1'000;
        return slot_view{number, judge(slot_name("exports", number), {key, key, key})};
    };
    number_view four;
    four.permits = 4;
    picture all{config_of({"a", "b", "c"}), 1s, {}};
    auto const look = [&](std::vector<slot_view> slots, std::chrono::milliseconds when) {
        lock_watch::found found;
        found.result.nodes.resize(3);
        for (auto& node : found.result.nodes) node.complete = true;
        found.result.because = search_result::end::complete;
        found.result.semaphores.push_back(judge_semaphore("exports", {four, four, four}, std::move(slots)));
        found.at = at(when);
        all.add(std::move(found));
        return nlohmann::json::parse(*all.json(at(when)))["timeline"]["locks"];
    };
    auto const both = look({slot(0, "x"), slot(2, "y")}, 1s);
    BOOST_TEST_REQUIRE(both.size() == 2u);
    BOOST_TEST(both[0]["name"] == "exports#0");
    BOOST_TEST(both[1]["name"] == "exports#2");
    BOOST_TEST(both[1]["held_now"] == true);
    auto const one = look({slot(0, "x"), slot(2, "")}, 2s);
    BOOST_TEST(one[0]["held_now"] == true);
    BOOST_TEST(one[1]["held_now"] == false);
}

BOOST_AUTO_TEST_CASE(states_of_nodes)
{
    picture p{config_of({"a", "b", "c"}), 1s, {}};
    auto marked = node_that_lost_its_data();
    marked.record = voting_node().record.substr(0, 69) + "k3x9";
    p.add(0, marked, at(0s));
    auto replica = voting_node();
    replica.info.replace(replica.info.find("master"), 6, "slave");
    p.add(1, replica, at(0s));
    doctor_probe hidden;
    hidden.info_refused = "NOPERM \x1b[31m";
    p.add(2, hidden, at(0s));
    auto const j = nlohmann::json::parse(*p.json(at(0s)));
    BOOST_TEST(j.at("nodes").at(0).at("state") == "quarantined");
    BOOST_TEST(j.at("nodes").at(1).at("state") == "not_primary");
    BOOST_TEST(j.at("nodes").at(2).at("state") == "unidentified");
    BOOST_TEST(j.at("nodes").at(2).at("text") == "INFO is refused: NOPERM \\x1b[31m");
    for (std::size_t i : {0u, 1u, 2u}) BOOST_TEST(j.at("nodes").at(i).at("since_first_look") == true);
    p.add(1, voting_node(), at(1s));
    p.add(1, replica, at(2s));
    auto const again = nlohmann::json::parse(*p.json(at(2s))).at("nodes").at(1);
    BOOST_TEST(again.at("since_first_look") == false);
    BOOST_TEST(again.at("since") == at(2s).time_since_epoch().count());
}

// Admitted as it is.
BOOST_AUTO_TEST_CASE(a_server_that_grants_nothing_does_not_vote)
{
    auto nodes = config_of({"a", "b", "c", "d"});
    nodes.nodes[2].fsync = true;
    nodes.nodes[3].replicas = 1;
    picture p{nodes, 1s, {}};
    auto const with = [](std::string const& fields) {
        auto n = voting_node();
        n.info += fields;
        return n;
    };
    p.add(0, with("maxmemory:1000\r\nmaxmemory_policy:allkeys-lru\r\n"), at(0s));
    p.add(1, with("maxmemory:1000\r\nmaxmemory_policy:noeviction\r\nused_memory:1000\r\n"), at(0s));
    p.add(2, with("aof_enabled:0\r\n"), at(0s));
    p.add(3, with("connected_slaves:1\r\nslave0:ip=a,port=1,state=online,offset=1,lag=9\r\n"), at(0s));
    auto const j = nlohmann::json::parse(*p.json(at(0s)));
    for (std::size_t i : {0u, 1u}) BOOST_TEST(j.at("nodes").at(i).at("state") == "unsuitable", j.dump());
    for (std::size_t i : {2u, 3u}) BOOST_TEST(j.at("nodes").at(i).at("state") == "not_durable", j.dump());
    BOOST_TEST(j.at("verdict").at("level") == "danger");
}

BOOST_AUTO_TEST_CASE(a_clock_that_was_set_is_told_of)
{
    picture p{config_of({"a"}), 1s, {}};
    auto n = voting_node();
    p.add(0, n, at(0s));
    n.clock = {{200us, 2ms}};
    p.add(0, n, at(1s));
    BOOST_TEST(nlohmann::json::parse(*p.json(at(1s))).at("events").empty());
    n.clock = {{200us, 5s}};
    p.add(0, n, at(2s));
    auto const j = nlohmann::json::parse(*p.json(at(2s)));
    BOOST_TEST(j.at("events").at(0).at("text") == "its clock was set forward by 5.0 s, or this machine's was set the other way");
    BOOST_TEST(j.at("nodes").at(0).at("clock_ahead_us") == 5'000'000);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::cli
