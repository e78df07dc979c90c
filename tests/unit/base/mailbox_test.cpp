// In which order tasks of several threads are done, and what happens to those behind an exception.
#include "base/mailbox.hpp"

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>

namespace {

using redlock::detail::mailbox;
using redlock::detail::task;

struct mailbox_fixture {
    mailbox box;
    std::string done;
    int opened_again{0};

    task named(char which)
    {
        return task{[this, which] { done += which; }};
    }
    bool put_elsewhere(char which)
    {
        bool result = false;
        std::thread{[&] { result = box.put(named(which)); }}.join();
        return result;
    }
    void open()
    {
        box.open([] { return redlock::boot_clock::time_point{std::chrono::hours{1}}; }, [this] { ++opened_again; });
    }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(mailbox_of_tasks, mailbox_fixture)

BOOST_AUTO_TEST_CASE(only_the_first_task_asks_for_somebody_who_opens_it)
{
    BOOST_TEST(box.put_here(named('a')));
    BOOST_TEST(!box.put_here(named('b')));
    BOOST_TEST(!put_elsewhere('c'));
    BOOST_TEST(box.is_expected());
    open();
    BOOST_TEST(!box.is_expected());
    BOOST_TEST(opened_again == 0);
    BOOST_TEST(put_elsewhere('d'));
    BOOST_TEST(!box.put_here(named('e')));
}

BOOST_AUTO_TEST_CASE(tasks_of_all_threads_are_done_in_the_order_in_which_they_came)
{
    box.put_here(named('a'));
    put_elsewhere('b');
    box.put_here(named('c'));
    put_elsewhere('d');
    open();
    BOOST_TEST(done == "abcd");
    box.put_here(named('e'));
    put_elsewhere('f');
    open();
    BOOST_TEST(done == "abcdef");
}

BOOST_AUTO_TEST_CASE(a_task_that_comes_meanwhile_waits_for_the_next_opening)
{
    box.put_here(task{[this] {
        done += 'a';
        BOOST_TEST(!box.put_here(named('c')));
    }});
    box.put_here(named('b'));
    open();
    BOOST_TEST(done == "ab");
    BOOST_TEST(opened_again == 1);
    open();
    BOOST_TEST(done == "abc");
    BOOST_TEST(opened_again == 1);
}

BOOST_AUTO_TEST_CASE(tasks_behind_an_exception_stay_in_front_of_those_that_came_meanwhile)
{
    box.put_here(task{[this] {
        box.put_here(named('c'));
        put_elsewhere('d');
        throw std::runtime_error{"a task failed"};
    }});
    box.put_here(named('b'));
    BOOST_CHECK_THROW(open(), std::runtime_error);
    BOOST_TEST(opened_again == 1);
    BOOST_TEST(!box.put_here(named('e')));
    open();
    BOOST_TEST(done == "bcde");
}

BOOST_AUTO_TEST_CASE(what_is_cleared_is_never_done)
{
    box.put_here(named('a'));
    put_elsewhere('b');
    box.clear();
    open();
    BOOST_TEST(done == "");
}

BOOST_AUTO_TEST_SUITE_END()
