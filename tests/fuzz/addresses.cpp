// URLs: each is refused with a config_error that repeats nothing of it, or is an address that can be written and read again.
#include "secret.hpp"

#include <redlock/config.hpp>

#include <boost/version.hpp>

#include <cctype>
#include <optional>
#include <utility>

namespace redlock::fuzz {
namespace {

bool is_plain(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }

std::string parameters(node_address const& address)
{
    std::string text;
    auto const add = [&](std::string const& name, std::string const& value) {
        if (!value.empty()) text += (text.empty() ? '?' : '&') + name + '=' + percent_encoded(value, is_plain);
    };
    auto const add_tls = [&](std::string const& prefix, tls_options const& tls) {
        add(prefix + "ca_file", tls.ca_file);
        add(prefix + "ca_path", tls.ca_path);
        add(prefix + "certificate_file", tls.certificate_file);
        add(prefix + "key_file", tls.key_file);
        add(prefix + "server_name", tls.server_name);
        add(prefix + "verify", tls.verify ? "yes" : "no");
    };
    if ((!address.sentinel && !address.cluster) || address.replicas > 0) add("replicas", std::to_string(address.replicas));
    if (address.cluster) add("shards", std::to_string(address.cluster->shards));
    add("fsync", address.fsync ? "yes" : "no");
    add("password_file", address.password_file);
    add("password_env", address.password_env);
    if (!address.unix_socket.empty() || address.sentinel) add("db", std::to_string(address.database));
    if (address.tls) add_tls("", *address.tls);
    if (!address.sentinel) return text;
    sentinel_options const& sentinel = *address.sentinel;
    add("sentinel_username", sentinel.username);
    add("sentinel_password", sentinel.password);
    add("sentinel_password_file", sentinel.password_file);
    add("sentinel_password_env", sentinel.password_env);
    add("sentinel_tls", sentinel.tls ? "yes" : "no");
    if (sentinel.tls) add_tls("sentinel_", *sentinel.tls);
    return text;
}

std::string host_of(std::string const& host, std::uint16_t port)
{
    std::string const encoded = percent_encoded(host, [](char c) { return c != '%'; });
    return (host.find(':') != std::string::npos ? '[' + encoded + ']' : encoded) + ':' + std::to_string(port);
}

std::string to_url(node_address const& address)
{
    std::string url = address.tls ? "rediss" : address.unix_socket.empty() ? "redis" : "unix";
    url += address.sentinel ? "+sentinel://" : address.cluster ? "-cluster://" : "://";
    bool const elsewhere = !address.password_file.empty() || !address.password_env.empty();
    if (!address.password.empty() || elsewhere)
        url += percent_encoded(address.username, is_plain) + (elsewhere ? "" : ':' + percent_encoded(address.password, is_plain)) + '@';
    if (!address.unix_socket.empty())
        return url + '/' + percent_encoded(address.unix_socket.substr(1), [](char c) { return is_plain(c) || c == '/'; }) +
               parameters(address);
    char const* before = "";
    if (address.cluster) {
        for (auto const& a : address.cluster->addresses) url += std::exchange(before, ",") + host_of(a.host, a.port);
        return url + parameters(address);
    }
    if (!address.sentinel) return url + host_of(address.host, address.port) + '/' + std::to_string(address.database) + parameters(address);
    for (auto const& a : address.sentinel->addresses) url += std::exchange(before, ",") + host_of(a.host, a.port);
    return url + '/' + address.sentinel->master + parameters(address);
}

// None: it was refused.
std::optional<node_address> read(std::string const& url)
{
    try {
        return node_address::from_url(url);
    } catch (config_error const& error) {
        check(!std::string_view{error.what()}.empty(), "a refusal says why");
        check(!tells_the_secret(error.what()), "a refused URL is not repeated", error.what());
        return std::nullopt;
    }
}

void check_validation(node_address const& address)
{
    config c;
    c.nodes = {address, address};
    try {
        c.validate();
        check(false, "the same server cannot have two votes");
    } catch (config_error const& error) {
        check(!tells_the_secret(error.what()), "validation tells no password", error.what());
    }
    c.nodes.pop_back();
    try {
        c.validate();
    } catch (config_error const& error) {
        bool const not_here = BOOST_VERSION < 108900 && !address.unix_socket.empty();
        check(not_here, "an address that could be read is valid", error.what());
    }
}

}  // namespace
}  // namespace redlock::fuzz

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size)
{
    using namespace redlock::fuzz;
    if (spells_the_secret(data, size)) return 0;
    std::string const url = with_secrets({reinterpret_cast<char const*>(data), size});
    auto const address = read(url);
    if (!address) return 0;

    bool const is_of_several = address->sentinel || address->cluster;
    int const ways = !address->host.empty() + !address->unix_socket.empty() + address->sentinel.has_value() + address->cluster.has_value();
    check(ways == 1 && address->port != 0, "an address has a host and a port, or a socket, or Sentinels, or servers of a cluster");
    auto const again = read(to_url(*address));
    check(again && *again == *address, "an address can be written and read again", to_url(*address));
    if (tells_the_secret(address->host + address->unix_socket) || (is_of_several && tells_the_secret(address->to_string())))
        return 0;  // then it may be seen
    check(!tells_the_secret(address->to_string()), "an address is shown without its credentials", address->to_string());
    check_validation(*address);
    return 0;
}
