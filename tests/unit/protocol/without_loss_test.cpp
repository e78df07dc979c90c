#include "protocol/without_loss.hpp"

#include "protocol/facts_reader.hpp"

#include <boost/test/unit_test.hpp>

#include <string_view>
#include <vector>

namespace redlock::detail {

using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(time_without_a_loss)

BOOST_AUTO_TEST_CASE(two_seconds_may_be_rounding)
{
    BOOST_TEST((time_without_loss("62", "7.0.15", "") == 60s));
    BOOST_TEST((time_without_loss("2", "7.0.15", "") == 0s));
    BOOST_TEST((time_without_loss("1", "7.0.15", "") == 0s));
    BOOST_TEST((time_without_loss("", "7.0.15", "") == 0s));
}

BOOST_AUTO_TEST_CASE(only_of_versions_whose_commands_are_known)
{
    for (std::string_view const known : {"6.0.16", "7.4.1", "8.6.3"}) BOOST_TEST((time_without_loss("62", known, "") == 60s), known);
    for (std::string_view const unknown : {"8.7.0", "9.0.0", "255.255.255", "", "unstable"})
        BOOST_TEST((time_without_loss("62", unknown, "") == 0s), unknown);
    for (std::string_view const known : {"7.2.5", "8.0.1", "9.1.2"}) BOOST_TEST((time_without_loss("62", "7.2.4", known) == 60s), known);
    for (std::string_view const unknown : {"9.2.0", "10.0.0", "?"}) BOOST_TEST((time_without_loss("62", "7.2.4", unknown) == 0s), unknown);
}

BOOST_AUTO_TEST_CASE(the_last_elements_of_an_inspection_say_it)
{
    std::vector<std::string_view> const answer{"id", "master", "1", "2", "", "", "7.2.4", "0", "0", "noeviction", "0", "", "8.0.1", "100"};
    facts_reader reader;
    for (std::size_t i = 0; i < answer.size(); ++i) reader.on_element(i, answer[i]);
    BOOST_TEST((reader.take().without_loss == 98s));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::detail
