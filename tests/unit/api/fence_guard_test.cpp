// Also run under ThreadSanitizer.
#include <redlock/fence_guard.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace redlock {

namespace {

constexpr std::uint64_t threads = 4;
constexpr std::uint64_t tokens = 2'000;

bool is_stale(system_error const& e) { return e.code() == errc::stale_token; }

// A name that is forgotten, by two, while a writer is inside and another one comes. Who waits for the first writer when he leaves goes on in an
// order that nobody decides, so rounds are played until enough of them had the order that matters: the name is forgotten, the other writer
// comes in, then the rest go on.
class forgotten_meanwhile {
public:
    static constexpr int enough = 20;

    // The rest: what one more thread does that waits for the first writer. `while_inside(went_on)` is called by the writer of 34, who came in after
    // the name was forgotten: whether the rest went on while he was inside.
    template <class Rest, class WhileInside>
    void round(Rest rest, WhileInside while_inside)
    {
        std::atomic<int> coming{0};
        std::atomic<bool> went_on{false};
        std::vector<std::thread> who_wait;
        guard.run("r", 1, [&] {
            who_wait.emplace_back([&] {
                ++coming;
                guard.forget("r");
            });
            who_wait.emplace_back([&] {
                ++coming;
                rest();
                went_on = true;
            });
            while (coming < 2) std::this_thread::yield();
            std::this_thread::sleep_for(std::chrono::milliseconds{1});  // most of the time, both wait then
        });
        while (guard.size() != 0 && !went_on) std::this_thread::yield();
        guard.run("r", 34, [&] {
            inside = true;
            for (auto const end = std::chrono::steady_clock::now() + std::chrono::milliseconds{20};
                 !went_on && std::chrono::steady_clock::now() < end;)
                std::this_thread::yield();
            while_inside(went_on.load());
            inside = false;
        });
        for (auto& t : who_wait) t.join();
    }

    fence_guard guard;
    std::atomic<bool> inside{false};  // the writer of 34
};

}  // namespace

BOOST_AUTO_TEST_SUITE(fence_guards)

BOOST_AUTO_TEST_CASE(a_smaller_token_is_refused)
{
    fence guard;
    BOOST_TEST(guard.highest() == 0u);
    BOOST_TEST(guard.admit(33));
    BOOST_TEST(guard.admit(34));
    BOOST_TEST(!guard.admit(33));
    BOOST_TEST(guard.highest() == 34u);
}

BOOST_AUTO_TEST_CASE(the_same_holder_may_write_again)
{
    fence guard;
    BOOST_TEST(guard.admit(33));
    BOOST_TEST(guard.admit(33));
}

BOOST_AUTO_TEST_CASE(no_token_is_no_admission)
{
    fence one;
    fence_guard many;
    BOOST_TEST(!one.admit(0));
    BOOST_TEST(!many.admit("r", 0));
    BOOST_CHECK_EXCEPTION(one.run(0, [] {}), system_error, is_stale);
    BOOST_CHECK_EXCEPTION(many.run("r", 0, [] {}), system_error, is_stale);
    BOOST_TEST(many.size() == 0u);
}

BOOST_AUTO_TEST_CASE(a_stale_write_does_not_run)
{
    fence guard;
    std::string text = "nothing";
    guard.run(34, [&] { text = "new"; });
    BOOST_CHECK_EXCEPTION(guard.run(33, [&] { text = "old"; }), system_error, is_stale);
    BOOST_TEST(text == "new");
}

BOOST_AUTO_TEST_CASE(a_run_returns_what_the_function_returns)
{
    fence one;
    fence_guard many;
    int value = 7;
    int& same = one.run(1, [&]() -> int& { return value; });
    BOOST_TEST(&same == &value);
    BOOST_TEST(many.run("r", 1, [] { return std::string{"done"}; }) == "done");
}

BOOST_AUTO_TEST_CASE(the_token_of_a_write_that_failed_counts)
{
    fence_guard guard;
    auto const fail = [] { throw std::runtime_error{"disk full"}; };
    BOOST_CHECK_THROW(guard.run("r", 34, fail), std::runtime_error);
    BOOST_TEST(!guard.admit("r", 33));
    BOOST_TEST(guard.admit("r", 34));
}

BOOST_AUTO_TEST_CASE(readers_share_a_token_and_do_not_refuse_each_other)
{
    fence guard;
    BOOST_TEST(guard.admit(10));
    BOOST_TEST(guard.admit_shared(11));
    BOOST_TEST(guard.admit_shared(11));
    BOOST_TEST(guard.admit_shared(12));  // of another group that began later, and overlaps
    BOOST_TEST(guard.admit_shared(11));
    BOOST_TEST(guard.highest() == 12u);
    BOOST_TEST(!guard.admit_shared(9));
    BOOST_TEST(!guard.admit_shared(0));
}

BOOST_AUTO_TEST_CASE(a_late_writer_is_refused_after_a_reader_and_a_late_reader_after_a_writer)
{
    fence_guard guard;
    int value = 0;
    guard.run("r", 10, [&] { value = 10; });
    BOOST_TEST(guard.run_shared("r", 11, [&] { return value; }) == 10);
    BOOST_CHECK_EXCEPTION(guard.run("r", 10, [&] { value = -1; }), system_error, is_stale);
    BOOST_CHECK_EXCEPTION(guard.run("r", 11, [&] { value = -1; }), system_error, is_stale);  // no writer has a reader's token
    BOOST_TEST(guard.admit_shared("r", 11));
    guard.run("r", 20, [&] { value = 20; });
    BOOST_CHECK_EXCEPTION(guard.run_shared("r", 11, [&] { return value; }), system_error, is_stale);
    BOOST_TEST(!guard.admit_shared("r", 19));
    BOOST_TEST(guard.highest("r") == 20u);
}

BOOST_AUTO_TEST_CASE(a_lease_that_was_downgraded_reads_with_its_token_and_writes_no_more)
{
    fence guard;
    BOOST_TEST(guard.admit(10));
    BOOST_TEST(guard.admit_shared(10));
    BOOST_TEST(!guard.admit(10));
    BOOST_TEST(guard.admit(11));
}

BOOST_AUTO_TEST_CASE(the_error_names_the_resource)
{
    fence_guard guard;
    BOOST_TEST(guard.admit("orders:42", 34));
    auto const names_it = [](system_error const& e) { return is_stale(e) && std::string{e.what()}.find("orders:42") != std::string::npos; };
    BOOST_CHECK_EXCEPTION(guard.run("orders:42", 33, [] {}), system_error, names_it);
}

BOOST_AUTO_TEST_CASE(names_are_on_their_own)
{
    fence_guard guard;
    BOOST_TEST(guard.admit("a", 34));
    BOOST_TEST(guard.admit("b", 1));
    BOOST_TEST(!guard.admit("a", 33));
    BOOST_TEST(guard.highest("a") == 34u);
    BOOST_TEST(guard.highest("b") == 1u);
    BOOST_TEST(guard.highest("c") == 0u);
    BOOST_TEST(guard.size() == 2u);
}

BOOST_AUTO_TEST_CASE(one_name_may_be_used_under_another)
{
    fence_guard guard;
    bool const inner = guard.run("a", 1, [&] { return guard.admit("b", 1); });
    BOOST_TEST(inner);
}

BOOST_AUTO_TEST_CASE(what_is_forgotten_begins_anew)
{
    fence_guard guard;
    BOOST_TEST(guard.admit("r", 34));
    guard.forget("r");
    guard.forget("r");
    BOOST_TEST(guard.size() == 0u);
    BOOST_TEST(guard.highest("r") == 0u);
    BOOST_TEST(guard.admit("r", 33));
}

BOOST_AUTO_TEST_CASE(a_coroutine_is_no_fenced_write)
{
    using coroutine = boost::asio::awaitable<void> (*)();
    BOOST_TEST(!detail::fenced_write<coroutine>);
    BOOST_TEST(detail::fenced_write<void (*)()>);
    BOOST_TEST(detail::fenced_write<std::string& (*)()>);
}

