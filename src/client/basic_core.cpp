#include "client/basic_core.hpp"

namespace redlock::detail {

template class basic_core<boot_clock>;

}  // namespace redlock::detail
