#include <redlock/error.hpp>
#include <redlock/status.hpp>

#include <boost/asio/error.hpp>
#include <boost/test/unit_test.hpp>

#include <set>
#include <string>
#include <system_error>
#include <vector>

namespace redlock {

namespace {

std::vector<errc> const all_codes{
    errc::contended,
    errc::split_votes,
    errc::no_majority,
    errc::validity_exhausted,
    errc::acquire_timed_out,
    errc::lease_lost,
    errc::max_hold_exceeded,
    errc::not_held,
    errc::release_unconfirmed,
    errc::client_cancelled,
    errc::stale_token,
    errc::node_unreachable,
    errc::node_timeout,
    errc::node_unsuitable,
    errc::node_duplicate,
    errc::node_not_admitted,
    errc::node_clock_stepped,
    errc::ttl_too_long,
    errc::node_queue_full,
    errc::handshake_refused,
    errc::not_a_redis_server,
    errc::server_error,
    errc::unexpected_reply,
    errc::not_durable,
    errc::tls_failed,
    errc::credentials_unavailable,
    errc::acquire_timed_out_no_majority,
    errc::client_not_running,
    errc::self_deadlock,
    errc::wrong_node_set,
};

std::vector<condition> const all_conditions{condition::not_acquired, condition::lost,      condition::node_failure, condition::contended,
                                            condition::unavailable,  condition::timed_out, condition::unconfirmed};

// Exactly these codes are in this group.
void check_group(condition group, std::set<errc> const& members)
{
    for (errc e : all_codes) {
        error_code const code = e;
        BOOST_TEST((code == group) == members.contains(e), code.message());
    }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(errors)

BOOST_AUTO_TEST_CASE(every_code_has_a_text_of_its_own)
{
    std::set<std::string> texts;
    for (errc e : all_codes) {
        std::string const text = make_error_code(e).message();
        BOOST_TEST(!text.empty());
        BOOST_TEST(text.find("unknown value") == std::string::npos);
        BOOST_TEST(texts.insert(text).second, "used twice: " << text);
    }
}

BOOST_AUTO_TEST_CASE(an_unknown_value_is_named_not_trusted)
{
    BOOST_TEST(error_category().message(4711) == "unknown value 4711 of redlock");
    BOOST_TEST(condition_category().message(-1) == "unknown value -1 of redlock.condition");
}

BOOST_AUTO_TEST_CASE(the_categories_have_names)
{
    BOOST_TEST(error_category().name() == std::string{"redlock"});
    BOOST_TEST(condition_category().name() == std::string{"redlock.condition"});
    BOOST_TEST((error_category() != condition_category()));
}

BOOST_AUTO_TEST_CASE(an_errc_converts_to_an_error_that_is_set)
{
    error_code const code = errc::contended;
    BOOST_TEST(code.failed());
    BOOST_TEST((code == errc::contended));
    BOOST_TEST((code != errc::no_majority));
    BOOST_TEST(code.value() == 1);
}

BOOST_AUTO_TEST_CASE(not_acquired_groups_the_outcomes_of_an_acquisition)
{
    check_group(condition::not_acquired, {errc::contended, errc::split_votes, errc::no_majority, errc::validity_exhausted,
                                          errc::acquire_timed_out, errc::acquire_timed_out_no_majority, errc::client_not_running,
                                          errc::self_deadlock, errc::ttl_too_long, errc::wrong_node_set});
}

BOOST_AUTO_TEST_CASE(what_is_not_acquired_is_contended_or_unavailable)
{
    check_group(condition::contended, {errc::contended, errc::split_votes, errc::acquire_timed_out});
    check_group(condition::unavailable,
                {errc::no_majority, errc::validity_exhausted, errc::acquire_timed_out_no_majority, errc::client_not_running});
    check_group(condition::timed_out, {errc::acquire_timed_out, errc::acquire_timed_out_no_majority});
    check_group(condition::unconfirmed, {errc::release_unconfirmed});
}

BOOST_AUTO_TEST_CASE(lost_groups_the_ends_of_a_lease)
{
    check_group(condition::lost, {errc::lease_lost, errc::max_hold_exceeded, errc::client_cancelled});
}

BOOST_AUTO_TEST_CASE(node_failure_groups_the_reasons_of_single_nodes)
{
    check_group(condition::node_failure, {errc::node_unreachable, errc::node_timeout, errc::node_unsuitable, errc::node_duplicate,
                                          errc::node_not_admitted, errc::node_clock_stepped, errc::ttl_too_long, errc::node_queue_full,
                                          errc::handshake_refused, errc::not_a_redis_server, errc::server_error, errc::unexpected_reply,
                                          errc::not_durable, errc::tls_failed, errc::credentials_unavailable, errc::wrong_node_set});
}

BOOST_AUTO_TEST_CASE(codes_of_others_are_in_no_group)
{
    // operation_aborted and friends have the same numbers in categories of their own.
    for (int value = 0; value < 130; ++value) {
        error_code const system{value, boost::system::system_category()};
        error_code const generic{value, boost::system::generic_category()};
        for (condition c : all_conditions) {
            BOOST_TEST((system != c));
            BOOST_TEST((generic != c));
        }
    }
    BOOST_TEST((error_code{boost::asio::error::operation_aborted} != condition::lost));
    BOOST_TEST((error_code{} != condition::not_acquired));
}

BOOST_AUTO_TEST_CASE(conditions_have_texts)
{
    std::set<std::string> texts;
    for (condition c : all_conditions) BOOST_TEST(texts.insert(make_error_condition(c).message()).second);
}

BOOST_AUTO_TEST_CASE(a_standard_error_code_keeps_category_and_group)
{
    std::error_code const code = error_code{errc::lease_lost};
    BOOST_TEST(code.message() == make_error_code(errc::lease_lost).message());
    BOOST_TEST((code == std::error_condition{make_error_condition(condition::lost)}));
    BOOST_TEST((code != std::error_condition{make_error_condition(condition::not_acquired)}));
}

BOOST_AUTO_TEST_CASE(a_thrown_error_says_what_happened)
{
    system_error const error{errc::node_timeout, "10.0.0.1:6379"};
    std::string const text = error.what();
    BOOST_TEST(text.find("10.0.0.1:6379") != std::string::npos);
    BOOST_TEST(text.find("did not answer in time") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(node_states_have_names)
{
    BOOST_TEST(to_string(node_state::idle) == std::string{"idle"});
    BOOST_TEST(to_string(node_state::connecting) == std::string{"connecting"});
    BOOST_TEST(to_string(node_state::usable) == std::string{"usable"});
    BOOST_TEST(to_string(node_state::down) == std::string{"down"});
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock
