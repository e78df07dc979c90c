// A lease as a text, which another process can go on with: what lease::detach() returns, and client::adopt() takes. No I/O.
//
// The text is `redlock-ticket-1.` and the fields below in the letters of base64url, with a checksum behind them. The checksum finds tickets
// that were cut or mistyped; it protects nothing. What keeps others from making one up is the value: 128 random bits that only the nodes
// and the ticket know.
#ifndef REDLOCK_CORE_LEASE_TICKET_HPP
#define REDLOCK_CORE_LEASE_TICKET_HPP

#include <redlock/error.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace redlock::detail {

struct ticket {
    std::vector<std::string> keys;  // on the nodes; sorted
    std::string text;  // the lock's name, for people
    std::string value;  // the whole value in the keys
    bool fenced{false};
    std::uint64_t guard{0};  // extensions carried it; without tokens, this and the next two are 0
    std::uint64_t token{0};
    std::uint64_t last_token{0};  // of the block
    std::chrono::milliseconds ttl{};
    std::chrono::milliseconds lock_delay{};
    std::uint8_t nodes{0};  // how many there are
    std::vector<std::uint32_t> servers{};  // fingerprints of those that were connected

    friend bool operator==(ticket const&, ticket const&) = default;
};

std::string to_text(ticket const& t);

// Reads `text` into `to` and returns errc{}; or returns errc::ticket_too_new or errc::invalid_ticket.
errc read_ticket(std::string_view text, ticket& to);

// A number that stands for a server in a ticket, made of the words that name it (node_listener::on_up).
std::uint32_t fingerprint(std::string_view server) noexcept;

// Whether the ticket names servers, and at least a majority of the nodes has a server now, none of which it names. `servers`: as above; empty where
// there is none.
bool is_of_other_nodes(ticket const& t, std::vector<std::string> const& servers) noexcept;

}  // namespace redlock::detail

#endif
