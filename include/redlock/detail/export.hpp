// What the library shows of itself: everything else is compiled with hidden visibility.
#ifndef REDLOCK_DETAIL_EXPORT_HPP
#define REDLOCK_DETAIL_EXPORT_HPP

#if defined(__GNUC__)
#define REDLOCK_API [[gnu::visibility("default")]]
#else
#define REDLOCK_API
#endif

// Installed headers have a neighbour that says which Boost they belong to.
#if __has_include("installed_redlock.hpp")
#include "installed_redlock.hpp"
#endif

#endif
