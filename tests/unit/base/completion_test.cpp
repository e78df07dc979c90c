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

#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

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

// A client's context, another one, and a handler there.
struct two_contexts {
    template <class Token>
    kept_completion of_the_other(Token token)
    {
        return kept_completion{std::move(token), clients.get_executor()};
    }
    auto handler()
    {
        return asio::bind_executor(*other, [this, keep = part](error_code) { ++calls; });
    }

    std::shared_ptr<int> part = std::make_shared<int>();
    int calls{0};
    asio::io_context clients;
    std::optional<asio::io_context> other{std::in_place};
};

BOOST_FIXTURE_TEST_CASE(a_handler_of_another_context_keeps_it_running_and_is_called_there, two_contexts)
{
    auto done = of_the_other(handler());
    other->poll();
    BOOST_TEST(!other->stopped());
    BOOST_TEST(clients.run() == 0u);
    done(error_code{});
    BOOST_TEST(!done);
    BOOST_TEST(calls == 0);
    other->run();
    BOOST_TEST(calls == 1);
    BOOST_TEST(part.use_count() == 1);
}

BOOST_FIXTURE_TEST_CASE(a_handler_of_another_context_goes_with_it, two_contexts)
{
    auto done = of_the_other(handler());
    auto dropped = of_the_other(asio::bind_executor(asio::make_strand(*other), [this, keep = part](error_code) { ++calls; }));
    bool reached = false;
    done.while_awaited([&] { reached = true; });
    BOOST_TEST(reached);
    BOOST_TEST(part.use_count() == 3);
    other.reset();
    BOOST_TEST(part.use_count() == 1);
    done.while_awaited([&] { BOOST_ERROR("its caller is gone"); });
    done(error_code{});
    clients.run();
    BOOST_TEST(calls == 0);
}

// It is called by way of the client's executor.
BOOST_FIXTURE_TEST_CASE(a_handler_of_an_erased_type_goes_with_its_context_at_any_moment, two_contexts)
{
    using erased = asio::any_completion_handler<void(error_code)>;
    auto waiting = of_the_other(erased{handler()});
    auto on_its_way = of_the_other(erased{handler()});
    auto called = of_the_other(erased{handler()});
    called(error_code{});
    BOOST_TEST(clients.run_one() == 1u);
    other->poll();
    BOOST_TEST(calls == 1);
    on_its_way(error_code{});
    other.reset();
    BOOST_TEST(part.use_count() == 1);
    waiting(error_code{});
    clients.run();
    BOOST_TEST(calls == 1);
}

BOOST_FIXTURE_TEST_CASE(an_operation_that_a_handler_begins_while_its_context_goes_is_dropped, two_contexts)
{
    kept_completion late;
    struct begins_another {
        two_contexts* in;
        kept_completion* late;
        asio::io_context::executor_type executor;
        begins_another(two_contexts* i, kept_completion* l) : in{i}, late{l}, executor{i->other->get_executor()} {}
        begins_another(begins_another&& from) noexcept : in{std::exchange(from.in, nullptr)}, late{from.late}, executor{from.executor} {}
        ~begins_another()
        {
            if (in) *late = in->of_the_other(asio::bind_executor(executor, [keep = in->part](error_code) { BOOST_ERROR("called"); }));
        }
        void operator()(error_code) const { BOOST_ERROR("called"); }
    };
    auto first = of_the_other(asio::bind_executor(*other, begins_another{this, &late}));
    other.reset();
    BOOST_TEST(!!late);
    BOOST_TEST(part.use_count() == 1);
    BOOST_TEST(!late.slot().is_connected());
    late(error_code{});
    clients.run();
}

BOOST_AUTO_TEST_CASE(a_handler_may_own_its_context)
{
    asio::io_context clients;
    auto const part = std::make_shared<int>();
    {
        auto other = std::make_shared<asio::io_context>();
        auto& context = *other;
        auto handler = asio::bind_executor(context, [other = std::move(other), keep = std::shared_ptr<int>{part}](error_code) {});
        kept_completion const dropped{std::move(handler), clients.get_executor()};
        BOOST_TEST(part.use_count() == 2);
    }
    BOOST_TEST(part.use_count() == 1);
}

// The client's thread completes what the other thread destroys.
BOOST_AUTO_TEST_CASE(a_context_may_go_at_the_moment_of_the_call)
{
    asio::io_context clients;
    std::atomic<int> kept{0};
    struct counted {
        explicit counted(std::atomic<int>& c) : count{&c} { ++c; }
        counted(counted&& from) noexcept : count{std::exchange(from.count, nullptr)} {}
        ~counted()
        {
            if (count) --*count;
        }
        std::atomic<int>* count;
    };
    for (int round = 0; round < 1'000; ++round) {
        auto context = std::make_unique<asio::io_context>();
        std::vector<kept_completion> all;
        for (int i = 0; i < 10; ++i)
            all.emplace_back(asio::bind_executor(*context, [one = counted{kept}](error_code) { BOOST_ERROR("called"); }),
                             clients.get_executor());
        std::atomic<bool> go{false};
        std::jthread const completes{[&] {
            while (!go) std::this_thread::yield();
            for (kept_completion& each : all) each(error_code{});
        }};
        go = true;
        context.reset();
    }
    BOOST_TEST(kept == 0);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::detail
