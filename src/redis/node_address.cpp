#include "redis/node_address.hpp"

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
    constexpr std::size_t host_size_max = 253;  // of a name in the DNS
    if (host.empty()) return "is empty";
    if (host.size() > host_size_max) return "is longer than " + std::to_string(host_size_max) + " characters";
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

node_address completed(node_address address, tls_options const& for_all)
{
    if (!address.tls) return address;
    tls_options& mine = *address.tls;
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
    return address;
}

std::string node_address::to_string() const
{
    if (!unix_socket.empty()) return "unix:" + unix_socket;
    bool const bracketed = host.find(':') != std::string::npos;
    std::string const where = (bracketed ? '[' + host + ']' : host) + ':' + std::to_string(port);
    return tls && !tls->verify ? where + " (TLS, not verified)" : where;
}

}  // namespace redlock
