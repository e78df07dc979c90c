// Batches to Redis commands. No I/O.
#ifndef REDLOCK_REDIS_REDIS_REQUEST_HPP
#define REDLOCK_REDIS_REDIS_REQUEST_HPP

#include "redis/node.hpp"
#include "redis/resp_writer.hpp"
#include "redis/scripts.hpp"

#include <boost/redis/request.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
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
    bool apart{false};         // each command in a call of its own

    friend bool operator==(request_extras const&, request_extras const&) = default;
};

class redis_request final : public encoded_batch {
public:
    redis_request() : request{one_connection_only()} {}
    explicit redis_request(batch const& work, std::string_view id = {}, request_extras more = {}) : redis_request{}
    {
        encode(work, id, more);
    }

    // Instead of what it was. `id`: the server that votes with tokens are asked of.
    void encode(batch const& work, std::string_view id, request_extras more);

    request_extras const& extras() const noexcept { return extras_; }

    // The bytes name no other server than this one.
    bool is_for(std::string_view id) const noexcept { return ids_.empty() || id == id_; }

    // Takes another one's bytes, and not its calls, for this server: to copy costs less than to encode once more. False, and nothing happens,
    // if its id is of another length.
    bool copy_bytes(redis_request const& from, std::string_view id);

    boost::redis::request request;
    std::vector<wire_call> calls;

private:
    void push_watch(command const& c, std::size_t index);

    request_extras extras_;
    std::string id_;
    std::vector<std::size_t> ids_;  // where it stands among the bytes
    resp_writer words_;
};

}  // namespace redlock::detail

#endif
