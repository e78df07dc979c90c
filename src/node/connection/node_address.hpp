// What reading a URL and validating a configuration both need to know about addresses.
#ifndef REDLOCK_NODE_CONNECTION_NODE_ADDRESS_HPP
#define REDLOCK_NODE_CONNECTION_NODE_ADDRESS_HPP

#include <redlock/config.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace redlock {

// Why this cannot be a host, as the end of a sentence that begins with "the host"; empty when it can. Never repeats the
// host: what stands in its place in a mistyped URL can be a password.
std::string host_problem(std::string_view host);

// With brackets around an IPv6 address.
std::string host_and_port(std::string_view host, std::uint16_t port);

bool is_ipv6(std::string_view host);
bool is_ip_address(std::string_view host);

// Why one cannot connect like that, whatever the host and the port; empty when one can. Repeats nothing of it.
std::string connection_problem(node_address const& address);
std::string tls_problem(tls_options const& tls);

// The same of a folder, as the end of a sentence; empty is allowed.
std::string folder_problem(std::string_view path);

// Why this build of the library cannot do what others can.
std::string problem_with_this_build(node_address const& address);

// With what `config::tls` says for all nodes: whom to trust, what certificate to show and which name to expect, each as a whole.
node_address completed(node_address address, tls_options const& for_all);

// Reads `host[:port]`. Throws `config_error`.
sentinel_address sentinel_from_text(std::string_view text);

// Why somebody who writes replicas=0 for a group is refused.
std::string no_replicas_in_a_group();

// The Sentinels of a group, as addresses that one can connect to.
std::vector<node_address> sentinels_of(node_address const& group);

// Reads `host[:port]` of a server of a cluster. Throws `config_error`.
cluster_address cluster_address_from_text(std::string_view text);

// Why these cannot be the addresses of a cluster; empty when they can. Repeats nothing of them.
std::string cluster_problem(node_address const& cluster);

// The key of each of its addresses, as server_key().
std::vector<std::string> servers_of_cluster(node_address const& cluster);

// Why these cannot be the Sentinels of a group; empty when they can. Repeats nothing of them.
std::string sentinel_problem(node_address const& group);

// Why two nodes of one configuration cannot both be there; empty when they can. `place` is what the text calls the earlier one.
std::string conflict_of(node_address const& earlier, std::string const& place, node_address const& later);

// Equal for two addresses of one server (not of groups): whatever the database and however the host is spelt. Two names for one machine
// are only noticed when the servers are asked.
std::string server_key(node_address const& address);

// The node's name in the record of its set: equal for two spellings of one address, as far as texts can tell. Contains no password.
std::string member_address(node_address const& address);

}  // namespace redlock

#endif
