// URLs of nodes. No text here repeats a part of the URL: wherever a mistake moves the borders, the part can be a password.
#include "node/connection/node_address.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

namespace redlock {

namespace {

enum class scheme { redis, rediss, unix_socket, sentinels, sentinels_with_tls, cluster, cluster_with_tls };

[[noreturn]] void refuse(std::string const& what) { throw config_error{"the URL" + what}; }

bool is_space_or_control(unsigned char c) { return c <= ' ' || c == 0x7f; }

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

// Takes it off the URL.
scheme read_scheme(std::string_view& url)
{
    auto const end = url.find("://");
    if (end == std::string_view::npos) refuse(" has no scheme; write redis://host:port");
    std::string name{url.substr(0, end)};
    std::transform(name.begin(), name.end(), name.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
    url.remove_prefix(end + 3);
    if (name == "redis") return scheme::redis;
    if (name == "rediss") return scheme::rediss;
    if (name == "unix") return scheme::unix_socket;
    if (name == "redis+sentinel") return scheme::sentinels;
    if (name == "rediss+sentinel") return scheme::sentinels_with_tls;
    if (name == "redis-cluster") return scheme::cluster;
    if (name == "rediss-cluster") return scheme::cluster_with_tls;
    refuse(
        "'s scheme must be redis://, rediss:// (with TLS), unix://, redis+sentinel://, rediss+sentinel:// (with TLS), redis-cluster:// or "
        "rediss-cluster:// (with TLS)");
}

void read_credentials(node_address& address, std::string_view text)
{
    auto const colon = std::min(text.find(':'), text.size());
    std::string user = decode_percent(text.substr(0, colon));
    address.password = colon < text.size() ? decode_percent(text.substr(colon + 1)) : std::string{};
    bool const elsewhere = !user.empty() && (!address.password_file.empty() || !address.password_env.empty());
    if (address.password.empty() && !elsewhere)
        refuse(" has no password before its '@'; write redis://user:password@host, or leave out all up to the '@'");
    if (!user.empty()) address.username = std::move(user);
}

struct host_of_url {
    std::string host;
    std::optional<std::uint16_t> port;
};

std::uint16_t read_port(std::string_view text)
{
    auto const port = parse_number<std::uint16_t>(text);
    if (!port || *port == 0) refuse("'s port is not a number between 1 and 65535");
    return *port;
}

host_of_url read_host_and_port(std::string_view text)
{
    host_of_url result;
    bool const bracketed = text.starts_with('[');
    std::size_t host_end = bracketed ? text.find(']') : std::min(text.find(':'), text.size());
    if (host_end == std::string_view::npos) refuse("'s IPv6 address has no closing bracket");
    std::string_view const after_host = text.substr(host_end + (bracketed ? 1 : 0));
    if (bracketed) {
        result.host = decode_percent(text.substr(1, host_end - 1));
        if (!is_ipv6(result.host)) refuse(" has brackets around what is not an IPv6 address");
        if (!after_host.empty() && after_host.front() != ':') refuse(" has something other than a port after its IPv6 address");
    } else {
        if (std::count(text.begin(), text.end(), ':') > 1)
            refuse(" has more than one ':' in its host and port; an IPv6 address must stand in brackets");
        result.host = text.substr(0, host_end);
        if (auto const problem = host_problem(result.host); !problem.empty()) refuse("'s host " + problem);
    }
    if (!after_host.empty()) result.port = read_port(after_host.substr(1));
    return result;
}

sentinel_address to_sentinel(host_of_url const& read) { return {read.host, read.port.value_or(sentinel_address{}.port)}; }

void read_sentinels(sentinel_options& sentinel, std::string_view text)
{
    for (std::size_t at = 0; at <= text.size();) {
        auto const end = std::min(text.find(',', at), text.size());
        sentinel.addresses.push_back(to_sentinel(read_host_and_port(text.substr(at, end - at))));
        at = end + 1;
    }
}

cluster_address to_cluster_address(host_of_url const& read) { return {read.host, read.port.value_or(cluster_address{}.port)}; }

void read_cluster(cluster_options& cluster, std::string_view hosts, std::string_view path)
{
    if (path.size() > 1) refuse(" has a '/' behind the servers of the cluster, which has only database 0; leave it out");
    for (std::size_t at = 0; at <= hosts.size();) {
        auto const end = std::min(hosts.find(',', at), hosts.size());
        cluster.addresses.push_back(to_cluster_address(read_host_and_port(hosts.substr(at, end - at))));
        at = end + 1;
    }
}

void read_shards(cluster_options& cluster, std::string_view value)
{
    auto const count = parse_number<std::uint16_t>(value);
    if (!count || *count == 0 || *count > max_cluster_shards)
        refuse("'s shards are not a number between 1 and " + std::to_string(max_cluster_shards));
    cluster.shards = *count;
}

void read_master(sentinel_options& sentinel, std::string_view path)
{
    if (path.size() < 2)
        refuse(" has no name of a master behind the Sentinels; write redis+sentinel://host:26379/NAME, where NAME is the word behind "
               "\"sentinel monitor\" in the Sentinels' configuration");
    if (path.find('/', 1) != std::string_view::npos) refuse(" has a second '/' behind the Sentinels; write ?db=N for the database");
    sentinel.master = decode_percent(path.substr(1));
}

void read_database(node_address& address, std::string_view text)
{
    auto const database = parse_number<std::uint16_t>(text);
    if (!database) refuse("'s database is not a number between 0 and 65535");
    address.database = *database;
}

std::string* tls_member(std::optional<tls_options>& tls, std::string_view name)
{
    if (!tls) return nullptr;
    if (name == "ca_file") return &tls->ca_file;
    if (name == "ca_path") return &tls->ca_path;
    if (name == "certificate_file") return &tls->certificate_file;
    if (name == "key_file") return &tls->key_file;
    if (name == "server_name") return &tls->server_name;
    return nullptr;
}

// Where the text of a parameter goes; none: it is not one of those that are texts.
std::string* text_member(node_address& address, std::string_view name)
{
    if (name == "password_file") return &address.password_file;
    if (name == "password_env") return &address.password_env;
    return tls_member(address.tls, name);
}

// The same of a parameter of the Sentinels, whose name is without "sentinel_".
std::string* text_member(sentinel_options& sentinel, std::string_view name)
{
    if (name == "username") return &sentinel.username;
    if (name == "password") return &sentinel.password;
    if (name == "password_file") return &sentinel.password_file;
    if (name == "password_env") return &sentinel.password_env;
    return tls_member(sentinel.tls, name);
}

bool yes_or_no(std::string const& name, std::string_view value)
{
    if (value != "yes" && value != "no") refuse("'s " + name + " must be yes or no");
    return value == "yes";
}

void read_replicas(node_address& address, std::string_view value)
{
    auto const count = parse_number<std::uint16_t>(value);
    if (!count || *count > max_replicas) refuse("'s replicas are not a number between 0 and " + std::to_string(max_replicas));
    if ((address.sentinel || address.cluster) && *count == 0) refuse(" cannot be used: " + no_replicas_in_a_group());
    address.replicas = *count;
}

[[noreturn]] void refuse_parameter(node_address const& address)
{
    if (address.cluster)
        refuse(" has a parameter that is not known; there are shards=S, replicas=K, fsync=yes, password_file, password_env, with "
               "rediss-cluster:// also ca_file, ca_path, certificate_file, key_file, server_name and verify=no. In a password write %3F "
               "for '?'");
    if (!address.sentinel)
        refuse(" has a parameter that is not known; there are replicas=K, fsync=yes, password_file, password_env, "
               "with rediss:// also ca_file, ca_path, certificate_file, key_file, server_name and verify=no, "
               "with unix:// also db. In a password write %3F for '?'");
    refuse(" has a parameter that is not known; there are db, replicas=K, fsync=yes, password_file, password_env, with rediss+sentinel:// "
           "also ca_file, "
           "ca_path, certificate_file, key_file, server_name and verify=no; for the Sentinels sentinel_username, sentinel_password, "
           "sentinel_password_file, sentinel_password_env, sentinel_tls, and with TLS sentinel_ca_file and so on. In a password write %3F "
           "for '?'");
}

constexpr std::string_view of_sentinels = "sentinel_";

void read_sentinel_parameter(node_address& address, std::string_view name, std::string_view value)
{
    std::string const whole_name = std::string{of_sentinels} + std::string{name};
    sentinel_options& sentinel = *address.sentinel;
    if (name == "tls") return;  // has been read before the others
    if (name == "verify" && sentinel.tls) {
        sentinel.tls->verify = yes_or_no(whole_name, value);
    } else if (std::string* const member = text_member(sentinel, name)) {
        *member = decode_percent(value);
        if (member->empty()) refuse("'s " + whole_name + " is empty");
    } else {
        refuse_parameter(address);
    }
}

void read_parameter(node_address& address, std::string_view name, std::string_view value)
{
    if (address.sentinel && name.starts_with(of_sentinels))
        return read_sentinel_parameter(address, name.substr(of_sentinels.size()), value);
    if (name == "shards" && address.cluster) {
        read_shards(*address.cluster, value);
    } else if (name == "replicas") {
        read_replicas(address, value);
    } else if (name == "fsync") {
        address.fsync = yes_or_no("fsync", value);
    } else if (name == "verify" && address.tls) {
        address.tls->verify = yes_or_no("verify", value);
    } else if (name == "db" && (address.sentinel || !address.unix_socket.empty())) {
        read_database(address, value);
    } else if (std::string* const member = text_member(address, name)) {
        *member = decode_percent(value);
        if (member->empty()) refuse("'s " + std::string{name} + " is empty");
    } else {
        refuse_parameter(address);
    }
}

void read_parameters(node_address& address, std::string_view text)
{
    if (text.find('@') != std::string_view::npos) refuse(" has an '@' after a '?'; in a password write %3F for '?'");
    std::vector<std::pair<std::string_view, std::string_view>> parameters;
    for (std::size_t at = 0; at <= text.size();) {
        auto const end = std::min(text.find('&', at), text.size());
        auto const parameter = text.substr(at, end - at);
        auto const equals = std::min(parameter.find('='), parameter.size());
        auto const name = parameter.substr(0, equals);
        auto const same = [name](auto const& p) { return p.first == name; };
        if (std::any_of(parameters.begin(), parameters.end(), same)) refuse(" has the same parameter twice");
        parameters.emplace_back(name, parameter.substr(std::min(equals + 1, parameter.size())));
        at = end + 1;
    }
    // Whether the Sentinels have TLS decides which other parameters there are.
    for (auto const& [name, value] : parameters) {
        if (!address.sentinel || name != "sentinel_tls") continue;
        if (!yes_or_no("sentinel_tls", value)) address.sentinel->tls.reset();
        else if (!address.sentinel->tls) address.sentinel->tls.emplace();
    }
    for (auto const& [name, value] : parameters) read_parameter(address, name, value);
}

}  // namespace

sentinel_address sentinel_from_text(std::string_view text)
{
    try {
        return to_sentinel(read_host_and_port(text));
    } catch (config_error const& error) {
        throw config_error{"the address" + std::string{error.what()}.substr(std::string_view{"the URL"}.size())};
    }
}

cluster_address cluster_address_from_text(std::string_view text)
{
    try {
        return to_cluster_address(read_host_and_port(text));
    } catch (config_error const& error) {
        throw config_error{"the address" + std::string{error.what()}.substr(std::string_view{"the URL"}.size())};
    }
}

node_address node_address::from_url(std::string_view url)
{
    if (url.empty()) refuse(" is empty");
    if (std::any_of(url.begin(), url.end(), is_space_or_control))
        refuse(" contains a space or a control character; in a password write it as % and two hexadecimal digits");
    std::string_view whole = url;
    scheme const kind = read_scheme(whole);
    if (whole.find('#') != std::string_view::npos) refuse(" contains '#'; in a password write %23");
    auto const question = std::min(whole.find('?'), whole.size());
    std::string_view const rest = whole.substr(0, question);

    auto const slash = std::min(rest.find('/'), rest.size());
    std::string_view const authority = rest.substr(0, slash);
    std::string_view const path = rest.substr(slash);
    auto const at = authority.rfind('@');
    if (path.find('@') != std::string_view::npos) refuse(" has an '@' after a '/'; in a password write %2F for '/'");
    if (at != std::string_view::npos && authority.find('@') != at) refuse(" has more than one '@'; in a password write %40");
    std::string_view const host_and_port = at == std::string_view::npos ? authority : authority.substr(at + 1);

    node_address address;
    if (kind == scheme::rediss || kind == scheme::sentinels_with_tls || kind == scheme::cluster_with_tls) address.tls.emplace();
    if (kind == scheme::cluster || kind == scheme::cluster_with_tls) address.cluster.emplace();
    if (kind == scheme::sentinels || kind == scheme::sentinels_with_tls) {
        auto& sentinel = address.sentinel.emplace();
        sentinel.tls = address.tls;
        read_master(sentinel, path);
    }
    if (kind == scheme::unix_socket) {
        if (!host_and_port.empty() || path.size() < 2)
            refuse("'s unix:// must be followed by an absolute path, as in unix:///run/redis.sock");
        address.unix_socket = decode_percent(path);
    }
    if (question < whole.size()) read_parameters(address, whole.substr(question + 1));
    if (at != std::string_view::npos) read_credentials(address, authority.substr(0, at));
    if (address.cluster) {
        read_cluster(*address.cluster, host_and_port, path);
    } else if (address.sentinel) {
        read_sentinels(*address.sentinel, host_and_port);
    } else if (kind != scheme::unix_socket) {
        auto const read = read_host_and_port(host_and_port);
        address.host = read.host;
        address.port = read.port.value_or(address.port);
        if (path.size() > 1) read_database(address, path.substr(1));
    }
    if (auto const problem = connection_problem(address); !problem.empty()) refuse(" cannot be used: " + problem);
    return address;
}

}  // namespace redlock
