// A fencing token, or the counter that tokens come from. 0: there is none.
#ifndef REDLOCK_QUORUM_TOKEN_NUMBER_HPP
#define REDLOCK_QUORUM_TOKEN_NUMBER_HPP

#include <cstdint>

namespace redlock::quorum {

using token_number = std::uint64_t;

}  // namespace redlock::quorum

#endif
