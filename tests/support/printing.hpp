// How Boost.Test prints what it compares.
#ifndef REDLOCK_TESTS_SUPPORT_PRINTING_HPP
#define REDLOCK_TESTS_SUPPORT_PRINTING_HPP

#include <redlock/error.hpp>

#include <ostream>

namespace redlock {

inline std::ostream& operator<<(std::ostream& out, errc e) { return out << make_error_code(e).message(); }
inline std::ostream& operator<<(std::ostream& out, condition c) { return out << make_error_condition(c).message(); }

}  // namespace redlock

#endif
