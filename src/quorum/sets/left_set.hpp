// How the objection to a server begins that is no member of its set any more (set_membership.hpp). No I/O.
#ifndef REDLOCK_QUORUM_SETS_LEFT_SET_HPP
#define REDLOCK_QUORUM_SETS_LEFT_SET_HPP

namespace redlock::quorum {

inline constexpr char const* has_left_the_set = "this server has left the set";

}  // namespace redlock::quorum

#endif
