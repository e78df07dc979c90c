// Examples that go on until something happens to them, or that are many at once.
#include "support/admitted.hpp"
#include "support/child_process.hpp"
#include "support/looking_on.hpp"
#include "support/redis_server.hpp"
#include "support/temporary_folder.hpp"

#include <boost/test/unit_test.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <future>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace redlock::testing {
namespace {

using namespace std::chrono_literals;

std::size_t count(std::string const& text, std::string const& part)
{
    std::size_t n = 0;
    for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
    return n;
}

// An example, and what it has said.
class running {
public:
    running(std::string const& name, std::vector<std::string> arguments, std::deque<redis_server> const& servers)
    {
        for (auto const& s : servers) arguments.push_back(s.url());
        child_.emplace(std::string{REDLOCK_EXAMPLES} + "/" + name, arguments, log_);
    }

    child_process& process() { return *child_; }
    std::string said() const { return contents(log_); }

    bool says(std::string const& text) const
    {
        return eventually([&] { return said().find(text) != std::string::npos; });
    }

    int ends() { return child_->wait(20s).value_or(-1); }

private:
    temporary_folder folder_;
    std::filesystem::path log_ = folder_.path() / "output";
    std::optional<child_process> child_;
};

struct three_servers {
    std::deque<redis_server> servers{admitted_servers(3)};

    // Runs to its end.
    std::string output_of(std::string const& name, std::vector<std::string> arguments = {})
    {
        running example{name, std::move(arguments), servers};
        BOOST_TEST(example.ends() == 0, example.said());
        return example.said();
    }

    void kill_two()
    {
        servers[0].kill();
        servers[1].kill();
    }
};

std::string answer_to_post(std::uint16_t port, std::string const& path)
{
    return ask(port, "POST " + path + " HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n");
}

// The body of what POST brings.
std::string post(std::uint16_t port, std::string const& path)
{
    std::string const answer = answer_to_post(port, path);
    auto const body = answer.find("\r\n\r\n");
    return body == std::string::npos ? "no answer" : answer.substr(body + 4);
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(running_examples, three_servers)

BOOST_AUTO_TEST_CASE(callbacks) { BOOST_TEST(output_of("callbacks").starts_with("report written, with token ")); }

BOOST_AUTO_TEST_CASE(callbacks_without_a_majority)
{
    kill_two();
    running example{"callbacks", {}, servers};
    BOOST_TEST(example.ends() == 1);
    BOOST_TEST(example.said().find("callbacks: the lock was not acquired in time: too few nodes") != std::string::npos, example.said());
    BOOST_TEST(example.said().starts_with("redlock: for "), "and why, as it has no observer: " << example.said());
}

BOOST_AUTO_TEST_CASE(futures) { BOOST_TEST(output_of("futures") == "100 visits\n"); }

BOOST_AUTO_TEST_CASE(shared_client)
{
    auto const said = output_of("shared_client");
    BOOST_TEST(said.starts_with("1000 visits, "), said);
    BOOST_TEST(said.find(", 0 of them") == std::string::npos, said);
}

BOOST_AUTO_TEST_CASE(travelling)
{
    auto const begun = output_of("travelling", {"begin"});
    auto const line = begun.find("redlock-ticket-");
    BOOST_TEST_REQUIRE(line != begun.npos, begun);
    auto const ticket = begun.substr(line, begun.find('\n', line) - line);
    auto const token = begun.substr(0, begun.find('\n')).substr(std::string{"begins with "}.size());
    BOOST_TEST(output_of("travelling", {"finish", ticket}) == "finishes with " + token + '\n');

    running again{"travelling", {"finish", ticket}, servers};
    BOOST_TEST(again.ends() == 1);
    BOOST_TEST(again.said().find("the lease is lost") != std::string::npos, again.said());
}

BOOST_AUTO_TEST_CASE(checkpoint)
{
    BOOST_TEST(output_of("checkpoint", {"2"}) == "goes on at row 0\n");
    BOOST_TEST(output_of("checkpoint", {"3"}) == "goes on at row 2\n");
    BOOST_TEST(output_of("checkpoint", {"0"}) == "goes on at row 5\n");
}

// Of a line of OTLP.
nlohmann::json span_in(std::string const& line)
{
    return nlohmann::json::parse(line).at("resourceSpans").at(0).at("scopeSpans").at(0).at("spans").at(0);
}

BOOST_AUTO_TEST_CASE(tracing)
{
    std::map<std::string, nlohmann::json> spans, logged;
    std::istringstream said{output_of("tracing/tracing")};
    for (std::string line; std::getline(said, line);) {
        auto const text = nlohmann::json::parse(line);
        if (text.contains("event")) logged[text.at("event")] = text;
        else spans[span_in(line).at("name")] = span_in(line);
    }
    auto const& report = spans["nightly report"];
    auto const& hold = spans["redlock.hold"];
    BOOST_TEST(report.at("parentSpanId") == "");
    BOOST_TEST(spans["redlock.acquire"].at("parentSpanId") == report.at("spanId"));
    BOOST_TEST(hold.at("parentSpanId") == report.at("spanId"));
    BOOST_TEST(spans["redlock.extend"].at("parentSpanId") == hold.at("spanId"));
    BOOST_TEST(spans["redlock.release"].at("parentSpanId") == hold.at("spanId"));
    auto const ns = [](nlohmann::json const& span, char const* name) { return std::stoll(span.at(name).get<std::string>()); };
    for (auto const& [name, span] : spans) {
        BOOST_TEST(span.at("traceId") == report.at("traceId"), name);
        BOOST_TEST(ns(span, "startTimeUnixNano") <= ns(span, "endTimeUnixNano"), name);
    }
    BOOST_TEST(ns(hold, "endTimeUnixNano") - ns(hold, "startTimeUnixNano") >= 700'000'000);

    for (auto const& [event, name] :
         {std::pair{"acquired", "redlock.hold"}, {"extended", "redlock.extend"}, {"released", "redlock.hold"}}) {
        BOOST_TEST(logged[event].at("trace_id") == report.at("traceId"), event);
        BOOST_TEST(logged[event].at("span_id") == spans[name].at("spanId"), event);
    }
    BOOST_TEST(!logged["node_up"].contains("trace_id"));
}
BOOST_AUTO_TEST_CASE(exports) { BOOST_TEST(output_of("exports") == "20 exports, 4 at once\n"); }

BOOST_AUTO_TEST_CASE(rw_lock) { BOOST_TEST(output_of("rw_lock") == "edition 1, 10 pages\nedition 2, 20 pages\nseveral read at once\n"); }

BOOST_AUTO_TEST_CASE(several) { BOOST_TEST(output_of("several") == "alice 80\nbob 110\ncarol 110\n"); }

BOOST_AUTO_TEST_CASE(scope)
{
    auto const said = output_of("scope", {"3"});
    BOOST_TEST(said == "step 1\nstep 2\nstep 3\nmigrated\n");
}

BOOST_AUTO_TEST_CASE(a_scope_whose_lock_is_lost)
{
    running example{"scope", {"1000"}, servers};
    BOOST_TEST_REQUIRE(example.says("step 2\n"));
    kill_two();
    BOOST_TEST(example.ends() == 1);
    BOOST_TEST(example.said().find(" steps, in time\n") != std::string::npos, example.said());
    BOOST_TEST(count(example.said(), "migrated") == 0u);
}

BOOST_AUTO_TEST_CASE(each_job_is_done_once)
{
    constexpr int workers = 3;
    std::string urls;
    for (auto const& s : servers) urls += " " + s.url();
    std::string list;
    std::vector<std::string> const jobs{"backup", "billing", "cleanup", "mail", "statistics"};
    for (auto const& job : jobs) list += job + "\\n";
    temporary_folder const folder;
    auto const one = "printf '" + list + "' | " + REDLOCK_EXAMPLES + "/job_runner" + urls;
    std::string all;
    for (int i = 0; i < workers; ++i) all += "(" + one + ") >" + (folder.path() / std::to_string(i)).string() + " 2>&1 & ";
    BOOST_TEST(std::system((all + "wait").c_str()) == 0);
    std::string said;
    for (int i = 0; i < workers; ++i) said += contents(folder.path() / std::to_string(i));
    for (auto const& job : jobs) BOOST_TEST(count(said, job + " done by ") == 1u, said);
    BOOST_TEST(count(said, "\n") == jobs.size(), said);
    for (auto& s : servers) BOOST_TEST(s.command({"EXISTS", "job:backup"}) == "0");
}

BOOST_AUTO_TEST_CASE(a_leader_leaves_and_another_one_leads)
{
    running first{"leader", {"anna"}, servers};
    BOOST_TEST_REQUIRE(first.says("anna leads, with token "));
    auto const refused = [&] {
        return servers[0].command({"INFO", "commandstats"}).find("cmdstat_pttl") != std::string::npos;
    };  // and asks how long
    BOOST_TEST(!refused());
    running second{"leader", {"bert"}, servers};
    BOOST_TEST_REQUIRE(eventually(refused));
    BOOST_TEST(second.said().empty(), second.said());
    first.process().end(SIGTERM, 10s);
    BOOST_TEST(first.process().exit_code().value_or(-1) == 0);
    BOOST_TEST(first.said().ends_with("anna steps down, in time\n"), first.said());
    BOOST_TEST(second.says("bert leads, with token "));
    second.process().end(SIGTERM, 10s);
    BOOST_TEST(second.process().exit_code().value_or(-1) == 0);
}

BOOST_AUTO_TEST_CASE(an_election)
{
    running first{"election", {"anna:1"}, servers};
    BOOST_TEST_REQUIRE(first.says("leading, with token "));
    BOOST_TEST_REQUIRE(first.says("the leader is at anna:1\n"));
    running second{"election", {"bert:2"}, servers};
    BOOST_TEST_REQUIRE(second.says("the leader is at anna:1\n"));
    BOOST_TEST(count(second.said(), "leading") == 0u, second.said());
    first.process().end(SIGTERM, 10s);
    BOOST_TEST(first.process().exit_code().value_or(-1) == 0);
    BOOST_TEST_REQUIRE(second.says("leading, with token "));
    BOOST_TEST_REQUIRE(second.says("the leader is at bert:2\n"));
    // The third server may have got the first one's release after the second one's request.
    BOOST_TEST_REQUIRE(eventually([&] { return servers[2].command({"EXISTS", "example:leader"}) == "1"; }));
    servers[0].stop();
    servers[1].stop();
    BOOST_TEST_REQUIRE(eventually([&] { return servers[2].command({"EXISTS", "example:leader"}) == "0"; }));
    servers[0].resume();
    servers[1].resume();
    bool const leads_again = eventually([&] { return count(second.said(), "leading, with token ") == 2; });
    BOOST_TEST(leads_again, second.said());
    second.process().end(SIGTERM, 10s);
    BOOST_TEST(second.process().exit_code().value_or(-1) == 0);
}

BOOST_AUTO_TEST_CASE(a_leader_that_cannot_prove_it_steps_down)
{
    running example{"leader", {"anna"}, servers};
    BOOST_TEST_REQUIRE(example.says("anna leads, with token "));
    servers[0].stop();
    servers[1].stop();
    BOOST_TEST(example.says("anna steps down, in time\n"));
    servers[0].resume();
    servers[1].resume();
    bool const leads_again = eventually([&] { return count(example.said(), "anna leads, with token ") == 2; });
    BOOST_TEST(leads_again, example.said());
    example.process().end(SIGTERM, 10s);
    BOOST_TEST(example.process().exit_code().value_or(-1) == 0);
}

BOOST_AUTO_TEST_CASE(orders_are_changed_one_by_one)
{
    std::array<running, 2> services{running{"orders", {"0"}, servers}, running{"orders", {"0"}, servers}};
    std::string const before = "http://127.0.0.1:";
    auto const port_of = [&](running const& service) {
        BOOST_TEST_REQUIRE(service.says("/orders/\n"));
        auto const text = service.said();
        return static_cast<std::uint16_t>(std::stoi(text.substr(text.find(before) + before.size())));
    };
    auto const port = port_of(services[0]);
    std::vector<std::future<std::vector<int>>> customers;
    for (int i = 0; i < 8; ++i)
        customers.push_back(std::async(std::launch::async, [port] {
            std::vector<int> seen;
            for (int k = 0; k < 5; ++k) seen.push_back(std::atoi(post(port, "/orders/17").c_str()));
            return seen;
        }));
    std::vector<int> all;
    for (auto& c : customers) {
        auto const seen = c.get();
        all.insert(all.end(), seen.begin(), seen.end());
    }
    std::sort(all.begin(), all.end());
    std::vector<int> expected(40);
    for (int i = 0; i < 40; ++i) expected[static_cast<std::size_t>(i)] = i + 1;
    BOOST_CHECK_EQUAL_COLLECTIONS(all.begin(), all.end(), expected.begin(), expected.end());
    BOOST_TEST(post(port, "/orders/18") == "1\n");
    BOOST_TEST(ask(port, "GET /ready HTTP/1.1\r\nHost: x\r\n\r\n").starts_with("HTTP/1.0 200 "));
    BOOST_TEST(ask(port, "GET /orders/18 HTTP/1.1\r\nHost: x\r\n\r\n").starts_with("HTTP/1.0 405 "));
    for (auto const* path : {"/favicon.ico", "/orders/", "/orders/1x", "/orders/1234567890"})
        BOOST_TEST(answer_to_post(port, path).starts_with("HTTP/1.0 404 "), path);

    BOOST_TEST(post(port_of(services[1]), "/orders/17") == "1\n", "another process has orders of its own");
    for (auto const& s : servers) s.command({"SET", "order:18", "somebody else's", "PX", "60000"});
    auto const taken = answer_to_post(port, "/orders/18");
    BOOST_TEST(taken.starts_with("HTTP/1.0 409 "), taken);
    BOOST_TEST(taken.ends_with("the lock was not acquired in time: it is contended\n"), taken);
    kill_two();
    auto const unknown = answer_to_post(port, "/orders/19");
    BOOST_TEST(unknown.starts_with("HTTP/1.0 503 "), unknown);
    BOOST_TEST(unknown.ends_with("too few nodes voted to know who holds it\n"), unknown);
    std::string const why = "order:19: the lock was not acquired in time: too few nodes voted to know who holds it; ";
    BOOST_TEST(ask(port, "GET /ready HTTP/1.1\r\nHost: x\r\n\r\n").starts_with("HTTP/1.0 503 "));
    // Which of the two is named, and whether it was cut off or timed out, depends on when the service noticed.
    BOOST_TEST(services[0].says(why + "127.0.0.1:"), services[0].said());
    for (auto& s : services) {
        s.process().end(SIGTERM, 10s);
        BOOST_TEST(s.process().exit_code().value_or(-1) == 0, s.said());
    }
}

// Two of three servers hang for longer than most leases last, and go on.
BOOST_AUTO_TEST_CASE(an_outage_ends_no_service)
{
    redis_server data;
    running observing{"observing", {"0"}, servers}, orders{"orders", {"0"}, servers}, shutdown{"shutdown", {}, servers};
    running leader{"leader", {"anna"}, servers}, election{"election", {"anna:1"}, servers},
        periodic{"periodic", {"1", data.url()}, servers};
    std::array<running*, 6> const all{&observing, &orders, &shutdown, &leader, &election, &periodic};
    auto const count_of = [](running const& which, char const* text) { return count(which.said(), text); };
    auto const counts_more = [&](running const& which, char const* text, std::size_t than) {
        return eventually([&] { return count_of(which, text) > than; });
    };
    BOOST_TEST_REQUIRE(observing.says("\"event\":\"released\""));
    BOOST_TEST_REQUIRE(orders.says("/orders/\n"));
    BOOST_TEST_REQUIRE(shutdown.says("ready\n"));
    BOOST_TEST_REQUIRE(leader.says("anna leads, with token "));
    BOOST_TEST_REQUIRE(election.says("leading, with token "));
    BOOST_TEST_REQUIRE(periodic.says("period "));
    servers[0].stop();
    servers[1].stop();
    BOOST_TEST(leader.says("anna steps down, in time\n"));
    BOOST_TEST(shutdown.says("was not acquired in time: too few nodes"), shutdown.said());  // after 5 s
    BOOST_TEST(eventually([&] { return servers[2].command({"EXISTS", "example:periodic", "example:leader"}) == "0"; }));
    auto const released = count_of(observing, "\"event\":\"released\""), periods = count_of(periodic, "period ");
    servers[0].resume();
    servers[1].resume();
    BOOST_TEST(counts_more(leader, "anna leads, with token ", 1), leader.said());
    BOOST_TEST(counts_more(election, "leading, with token ", 1), election.said());
    BOOST_TEST(counts_more(observing, "\"event\":\"released\"", released + 1), observing.said());
    BOOST_TEST(counts_more(periodic, "period ", periods + 1), periodic.said());
    auto const said = orders.said();
    std::string const before = "http://127.0.0.1:";
    auto const port = static_cast<std::uint16_t>(std::stoi(said.substr(said.find(before) + before.size())));
    BOOST_TEST(post(port, "/orders/1") == "1\n");
    for (auto* each : all) {
        each->process().end(SIGTERM, 10s);
        BOOST_TEST(each->process().exit_code().value_or(-1) == 0, each->said());
    }
    BOOST_TEST(shutdown.said().ends_with("all released\n"), shutdown.said());
}

BOOST_AUTO_TEST_CASE(each_period_is_counted_once)
{
    redis_server data;
    std::optional<running> first{std::in_place, "periodic", std::vector<std::string>{"1", data.url()}, servers};
    running second{"periodic", {"1", data.url()}, servers};
    auto const periods = [&] { return count(first->said(), "period ") + count(second.said(), "period "); };
    BOOST_TEST_REQUIRE(eventually([&] { return periods() >= 2; }));
    bool const first_leads = first->said().find("period ") != std::string::npos;
    (first_leads ? *first : second).process().kill();
    auto const said = periods();
    BOOST_TEST(eventually([&] { return periods() >= said + 2; }), "the other one goes on");
    auto& other = first_leads ? second : *first;
    other.process().end(SIGTERM, 10s);
    BOOST_TEST(other.process().exit_code().value_or(-1) == 0, other.said());
    BOOST_TEST(data.command({"HGET", "report", "reports"}) == std::to_string(periods()));

    data.command({"HSET", "report", "fence", "9007199254740991"});
    running late{"periodic", {"1", data.url()}, servers};
    BOOST_TEST(late.says("STALE a later leader has been here"), late.said());
    data.command({"HSET", "report", "fence", "1"});
    BOOST_TEST(late.says("period "), late.said());
    auto const refused = count(late.said(), "STALE");
    data.command({"HSET", "report", "fence", "9007199254740991"});
    BOOST_TEST(eventually([&] { return count(late.said(), "STALE") > refused; }), late.said());  // and it pauses
    late.process().end(SIGTERM, 10s);
    BOOST_TEST(late.process().exit_code().value_or(-1) == 0);
}

BOOST_AUTO_TEST_CASE(shutdown_leaves_nothing_behind)
{
    running example{"shutdown", {}, servers};
    BOOST_TEST_REQUIRE(example.says("ready\n"));
    bool const all_held = eventually(
        [&] { return servers[0].command({"EXISTS", "task:0", "task:1", "task:2", "task:3", "task:4"}) == "5"; });
    BOOST_TEST(all_held);
    example.process().end(SIGTERM, 10s);
    BOOST_TEST(example.process().exit_code().value_or(-1) == 0);
    BOOST_TEST(example.said() == "ready\nclosing\nall released\n");
    for (auto& s : servers)
        for (int i = 0; i < 5; ++i) BOOST_TEST(s.command({"EXISTS", "task:" + std::to_string(i)}) == "0");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::testing
