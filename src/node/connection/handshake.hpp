// What a server is asked before it is a node, and what its answers mean. No I/O.
#ifndef REDLOCK_NODE_CONNECTION_HANDSHAKE_HPP
#define REDLOCK_NODE_CONNECTION_HANDSHAKE_HPP

#include "protocol/durability.hpp"
#include "protocol/redis_replies.hpp"
#include "protocol/reply.hpp"
#include "protocol/server_facts.hpp"
#include "protocol/server_kind.hpp"

#include <redlock/config.hpp>
#include <redlock/error.hpp>

#include <boost/redis/request.hpp>
#include <boost/redis/resp3/node.hpp>

#include <chrono>
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
    // `in_cluster`: the server has to be a member of a Redis Cluster. It is not asked for its facts, which each shard has of its own.
    explicit handshake(node_address const& address, bool in_cluster = false);

    // Nothing but HELLO, whatever the server is: for programs that look at servers.
    struct greeting_only {};
    handshake(node_address const& address, greeting_only);

    // For the connection that waits for replicas and disks.
    handshake(node_address const& address, durability const& wanted, bool in_cluster = false);

    // What the server is logged in to with now; empty: nothing. No answer may repeat it.
    void logs_in_with(std::string password);

    std::string const& password() const noexcept { return password_; }

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
        std::string_view expected{};  // demand: the right answer
        std::string_view section{};  // info: what is asked for
        std::string_view command{};
    };

    boost::redis::request request;
    std::vector<call> calls;
    bool has_password;
    durability needs{};
    bool in_cluster{false};

private:
    void begin(question first, node_address const& address);

    template <class... Words>
    void ask(call is, char const* command, Words const&... words)
    {
        request.push(command, words...);
        is.command = command;
        calls.push_back(is);
    }

    std::string password_;
};

// Why HELLO was refused, as far as can be told without the server's words.
char const* hello_refused(handshake const& asked) noexcept;

// Why a server's id does not tell whether it lost its data.
struct identity_suspicion {
    std::string words;      // with what to do about it; empty: there is none
    bool id_counts{true};   // what it says all the same

    void apply(quorum::node_facts& facts) const;
    void apply(std::vector<reply>& replies) const;
};

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
    std::optional<std::chrono::seconds> running_for() const { return facts_.running_for(); }
    bool says_its_id() const noexcept { return inspected_.says_its_id(); }
    quorum::node_facts take_facts() { return inspected_.take(); }
    bool may_ask_info() const noexcept { return may_ask_info_; }

    // `trusted`: somebody knows that the ids of such servers change.
    identity_suspicion doubt(bool trusted) const;

private:
    using node_view = boost::redis::resp3::node_view;

    void read_hello(std::string_view element);
    void object(error_code why, std::string words);
    void object_to_demand(handshake::call const& call, std::string_view answer, bool is_error);
    void object_to_wait(std::string_view answer);
    void read_info(std::string_view section, node_view const& node);
    std::optional<std::string> too_few_replicas() const;

    handshake const* asked_;
    server_facts facts_;
    server_kind kind_;
    std::string renamed_;  // commands that tell whether it lost its data, and that it does not know
    bool may_ask_info_{false};
    facts_reader inspected_;
    std::size_t inspected_elements_{0};
    std::string hello_key_;  // the last element of its map that was a key
    objection against_;
};

}  // namespace redlock::detail

#endif
