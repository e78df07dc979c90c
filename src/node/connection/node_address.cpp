#include "node/connection/node_address.hpp"

#include <boost/version.hpp>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/un.h>

namespace redlock {

namespace {

bool is_control(unsigned char c) { return c < ' ' || c == 0x7f; }
bool is_space_or_control(unsigned char c) { return c == ' ' || is_control(c); }

bool is_host_character(unsigned char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' || c == '-' || c == '_';
}

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

std::string lower(std::string_view text)
{
    std::string result{text};
    std::transform(result.begin(), result.end(), result.begin(), [](char c) { return lower(c); });
    return result;
}

struct ipv6 {
    in6_addr bytes;
    std::string_view zone;  // with its '%'; empty without one
};

std::optional<ipv6> parse_ipv6(std::string_view host)
{
    auto const zone = std::min(host.find('%'), host.size());
    ipv6 result{{}, host.substr(zone)};
    if (result.zone.size() == 1) return std::nullopt;
    auto const zone_name = result.zone.substr(std::min<std::size_t>(1, result.zone.size()));
    if (!std::all_of(zone_name.begin(), zone_name.end(), is_host_character)) return std::nullopt;
    std::string const numbers{host.substr(0, zone)};
    bool const cut = numbers.find('\0') != std::string::npos;  // inet_pton would stop reading there
    if (cut || ::inet_pton(AF_INET6, numbers.c_str(), &result.bytes) != 1) return std::nullopt;
    return result;
}

std::string path_problem(std::string_view path)
{
    return std::any_of(path.begin(), path.end(), is_control) ? "contains a control character" : "";
}

std::string socket_problem(node_address const& address)
{
    std::string const& path = address.unix_socket;
    if (auto const problem = path_problem(path); !problem.empty()) return "the unix_socket " + problem;
    if (path.front() != '/') return "the unix_socket must be an absolute path";
    if (path.size() >= sizeof sockaddr_un::sun_path)
        return "the unix_socket is longer than " + std::to_string(sizeof sockaddr_un::sun_path - 1) + " characters, which systems allow";
    if (!address.host.empty()) return "there may be only one of host and unix_socket";
    return address.tls ? "there is no TLS on a unix_socket" : "";
}

}  // namespace

std::string host_problem(std::string_view host)
{
    constexpr std::size_t max_host_size = 253;  // of a name in the DNS
    if (host.empty()) return "is empty";
    if (host.size() > max_host_size) return "is longer than " + std::to_string(max_host_size) + " characters";
    if (host.find(':') != std::string_view::npos)
        return parse_ipv6(host) ? "" : "contains a ':' but is not an IPv6 address (the port is a member of its own)";
    if (std::any_of(host.begin(), host.end(), is_space_or_control)) return "contains a space or a control character";
    if (!std::all_of(host.begin(), host.end(), is_host_character))
        return "contains a character other than letters, digits, '.', '-' and '_'";
    bool const has_name = std::any_of(host.begin(), host.end(), [](char c) { return c != '.' && c != '-' && c != '_'; });
    return has_name ? "" : "contains no letter or digit";
}

bool is_ipv6(std::string_view host) { return parse_ipv6(host).has_value(); }

bool is_ip_address(std::string_view host)
{
    in_addr ignored;
    return parse_ipv6(host) || ::inet_pton(AF_INET, std::string{host}.c_str(), &ignored) == 1;
}

std::string server_key(node_address const& address)
{
    if (!address.unix_socket.empty()) return "unix " + std::filesystem::path{address.unix_socket}.lexically_normal().string();
    std::string host = lower(address.host);
    if (auto const parsed = parse_ipv6(host)) {
        char text[INET6_ADDRSTRLEN];
        if (::inet_ntop(AF_INET6, &parsed->bytes, text, sizeof text)) host = text + std::string{parsed->zone};
    } else if (host.ends_with('.')) {
        host.pop_back();
    }
    return host + ' ' + std::to_string(address.port);
}

std::string connection_problem(node_address const& address)
{
    if (auto const problem = address.sentinel ? sentinel_problem(address) : ""; !problem.empty()) return problem;
    if (auto const problem = address.cluster ? cluster_problem(address) : ""; !problem.empty()) return problem;
    int const passwords = !address.password.empty() + !address.password_file.empty() + !address.password_env.empty();
    if (passwords > 1) return "there may be only one of password, password_file and password_env";
    if (address.username.empty()) return "the username is empty; the servers' own name for no special one is \"default\"";
    if (passwords == 0 && address.username != "default") return "there is a username but no password, so it would not be used";
    if (auto const problem = path_problem(address.password_file); !problem.empty()) return "the password_file " + problem;
    // An error repeats a path that cannot be read. A user who writes the password itself here must not find it in that error.
    if (!address.password_file.empty() && address.password_file.front() != '/') return "the password_file must be an absolute path";
    bool const is_name = std::none_of(address.password_env.begin(), address.password_env.end(),
                                      [](char c) { return c == '=' || is_control(static_cast<unsigned char>(c)); });
    if (!is_name) return "the password_env cannot be the name of a variable";
    if (!address.unix_socket.empty()) return socket_problem(address);
    return address.tls ? tls_problem(*address.tls) : "";
}

std::string folder_problem(std::string_view path)
{
    if (auto const problem = path_problem(path); !problem.empty()) return problem;
    return path.empty() || path.front() == '/' ? "" : "must be an absolute path";
}

std::string problem_with_this_build([[maybe_unused]] node_address const& address)
{
#if BOOST_VERSION < 108900
    if (!address.unix_socket.empty())
        return "unix sockets need a library built with Boost 1.89 or newer, and this one was built with " BOOST_LIB_VERSION;
#endif
    return "";
}

std::string tls_problem(tls_options const& tls)
{
    for (auto const& [name, path] : {std::pair{"ca_file", &tls.ca_file},
                                     {"ca_path", &tls.ca_path},
                                     {"certificate_file", &tls.certificate_file},
                                     {"key_file", &tls.key_file}})
        if (auto const problem = path_problem(*path); !problem.empty()) return std::string{"the "} + name + ' ' + problem;
    if (tls.certificate_file.empty() && !tls.key_file.empty()) return "there is a key_file but no certificate_file";
    if (!tls.server_name.empty())
        if (auto const problem = host_problem(tls.server_name); !problem.empty()) return "the server_name " + problem;
    return "";
}

namespace {

void complete(tls_options& mine, tls_options const& for_all)
{
    if (mine.ca_file.empty() && mine.ca_path.empty()) {
        mine.ca_file = for_all.ca_file;
        mine.ca_path = for_all.ca_path;
    }
    if (mine.certificate_file.empty()) {
        mine.certificate_file = for_all.certificate_file;
        mine.key_file = for_all.key_file;
    }
    if (mine.server_name.empty()) mine.server_name = for_all.server_name;
    mine.verify = mine.verify && for_all.verify;
}

}  // namespace

node_address completed(node_address address, tls_options const& for_all)
{
    if (address.sentinel && address.sentinel->tls && address.tls) complete(*address.sentinel->tls, *address.tls);
    if (address.sentinel && address.sentinel->tls) complete(*address.sentinel->tls, for_all);
    if (address.tls) complete(*address.tls, for_all);
    return address;
}

std::string no_replicas_in_a_group()
{
    return "votes of a group that wait for no replica are lost in a failover; leave replicas out (a majority of the group), or write 1 or "
           "more";
}

std::vector<node_address> sentinels_of(node_address const& group)
{
    sentinel_options const& s = *group.sentinel;
    std::vector<node_address> all;
    for (sentinel_address const& a : s.addresses) {
        auto& one = all.emplace_back(node_address{.host = a.host, .port = a.port, .username = s.username, .password = s.password});
        one.password_file = s.password_file;
        one.password_env = s.password_env;
        one.tls = s.tls;
    }
    return all;
}

namespace {

bool is_master_character(char c) { return is_host_character(static_cast<unsigned char>(c)); }

std::string master_problem(std::string_view master)
{
    constexpr std::size_t max_name = 256;
    if (master.empty()) return "there is no name of a master; it is the word behind \"sentinel monitor\" in the Sentinels' configuration";
    if (master.size() > max_name) return "the master's name is longer than " + std::to_string(max_name) + " characters";
    if (std::all_of(master.begin(), master.end(), is_master_character)) return "";
    return "the master's name contains a character that Sentinels do not allow there; they allow letters, digits, '.', '-' and '_'";
}

}  // namespace

std::string sentinel_problem(node_address const& group)
{
    sentinel_options const& s = *group.sentinel;
    if (!group.host.empty()) return "there may be only one of host and sentinel; the hosts of a group's servers are what its Sentinels say";
    if (!group.unix_socket.empty()) return "there may be only one of unix_socket and sentinel";
    if (auto const problem = master_problem(s.master); !problem.empty()) return problem;
    if (s.addresses.empty()) return "there is no address of a Sentinel";
    if (s.addresses.size() > max_sentinels) return "there are more than " + std::to_string(max_sentinels) + " Sentinels";
    std::vector<std::string> known;
    for (node_address const& a : sentinels_of(group)) {
        if (auto const problem = host_problem(a.host); !problem.empty()) return "the host of a Sentinel " + problem;
        if (a.port == 0) return "the port of a Sentinel must be between 1 and 65535";
        if (auto const problem = connection_problem(a); !problem.empty()) return "of the Sentinels: " + problem;
        known.push_back(server_key(a));
        if (std::find(known.begin(), known.end() - 1, known.back()) != known.end() - 1) return "the same Sentinel is there twice";
    }
    return "";
}

namespace {

bool has_sentinel(node_address const& group, std::string const& server)
{
    auto const all = sentinels_of(group);
    return std::any_of(all.begin(), all.end(), [&](node_address const& a) { return server_key(a) == server; });
}

}  // namespace

std::vector<std::string> servers_of_cluster(node_address const& cluster)
{
    std::vector<std::string> keys;
    for (cluster_address const& a : cluster.cluster->addresses)
        keys.push_back(server_key(node_address{.host = a.host, .port = a.port, .password = {}}));
    return keys;
}

std::string cluster_problem(node_address const& cluster)
{
    cluster_options const& c = *cluster.cluster;
    if (!cluster.host.empty()) return "there may be only one of host and cluster; write the host among the cluster's addresses";
    if (!cluster.unix_socket.empty()) return "there may be only one of unix_socket and cluster";
    if (cluster.sentinel) return "there may be only one of sentinel and cluster; a cluster has no Sentinels";
    if (cluster.database != 0) return "a Redis Cluster has only database 0";
    if (c.addresses.empty()) return "there is no address of a server of the cluster";
    if (c.addresses.size() > max_cluster_addresses)
        return "there are more than " + std::to_string(max_cluster_addresses) +
               " addresses of the cluster; a few are enough, it says the others itself";
    if (c.shards == 0 || c.shards > max_cluster_shards)
        return "the number of shards must be between 1 and " + std::to_string(max_cluster_shards);
    for (cluster_address const& a : c.addresses) {
        if (auto const problem = host_problem(a.host); !problem.empty()) return "the host of a server of the cluster " + problem;
        if (a.port == 0) return "the port of a server of the cluster must be between 1 and 65535";
    }
    auto keys = servers_of_cluster(cluster);
    std::sort(keys.begin(), keys.end());
    return std::adjacent_find(keys.begin(), keys.end()) == keys.end() ? "" : "the same server of the cluster is there twice";
}

std::string conflict_of(node_address const& earlier, std::string const& place, node_address const& later)
{
    if (earlier.cluster && later.cluster) {
        auto const known = servers_of_cluster(earlier);
        auto const all = servers_of_cluster(later);
        bool const shared = std::find_first_of(all.begin(), all.end(), known.begin(), known.end()) != all.end();
        return shared ? "the same cluster as " + place + "; every vote must come from a cluster of its own" : "";
    }
    if (earlier.cluster || later.cluster)
        return "one of this node and " + place +
               " is a Redis Cluster and the other is not; all nodes of a configuration are clusters, or none is";
    constexpr char const* own_server = "; every vote must come from a server of its own";
    if (!earlier.sentinel && !later.sentinel)
        return server_key(earlier) == server_key(later) ? "the same server as " + place + own_server : "";
    if (earlier.sentinel && later.sentinel) {
        auto const all = sentinels_of(later);
        bool const shared = std::any_of(all.begin(), all.end(),
                                        [&](node_address const& a) { return has_sentinel(earlier, server_key(a)); });
        bool const same = shared && earlier.sentinel->master == later.sentinel->master;
        return same ? "the same group as " + place + "; every vote must come from a group of its own" : "";
    }
    constexpr char const* no_node = "; a Sentinel keeps no keys and cannot be a node of its own";
    if (earlier.sentinel) return has_sentinel(earlier, server_key(later)) ? "also a Sentinel of " + place + no_node : "";
    return has_sentinel(later, server_key(earlier)) ? "one of its Sentinels is also " + place + no_node : "";
}

std::string member_address(node_address const& address)
{
    auto const database = address.database == 0 ? std::string{} : '/' + std::to_string(address.database);
    auto const place = [](node_address const& a) {
        auto key = server_key(a);
        if (a.unix_socket.empty() && key.find(':') != std::string::npos) key = '[' + key.insert(key.rfind(' '), "]");
        if (auto const space = key.rfind(' '); a.unix_socket.empty() && space != std::string::npos) key[space] = ':';
        return key;
    };
    if (!address.sentinel) return place(address) + database;
    std::vector<std::string> sentinels;
    for (node_address const& each : sentinels_of(address)) sentinels.push_back(place(each));
    std::sort(sentinels.begin(), sentinels.end());
    std::string text;
    for (std::string const& each : sentinels) text += (text.empty() ? "" : ",") + each;
    return text + '/' + address.sentinel->master + database;
}

std::string host_and_port(std::string_view host, std::uint16_t port)
{
    std::string const text{host};
    return (text.find(':') != std::string::npos ? '[' + text + ']' : text) + ':' + std::to_string(port);
}

std::string node_address::to_string() const
{
    if (!unix_socket.empty()) return "unix:" + unix_socket;
    std::string where;
    if (cluster) {
        for (cluster_address const& a : cluster->addresses) where += (where.empty() ? "" : ",") + host_and_port(a.host, a.port);
    } else if (sentinel) {
        for (sentinel_address const& a : sentinel->addresses) where += (where.empty() ? "" : ",") + host_and_port(a.host, a.port);
        where += '/' + sentinel->master;
    } else {
        where = host_and_port(host, port);
    }
    bool const unverified = (tls && !tls->verify) || (sentinel && sentinel->tls && !sentinel->tls->verify);
    return unverified ? where + " (TLS, not verified)" : where;
}

}  // namespace redlock
