// Lookups of names that the test makes up; some of them are never answered.
#include "node/connection/name_lookup.hpp"
#include "support/name_service.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/strand.hpp>
#include <boost/test/unit_test.hpp>

#include <atomic>
#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <utility>

namespace redlock::detail {
namespace {

namespace name_service = redlock::testing::name_service;
using namespace std::chrono_literals;

struct answer {
    error_code ec;
    ip_addresses found;
};

// No lookup is left behind. Answers that came too late are: each case has names of its own.
struct names {
    ~names()
    {
        name_service::answer_all();
        BOOST_TEST(becomes_true([] { return name_service::hanging() == 0; }));
    }

    static bool becomes_true(std::function<bool()> const& so)
    {
        for (auto const until = std::chrono::steady_clock::now() + 10s; !so();) {
            if (std::chrono::steady_clock::now() > until) return false;
            std::this_thread::sleep_for(1ms);
        }
        return true;
    }
};

struct asker {
    void ask(std::string const& host)
    {
        waiter = look_up(io.get_executor(), host, [this](error_code ec, ip_addresses found) { got = answer{ec, std::move(found)}; });
    }

    answer wait()
    {
        io.restart();
        io.run_for(10s);
        BOOST_REQUIRE(got.has_value());
        return *std::exchange(got, std::nullopt);
    }

