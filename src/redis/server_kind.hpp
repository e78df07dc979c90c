// Which program a server is, and whether that one is known to take another id with each loss of its memory. No I/O.
//
// Tokens rest on that id: a server that comes back without its memory, and under the id that it was admitted as, would vote at once.
// Redis and Valkey take another one when they start and when they are promoted; docs/comparison.md says what was read of others.
#ifndef REDLOCK_REDIS_SERVER_KIND_HPP
#define REDLOCK_REDIS_SERVER_KIND_HPP

#include <string>
#include <string_view>

namespace redlock::detail {

class server_kind {
public:
    // An element of HELLO's answer.
    void read_hello(std::string_view key, std::string_view value);

    // INFO server.
    void read_info(std::string_view text);

    // True as well where rules forbid INFO, unless HELLO names another program: who admits such a server has read it.
    bool takes_new_ids() const noexcept { return foreign_.empty(); }

    // "Dragonfly df-v1.40.1"; empty if it takes new ids.
    std::string const& foreign() const noexcept { return foreign_; }

private:
    std::string foreign_;
};

// Why it may not vote with tokens, and what to do about it.
std::string no_tokens_on(std::string const& foreign);

}  // namespace redlock::detail

#endif
