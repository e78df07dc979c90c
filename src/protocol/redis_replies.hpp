// Turns the RESP3 answers of a server into replies, which carry the votes. No I/O.
#ifndef REDLOCK_PROTOCOL_REDIS_REPLIES_HPP
#define REDLOCK_PROTOCOL_REDIS_REPLIES_HPP

#include "protocol/facts_reader.hpp"
#include "protocol/redis_request.hpp"
#include "protocol/reply.hpp"
#include "protocol/state_reader.hpp"
#include "protocol/time_reader.hpp"

#include <boost/redis/resp3/node.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace redlock::detail {

// Whether a RESP3 node is an error: a simple one, or one with a length.
bool is_error(boost::redis::resp3::node_view const& node) noexcept;

// A whole number and nothing else. Text that is no number must not read as 0, because 0 is a refusal.
std::optional<std::int64_t> whole_number(boost::redis::resp3::node_view const& node);

// When a key expires to which PTTL says this; `left` < 0: never. Nobody waits for the end of a key that stays longer than a year, and its
// end may be beyond what a clock of nanoseconds can count.
std::chrono::milliseconds expiry_of(std::int64_t left) noexcept;

// An answer that makes no sense, and the reply for the code that a script with tokens answers.
reply unexpected();
reply to_reply(std::optional<std::int64_t> code);

// Turns the answers to a redis_request into replies; redis_node has one for each message. The reader is tolerant: an answer that
// makes no sense becomes a failed vote, and never an error of the connection.
class reply_reader {
public:
    // The vectors and the text must live as long as the reader is used. `replies` become as many as there are commands, whatever they were. Each
    // starts as "unexpected", so that an answer that never comes is no vote.
    reply_reader(std::vector<wire_call> const& calls, std::string_view id, std::vector<reply>& replies, std::size_t commands)
        : calls_{calls}, id_{id}, replies_{replies}, commands_{commands}
    {
    }

    // One RESP3 node of the answer to call `index`.
    void on_node(std::size_t index, boost::redis::resp3::node_view const& node);

    // Call this when all answers have been read. The last answer shows which server gave the votes; those of another server are dropped
    // here.
    void conclude();

    // Commands that the server did not execute can be sent once more in another way, and these say in which.
    struct repeatable {
        bool scripts{false};  // with the scripts in front: the server did not know one
        bool apart{false};  // each command in its own call: the user may not use a key of a call that several commands shared

        explicit operator bool() const noexcept { return scripts || apart; }
        bool is(reply const& r) const noexcept;
    };
    repeatable const& what_to_repeat() const noexcept { return repeatable_; }
    static bool is_noscript(reply const& r) noexcept;

    // Some reply has what the node tells of itself.
    bool has_facts() const noexcept { return has_facts_; }

    // The server is no master any more: it says so, or refuses to write.
    bool is_demoted() const noexcept { return demoted_; }

private:
    using node_view = boost::redis::resp3::node_view;

    void begin();
    void on_another_call(wire_call const& call, node_view const& node);
    void on_error(wire_call const& call, std::string_view text);
    void on_identity(node_view const& node);
    void drop_votes_of_another_server();
    void on_time_left(wire_call const& call, reply& r, node_view const& node);
    void on_number(wire_call const& call, reply& r, node_view const& node);
    void on_releases(wire_call const& call, node_view const& node);
    void on_acquires_with_tokens(wire_call const& call, node_view const& node);
    void on_element(wire_call const& call, std::size_t element, node_view const& node);
    void on_extended(wire_call const& call, std::size_t element, reply&& of_key);

    // What is made of several elements. Few messages have that, and each message has a reader.
    struct answer_in_parts {
        reply worst;  // of the keys of an extension that were read
        facts_reader facts;
        state_reader state;
    };
    answer_in_parts& parts();

    std::vector<wire_call> const& calls_;
    std::string_view id_;
    std::vector<reply>& replies_;
    std::size_t commands_;
    bool has_begun_{false};
    std::size_t element_{0};  // of the array being read
    std::size_t array_call_{0};  // the call whose array is being read, plus one; 0: the answer being read is no array
    std::optional<std::int64_t> claim_;  // the array answers verb::claim and began with this
    bool mark_granted_{false};  // the array answers verb::mark and begins with a success; its next element is the mark
    // Of extensions with several keys: the extension being read, and how many of its keys have been read.
    std::size_t extension_{0};
    std::size_t keys_read_{0};
    std::unique_ptr<answer_in_parts> parts_;
    time_reader time_;
    bool is_expected_server_{false};  // the server showed `id_`, and is a master
    std::optional<reply> identity_error_;  // the server answered the question for its id with an error
    repeatable repeatable_;
    bool has_facts_{false};
    bool demoted_{false};
    bool armed_{false};  // the server watches the keys that the next call reads
};

}  // namespace redlock::detail

#endif
