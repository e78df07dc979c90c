#include "node_address.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>
#include <vector>

#include <arpa/inet.h>
#include <netinet/in.h>

namespace redlock {

namespace {

// No text here repeats a part of the URL: wherever a mistake moves the borders, the part can be a password.
[[noreturn]] void refuse(std::string const& what) { throw config_error{"the URL" + what}; }

bool is_space_or_control(unsigned char c) { return c <= ' ' || c == 0x7f; }

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
    bool const cut = numbers.find('\0') != std::string::npos;  // a C function would stop reading there
    if (cut || ::inet_pton(AF_INET6, numbers.c_str(), &result.bytes) != 1) return std::nullopt;
    return result;
}

template <class Number>
std::optional<Number> parse_number(std::string_view digits)
{
    std::uint32_t value = 0;
    auto const end = digits.data() + digits.size();
    auto const [stop, error] = std::from_chars(digits.data(), end, value);
    if (error != std::errc{} || stop != end || value > std::numeric_limits<Number>::max()) return std::nullopt;
    return static_cast<Number>(value);
}

std::string decode_percent(std::string_view text)
{
    std::string result;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '%') {
            result += text[i];
            continue;
        }
        unsigned value = 0;
        auto const digits = text.substr(i + 1, 2);
        auto const end = digits.data() + digits.size();
        auto const [stop, error] = std::from_chars(digits.data(), end, value, 16);
        if (digits.size() != 2 || error != std::errc{} || stop != end)
            refuse(" has a '%' that is not followed by two hexadecimal digits; write %25 for a percent sign itself");
        result += static_cast<char>(value);
        i += 2;
    }
    return result;
}

std::string_view without_scheme(std::string_view url)
{
    auto const end = url.find("://");
    if (end == std::string_view::npos) refuse(" has no scheme; write redis://host:port");
    std::string const scheme = lower(url.substr(0, end));
    if (scheme == "rediss") refuse("'s scheme is rediss://: TLS is not supported by this version");
    if (scheme == "unix" || scheme == "redis+unix" || scheme == "redis-socket")
        refuse("'s scheme is " + scheme + "://: Unix domain sockets are not supported by this version");
    if (scheme != "redis") refuse("'s scheme must be redis://");
    return url.substr(end + 3);
}

void read_credentials(node_address& address, std::string_view text)
{
    auto const colon = std::min(text.find(':'), text.size());
    std::string user = decode_percent(text.substr(0, colon));
    address.password = colon < text.size() ? decode_percent(text.substr(colon + 1)) : std::string{};
    if (address.password.empty())
        refuse(" has no password before its '@'; write redis://user:password@host, or leave out all up to the '@'");
    if (!user.empty()) address.username = std::move(user);
}

void read_port(node_address& address, std::string_view text)
{
    auto const port = parse_number<std::uint16_t>(text);
    if (!port || *port == 0) refuse("'s port is not a number between 1 and 65535");
    address.port = *port;
}

void read_host_and_port(node_address& address, std::string_view text)
{
    bool const bracketed = text.starts_with('[');
    std::size_t host_end = bracketed ? text.find(']') : std::min(text.find(':'), text.size());
    if (host_end == std::string_view::npos) refuse("'s IPv6 address has no closing bracket");
    std::string_view const after_host = text.substr(host_end + (bracketed ? 1 : 0));
    if (bracketed) {
        address.host = decode_percent(text.substr(1, host_end - 1));
        if (!parse_ipv6(address.host)) refuse(" has brackets around what is not an IPv6 address");
        if (!after_host.empty() && after_host.front() != ':')
            refuse(" has something other than a port after its IPv6 address");
    } else {
        if (std::count(text.begin(), text.end(), ':') > 1)
            refuse(" has more than one ':' in its host and port; an IPv6 address must stand in brackets");
        address.host = text.substr(0, host_end);
        if (auto const problem = host_problem(address.host); !problem.empty()) refuse("'s host " + problem);
    }
    if (!after_host.empty()) read_port(address, after_host.substr(1));
}

void read_parameter(node_address& address, std::string_view name, std::string_view value)
{
    if (name == "replicas") {
        auto const count = parse_number<std::uint16_t>(value);
        if (!count || *count > replicas_max) refuse("'s replicas are not a number between 0 and " + std::to_string(replicas_max));
        address.replicas = *count;
    } else if (name == "fsync") {
        if (value != "yes" && value != "no") refuse("'s fsync must be yes or no");
        address.fsync = value == "yes";
    } else {
        refuse(" has a parameter that is not known; there are replicas=K and fsync=yes. In a password write %3F for '?'");
    }
}

void read_parameters(node_address& address, std::string_view text)
{
    if (text.find('@') != std::string_view::npos) refuse(" has an '@' after a '?'; in a password write %3F for '?'");
    std::vector<std::string_view> names;
    for (std::size_t at = 0; at <= text.size();) {
        auto const end = std::min(text.find('&', at), text.size());
        auto const parameter = text.substr(at, end - at);
        auto const equals = std::min(parameter.find('='), parameter.size());
        auto const name = parameter.substr(0, equals);
        if (std::find(names.begin(), names.end(), name) != names.end()) refuse(" has the same parameter twice");
        names.push_back(name);
        read_parameter(address, name, parameter.substr(std::min(equals + 1, parameter.size())));
        at = end + 1;
    }
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

std::string server_key(node_address const& address)
{
    std::string host = lower(address.host);
    if (auto const parsed = parse_ipv6(host)) {
        char text[INET6_ADDRSTRLEN];
        if (::inet_ntop(AF_INET6, &parsed->bytes, text, sizeof text)) host = text + std::string{parsed->zone};
    } else if (host.ends_with('.')) {
        host.pop_back();
    }
    return host + ' ' + std::to_string(address.port);
}

node_address node_address::from_url(std::string_view url)
{
    if (url.empty()) refuse(" is empty");
    if (std::any_of(url.begin(), url.end(), is_space_or_control))
        refuse(" contains a space or a control character; in a password write it as % and two hexadecimal digits");
    std::string_view const whole = without_scheme(url);
    if (whole.find('#') != std::string_view::npos) refuse(" contains '#'; in a password write %23");
    auto const question = std::min(whole.find('?'), whole.size());
    std::string_view const rest = whole.substr(0, question);

    auto const slash = std::min(rest.find('/'), rest.size());
    std::string_view const authority = rest.substr(0, slash);
    std::string_view const path = rest.substr(std::min(slash + 1, rest.size()));
    auto const at = authority.rfind('@');
    if (path.find('@') != std::string_view::npos) refuse(" has an '@' after a '/'; in a password write %2F for '/'");
    if (at != std::string_view::npos && authority.find('@') != at)
        refuse(" has more than one '@'; in a password write %40");

    node_address address;
    if (question < whole.size()) read_parameters(address, whole.substr(question + 1));
    if (at != std::string_view::npos) read_credentials(address, authority.substr(0, at));
    read_host_and_port(address, at == std::string_view::npos ? authority : authority.substr(at + 1));
    if (!path.empty()) {
        auto const database = parse_number<std::uint16_t>(path);
        if (!database) refuse("'s database is not a number between 0 and 65535");
        address.database = *database;
    }
    return address;
}

std::string node_address::to_string() const
{
    bool const bracketed = host.find(':') != std::string::npos;
    return (bracketed ? '[' + host + ']' : host) + ':' + std::to_string(port);
}

}  // namespace redlock
