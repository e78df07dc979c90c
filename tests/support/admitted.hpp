// Servers that may vote with tokens, as if they had been nodes all the time: new ones would have to run for half a minute first.
#ifndef REDLOCK_TESTS_SUPPORT_ADMITTED_HPP
#define REDLOCK_TESTS_SUPPORT_ADMITTED_HPP

#include "support/redis_server.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>

namespace redlock::testing {

/// Which server it is: a new one after each restart.
std::string replication_id(redis_server const& server);

/// Lets a server vote with tokens, up to a ttl of a minute.
void admit(redis_server const& server, unsigned database = 0, std::uint16_t replicas = 0);

std::deque<redis_server> admitted_servers(std::size_t count);

}  // namespace redlock::testing

#endif
