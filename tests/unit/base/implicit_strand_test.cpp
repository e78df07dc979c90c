// A strand that relies on one thread: what it knows is whether somebody is in it.
#include "base/implicit_strand.hpp"
#include "base/strand.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/execution.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/prefer.hpp>
#include <boost/asio/query.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/test/unit_test.hpp>

#include <memory>
#include <stdexcept>
#include <string>
#include <thread>

namespace {

namespace asio = boost::asio;
using redlock::detail::make_client_strand;
using redlock::detail::make_implicit_strand;

struct strand_fixture {
    asio::io_context context;
    redlock::detail::implicit_strand_of_io_context own{make_implicit_strand(context.get_executor())};
    asio::any_io_executor strand{own};
    std::string said;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(implicit_strands)

BOOST_FIXTURE_TEST_CASE(what_is_posted_is_in_it, strand_fixture)
{
    BOOST_TEST(!own.running_in_this_thread());
    asio::post(strand, [&] { said = own.running_in_this_thread() ? "inside" : "outside"; });
    BOOST_TEST(said.empty());
    context.run();
    BOOST_TEST(said == "inside");
    BOOST_TEST(!own.running_in_this_thread());
}

BOOST_FIXTURE_TEST_CASE(what_else_the_thread_does_is_not, strand_fixture)
{
    auto const another = make_implicit_strand(context.get_executor());
    asio::post(context, [&] { said += own.running_in_this_thread() ? "inside " : "outside "; });
    asio::post(another, [&] { said += own.running_in_this_thread() ? "inside" : "outside"; });
    context.run();
    BOOST_TEST(said == "outside outside");
    BOOST_TEST((own != another));
    BOOST_TEST((own == redlock::detail::implicit_strand_of_io_context{own}));
}

BOOST_FIXTURE_TEST_CASE(other_threads_are_not_in_it_even_while_somebody_is, strand_fixture)
{
    asio::post(strand, [&] { std::thread{[&] { said = own.running_in_this_thread() ? "inside" : "outside"; }}.join(); });
    context.run();
    BOOST_TEST(said == "outside");
}

BOOST_FIXTURE_TEST_CASE(who_dispatches_from_its_thread_goes_on_there_and_who_posts_does_not, strand_fixture)
{
    asio::post(context, [&] {
        said += '1';
        asio::dispatch(strand, [&] {
            said += own.running_in_this_thread() ? '2' : 'x';
            asio::post(strand, [&] { said += '5'; });
            asio::dispatch(strand, [&] { said += own.running_in_this_thread() ? '3' : 'x'; });
        });
        said += own.running_in_this_thread() ? 'x' : '4';
    });
    context.run();
    BOOST_TEST(said == "12345");
}

BOOST_FIXTURE_TEST_CASE(what_throws_has_left_it, strand_fixture)
{
    asio::post(strand, [] { throw std::runtime_error{"of the caller"}; });
    BOOST_CHECK_THROW(context.run(), std::runtime_error);
    asio::post(context, [&] { said = own.running_in_this_thread() ? "inside" : "outside"; });
    context.restart();
    context.run();
    BOOST_TEST(said == "outside");
}

BOOST_FIXTURE_TEST_CASE(timers_come_back_to_it, strand_fixture)
{
    asio::steady_timer timer{strand};
    timer.async_wait(
        [&](boost::system::error_code ec) { said = ec == asio::error::operation_aborted && own.running_in_this_thread() ? "yes" : "no"; });
    timer.cancel();
    context.run();
    BOOST_TEST(said == "yes");
}

BOOST_FIXTURE_TEST_CASE(it_keeps_its_context_running_where_that_is_wanted, strand_fixture)
{
    auto work = asio::prefer(strand, asio::execution::outstanding_work.tracked);
    asio::post(context, [&] { work = {}; });
    BOOST_TEST(context.run() == 1u);  // and comes back
    BOOST_TEST((&asio::query(strand, asio::execution::context) == &context));
}

BOOST_AUTO_TEST_CASE(what_outlives_the_handlers_of_a_context_may_still_have_it)
{
    asio::any_io_executor kept;
    auto context = std::make_unique<asio::io_context>();
    kept = make_client_strand(context->get_executor(), true);
    asio::post(kept, [kept] {});
    context.reset();
}

BOOST_AUTO_TEST_CASE(a_client_has_one_where_that_is_promised)
{
    asio::io_context context;
    asio::thread_pool pool{1};
    BOOST_TEST(make_client_strand(context.get_executor(), true).target<redlock::detail::implicit_strand_of_io_context>());
    BOOST_TEST(make_client_strand(context.get_executor()).target<redlock::detail::strand_of_io_context>());
    BOOST_TEST((make_client_strand(pool.get_executor(), true) == pool.get_executor()));
    pool.join();
}

BOOST_AUTO_TEST_CASE(a_strand_is_a_clients_strand_without_a_promise)
{
    asio::io_context context;
    asio::thread_pool pool{1};
    asio::any_io_executor const any{pool.get_executor()};
    for (asio::any_io_executor const& of : {asio::any_io_executor{asio::make_strand(context)},
                                            asio::any_io_executor{asio::make_strand(pool)}, asio::any_io_executor{asio::make_strand(any)}})
        BOOST_TEST((make_client_strand(of) == of));
    BOOST_TEST((make_client_strand(any) != any));
    pool.join();
}

BOOST_AUTO_TEST_CASE(beneath_it_is_the_context_and_beneath_others_themselves)
{
    using redlock::detail::inner_executor;
    asio::io_context context;
    BOOST_TEST((inner_executor(make_client_strand(context.get_executor(), true)) == asio::any_io_executor{context.get_executor()}));
    auto const real = make_client_strand(context.get_executor());
    BOOST_TEST((inner_executor(real) == real));
}

BOOST_AUTO_TEST_SUITE_END()
