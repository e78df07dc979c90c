#include "node/cluster/cluster_map.hpp"

#include "node/connection/node_address.hpp"

#include <algorithm>
#include <charconv>

namespace redlock::detail {

namespace {

constexpr std::size_t max_cluster_servers = 1'000;  // the largest clusters that Redis supports

template <class Number>
std::optional<Number> to_number(std::string_view digits)
{
    Number n{0};
    auto const end = digits.data() + digits.size();
    auto const [stop, error] = std::from_chars(digits.data(), end, n);
    if (error != std::errc{} || stop != end || digits.empty()) return std::nullopt;
    return n;
}

// Takes the text up to the separator off the front.
std::string_view take(std::string_view& text, char separator)
{
    auto const end = std::min(text.find(separator), text.size());
    auto const front = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    return front;
}

bool has_flag(std::string_view flags, std::string_view wanted)
{
    while (!flags.empty())
        if (take(flags, ',') == wanted) return true;
    return false;
}

// "10.0.0.1:7000@17000,name,shard-id=…"; older servers leave out what stands behind the port.
bool read_address(cluster_server& server, std::string_view text)
{
    auto place = take(text, ',');
    server.name = take(text, ',');
    if (server.name.find('=') != std::string::npos || server.name == "?") server.name.clear();
    place = place.substr(0, place.find('@'));
    auto const colon = place.rfind(':');
    if (colon == place.npos) return false;
    auto const port = to_number<std::uint16_t>(place.substr(colon + 1));
    if (!port) return false;
    server.host = place.substr(0, colon);
    server.port = *port;
    if (!host_problem(server.name).empty()) server.name.clear();
    return server.host.empty() || host_problem(server.host).empty();
}

std::optional<slot_range> read_range(std::string_view word)
{
    auto const dash = std::min(word.find('-'), word.size());
    auto const first = to_number<std::uint16_t>(word.substr(0, dash));
    auto const last = dash < word.size() ? to_number<std::uint16_t>(word.substr(dash + 1)) : first;
    if (!first || !last || *first > *last || *last >= cluster_slots) return std::nullopt;
    return slot_range{*first, *last};
}

// "[93->-ID]" is on its way to another server, "[93-<-ID]" comes from one.
void read_migration(cluster_map& map, std::string_view word)
{
    word.remove_prefix(1);
    auto const arrow = word.find("->-");
    if (arrow == word.npos) return;
    if (auto const slot = to_number<std::uint16_t>(word.substr(0, arrow)))
        map.in_migration.push_back({*slot, std::string{word.substr(arrow + 3, word.size() - arrow - 4)}});
}

bool read_line(cluster_map& map, std::string_view line, std::string const& asked_host)
{
    cluster_server server;
    server.id = take(line, ' ');
    auto const address = take(line, ' ');
    auto const flags = take(line, ' ');
    auto const primary = take(line, ' ');
    take(line, ' ');  // the time of the last ping, and of the last pong
    take(line, ' ');
    auto const epoch = to_number<std::uint64_t>(take(line, ' '));
    auto const link = take(line, ' ');
    if (!read_address(server, address) || !epoch || link.empty()) return false;
    if (has_flag(flags, "handshake") || has_flag(flags, "noaddr")) return true;
    server.asked = has_flag(flags, "myself");
    server.primary = has_flag(flags, "master");
    server.failing = has_flag(flags, "fail");
    server.silent = server.failing || has_flag(flags, "fail?");  // a minority never gets beyond "fail?"
    server.epoch = *epoch;
    if (primary != "-") server.primary_id = primary;
    if (server.asked && server.host.empty()) server.host = asked_host;
    while (!line.empty()) {
        auto const word = take(line, ' ');
        if (word.empty()) continue;
        if (word.front() == '[') {
            read_migration(map, word);
        } else if (auto const range = read_range(word)) {
            server.slots.push_back(*range);
        } else {
            return false;
        }
    }
    map.servers.push_back(std::move(server));
    return map.servers.size() <= max_cluster_servers;
}

}  // namespace

// CRC-16/XMODEM.
std::uint16_t slot_of_tag(std::string_view tag) noexcept
{
    constexpr unsigned polynomial = 0x1021;
    unsigned crc = 0;
    for (char const c : tag) {
        crc ^= static_cast<unsigned>(static_cast<unsigned char>(c)) << 8;
        for (int bit = 0; bit < 8; ++bit) crc = (crc & 0x8000u) != 0 ? (crc << 1) ^ polynomial : crc << 1;
        crc &= 0xffffu;
    }
    return static_cast<std::uint16_t>(crc % cluster_slots);
}

std::string prefix_of_shard(std::size_t shard) { return "{s" + std::to_string(shard) + "}:"; }

std::uint16_t slot_of_shard(std::size_t shard) { return slot_of_tag('s' + std::to_string(shard)); }

std::optional<std::size_t> take_shard_off(std::string_view& key)
{
    auto const end = key.find("}:");
    if (!key.starts_with("{s") || end == key.npos) return std::nullopt;
    auto const shard = to_number<std::size_t>(key.substr(2, end - 2));
    if (shard) key.remove_prefix(end + 2);
    return shard;
}

bool cluster_server::has(std::uint16_t slot) const noexcept
{
    return std::any_of(slots.begin(), slots.end(), [slot](slot_range const& r) { return r.first <= slot && slot <= r.last; });
}

cluster_server const* cluster_map::owner_of(std::uint16_t slot) const noexcept
{
    auto const found = std::find_if(servers.begin(), servers.end(), [slot](auto const& s) { return s.primary && s.has(slot); });
    return found == servers.end() ? nullptr : &*found;
}

std::size_t cluster_map::covered() const noexcept
{
    std::size_t count = 0;
    for (cluster_server const& s : servers)
        for (slot_range const& r : s.slots) count += s.primary ? r.last - r.first + 1u : 0u;
    return count;
}

std::vector<cluster_server const*> cluster_map::replicas_of(cluster_server const& primary) const
{
    std::vector<cluster_server const*> all;
    for (cluster_server const& s : servers)
        if (!s.primary && s.primary_id == primary.id) all.push_back(&s);
    return all;
}

std::uint16_t cluster_map::acknowledgements() const
{
    std::size_t largest = 1;
    for (cluster_server const& s : servers)
        if (s.primary && !s.slots.empty()) largest = std::max(largest, 1 + replicas_of(s).size());
    return static_cast<std::uint16_t>(largest / 2);
}

bool cluster_map::is_cut_off() const noexcept
{
    std::size_t primaries = 0, down = 0;
    for (cluster_server const& s : servers) {
        if (!s.primary || s.slots.empty()) continue;
        ++primaries;
        if (s.silent) ++down;
    }
    return 2 * down > primaries;
}

std::optional<cluster_map> read_cluster_nodes(std::string_view text, std::string const& asked_host)
{
    cluster_map map;
    // With RESP3 the text is a verbatim string, whose format stands before it.
    if (constexpr std::string_view format{"txt:"}; text.starts_with(format)) text.remove_prefix(format.size());
    while (!text.empty()) {
        auto line = take(text, '\n');
        if (line.ends_with('\r')) line.remove_suffix(1);
        if (!line.empty() && !read_line(map, line, asked_host)) return std::nullopt;
    }
    if (map.servers.empty()) return std::nullopt;
    return map;
}

redirection redirection_in(std::string_view error) noexcept
{
    if (error.starts_with("MOVED ")) return redirection::moved;
    if (error.starts_with("ASK ")) return redirection::asking;
    if (error.starts_with("TRYAGAIN")) return redirection::try_again;
    if (error.starts_with("CLUSTERDOWN")) return redirection::down;
    return redirection::none;
}

std::optional<host_port> address_in_moved(std::string_view error)
{
    if (redirection_in(error) != redirection::moved) return std::nullopt;
    take(error, ' ');
    take(error, ' ');
    auto const place = take(error, ' ');
    auto const colon = place.rfind(':');
    if (colon == place.npos || colon == 0) return std::nullopt;
    auto const port = to_number<std::uint16_t>(place.substr(colon + 1));
    auto const host = place.substr(0, colon);
    if (!port || *port == 0 || !host_problem(host).empty()) return std::nullopt;
    return host_port{std::string{host}, *port};
}

std::string explained(std::string_view error)
{
    std::string const says = " (" + std::string{error} + ')';
    switch (redirection_in(error)) {
    case redirection::none: break;
    case redirection::moved: return "the slot of this shard has moved to another server" + says;
    case redirection::asking:
    case redirection::try_again:
        return "the slot of this shard is being moved to another server" + says +
               "; it votes again after that; if it does not end, redis-cli --cluster check shows it, and redis-cli --cluster fix ends it";
    case redirection::down:
        return "the cluster serves no keys" + says +
               "; redis-cli --cluster check shows why: slots that no server has, or too many primaries that are down";
    }
    return std::string{error};
}

}  // namespace redlock::detail
