// URLs: each is refused with a config_error that repeats nothing of it, or is an address that can be written and read again.
#include "secret.hpp"

#include <redlock/config.hpp>

#include <boost/version.hpp>

#include <cctype>
#include <optional>

namespace redlock::fuzz {
namespace {

bool is_plain(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }

std::string parameters(node_address const& address)
{
    std::string text;
    auto const add = [&](std::string const& name, std::string const& value) {
        if (!value.empty()) text += (text.empty() ? '?' : '&') + name + '=' + percent_encoded(value, is_plain);
    };
    add("replicas", std::to_string(address.replicas));
    add("fsync", address.fsync ? "yes" : "no");
    add("password_file", address.password_file);
    add("password_env", address.password_env);
    if (!address.unix_socket.empty()) add("db", std::to_string(address.database));
    if (!address.tls) return text;
    add("ca_file", address.tls->ca_file);
    add("ca_path", address.tls->ca_path);
    add("certificate_file", address.tls->certificate_file);
    add("key_file", address.tls->key_file);
    add("server_name", address.tls->server_name);
    add("verify", address.tls->verify ? "yes" : "no");
    return text;
}

std::string to_url(node_address const& address)
{
    std::string url = address.tls ? "rediss://" : address.unix_socket.empty() ? "redis://" : "unix://";
    bool const elsewhere = !address.password_file.empty() || !address.password_env.empty();
    if (!address.password.empty() || elsewhere)
        url += percent_encoded(address.username, is_plain) + (elsewhere ? "" : ':' + percent_encoded(address.password, is_plain)) + '@';
    if (!address.unix_socket.empty())
        return url + '/' + percent_encoded(address.unix_socket.substr(1), [](char c) { return is_plain(c) || c == '/'; }) +
               parameters(address);
    bool const bracketed = address.host.find(':') != std::string::npos;
    std::string const host = percent_encoded(address.host, [](char c) { return c != '%'; });
    url += bracketed ? '[' + host + ']' : host;
    return url + ':' + std::to_string(address.port) + '/' + std::to_string(address.database) + parameters(address);
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

    check(address->host.empty() != address->unix_socket.empty() && address->port != 0, "an address has a host and a port, or a socket");
    auto const again = read(to_url(*address));
    check(again && *again == *address, "an address can be written and read again", to_url(*address));
    if (tells_the_secret(address->host + address->unix_socket)) return 0;  // then it may be seen
    check(!tells_the_secret(address->to_string()), "an address is shown without its credentials", address->to_string());
    check_validation(*address);
    return 0;
}
