// Batches to Redis commands. No I/O.
#ifndef REDLOCK_NODE_REDIS_REQUEST_HPP
#define REDLOCK_NODE_REDIS_REQUEST_HPP

#include "node/command_words.hpp"
#include "node/node.hpp"
#include "node/scripts.hpp"

#include <boost/redis/request.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace redlock::detail {

// Extensions that stand together in a batch share one script call, and so do releases; up to this many keys: a longer one would block
// the server.
inline constexpr std::size_t keys_per_call = 100;

// Asio and Boost.Redis leave a request to its caller until it is answered or the connection is lost; never retried.
boost::redis::request::config one_connection_only() noexcept;

// One call on the wire and the commands of the batch that it carries.
struct wire_call {
    enum class kind : std::uint8_t {
        commands,
        load_script,
        arm,       // the server watches the keys that the next call reads, if it may
        time,      // of the server's clock
        identity,  // which server this is: the votes with tokens before it count only if it is the one that was meant
    };
    kind is;
    verb what{};
    bool fenced{false};
    std::size_t first{0};
    std::size_t count{0};
    bool goes_on{false};  // with a command whose first key was in an earlier call
    std::vector<std::size_t> key_counts{};  // of each extension; none: one key each
};

// All scripts that commands need.
std::vector<script const*> scripts_of_nodes();

// What a message has besides its commands.
struct request_extras {
    bool load_scripts{false};  // first
    bool time{false};          // behind the commands
    bool identity{false};      // last
};

class redis_request final : public wire_form {
public:
    redis_request() : request{one_connection_only()} {}
    explicit redis_request(batch const& work, std::string_view id = {}, request_extras more = {}) : redis_request{}
    {
        encode(work, id, more);
    }

    // Instead of what it was. `id`: the server that votes with tokens are asked of.
    void encode(batch const& work, std::string_view id, request_extras more);

    boost::redis::request request;
    std::vector<wire_call> calls;

private:
    void push_watch(command const& c, std::size_t index);

    command_words words_;
};

}  // namespace redlock::detail

#endif
