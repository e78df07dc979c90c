// Completions that go to their io_context together.
#include <redlock/detail/completion.hpp>
#include <redlock/detail/completion_batch.hpp>
#include <redlock/error.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/test/unit_test.hpp>

#include <memory>
#include <optional>
#include <stdexcept>
#include <vector>

namespace redlock::detail {

namespace {

using plain = completion<error_code>;

struct batch_world {
    std::optional<asio::io_context> io{1};
    std::vector<int> called;

    plain noting(int number)
    {
        return plain{[this, number](error_code) { called.push_back(number); }, io->get_executor()};
    }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(batches_of_completions, batch_world)

BOOST_AUTO_TEST_CASE(they_are_one_handler_in_their_order)
{
    {
        completion_batch const together{&*io};
        for (int i = 0; i < 3; ++i) noting(i)(error_code{});
        BOOST_TEST(called.empty(), "never from inside the call that completes them");
    }
    BOOST_TEST(io->run_one() == 1u);
    std::vector<int> const all{0, 1, 2};
    BOOST_TEST(called == all, boost::test_tools::per_element());
    BOOST_TEST(io->run() == 0u);
}

// As handlers of its own that each would have waited in the queue of the context.
BOOST_AUTO_TEST_CASE(those_after_a_stop_wait_until_the_context_goes_on)
{
    {
        completion_batch const together{&*io};
        noting(0)(error_code{});
        plain{[this](error_code) { io->stop(); }, io->get_executor()}(error_code{});
        noting(2)(error_code{});
    }
    BOOST_TEST(io->run() == 1u);
    BOOST_TEST(called == std::vector<int>{0}, boost::test_tools::per_element());
    io->restart();
    BOOST_TEST(io->run() == 1u);
    std::vector<int> const all{0, 2};
    BOOST_TEST(called == all, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(without_a_batch_each_is_one)
{
    {
        completion_batch const none{nullptr};
        for (int i = 0; i < 3; ++i) noting(i)(error_code{});
    }
    BOOST_TEST(io->run() == 3u);
}

BOOST_AUTO_TEST_CASE(an_inner_batch_belongs_to_the_outer_one)
{
    {
        completion_batch const outer{&*io};
        noting(0)(error_code{});
        {
            completion_batch const inner{&*io};
            noting(1)(error_code{});
        }
        noting(2)(error_code{});
    }
    BOOST_TEST(io->run() == 1u);
    std::vector<int> const all{0, 1, 2};
    BOOST_TEST(called == all, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(another_context_is_not_concerned)
{
    asio::io_context other{1};
    {
        completion_batch const together{&*io};
        plain{[this](error_code) { called.push_back(7); }, other.get_executor()}(error_code{});
        BOOST_TEST(other.poll() == 1u);
    }
    BOOST_TEST(io->run() == 0u);
    BOOST_TEST(called.size() == 1u);
}

BOOST_AUTO_TEST_CASE(what_one_throws_leaves_and_the_others_are_called)
{
    {
        completion_batch const together{&*io};
        noting(0)(error_code{});
        plain{[](error_code) { throw std::runtime_error{"thrown"}; }, io->get_executor()}(error_code{});
        noting(2)(error_code{});
    }
    BOOST_CHECK_THROW(io->run(), std::runtime_error);
    BOOST_TEST(called.size() == 1u);
    io->run();
    std::vector<int> const all{0, 2};
    BOOST_TEST(called == all, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(what_is_completed_in_one_comes_later)
{
    {
        completion_batch const together{&*io};
        plain{[this](error_code) {
                  called.push_back(0);
                  noting(9)(error_code{});
              },
              io->get_executor()}(error_code{});
        noting(1)(error_code{});
    }
    io->run();
    std::vector<int> const all{0, 1, 9};
    BOOST_TEST(called == all, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_context_that_is_destroyed_destroys_them_uncalled)
{
    auto const alive = std::make_shared<int>(0);
    {
        completion_batch const together{&*io};
        for (int i = 0; i < 3; ++i) plain{[this, alive](error_code) { called.push_back(0); }, io->get_executor()}(error_code{});
    }
    BOOST_TEST(alive.use_count() == 4);
    io.reset();
    BOOST_TEST(alive.use_count() == 1);
    BOOST_TEST(called.empty());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::detail
