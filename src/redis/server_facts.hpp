// What a server says of itself at the handshake, and whether it can be a node at all. No I/O.
#ifndef REDLOCK_REDIS_SERVER_FACTS_HPP
#define REDLOCK_REDIS_SERVER_FACTS_HPP

#include <optional>
#include <string>
#include <string_view>

namespace redlock::detail {

// The value of a line "name:value" in an answer to INFO; empty if there is none.
std::string_view field_of_info(std::string_view text, std::string_view name);

// Empty: the server does not say, or its rules forbid us to ask.
struct server_facts {
    std::string mode;              // of HELLO: standalone, cluster, sentinel
    std::string role;              // of HELLO: master, replica; of INFO replication: master, slave
    std::string run_id;            // of INFO: one for each server process
    std::string maxmemory;
    std::string maxmemory_policy;
    std::string version;           // of HELLO
    std::string replicas;          // of INFO replication: how many are connected

    // The next two elements of HELLO's answer.
    void read_hello(std::string_view key, std::string_view value);

    // Sections of INFO.
    void read_info(std::string_view text);
};

// The same of a replica.
std::string why_not_a_replica();

// Why locks are not safe on this server, and what to do about it; none: nothing speaks against it.
std::optional<std::string> objection_to(server_facts const& facts);

}  // namespace redlock::detail

#endif
