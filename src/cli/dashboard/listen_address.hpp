// Where `redlock dashboard` listens, and which requests it answers there. No I/O.
#ifndef REDLOCK_CLI_DASHBOARD_LISTEN_ADDRESS_HPP
#define REDLOCK_CLI_DASHBOARD_LISTEN_ADDRESS_HPP

#include <boost/asio/ip/tcp.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace redlock {
namespace asio = boost::asio;
}

namespace redlock::cli {

// Reads "127.0.0.1:8480", "[::1]:8480" or "localhost:8480". Throws `failure` with `usage` for anything else; other names are refused, as a name can
// stand for several addresses.
asio::ip::tcp::endpoint parse_listen_address(std::string const& text);

// Whether only this machine can connect to it.
bool is_loopback(asio::ip::tcp::endpoint const& at);

// "http://127.0.0.1:8480/".
std::string url_of(asio::ip::tcp::endpoint const& at);

// Whether a request with this Host may be answered. A page of somebody else's can make a browser send requests here, and read the answers, after it has
// had its own name resolve to this machine's address ("DNS rebinding"); its name is then in Host. So `host` must be an address, localhost, or one of
// `names`, each with any port or none.
bool may_ask(std::string_view host, std::vector<std::string> const& names);

}  // namespace redlock::cli

#endif
