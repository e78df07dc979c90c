// Recognises the program of a server, and says whether that program takes another id (master_replid) whenever it loses its data. No I/O.
//
// Tokens depend on that: a server that lost its data, but kept the id of its admission, would vote without a quarantine. Redis and Valkey take
// another id when they start and when they are promoted. docs/comparison.md says what is known of other programs.
#ifndef REDLOCK_PROTOCOL_SERVER_KIND_HPP
#define REDLOCK_PROTOCOL_SERVER_KIND_HPP

#include <string>
#include <string_view>

namespace redlock::detail {

class server_kind {
public:
    // One field of the answer to HELLO.
    void read_hello(std::string_view key, std::string_view value);

    // The answer to INFO server.
    void read_info(std::string_view text);

    // Also true if the permissions forbid INFO and HELLO names no other program: the client that admits such a server may use INFO, and checks.
    bool takes_new_ids() const noexcept { return foreign_.empty(); }

    // The other program, as in "Dragonfly df-v1.40.1"; empty if the server takes new ids.
    std::string const& foreign() const noexcept { return foreign_; }

private:
    std::string foreign_;
};

// The text of an error: why a server of another program has no vote with tokens, and what to do about it.
std::string no_tokens_on(std::string const& foreign);

}  // namespace redlock::detail

#endif
