// What a server is asked before it is a node, and what its answers mean. No I/O.
#ifndef REDLOCK_NODE_HANDSHAKE_HPP
#define REDLOCK_NODE_HANDSHAKE_HPP

#include "node/durability.hpp"
#include "node/redis_replies.hpp"
#include "node/server_facts.hpp"

#include <redlock/config.hpp>
#include <redlock/error.hpp>

#include <boost/redis/request.hpp>
#include <boost/redis/resp3/node.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace redlock::detail {

// The questions to a server.
class handshake {
public:
    explicit handshake(node_address const& address);

    // Nothing but HELLO, whatever the server is: for programs that look at servers.
    struct greeting_only {};
    handshake(node_address const& address, greeting_only);

    // For the connection that waits for replicas and disks.
    handshake(node_address const& address, durability const& wanted);

    // The same with the password as it is now.
    handshake with_password(std::string password) const;

    enum class question : std::uint8_t {
        hello,
        greeting,  // a HELLO that only has to be accepted
        demand,  // has one right answer
        wish,    // may be refused
        info,
        inspection,
        rights,
        wait,  // WAIT or WAITAOF: whether the server has it
    };
    struct call {
        question is;
        std::string_view answer{};
    };

    boost::redis::request request;
    std::vector<call> calls;
    bool has_password;
    durability needs{};

private:
    void begin(question first);

    template <class... Words>
    void ask(call is, Words const&... words)
    {
        request.push(words...);
        calls.push_back(is);
    }

    node_address address_;
    bool greets_only_{false};
};

// Why HELLO was refused, as far as can be told without the server's words.
char const* hello_refused(handshake const& asked) noexcept;

// The answers of one connection.
class handshake_reader {
public:
    explicit handshake_reader(handshake const& asked) : asked_{&asked} {}

    // One RESP3 node of the answer to call `index`.
    void on_node(std::size_t index, boost::redis::resp3::node_view const& node);

    // All answers are there.
    void conclude();

    // Why the server cannot be a node; no error: nothing speaks against it yet.
    struct objection {
        error_code why;
        std::string words;
    };
    objection const& against() const noexcept { return against_; }

    std::string const& run_id() const noexcept { return facts_.run_id; }
    bool says_its_id() const noexcept { return inspected_.says_its_id(); }
    quorum::node_facts take_facts() { return inspected_.take(); }

private:
    using node_view = boost::redis::resp3::node_view;

    void read_hello(std::string_view element);
    void object(error_code why, std::string words);
    void object_to_hello(std::string_view answer);
    void object_to_wait(std::string_view answer);
    std::optional<std::string> too_few_replicas() const;

    handshake const* asked_;
    server_facts facts_;
    facts_reader inspected_;
    std::size_t inspected_elements_{0};
    std::string hello_key_;  // the last element of its map that was a key
    objection against_;
};

}  // namespace redlock::detail

#endif
