#include <redlock/acquire_error.hpp>
#include <redlock/attempt_report.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <iomanip>
#include <locale>
#include <sstream>

namespace redlock {

namespace {

using namespace std::chrono_literals;

attempt_report contended_report()
{
    attempt_report report;
    report.outcome = errc::contended;
    report.attempts = 3;
    report.elapsed = 45'678us;
    report.nodes = {
        {.node = "10.0.0.1:6379", .vote = vote::granted, .error = {}, .detail = {}, .answered_after = 412us},
        {.node = "10.0.0.11:6379", .vote = vote::refused, .error = {}, .detail = {}, .answered_after = 1'002us},
        {.node = "[::1]:7000",
         .vote = vote::failed,
         .error = errc::server_error,
         .detail = "LOADING Redis is loading the dataset in memory",
         .answered_after = 5us},
    };
    return report;
}

template <class T>
std::string printed(T const& value)
{
    std::ostringstream out;
    out << value;
    return out.str();
}

struct decimal_comma : std::numpunct<char> {
    char do_decimal_point() const override { return ','; }
    char do_thousands_sep() const override { return '.'; }
    std::string do_grouping() const override { return "\3"; }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(report)

BOOST_AUTO_TEST_CASE(the_first_failure_is_a_sentence)
{
    BOOST_TEST(first_failure(contended_report()) ==
               "[::1]:7000: the server answered with an error [LOADING Redis is loading the dataset in memory]");
    attempt_report report;
    BOOST_TEST(first_failure(report) == "");
    report.nodes.resize(2);
    report.nodes[0] = {.node = "a:1", .vote = vote::granted, .error = {}, .detail = {}, .answered_after = 5us};
    report.nodes[1].node = "b:2";
    BOOST_TEST(first_failure(report) == "b:2: no answer");
}

BOOST_AUTO_TEST_CASE(what_was_not_acquired_says_of_which_lock_and_why)
{
    acquire_error const taken{errc::acquire_timed_out, "order:17", contended_report()};
    BOOST_TEST(taken.what() == std::string{"order:17: the lock was not acquired in time: it is contended"});
    acquire_error const outage{errc::acquire_timed_out_no_majority, "order:17", contended_report()};
    BOOST_TEST(outage.what() == std::string{"order:17: the lock was not acquired in time: too few nodes voted to know who "
                                            "holds it; [::1]:7000: the server answered with an error [LOADING Redis is loading the dataset "
                                            "in memory]"});
    auto const copy = outage;
    BOOST_TEST(copy.what() == std::string{outage.what()});
    BOOST_TEST(copy.last_attempt().attempts == 3u);
    BOOST_TEST((copy.code() == condition::unavailable));
}

BOOST_AUTO_TEST_CASE(one_line_for_the_outcome_and_one_for_each_node)
{
    BOOST_TEST(printed(contended_report()) ==
               "another holder has the lock (3 attempts, 45.678 ms)\n"
               "  10.0.0.1:6379   granted  after 0.412 ms\n"
               "  10.0.0.11:6379  refused  after 1.002 ms\n"
               "  [::1]:7000      failed   after 0.005 ms: the server answered with an error [LOADING Redis is loading the "
               "dataset in memory]");
}

BOOST_AUTO_TEST_CASE(a_success_says_so)
{
    attempt_report report;
    report.attempts = 1;
    report.elapsed = 1ms;
    BOOST_TEST(printed(report) == "acquired (1 attempt, 1.000 ms)");
}

BOOST_AUTO_TEST_CASE(a_node_that_was_silent_has_no_time)
{
    attempt_report report;
    report.outcome = errc::no_majority;
    report.nodes = {{.node = "a:1", .vote = vote::failed, .error = errc::node_timeout, .detail = {}, .answered_after = {}},
                    {.node = "b:1", .vote = vote::pending, .error = {}, .detail = {}, .answered_after = {}}};
    BOOST_TEST(printed(report) == "too few nodes voted to know who holds the lock (0 attempts, 0.000 ms)\n"
                                  "  a:1  failed   no answer: the node did not answer in time\n"
                                  "  b:1  pending  decided without it");
}

BOOST_AUTO_TEST_CASE(an_operation_that_ended_before_its_first_attempt_acquired_nothing)
{
    BOOST_TEST(printed(attempt_report{}) == "not tried (0 attempts, 0.000 ms)");
}

BOOST_AUTO_TEST_CASE(what_was_asked_for_is_said_of_readers)
{
    attempt_report report;
    report.mode = lock_mode::shared;
    BOOST_TEST(printed(report) == "not tried (shared; 0 attempts, 0.000 ms)");
}

BOOST_AUTO_TEST_CASE(a_server_cannot_break_the_log_into_lines)
{
    attempt_report report = contended_report();
    report.nodes.resize(1);
    report.nodes[0].detail = "ERR bad\r\nINFO all is well\x1b[2J";
    std::string const text = printed(report);
    BOOST_TEST(std::count(text.begin(), text.end(), '\n') == 1);
    BOOST_TEST(text.find('\x1b') == std::string::npos);
    BOOST_TEST(text.find("ERR bad  INFO all is well [2J") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(the_text_does_not_depend_on_the_state_of_the_stream)
{
    std::ostringstream out;
    out.imbue(std::locale{out.getloc(), new decimal_comma});
    out << std::hex << std::scientific << std::setprecision(1);
    attempt_report report = contended_report();
    report.attempts = 1'234;
    report.elapsed = 1'234'567us;
    out << report;
    BOOST_TEST(out.str().starts_with("another holder has the lock (1234 attempts, 1234.567 ms)\n"), out.str());
}

BOOST_AUTO_TEST_CASE(votes_have_names)
{
    BOOST_TEST(printed(vote::pending) == "pending");
    BOOST_TEST(printed(vote::granted) == "granted");
    BOOST_TEST(printed(vote::refused) == "refused");
    BOOST_TEST(printed(vote::failed) == "failed");
    BOOST_TEST(to_string(vote::failed) == std::string{"failed"});
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock
