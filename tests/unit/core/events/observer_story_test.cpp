// What an observer is told, when, and where.
#include "support/world.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <deque>
#include <functional>
#include <sstream>
#include <stdexcept>

namespace {

using namespace redlock::testing;
using namespace redlock;
using detail::verb;

// A word for each event, with what distinguishes it.
class diary final : public observer {
public:
    explicit diary(std::size_t max_queue = 1'000, asio::any_io_executor executor = {})
        : max_queue_{max_queue}, executor_{std::move(executor)}
    {
    }

    asio::any_io_executor executor() const override { return executor_; }
    std::size_t max_queued_events() const override { return max_queue_; }

    void on_acquired(event::acquired const& e) override
    {
        last_acquired = e;
        last_votes.assign(e.votes.begin(), e.votes.end());
        note(e.at, "acquired ", e.lock, ' ', to_string(e.origin), ' ', e.attempts, if_shared(e.mode));
    }
    void on_contended(event::contended const& e) override
    {
        last_votes.assign(e.votes.begin(), e.votes.end());
        note(e.at, "contended ", e.lock, ' ', e.by_this_client ? "here" : "there", ' ', e.attempts, if_shared(e.mode));
    }
    void on_attempt_failed(event::attempt_failed const& e) override
    {
        last_votes.assign(e.votes.begin(), e.votes.end());
        note(e.at, "failed ", e.lock, ' ', name(e.why), ' ', e.attempts, if_shared(e.mode));
    }
    void on_not_acquired(event::not_acquired const& e) override
    {
        note(e.at, "not acquired ", e.lock, ' ', name(e.why), if_shared(e.mode));
    }
    void on_self_deadlock(event::self_deadlock const& e) override { note(e.at, "self wait ", e.lock); }
    void on_extended(event::extended const& e) override
    {
        last_extended = e;
        note(e.at, "extended ", e.lock, ' ', e.nodes_held, if_shared(e.mode));
    }
    void on_extension_failed(event::extension_failed const& e) override
    {
        note(e.at, "extension ", e.lock, ' ', to_string(e.outcome), if_shared(e.mode));
    }
    void on_lost(event::lost const& e) override
    {
        last_lost = e;
        note(e.at, "lost ", e.lock, ' ', name(e.why), if_shared(e.mode));
    }
    void on_released(event::released const& e) override
    {
        last_released = e;
        note(e.at, "released ", e.lock, ' ', name(e.result), e.was_lost ? " lost" : "", if_shared(e.mode));
    }
    void on_detached(event::detached const& e) override { note(e.at, "detached ", e.lock); }
    void on_handoff(event::handoff const& e) override
    {
        last_handoff = e;
        note(e.at, "handed over ", e.lock);
    }
    void on_overrun(event::overrun const& e) override
    {
        last_overrun = e;
        note(e.at, "overrun ", e.lock);
    }
    void on_watchdog_late(event::watchdog_late const& e) override
    {
        last_late = e;
        note(e.at, "late ", e.lock);
    }
    void on_late_grant_undone(event::late_grant_undone const& e) override { note(e.at, "undone ", e.lock, ' ', e.node); }
    void on_node_up(event::node_up const& e) override { note(e.at, "up ", e.node); }
    void on_node_down(event::node_down const& e) override { note(e.at, "down ", e.node, ' ', name(e.why), ' ', e.text); }
    void on_node_excluded(event::node_excluded const& e) override
    {
        last_text = e.text;
        note(e.at, "excluded ", e.node, ' ', to_string(e.admission));
    }
    void on_node_admitted(event::node_admitted const& e) override { note(e.at, "admitted ", e.node); }
    void on_node_recovered(event::node_recovered const& e) override { note(e.at, "recovered ", e.node); }
    void on_clock_stepped(event::clock_stepped const& e) override
    {
        last_text = e.text;
        note(e.at, "stepped ", e.node, ' ', std::chrono::round<std::chrono::seconds>(e.by).count());
    }
    void on_dropped(event::dropped const& e) override { words.push_back("dropped " + std::to_string(e.events)); }

    // What was told since the last call.
    std::vector<std::string> news() { return std::exchange(words, {}); }

    std::vector<std::string> words;
    std::vector<event::time> times;
    std::function<void()> at_each;
    event::acquired last_acquired;  // its views are not to be looked at
    event::extended last_extended;
    event::lost last_lost;
    event::released last_released;
    event::handoff last_handoff;
    event::overrun last_overrun;
    event::watchdog_late last_late;
    std::vector<event::node_vote> last_votes;
    std::string last_text;

private:
    static char const* if_shared(lock_mode mode) { return mode == lock_mode::shared ? " shared" : ""; }

    static std::string name(error_code ec)
    {
        if (!ec) return "ok";
        for (errc each :
             {errc::contended, errc::no_majority, errc::acquire_timed_out, errc::lease_lost, errc::max_hold_exceeded,
              errc::client_cancelled, errc::release_unconfirmed, errc::node_unreachable, errc::validity_exhausted, errc::self_deadlock})
            if (ec == each) return std::to_string(ec.value());
        return ec.message();
    }

    template <class... T>
    void note(event::time at, T const&... parts)
    {
        std::ostringstream text;
        (text << ... << parts);
        words.push_back(text.str());
        times.push_back(at);
        if (at_each) at_each();
    }

    std::size_t max_queue_;
    asio::any_io_executor executor_;
};

std::string with(std::string const& word, errc code) { return word + ' ' + std::to_string(static_cast<int>(code)); }

using words = std::vector<std::string>;

struct asked {
    std::optional<error_code> ec;
    lease held;
};

struct observed_world : world {
    explicit observed_world(std::shared_ptr<diary> to = std::make_shared<diary>()) : world{3, 8'192, to, 5min}, told{std::move(to)}
    {
        start();
        told->news();
    }

    asked& ask(lock_options const& options = {.ttl = 9s}, std::string const& name = "resource", bool once = false)
    {
        asked& a = calls.emplace_back();
        auto done = [&a](error_code ec, lease l) {
            a.ec = ec;
            a.held = std::move(l);
        };
        redlock::lock const resource{*client, name, options};
        once ? resource.try_acquire(done) : resource.acquire(done);
        settle();
        return a;
    }
    asked& ask_to_read(bool once = false)
    {
        asked& a = calls.emplace_back();
        auto done = [&a](error_code ec, lease l) {
            a.ec = ec;
            a.held = std::move(l);
        };
        rw_lock const resource{*client, "resource", {.ttl = 9s}};
        once ? resource.try_acquire_shared(done) : resource.acquire_shared(done);
        advance(1ms);
        return a;
    }
    asked& acquire(lock_options const& options = {.ttl = 9s}, std::string const& name = "resource")
    {
        asked& a = ask(options, name);
        advance(1ms);
        BOOST_REQUIRE((a.ec && !*a.ec));
        return a;
    }
    void release(asked& a)
    {
        a.held = lease{};
        advance(1ms);
    }

    std::shared_ptr<diary> told;
    std::deque<asked> calls;
};

#define CHECK_WORDS(found, ...)                                                                                              \
    do {                                                                                                                     \
        words const found_words = found;                                                                                     \
        words const expected_words __VA_ARGS__;                                                                              \
        BOOST_CHECK_EQUAL_COLLECTIONS(found_words.begin(), found_words.end(), expected_words.begin(), expected_words.end()); \
    } while (false)

}  // namespace

BOOST_AUTO_TEST_SUITE(observer_story)

BOOST_AUTO_TEST_CASE(nodes_come_up_and_are_admitted_once)
{
    auto const told = std::make_shared<diary>();
    world w{3, 8'192, told};
    BOOST_TEST(told->words.empty());
    w.start();
    auto const first = told->news();
    for (char const* node : {"node0", "node1", "node2"}) BOOST_TEST(std::count(first.begin(), first.end(), std::string{"up "} + node) == 1);
    redlock::lock{*w.client, "resource", {.ttl = 9s}}.acquire([](error_code, lease) {});
    w.advance(1ms);
    w.advance(1h);
    auto all = first;
    auto const more = told->news();
    all.insert(all.end(), more.begin(), more.end());
    for (char const* node : {"node0", "node1", "node2"})
        BOOST_TEST(std::count(all.begin(), all.end(), std::string{"admitted "} + node) == 1);
}

BOOST_FIXTURE_TEST_CASE(a_lease_from_its_acquisition_to_its_release, observed_world)
{
    auto const begin = virtual_clock::now();
    asked& a = acquire();
    CHECK_WORDS(told->news(), {"acquired resource nodes 1"});
    BOOST_TEST(told->last_acquired.token == a.held.token());
    BOOST_TEST((told->last_acquired.waited == 100us));
    BOOST_TEST((begin + 100us + told->last_acquired.valid_for == begin + 9s - 90ms - 2ms));
    BOOST_TEST(told->last_acquired.nodes_held == 2u, "the third answers in the same moment, behind");
    BOOST_TEST((told->times.back() == event::time{std::chrono::floor<std::chrono::microseconds>((begin + 100us).time_since_epoch())}));
    BOOST_TEST(told->last_votes.size() == 3u);
    BOOST_TEST((told->last_votes[0].vote == vote::granted));
    BOOST_TEST(told->last_votes[2].node == "node2");

    advance(4s);
    CHECK_WORDS(told->news(), {"extended resource 3"});
    BOOST_TEST(told->last_extended.token == a.held.token());
    BOOST_TEST((told->last_extended.took == 100us));
    BOOST_TEST((told->last_extended.valid_for > 8s));

    auto const token = a.held.token();
    a.held = lease{};
    advance(1ms);
    CHECK_WORDS(told->news(), {"released resource ok"});
    BOOST_TEST(told->last_released.token == token);
    BOOST_TEST((told->last_released.held_for == 4s + 1ms - 100us));
    BOOST_TEST((told->last_released.took == 100us));
    BOOST_TEST(counters().events_dropped == 0u);
}

BOOST_FIXTURE_TEST_CASE(what_somebody_else_holds_is_contended, observed_world)
{
    for (auto& n : nodes) n->set("resource", "foreign");
    asked const& a = ask({.ttl = 9s}, "resource", true);
    advance(1ms);
    BOOST_TEST((a.ec.value() == errc::contended));
    CHECK_WORDS(told->news(), {"contended resource there 1", with("not acquired resource", errc::contended)});
    BOOST_TEST((told->last_votes.at(0).vote == vote::refused));

    asked const& patient = ask({.ttl = 9s, .acquire_timeout = 3s});
    advance(10ms);
    CHECK_WORDS(told->news(), {"contended resource there 1"});
    advance(4s);
    BOOST_TEST((patient.ec.value() == errc::acquire_timed_out));
    CHECK_WORDS(told->news(), {with("not acquired resource", errc::acquire_timed_out)});
}

BOOST_FIXTURE_TEST_CASE(what_this_client_holds_is_contended_here, observed_world)
{
    acquire();
    told->news();
    ask({.ttl = 9s}, "resource", true);
    CHECK_WORDS(told->news(), {"contended resource here 1", with("not acquired resource", errc::contended)});
}

BOOST_FIXTURE_TEST_CASE(without_a_majority_an_attempt_fails, observed_world)
{
    nodes[0]->stop();
    nodes[1]->stop();
    ask({.ttl = 9s, .node_timeout = 100ms}, "resource", true);
    advance(1s);
    CHECK_WORDS(told->news(), {with("failed resource", errc::no_majority) + " 1", with("not acquired resource", errc::no_majority)});
    BOOST_TEST((told->last_votes.at(2).vote == vote::granted));
    nodes[0]->go_on();
    advance(1ms);
    CHECK_WORDS(told->news(), {"undone resource node0"});
    BOOST_TEST(counters().late_grants_undone == 1u);
}

BOOST_FIXTURE_TEST_CASE(of_readers_each_event_says_so, observed_world)
{
    asked& one = ask_to_read();
    CHECK_WORDS(told->news(), {"acquired resource nodes 1 shared"});
    ask({.ttl = 9s}, "resource", true);
    advance(1ms);
    CHECK_WORDS(told->news(), {"contended resource there 1", with("not acquired resource", errc::contended)});
    advance(4s);
    CHECK_WORDS(told->news(), {"extended resource 3 shared"});
    release(one);
    CHECK_WORDS(told->news(), {"released resource ok shared"});

    asked& two = ask_to_read();
    told->news();
    for (auto& n : nodes) n->stop();
    advance(20s);
    auto const heard = told->news();
    BOOST_TEST(heard.front() == "extension resource unknown shared");
    BOOST_TEST(heard.back() == with("lost resource", errc::lease_lost) + " shared");
    two.held = lease{};
    ask_to_read(true);
    advance(1s);
    auto const refused = told->news();
    BOOST_TEST(std::count(refused.begin(), refused.end(), with("failed resource", errc::no_majority) + " 1 shared") == 1);
    BOOST_TEST(std::count(refused.begin(), refused.end(), with("not acquired resource", errc::no_majority) + " shared") == 1);
}

BOOST_FIXTURE_TEST_CASE(a_writer_who_went_on_as_a_reader_is_called_one, observed_world)
{
    asked& a = calls.emplace_back();
    rw_lock{*client, "resource", {.ttl = 9s}}.acquire([&a](error_code ec, lease l) {
        a.ec = ec;
        a.held = std::move(l);
    });
    advance(1ms);
    CHECK_WORDS(told->news(), {"acquired resource nodes 1"});
    std::optional<error_code> down;
    a.held.downgrade([&](error_code ec) { down = ec; });
    advance(1ms);
    BOOST_TEST((down && !*down));
    told->news();
    release(a);
    CHECK_WORDS(told->news(), {"released resource ok shared"});
}

BOOST_FIXTURE_TEST_CASE(extensions_that_fail_and_the_loss_that_follows, observed_world)
{
    asked& a = acquire();
    told->news();
    for (auto& n : nodes) n->stop();
    advance(20s);
    auto const heard = told->news();
    BOOST_TEST(heard.front() == "extension resource unknown");
    auto const lost = std::find(heard.begin(), heard.end(), with("lost resource", errc::lease_lost));
    BOOST_REQUIRE((lost != heard.end()));
    BOOST_TEST(std::count(heard.begin(), lost, "extension resource unknown") == lost - heard.begin());
    BOOST_TEST(static_cast<std::size_t>(lost - heard.begin()) + 1 == heard.size(), "nothing of it is told after its end");
    BOOST_TEST((told->last_lost.valid_for == 900ms));
    BOOST_TEST((told->last_lost.held_for > 7s));
    BOOST_TEST(told->last_lost.token == a.held.token());

    release(a);
    for (auto& n : nodes) n->go_on();
    advance(1s);
    auto const rest = told->news();
    BOOST_TEST(rest.size() == 1u);
    BOOST_TEST(rest.front() == with("released resource", errc::lease_lost) + " lost");
    BOOST_TEST((told->last_released.held_for == told->last_lost.held_for));
}

BOOST_FIXTURE_TEST_CASE(keys_that_are_gone_lose_a_lease, observed_world)
{
    acquire({.ttl = 9s, .fencing = false});
    told->news();
    nodes[0]->set("resource", "foreign");
    nodes[2]->set("resource", "foreign");
    advance(4s);
    CHECK_WORDS(told->news(), {"extension resource lost", with("lost resource", errc::lease_lost)});
}

BOOST_FIXTURE_TEST_CASE(max_hold_and_cancel_say_so, observed_world)
{
    acquire({.ttl = 9s, .max_hold = 1s});
    told->news();
    advance(2s);
    CHECK_WORDS(told->news(), {with("lost resource", errc::max_hold_exceeded)});
    calls.clear();
    advance(1ms);
    acquire({.ttl = 9s}, "other");
    ask({.ttl = 9s}, "other");
    told->news();
    client->cancel();
    settle();
    CHECK_WORDS(told->news(), {with("not acquired other", errc::client_cancelled), with("lost other", errc::client_cancelled)});
    ask({.ttl = 9s}, "too late");
    CHECK_WORDS(told->news(), {with("not acquired too late", errc::client_cancelled)});
}

BOOST_FIXTURE_TEST_CASE(a_lease_that_travels, observed_world)
{
    asked& first = acquire();
    told->news();
    auto const token = first.held.token();
    auto const ticket = first.held.detach();
    settle();
    CHECK_WORDS(told->news(), {"detached resource"});
    std::optional<lease> adopted;
    client->adopt(ticket, [&](error_code, lease l) { adopted = std::move(l); });
    advance(1ms);
    CHECK_WORDS(told->news(), {"acquired resource adopted 1"});
    BOOST_TEST(told->last_acquired.token == token);
    BOOST_TEST(told->last_votes.empty());
    client->adopt(ticket, [](error_code, lease) {});
    advance(1ms);
    CHECK_WORDS(told->news(), {with("not acquired resource", errc::lease_lost)});
}

BOOST_FIXTURE_TEST_CASE(a_lease_that_is_handed_over, observed_world)
{
    asked& first = acquire();
    asked const& second = ask();
    told->news();
    auto const token = first.held.token();
    first.held = lease{};
    settle();
    BOOST_TEST(second.ec.has_value());
    CHECK_WORDS(told->news(), {"handed over resource", "acquired resource handoff 0"});
    BOOST_TEST(told->last_handoff.token == token);
    BOOST_TEST(told->last_acquired.token > token);
    BOOST_TEST(told->last_votes.empty());
}

BOOST_FIXTURE_TEST_CASE(a_nested_lease, observed_world)
{
    auto const me = new_owner();
    asked& outer = acquire({.ttl = 9s, .owner = me});
    asked& inner = ask({.ttl = 9s, .owner = me});
    CHECK_WORDS(told->news(), {"acquired resource nodes 1", "acquired resource nested 0"});
    release(outer);
    CHECK_WORDS(told->news(), {});
    release(inner);
    CHECK_WORDS(told->news(), {"released resource ok"});
}

BOOST_FIXTURE_TEST_CASE(a_scope_that_waits_for_itself, observed_world)
{
    auto story = [&]() -> asio::awaitable<void> {
        redlock::lock resource{*client, "resource", {.ttl = 9s}};
        auto body = [&](lease&) -> asio::awaitable<void> {
            auto again = resource.acquire(asio::as_tuple(asio::use_awaitable));
            co_await std::move(again);
        };
        auto scope = with_lock(resource, body);
        co_await std::move(scope);
    };
    run(story());
    CHECK_WORDS(told->news(), {"acquired resource nodes 1", "self wait resource", with("not acquired resource", errc::self_deadlock),
                               "released resource ok"});
}

BOOST_FIXTURE_TEST_CASE(a_body_that_outlives_its_lease, observed_world)
{
    auto story = [&]() -> asio::awaitable<void> {
        redlock::lock resource{*client, "resource", {.ttl = 9s, .auto_extend = false}};
        auto body = [&](lease&) -> asio::awaitable<void> {
            pause(11s);  // no timer ran
            co_return;
        };
        auto scope = with_lock(resource, body);
        co_await std::move(scope);
    };
    BOOST_CHECK_THROW(run(story()), system_error);
    auto const heard = told->news();
    BOOST_TEST(std::count(heard.begin(), heard.end(), "overrun resource") == 1);
    BOOST_TEST((told->last_overrun.by > 2s && told->last_overrun.by < 3s));
}

BOOST_FIXTURE_TEST_CASE(a_watchdog_that_was_late, observed_world)
{
    acquire();
    told->news();
    pause(10s);
    advance(1ms);
    CHECK_WORDS(told->news(), {"late resource", with("lost resource", errc::lease_lost)});
    BOOST_TEST((told->last_late.by > 1s && told->last_late.by < 2s));
    BOOST_TEST((told->last_lost.valid_for == -told->last_late.by));
}

BOOST_FIXTURE_TEST_CASE(nodes_that_go_down_are_told_once_for_each_reason, observed_world)
{
    nodes[1]->cut();
    settle();
    CHECK_WORDS(told->news(), {with("down node1", errc::node_unreachable) + " cut"});
    nodes[1]->cut();  // a further attempt to connect ends so
    settle();
    CHECK_WORDS(told->news(), {});
    nodes[1]->connect();
    advance(1ms);
    CHECK_WORDS(told->news(), {"up node1", "admitted node1"});
    nodes[1]->cut();
    settle();
    CHECK_WORDS(told->news(), {with("down node1", errc::node_unreachable) + " cut"});
}

BOOST_FIXTURE_TEST_CASE(a_node_that_forgot_is_excluded, observed_world)
{
    asked& a = acquire();
    told->news();
    nodes[1]->restart_empty();
    advance(4s);
    auto const heard = told->news();
    BOOST_TEST(std::count(heard.begin(), heard.end(), "excluded node1 quarantined") == 1);
    BOOST_TEST(told->last_text.find("left until") != std::string::npos, told->last_text);
    a.held = {};
    advance(6min);
    auto const later = told->news();
    BOOST_TEST(std::count(later.begin(), later.end(), "admitted node1") == 1);
    BOOST_TEST(std::count_if(later.begin(), later.end(), [](auto const& w) { return w.starts_with("excluded"); }) == 1);
    BOOST_TEST(std::count(later.begin(), later.end(), "excluded node1 catching_up") == 1);
}

BOOST_FIXTURE_TEST_CASE(most_nodes_that_lost_their_data_recover, observed_world)
{
    acquire();
    told->news();
    for (std::size_t const node : {0u, 1u}) nodes[node]->restart_empty();
    advance(4s);
    BOOST_TEST(told->last_text.find("so did most nodes, so that all of these vote again together") != std::string::npos, told->last_text);
    told->news();
    advance(6min);
    auto const later = told->news();
    for (auto const* const node : {"node0", "node1"}) {
        auto const recovered = std::find(later.begin(), later.end(), std::string{"recovered "} + node);
        BOOST_TEST((recovered != later.end()));
        BOOST_TEST((std::find(recovered, later.end(), std::string{"admitted "} + node) != later.end()));
    }
    BOOST_TEST(std::count(later.begin(), later.end(), "recovered node2") == 0);
}

// Another connection may have other rights.
BOOST_FIXTURE_TEST_CASE(why_a_node_could_not_be_marked_is_forgotten_with_its_connection, observed_world)
{
    acquire();
    nodes[1]->restart_empty();
    nodes[1]->cut();
    nodes[1]->always = detail::reply{vote::failed, errc::server_error, "NOPERM this user has no permissions"};
    nodes[1]->connect();
    advance(1s);
    auto const why = [this] { return client->status().nodes[1].admission_text; };
    BOOST_TEST(why().find("cannot begin: NOPERM") != std::string::npos, why());
    nodes[1]->cut();
    nodes[1]->always.reset();
    nodes[1]->stop();
    nodes[1]->connect();
    settle();
    BOOST_TEST(why().find("begins with the next lock") != std::string::npos, why());
}

BOOST_FIXTURE_TEST_CASE(a_clock_that_was_set, observed_world)
{
    acquire({.ttl = 9s, .fencing = false});
    advance(1s);
    told->news();
    nodes[0]->set_clock(-40s);
    advance(4s);
    auto const heard = told->news();
    BOOST_TEST(std::count_if(heard.begin(), heard.end(), [](auto const& w) { return w.starts_with("stepped node0 -4"); }) == 1);
    BOOST_TEST(told->last_text.starts_with("its clock was set back"), told->last_text);
}

BOOST_FIXTURE_TEST_CASE(each_lock_has_its_events_in_order, observed_world)
{
    for (int i = 0; i < 20; ++i) ask({.ttl = 9s}, "lock" + std::to_string(i % 5));
    for (int turn = 0; turn < 5; ++turn) {
        for (auto& a : calls)
            if (a.held) a.held = lease{};
        advance(1ms);
    }
    advance(1ms);
    auto const heard = told->news();
    for (int i = 0; i < 5; ++i) {
        std::string const lock = "lock" + std::to_string(i);
        words of_it;
        std::copy_if(heard.begin(), heard.end(), std::back_inserter(of_it),
                     [&](auto const& w) { return w.find(lock) != std::string::npos; });
        words const expected{"acquired " + lock + " nodes 1",   "handed over " + lock,
                             "acquired " + lock + " handoff 0", "handed over " + lock,
                             "acquired " + lock + " handoff 0", "handed over " + lock,
                             "acquired " + lock + " handoff 0", "released " + lock + " ok"};
        BOOST_CHECK_EQUAL_COLLECTIONS(of_it.begin(), of_it.end(), expected.begin(), expected.end());
    }
}

// Where and when.

BOOST_AUTO_TEST_CASE(is_told_on_its_own_executor_and_nowhere_else)
{
    asio::io_context elsewhere;
    auto const told = std::make_shared<diary>(1'000, elsewhere.get_executor());
    observed_world w{told};
    w.acquire();
    BOOST_TEST(told->words.empty());
    BOOST_TEST(elsewhere.poll() > 0u);
    auto const heard = told->news();
    BOOST_TEST(heard.back() == "acquired resource nodes 1");
    elsewhere.restart();
    w.nodes[0]->cut();
    BOOST_TEST(told->words.empty());
    elsewhere.poll();
    BOOST_TEST(told->words.size() == 1u);
}

BOOST_FIXTURE_TEST_CASE(is_told_in_a_turn_of_its_own, observed_world)
{
    bool inside = false;
    told->at_each = [&] { BOOST_TEST(!inside); };
    redlock::lock{*client, "resource", {.ttl = 9s}}.acquire([&](error_code, lease) {});
    std::ignore = client->status();
    inside = true;
    nodes[0]->cut();  // calls the engine
    inside = false;
    settle();
    BOOST_TEST(!told->words.empty());
}

BOOST_FIXTURE_TEST_CASE(what_it_asks_meanwhile_is_answered, observed_world)
{
    std::uint64_t acquired = 0;
    told->at_each = [&] { acquired = client->status().counters.acquired; };
    acquire();
    BOOST_TEST(acquired == 1u);
}

BOOST_FIXTURE_TEST_CASE(exceptions_leave_run_and_the_rest_is_told_later, observed_world)
{
    for (auto& n : nodes) n->cut();
    told->at_each = [] { throw std::runtime_error{"the disk is full"}; };
    for (int i = 0; i < 3; ++i) BOOST_CHECK_THROW(settle(), std::runtime_error);
    settle();
    BOOST_TEST(told->words.size() == 3u);
    told->at_each = nullptr;
    nodes[0]->connect();
    settle();
    BOOST_TEST(told->words[3] == "up node0");
}

BOOST_AUTO_TEST_CASE(an_event_whose_observer_throws_leaves_its_place_to_others)
{
    auto const told = std::make_shared<diary>(6);
    observed_world w{told};
    auto const dropped = w.counters().events_dropped;
    told->at_each = [] { throw std::runtime_error{"the disk is full"}; };
    for (int i = 0; i < 10; ++i) {
        i % 2 == 0 ? w.nodes[0]->cut() : w.nodes[0]->connect();
        for (bool thrown = true; thrown;) {
            thrown = false;
            try {
                w.settle();
            } catch (std::runtime_error const&) {
                thrown = true;
            }
        }
    }
    BOOST_TEST(told->words.size() >= 10u);
    BOOST_TEST(w.counters().events_dropped == dropped);
}

BOOST_AUTO_TEST_CASE(what_does_not_fit_is_dropped_and_counted)
{
    asio::io_context elsewhere;
    auto const told = std::make_shared<diary>(10, elsewhere.get_executor());
    observed_world w{told};
    elsewhere.poll();
    elsewhere.restart();
    told->news();
    for (auto& n : w.nodes) n->set("resource", "foreign");
    for (int i = 0; i < 10; ++i) {
        w.ask({.ttl = 9s}, "resource", true);
        w.advance(1ms);
    }
    BOOST_TEST(w.counters().contended == 10u);
    BOOST_TEST(w.counters().events_dropped == 10u);
    elsewhere.poll();
    auto heard = told->news();
    BOOST_REQUIRE(heard.size() == 11u);
    BOOST_TEST(heard[8] == "contended resource there 1");
    BOOST_TEST(heard[9] == with("not acquired resource", errc::contended));
    BOOST_TEST(heard.back() == "dropped 10");
    elsewhere.restart();
    w.nodes[0]->cut();
    elsewhere.poll();
    BOOST_TEST(told->news().size() == 1u, "there is room again");
    BOOST_TEST(w.counters().events_dropped == 10u);
}

BOOST_AUTO_TEST_CASE(is_not_told_anything_when_the_context_is_gone)
{
    auto const told = std::make_shared<diary>();
    std::weak_ptr<diary> const seen = told;
    {
        observed_world w{told};
        w.acquire();
        told->news();
        told->at_each = [] { BOOST_ERROR("told after the context was destroyed"); };
        w.told.reset();
        w.nodes[0]->cut();
        w.context.reset();
        BOOST_TEST(seen.use_count() == 1, "the client has let go of it");
        w.calls.clear();
    }
    BOOST_TEST(told->words.empty());
}

BOOST_AUTO_TEST_CASE(an_observer_elsewhere_is_still_told_what_happened_before_the_end)
{
    asio::io_context elsewhere;
    auto const told = std::make_shared<diary>(1'000, elsewhere.get_executor());
    {
        observed_world w{told};
        elsewhere.poll();
        elsewhere.restart();
        told->news();
        w.nodes[0]->cut();
    }
    BOOST_TEST(told->words.empty());
    elsewhere.poll();
    CHECK_WORDS(told->news(), {with("down node0", errc::node_unreachable) + " cut"});
}

BOOST_AUTO_TEST_CASE(a_client_that_is_gone_is_heard_of_until_its_releases_are_over)
{
    auto const told = std::make_shared<diary>();
    observed_world w{told};
    w.acquire();
    told->news();
    w.client.reset();
    w.settle();
    w.calls.clear();
    w.advance(1s);
    auto const heard = told->news();
    BOOST_TEST(heard.front() == with("lost resource", errc::client_cancelled));
    BOOST_TEST(std::count(heard.begin(), heard.end(), with("released resource", errc::client_cancelled) + " lost") == 1);
    w.told.reset();
    w.advance(1s);
    BOOST_TEST(told.use_count() == 1);
}

BOOST_AUTO_TEST_CASE(without_an_observer_there_is_nothing)
{
    detail::counters count;
    auto const none = detail::events::make(nullptr, {}, std::vector<node_status>(3), &virtual_clock::now, {}, count);
    BOOST_TEST(!none);
}

BOOST_AUTO_TEST_CASE(several_observers_are_told_in_their_order)
{
    auto const first = std::make_shared<diary>();
    auto const second = std::make_shared<diary>();
    std::size_t ahead = 0;
    second->at_each = [&] { ahead += first->words.size() == second->words.size(); };
    world w{3, 8'192, std::make_shared<observers>(std::vector<std::shared_ptr<observer>>{first, second})};
    w.start();
    lease held;
    redlock::lock{*w.client, "resource", {.ttl = 9s}}.acquire([&](error_code, lease l) { held = std::move(l); });
    w.advance(4s);
    BOOST_TEST(first->words.size() >= 7u);
    CHECK_WORDS(second->words, (first->words));
    BOOST_TEST(ahead == first->words.size());
}

BOOST_AUTO_TEST_SUITE_END()
