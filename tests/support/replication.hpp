// Servers that follow others.
#ifndef REDLOCK_TESTS_SUPPORT_REPLICATION_HPP
#define REDLOCK_TESTS_SUPPORT_REPLICATION_HPP

#include "redis_server.hpp"

#include <cstddef>
#include <string>

namespace redlock::testing {

/// Servers that start copying at once: by default they wait five seconds for more replicas to come.
redis_server_options quick_to_copy(redis_server_options options);

/// Waits until so many replicas have all that a server has; throws when they do not within ten seconds.
void wait_for_replicas(redis_server const& primary, std::size_t count);

/// Makes a server a replica of another one.
void follow(redis_server const& replica, redis_server const& primary);

}  // namespace redlock::testing

#endif
