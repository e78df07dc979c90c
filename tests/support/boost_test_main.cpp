// The one translation unit that holds Boost.Test itself; the tests only include its declarations. It takes as long as five of them.
#define BOOST_TEST_MODULE redlock
#include <boost/test/included/unit_test.hpp>

#include <cstdlib>

namespace {

// For runs that only want to know whether anything fails (tests/mutation).
class first_failure : public boost::unit_test::test_observer {
public:
    first_failure()
    {
        if (std::getenv("REDLOCK_STOP_AT_FIRST_FAILURE")) boost::unit_test::framework::register_observer(*this);
    }
    ~first_failure() override { boost::unit_test::framework::deregister_observer(*this); }
    first_failure(first_failure const&) = delete;
    first_failure& operator=(first_failure const&) = delete;

    void assertion_result(boost::unit_test::assertion_result result) override
    {
        if (result != boost::unit_test::AR_PASSED) std::_Exit(boost::exit_test_failure);
    }
};

}  // namespace

BOOST_TEST_GLOBAL_FIXTURE(first_failure);

namespace {

// Waits for nodes are noted in a folder of the user: tests have none unless they say so, and leave nothing there.
struct without_a_home {
    without_a_home()
    {
        for (char const* name : {"REDLOCK_STATE_DIR", "XDG_STATE_HOME", "HOME"}) ::unsetenv(name);
    }
};

}  // namespace

BOOST_TEST_GLOBAL_FIXTURE(without_a_home);