// Every thread offers every token in its own order; what is written must be in the order of the tokens.
BOOST_AUTO_TEST_CASE(writes_of_many_threads_are_in_the_order_of_their_tokens)
{
    fence_guard guard;
    std::vector<std::uint64_t> written;  // has no mutex of its own
    std::vector<std::thread> writers;
    for (std::uint64_t t = 0; t < threads; ++t)
        writers.emplace_back([&, t] {
            for (std::uint64_t token = 1 + t; token <= tokens; token += threads) {
                try {
                    guard.run("r", token, [&] { written.push_back(token); });
                } catch (system_error const&) {  // it was overtaken
                }
            }
        });
    for (auto& w : writers) w.join();
    BOOST_TEST(std::is_sorted(written.begin(), written.end()));
    BOOST_TEST(!written.empty());
    BOOST_TEST(guard.highest("r") == tokens);
}

// A name that is forgotten all the time still has one writer at a time: nobody goes on with what was forgotten.
BOOST_AUTO_TEST_CASE(forgetting_does_not_let_two_writers_in)
{
    fence_guard guard;
    std::uint64_t writes = 0;  // has no mutex of its own
    std::atomic<int> inside{0};
    std::atomic<int> most_inside{0};
    std::vector<std::thread> writers;
    for (std::uint64_t t = 0; t < threads; ++t)
        writers.emplace_back([&] {
            for (std::uint64_t i = 0; i < tokens; ++i) {
                guard.run("r", 1, [&] {
                    most_inside = std::max(most_inside.load(), ++inside);
                    ++writes;
                    --inside;
                });
                guard.forget("r");
            }
        });
    for (auto& w : writers) w.join();
    BOOST_TEST(most_inside == 1);
    BOOST_TEST(writes == threads * tokens);
    BOOST_TEST(guard.size() == 0u);
}

// Whoever comes late to forget what another has forgotten leaves what was remembered since.
BOOST_AUTO_TEST_CASE(a_name_that_was_forgotten_is_not_forgotten_again_under_its_next_writer)
{
    for (int seen = 0; seen < forgotten_meanwhile::enough;) {
        forgotten_meanwhile story;
        bool before = false;
        story.round([&] { story.guard.forget("r"); },
                    [&](bool went_on) {
                        before = went_on;
                        if (went_on) BOOST_TEST_REQUIRE(story.guard.size() == 1u);
                    });
        if (!before) continue;  // the second forget() came after 34, and forgot that
        ++seen;
        BOOST_TEST_REQUIRE(story.guard.highest("r") == 34u);
        BOOST_TEST_REQUIRE(!story.guard.admit("r", 33));
    }
}

// A writer who waited for what is forgotten meanwhile is held against what is remembered now.
BOOST_AUTO_TEST_CASE(a_writer_does_not_go_on_in_what_was_forgotten)
{
    for (int seen = 0; seen < forgotten_meanwhile::enough;) {
        forgotten_meanwhile story;
        std::atomic<bool> wrote{false};
        std::atomic<bool> refused{false};
        bool beside = false;
        auto const write = [&] {
            try {
                story.guard.run("r", 33, [&] {
                    if (story.inside) beside = true;
                    wrote = true;
                });
            } catch (system_error const& e) {
                refused = is_stale(e);
            }
        };
        story.round(write, [](bool) {});
        BOOST_TEST_REQUIRE(!beside);
        BOOST_TEST_REQUIRE(wrote != refused);
        if (wrote) continue;  // it was the first to go on
        ++seen;
        BOOST_TEST_REQUIRE(story.guard.highest("r") == 34u);
    }
}

BOOST_AUTO_TEST_CASE(to_forget_waits_for_the_write_under_way)
{
    fence_guard guard;
    std::atomic<bool> inside{false};
    std::atomic<bool> forgetting{false};
    bool finished = false;
    std::thread writer{[&] {
        guard.run("r", 1, [&] {
            inside = true;
            inside.notify_one();
            forgetting.wait(false);
            finished = true;
        });
    }};
    inside.wait(false);
    forgetting = true;
    forgetting.notify_one();
    guard.forget("r");
    BOOST_TEST(finished);
    writer.join();
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock
