#include <redlock/detail/same_macros.hpp>
#include <redlock/version.hpp>

#include <boost/version.hpp>

namespace redlock {

char const* version() noexcept { return REDLOCK_VERSION_STRING; }

unsigned boost_version() noexcept { return BOOST_VERSION; }

namespace detail {

void this_program_and_redlock_were_compiled_with_different_macros_of_asio__see_docs_building(this_compilation*) noexcept {}

}  // namespace detail

}  // namespace redlock
