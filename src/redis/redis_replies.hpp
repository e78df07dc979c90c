// RESP3 answers to votes. No I/O.
#ifndef REDLOCK_REDIS_REDIS_REPLIES_HPP
#define REDLOCK_REDIS_REDIS_REPLIES_HPP

#include "redis/redis_request.hpp"

#include <boost/redis/resp3/node.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace redlock::detail {

// A simple error or one with a length.
bool is_error(boost::redis::resp3::node_view const& node) noexcept;

// What inspect_script answered, element by element.
class facts_reader {
public:
    void on_element(std::size_t index, std::string_view value);

    // False when the server keeps to itself which one it is; then the id is the one in its record.
    bool says_its_id() const noexcept { return says_its_id_; }
    quorum::node_facts take();

private:
    quorum::node_facts facts_;
    std::string record_;
    bool has_high_water_{false};
    bool says_its_id_{false};
};

// What TIME answered: seconds and microseconds.
class time_reader {
public:
    void on_node(boost::redis::resp3::node_view const& node);
    quorum::wall_time clock() const noexcept { return parts_ == 2 ? clock_ : quorum::wall_time{}; }

private:
    quorum::wall_time clock_{};
    int parts_{0};
};

// Turns the answers to a redis_request into replies. It is tolerant: whatever a server sends becomes a vote, and never an
// error of the connection.
class reply_reader {
public:
    // All must live as long as the reader is used. Every reply starts as "unexpected": what never came is no vote.
    reply_reader(std::vector<wire_call> const& calls, std::string_view id, std::vector<reply>& replies);

    // One RESP3 node of the answer to call `index`.
    void on_node(std::size_t index, boost::redis::resp3::node_view const& node);

    // All answers are there.
    void conclude();

    // What can be sent once more, in another way, since it was not executed: scripts that the server did not know, and commands that shared a
    // call in which the user may not use some key.
    struct repeatable {
        bool scripts{false};
        bool apart{false};

        explicit operator bool() const noexcept { return scripts || apart; }
        bool is(reply const& r) const noexcept;
    };
    repeatable const& what_to_repeat() const noexcept { return repeatable_; }
    static bool is_noscript(reply const& r) noexcept;

    // It is a master no more: it says so, or refuses to write.
    bool is_demoted() const noexcept { return demoted_; }

private:
    using node_view = boost::redis::resp3::node_view;

    void on_error(wire_call const& call, std::string_view text);
    void on_identity(node_view const& node);
    void drop_votes_of_another();
    void on_plain_acquire(reply& r, node_view const& node);
    void on_time_left(wire_call const& call, reply& r, node_view const& node);
    void on_number(wire_call const& call, reply& r, node_view const& node);
    void on_releases(wire_call const& call, node_view const& node);
    void on_acquires_with_tokens(wire_call const& call, node_view const& node);
    void on_element(wire_call const& call, std::size_t element, node_view const& node);
    void on_extended(wire_call const& call, std::size_t element, reply&& one);

    std::vector<wire_call> const& calls_;
    std::string_view id_;
    std::vector<reply>& replies_;
    std::size_t element_{0};  // of the array being read
    std::size_t array_of_{0};  // the call whose array is being read, plus one; 0: what is being read is no array
    bool granted_{false};  // that array begins with a success, and is going to say which
    std::size_t extension_{0};  // of several keys: which one is being read,
    std::size_t keys_read_{0};  // how many of its keys,
    reply worst_;  // and what they are worth together
    facts_reader facts_;
    time_reader time_;
    bool is_the_one_{false};  // the server showed the id, and is a master
    std::optional<reply> no_identity_;  // it did not say who it is
    repeatable repeatable_;
    bool demoted_{false};
    bool armed_{false};  // the next call
};

// What a server says without being asked: of interest is only that keys have changed.
class push_reader {
public:
    // One RESP3 node of a push, whatever it is about. A key that has changed, as in node_listener::on_changed.
    std::optional<std::string_view> on_node(boost::redis::resp3::node_view const& node);

private:
    std::size_t element_{0};  // of the push itself
    bool invalidates_{false};
};

}  // namespace redlock::detail

#endif
