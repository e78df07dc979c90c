#include <redlock/version.hpp>

#include <boost/version.hpp>

namespace redlock {

char const* version() noexcept { return REDLOCK_VERSION_STRING; }

unsigned boost_version() noexcept { return BOOST_VERSION; }

}  // namespace redlock
