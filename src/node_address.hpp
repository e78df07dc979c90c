// What reading a URL and validating a configuration both need to know about addresses.
#ifndef REDLOCK_NODE_ADDRESS_HPP
#define REDLOCK_NODE_ADDRESS_HPP

#include <redlock/config.hpp>

#include <string>
#include <string_view>

namespace redlock {

// Why this cannot be a host, as the end of a sentence that begins with "the host"; empty when it can. Never repeats the
// host: what stands in its place in a mistyped URL can be a password.
std::string host_problem(std::string_view host);

// Equal for two addresses of one server: whatever the database and however the host is spelt. Two names for one machine
// are only noticed when the servers are asked.
std::string server_key(node_address const& address);

}  // namespace redlock

#endif
