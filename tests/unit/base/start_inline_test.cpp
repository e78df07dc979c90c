// Who starts an operation: its caller, if that does no harm, or somebody whom the mailbox sends.
#include "base/mailbox.hpp"
#include "base/start_inline.hpp"
#include "base/strand.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <memory>
#include <thread>
#include <utility>

namespace {

namespace asio = boost::asio;
using redlock::detail::task;

struct beside_fixture {
    explicit beside_fixture(bool implicit = false) : strand{redlock::detail::make_client_strand(context.get_executor(), implicit)} {}

    asio::io_context context;
    asio::any_io_executor strand;
    redlock::detail::run_here_function run_here{redlock::detail::start_inline(strand)};
    int read{0};
    std::shared_ptr<int> engine{std::make_shared<int>()};
    redlock::boot_clock::time_point const now{std::chrono::hours{7}};

    task one()
    {
        return task{[this] { ++read; }};
    }

    void read_in_the_context()
    {
        asio::post(context, [this] {
            task what = one();
            BOOST_TEST(run_here(what, now, engine));
            BOOST_TEST(read == 1);
        });
        context.run();
        BOOST_TEST(read == 1);
    }

    // There the engine is in the middle of something.
    void leave_alone_in_the_strand()
    {
        bool was_there = false;
        asio::post(strand, [&] {
            task what = one();
            was_there = true;
            BOOST_TEST(!run_here(what, now, engine));
        });
        context.run();
        BOOST_TEST(was_there);
        BOOST_TEST(read == 0);
    }
};

struct beside_an_implicit_strand : beside_fixture {
    beside_an_implicit_strand() : beside_fixture{true} {}
};

}  // namespace

BOOST_AUTO_TEST_SUITE(beside)

BOOST_FIXTURE_TEST_CASE(a_thread_of_the_context_reads_it_at_once, beside_fixture) { read_in_the_context(); }
BOOST_FIXTURE_TEST_CASE(the_thread_of_an_implicit_strand_reads_it_at_once, beside_an_implicit_strand) { read_in_the_context(); }

BOOST_FIXTURE_TEST_CASE(another_thread_leaves_it_alone, beside_fixture)
{
    task what = one();
    BOOST_TEST(!run_here(what, now, engine));
    context.run();
    BOOST_TEST(read == 0);
    what(now);
    BOOST_TEST(read == 1);
}

BOOST_FIXTURE_TEST_CASE(another_thread_leaves_an_implicit_strand_alone, beside_an_implicit_strand)
{
    task what = one();
    BOOST_TEST(!run_here(what, now, engine));
    BOOST_TEST(read == 0);
}

BOOST_FIXTURE_TEST_CASE(in_the_strand_it_is_left_alone, beside_fixture) { leave_alone_in_the_strand(); }
BOOST_FIXTURE_TEST_CASE(in_an_implicit_strand_it_is_left_alone, beside_an_implicit_strand) { leave_alone_in_the_strand(); }

BOOST_FIXTURE_TEST_CASE(while_another_thread_is_in_the_strand_that_one_reads_it_next, beside_fixture)
{
    std::thread other;
    std::weak_ptr<int> const kept = engine;
    asio::post(strand, [&] {
        asio::post(context, [&] {
            task what{[&] {
                BOOST_TEST(!kept.expired());
                BOOST_TEST((std::this_thread::get_id() != other.get_id()));
                ++read;
            }};
            BOOST_TEST(run_here(what, now, std::exchange(engine, nullptr)));
            BOOST_TEST(read == 0);
        });
        other = std::thread{[&] { context.run_one(); }};
        other.join();
        BOOST_TEST(read == 0);
    });
    context.run();
    BOOST_TEST(read == 1);
    BOOST_TEST(kept.expired());
}

BOOST_AUTO_TEST_CASE(of_other_contexts_nothing_is_known)
{
    asio::thread_pool pool{1};
    auto const run_here = redlock::detail::start_inline(redlock::detail::make_client_strand(pool.get_executor()));
    BOOST_TEST(!run_here);
    pool.join();
}

BOOST_AUTO_TEST_SUITE_END()