    asio::io_context io;
    std::optional<answer> got;
    std::weak_ptr<lookup_waiter> waiter;
};

asio::ip::address const one = asio::ip::make_address("192.0.2.1");
asio::ip::address const two = asio::ip::make_address("2001:db8::2");

}  // namespace

BOOST_FIXTURE_TEST_SUITE(name_lookups, names)

BOOST_AUTO_TEST_CASE(addresses_come_in_the_order_of_the_name_service)
{
    name_service::set("both.test", {"2001:db8::2", "192.0.2.1"});
    asker a;
    a.ask("both.test");
    BOOST_TEST((a.wait().found == ip_addresses{two, one}));
}

BOOST_AUTO_TEST_CASE(a_name_that_does_not_exist)
{
    name_service::set("nowhere.test", {});
    asker a;
    a.ask("nowhere.test");
    auto const got = a.wait();
    BOOST_TEST(got.ec == asio::error::host_not_found);
    BOOST_TEST(got.found.empty());
}

BOOST_AUTO_TEST_CASE(addresses_are_not_looked_up)
{
    for (std::string const text : {"192.0.2.1", "2001:db8::2"}) {
        name_service::set(text, {"192.0.2.99"});
        auto const before = name_service::lookups(text);
        asker a;
        a.ask(text);
        BOOST_TEST((a.wait().found == ip_addresses{asio::ip::make_address(text)}));
        BOOST_TEST(name_service::lookups(text) == before);
    }
}

BOOST_AUTO_TEST_CASE(a_name_that_hangs_holds_up_no_other_name)
{
    name_service::hang("hung.test");
    name_service::set("quick.test", {"192.0.2.1"});
    asker hung, quick;
    hung.ask("hung.test");
    BOOST_TEST(becomes_true([] { return name_service::hanging() == 1; }));
    quick.ask("quick.test");
    BOOST_TEST((quick.wait().found == ip_addresses{one}));
    BOOST_TEST(!hung.got);
}

BOOST_AUTO_TEST_CASE(a_lookup_of_the_program_that_hangs_holds_up_none_of_ours)
{
    name_service::hang("program.test");
    name_service::set("quick.test", {"192.0.2.1"});
    asker a;
    asio::ip::tcp::resolver of_program{a.io};
    of_program.async_resolve("program.test", "1", [](error_code, auto const&) {});
    BOOST_TEST(becomes_true([] { return name_service::hanging() == 1; }));
    a.ask("quick.test");
    BOOST_TEST(becomes_true([&] {
        a.io.restart();
        a.io.poll();
        return a.got.has_value();
    }));
    name_service::answer_all();
}

BOOST_AUTO_TEST_CASE(a_lookup_that_was_given_up_completes_at_once_and_holds_up_no_run)
{
    name_service::hang("given-up.test");
    asker a;
    a.ask("given-up.test");
    BOOST_TEST(a.io.poll() == 0u);
    BOOST_TEST(!a.io.stopped());  // there is work
    give_up(a.waiter);
    BOOST_TEST(a.wait().ec == asio::error::operation_aborted);
    BOOST_TEST(a.io.stopped());
}

BOOST_AUTO_TEST_CASE(a_lookup_is_given_up_by_its_cancellation_slot)
{
    name_service::hang("slot.test");
    asker a;
    asio::cancellation_signal stop;
    auto done = [&](error_code ec, ip_addresses) { a.got = answer{ec, {}}; };
    look_up(a.io.get_executor(), "slot.test", asio::bind_cancellation_slot(stop.slot(), std::move(done)));
    stop.emit(asio::cancellation_type::terminal);
    BOOST_TEST(a.wait().ec == asio::error::operation_aborted);
}

BOOST_AUTO_TEST_CASE(a_context_is_destroyed_at_once_and_its_handlers_with_it)
{
    name_service::hang("context.test");
    auto const kept = std::make_shared<int>();
    {
        asio::io_context io;
        auto const strand = asio::make_strand(io);
        for (asio::any_io_executor const& executor : {asio::any_io_executor{strand}, asio::any_io_executor{io.get_executor()}})
            look_up(executor, "context.test", [kept](error_code, ip_addresses) { BOOST_ERROR("its context is destroyed"); });
        BOOST_TEST(becomes_true([] { return name_service::hanging() == 1; }));
    }
    BOOST_TEST(kept.use_count() == 1);
}

BOOST_AUTO_TEST_CASE(those_who_ask_for_one_name_share_a_lookup)
{
    name_service::hang("shared.test");
    auto const before = name_service::lookups("shared.test");
    asker first, second;
    first.ask("shared.test");
    second.ask("shared.test");
    BOOST_TEST(becomes_true([] { return name_service::hanging() == 1; }));
    name_service::set("shared.test", {"192.0.2.1"});
    name_service::answer_all();
    BOOST_TEST((first.wait().found == ip_addresses{one}));
    BOOST_TEST((second.wait().found == ip_addresses{one}));
    BOOST_TEST(name_service::lookups("shared.test") == before + 1);
    first.ask("shared.test");  // later, it is another lookup
    first.wait();
    BOOST_TEST(name_service::lookups("shared.test") == before + 2);
}

// Each attempt to connect gives up after a while, and asks again after a pause.
BOOST_AUTO_TEST_CASE(an_answer_that_comes_too_late_is_for_the_next_who_asks)
{
    name_service::hang("late.test");
    asker a;
    a.ask("late.test");
    BOOST_TEST(becomes_true([] { return name_service::hanging() == 1; }));
    give_up(a.waiter);
    BOOST_TEST(a.wait().ec == asio::error::operation_aborted);
    name_service::set("late.test", {"192.0.2.1"});
    name_service::answer_all();
    BOOST_TEST(becomes_true([] { return name_service::hanging() == 0; }));
    a.ask("late.test");
    BOOST_TEST((a.wait().found == ip_addresses{one}));
    BOOST_TEST(name_service::lookups("late.test") == 1u);
}

BOOST_AUTO_TEST_CASE(there_are_only_so_many_threads_and_the_rest_wait_for_one)
{
    constexpr std::size_t more = 10;
    std::size_t answers = 0;
    asio::io_context io;
    for (std::size_t i = 0; i < max_lookups + more; ++i) {
        auto const name = "hung" + std::to_string(i) + ".test";
        name_service::hang(name);
        look_up(io.get_executor(), name, [&](error_code, ip_addresses) { ++answers; });
    }
    BOOST_TEST(becomes_true([] { return name_service::hanging() == max_lookups; }));
    BOOST_TEST(name_service::lookups("hung" + std::to_string(max_lookups) + ".test") == 0u);
    name_service::answer_all();
    io.run_for(10s);
    BOOST_TEST(answers == max_lookups + more);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::detail
