// What is said of nodes without a vote, where no server is needed to see it. outage_story_test has the texts that a client comes to by itself.
#include "admission/admission_picture.hpp"

#include <boost/test/unit_test.hpp>

#include <string>

BOOST_AUTO_TEST_SUITE(admission_pictures)

// No wait helps a list that lacks members, and others may have their data.
BOOST_AUTO_TEST_CASE(a_list_that_lacks_members_is_told_from_a_set_that_lost_everything)
{
    redlock::detail::admission_picture p;
    p.state = redlock::admission_state::catching_up;
    p.nobody_remembers = true;
    std::string const all_lost = p.text({});
    BOOST_TEST(all_lost.find("a new beginning needs all of them") != std::string::npos, all_lost);
    p.lacks_members = true;
    std::string const lacks = p.text({});
    BOOST_TEST(lacks.find("name all of them") != std::string::npos, lacks);
    BOOST_TEST(lacks.find("a new beginning") == std::string::npos, lacks);
}

BOOST_AUTO_TEST_SUITE_END()
