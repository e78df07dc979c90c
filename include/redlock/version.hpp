// The version of the library. CMake reads the numbers from here.
#ifndef REDLOCK_VERSION_HPP
#define REDLOCK_VERSION_HPP

#include <redlock/detail/export.hpp>

#define REDLOCK_VERSION_MAJOR 0
#define REDLOCK_VERSION_MINOR 1
#define REDLOCK_VERSION_PATCH 0

/// The version as a number for comparisons: 10000 * major + 100 * minor + patch.
#define REDLOCK_VERSION (REDLOCK_VERSION_MAJOR * 10000 + REDLOCK_VERSION_MINOR * 100 + REDLOCK_VERSION_PATCH)

/// "major.minor.patch".
#define REDLOCK_VERSION_STRING                 \
    REDLOCK_DETAIL_TEXT(REDLOCK_VERSION_MAJOR) \
    "." REDLOCK_DETAIL_TEXT(REDLOCK_VERSION_MINOR) "." REDLOCK_DETAIL_TEXT(REDLOCK_VERSION_PATCH)
#define REDLOCK_DETAIL_TEXT(number) REDLOCK_DETAIL_TEXT_OF(number)
#define REDLOCK_DETAIL_TEXT_OF(number) #number

namespace redlock {

/// `REDLOCK_VERSION_STRING` of the loaded library, which may be newer than the headers.
REDLOCK_API char const* version() noexcept;

/// `BOOST_VERSION` of the Boost with which the library was built.
REDLOCK_API unsigned boost_version() noexcept;

}  // namespace redlock

#endif
