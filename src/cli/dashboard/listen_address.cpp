#include "cli/dashboard/listen_address.hpp"

#include "cli/output/exit_codes.hpp"
#include "cli/output/text.hpp"

#include <boost/algorithm/string/predicate.hpp>
#include <boost/asio/ip/address.hpp>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <utility>

namespace redlock::cli {

namespace {

struct listen_parts {
    std::string_view host;  // without brackets
    std::string_view port;
    bool bracketed{false};
};

std::optional<listen_parts> split(std::string_view text)
{
    listen_parts parts;
    auto rest = text;
    if (text.starts_with('[')) {
        auto const end = text.find(']');
        if (end == std::string_view::npos) return std::nullopt;
        parts.host = text.substr(1, end - 1);
        parts.bracketed = true;
        rest = text.substr(end + 1);
    } else {
        auto const colon = text.find(':');
        parts.host = text.substr(0, colon);
        rest = colon == std::string_view::npos ? std::string_view{} : text.substr(colon);
    }
    if (rest.empty()) return parts;
    if (!rest.starts_with(':')) return std::nullopt;
    parts.port = rest.substr(1);
    return parts;
}

std::optional<asio::ip::address> address_of(listen_parts const& parts)
{
    boost::system::error_code problem;
    auto address = asio::ip::make_address(std::string{parts.host}, problem);
    if (problem || address.is_v6() != parts.bracketed) return std::nullopt;
    return address;
}

std::optional<std::uint16_t> port_of(std::string_view text)
{
    std::uint16_t port{};
    auto const [end, problem] = std::from_chars(text.data(), text.data() + text.size(), port);
    if (text.empty() || problem != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return port;
}

}  // namespace

asio::ip::tcp::endpoint parse_listen_address(std::string const& text)
{
    auto const parts = split(text);
    auto const port = parts ? port_of(parts->port) : std::nullopt;
    auto const address = !parts                       ? std::nullopt
                         : parts->host == "localhost" ? std::optional<asio::ip::address>{asio::ip::address_v4::loopback()}
                                                      : address_of(*parts);
    if (!port || !address)
        throw failure{exit_code::usage, "--listen: " + name_in_words(text) +
                                            " is no address with a port; write for instance 127.0.0.1:8480, [::1]:8480 or 0.0.0.0:8480"};
    return {*address, *port};
}

bool is_loopback(asio::ip::tcp::endpoint const& at) { return at.address().is_loopback(); }

std::string url_of(asio::ip::tcp::endpoint const& at)
{
    auto const address = at.address().to_string();
    return "http://" + (at.address().is_v6() ? '[' + address + ']' : address) + ':' + std::to_string(at.port()) + '/';
}

bool may_ask(std::string_view host, std::vector<std::string> const& names)
{
    auto const parts = split(host);
    if (!parts || parts->host.empty() || (!parts->port.empty() && !port_of(parts->port))) return false;
    if (address_of(*parts)) return true;
    if (parts->bracketed) return false;
    auto const is = [&](std::string_view name) { return boost::algorithm::iequals(parts->host, name); };
    return is("localhost") || std::any_of(names.begin(), names.end(), is);
}

}  // namespace redlock::cli
