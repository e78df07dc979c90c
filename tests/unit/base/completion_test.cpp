// A handler, its executor and its arguments, until it is called or dropped.
#include <redlock/detail/completion.hpp>
#include <redlock/error.hpp>

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/bind_allocator.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/test/unit_test.hpp>

#include <cstddef>
#include <memory>
#include <utility>

namespace redlock::detail {

namespace {

using kept_completion = completion<error_code>;

// Counts its blocks.
template <class T>
struct counting_memory {
    using value_type = T;

    explicit counting_memory(int& count) : blocks{&count} {}
    template <class U>
    counting_memory(counting_memory<U> const& other) : blocks{other.blocks}
    {
    }

    T* allocate(std::size_t n)
    {
        ++*blocks;
        return std::allocator<T>{}.allocate(n);
    }
    void deallocate(T* what, std::size_t n)
    {
        --*blocks;
        std::allocator<T>{}.deallocate(what, n);
    }

    template <class U>
    bool operator==(counting_memory<U> const& other) const
    {
        return blocks == other.blocks;
    }

    int* blocks;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(completions)

BOOST_AUTO_TEST_CASE(a_handler_is_kept_in_the_memory_that_it_names_and_that_is_free_again_when_it_is_called)
{
    asio::io_context io;
    int blocks = 0;
    int at_the_call = -1;
    kept_completion done{asio::bind_allocator(counting_memory<void>{blocks}, [&](error_code) { at_the_call = blocks; }), io.get_executor()};
    BOOST_TEST(blocks == 1);
    done(error_code{});
    BOOST_TEST(blocks == 1);
    io.run();
    BOOST_TEST(at_the_call == 0);
}

BOOST_AUTO_TEST_CASE(a_handler_that_is_dropped_is_destroyed_and_not_called)
{
    asio::io_context io;
    auto const part = std::make_shared<int>();
    {
        kept_completion const dropped{[part](error_code) { BOOST_ERROR("called"); }, io.get_executor()};
        BOOST_TEST(part.use_count() == 2);
    }
    BOOST_TEST(part.use_count() == 1);
    BOOST_TEST(io.run() == 0u);
}

BOOST_AUTO_TEST_CASE(a_context_runs_until_the_handler_was_called)
{
    asio::io_context io;
    bool called = false;
    kept_completion first{[&](error_code) { called = true; }, io.get_executor()};
    kept_completion done{std::move(first)};
    BOOST_TEST(!first);
    io.poll();
    BOOST_TEST(!io.stopped());
    done(error_code{});
    BOOST_TEST(!done);
    BOOST_TEST(!called, "never from inside the call that completes it");
    io.run();
    BOOST_TEST(called);
}

BOOST_AUTO_TEST_CASE(a_handler_of_an_erased_type_is_called_on_its_own_executor)
{
    asio::io_context io;
    auto const strand = asio::make_strand(io);
    bool there = false;
    asio::any_completion_handler<void(error_code)> handler{
        asio::bind_executor(strand, [&](error_code) { there = strand.running_in_this_thread(); })};
    kept_completion{std::move(handler), io.get_executor()}(error_code{});
    io.run();
    BOOST_TEST(there);
}

BOOST_AUTO_TEST_CASE(a_handler_of_a_thread_pool_is_called_there)
{
    asio::thread_pool pool{1};
    bool there = false;
    kept_completion{[&](error_code) { there = pool.get_executor().running_in_this_thread(); }, pool.get_executor()}(error_code{});
    pool.join();
    BOOST_TEST(there);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::detail
