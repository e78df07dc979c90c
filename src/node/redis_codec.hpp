// Batches to Redis commands, and RESP3 answers to votes. No I/O.
#ifndef REDLOCK_NODE_REDIS_CODEC_HPP
#define REDLOCK_NODE_REDIS_CODEC_HPP

#include "node/node.hpp"

#include <boost/redis/request.hpp>
#include <boost/redis/resp3/node.hpp>

#include <cstddef>
#include <vector>

namespace redlock::detail {

// Extensions that stand together in a batch share one script call, up to this many: a longer one would block the server.
inline constexpr std::size_t extensions_per_call = 100;

// Asio and Boost.Redis leave a request to its caller until it is answered or the connection is lost; never retried.
boost::redis::request::config one_connection_only() noexcept;

// One call on the wire and the commands of the batch that it carries.
struct wire_call {
    verb what;
    std::size_t first;
    std::size_t count;
};

class redis_request final : public wire_form {
public:
    explicit redis_request(batch const& work);

    boost::redis::request request;
    std::vector<wire_call> calls;
};

// Turns the answers to a redis_request into replies. It is tolerant: whatever a server sends becomes a vote, and never an
// error of the connection.
class reply_reader {
public:
    // Both must live as long as the reader is used. Every reply starts as "unexpected": what never came is no vote.
    reply_reader(std::vector<wire_call> const& calls, std::vector<reply>& replies);

    // One RESP3 node of the answer to call `index`.
    void on_node(std::size_t index, boost::redis::resp3::node_view const& node);

    // Commands whose script the server did not know; nothing was executed for them.
    bool has_noscript() const noexcept { return noscript_; }
    static bool is_noscript(reply const& r) noexcept;

private:
    void on_error(wire_call const& call, std::string_view text);
    void on_acquire(reply& r, boost::redis::resp3::node_view const& node);
    void on_number(reply& r, boost::redis::resp3::node_view const& node);
    void on_extend(wire_call const& call, boost::redis::resp3::node_view const& node);

    std::vector<wire_call> const& calls_;
    std::vector<reply>& replies_;
    std::size_t element_{0};       // of the array being read
    std::size_t array_of_{0};      // the call whose array is being read, plus one
    bool noscript_{false};
};

}  // namespace redlock::detail

#endif
