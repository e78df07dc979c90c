// Members keep errors as errc, which is small.
#ifndef REDLOCK_BASE_TO_ERROR_HPP
#define REDLOCK_BASE_TO_ERROR_HPP

#include <redlock/error.hpp>

namespace redlock::detail {

// errc{}: no error.
inline error_code to_error(errc e) noexcept { return e == errc{} ? error_code{} : error_code{e}; }

}  // namespace redlock::detail

#endif
