#include "client/basic_core.hpp"

namespace redlock::detail {

template class basic_core<boot_clock>;  // compiled here once: see extern template in the header

}  // namespace redlock::detail
