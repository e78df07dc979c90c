// Values that say who holds a lock: written by one client, read by whoever looks at the servers.
#include "core/lease/holder_info.hpp"

#include <boost/test/unit_test.hpp>

#include <string>

#include <unistd.h>

namespace {

using namespace redlock::detail;

std::string const digits = "0123456789abcdef0123456789abcdef";

std::string value(holder_info const& who) { return digits + holder_mark{who}.at(who.since)->text; }

}  // namespace

BOOST_AUTO_TEST_SUITE(holder_infos)

BOOST_AUTO_TEST_CASE(what_was_written_is_read)
{
    holder_info const plain{"web-3.example.org", 4711, 1790000000, ""};
    BOOST_TEST(value(plain) == digits + ":web-3.example.org:4711:1790000000");
    BOOST_TEST((holder_of(value(plain)) == plain));

    holder_info const labelled{"web-3", 1, 0, "nightly:2"};
    BOOST_TEST(value(labelled) == digits + ":web-3:1:0:nightly:2");
    BOOST_TEST((holder_of(value(labelled)) == labelled));
}

BOOST_AUTO_TEST_CASE(hosts_are_cut_and_cleaned)
{
    BOOST_TEST(host_in_values("a:b c\n\xc3\xa4") == "a-b-c---");
    BOOST_TEST(host_in_values("") == "-");
    BOOST_TEST(host_in_values(std::string(41, 'x')) == std::string(40, 'x'));
    BOOST_TEST(value({"a:b", 7, 8, ""}) == digits + ":a-b:7:8");
}

BOOST_AUTO_TEST_CASE(foreign_values_say_nothing)
{
    for (std::string const& foreign :
         {std::string{}, std::string{"value"}, digits, digits + ":", digits + ":h", digits + ":h:1", digits + ":h:1:", digits + ":h:x:5",
          digits + ":h:1:5x", digits + "::1:5", digits + ":h:1:5:", digits + ":h:-1:5", digits + ":h h:1:5", digits + ":h:1:5:a b",
          digits + ":h:1:99999999999999999999999", "G" + digits.substr(1) + ":h:1:5", digits + "0:h:1:5",
          digits + ":" + std::string(41, 'h') + ":1:5"})
        BOOST_TEST(!holder_of(foreign).has_value(), foreign);
}

BOOST_AUTO_TEST_CASE(this_process_has_a_host_and_a_number)
{
    auto const me = this_process("job");
    BOOST_TEST(!me.host.empty());
    BOOST_TEST(me.pid == static_cast<std::uint64_t>(::getpid()));
    BOOST_TEST(me.label == "job");
}

BOOST_AUTO_TEST_SUITE_END()
