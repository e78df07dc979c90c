// Names for what the library's enumerations mean, for messages of failed tests.
#ifndef REDLOCK_TESTS_INTEGRATION_PRINTING_HPP
#define REDLOCK_TESTS_INTEGRATION_PRINTING_HPP

#include <redlock/redlock.hpp>

#include <ostream>

namespace redlock {

inline std::ostream& boost_test_print_type(std::ostream& out, errc e) { return out << make_error_code(e).message(); }

inline std::ostream& boost_test_print_type(std::ostream& out, condition c) { return out << make_error_condition(c).message(); }

inline std::ostream& boost_test_print_type(std::ostream& out, node_state s) { return out << to_string(s); }

}  // namespace redlock

namespace boost::asio::error {

inline std::ostream& boost_test_print_type(std::ostream& out, basic_errors e) { return out << boost::system::error_code{e}.message(); }

}  // namespace boost::asio::error

#endif
