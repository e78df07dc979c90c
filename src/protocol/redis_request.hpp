// Encodes a batch of commands as one request of Boost.Redis. redis_node and request_pool keep these requests; redis_replies reads the answers by
// their calls. No I/O.
#ifndef REDLOCK_PROTOCOL_REDIS_REQUEST_HPP
#define REDLOCK_PROTOCOL_REDIS_REQUEST_HPP

#include "protocol/call_words.hpp"
#include "protocol/command.hpp"
#include "protocol/resp_writer.hpp"
#include "protocol/scripts.hpp"

#include <boost/redis/request.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace redlock::detail {

// Neighbouring commands of the same kind in a batch share one script call. One call has at most this many keys, since a longer one would block the
// server.
inline constexpr std::size_t keys_per_call = 100;

// Boost.Redis gives up such a request when the connection is lost, and never sends it again on another connection.
boost::redis::request::config one_connection_only() noexcept;

// One Redis command of the request, and which commands of the batch it carries.
struct wire_call {
    enum class kind : std::uint8_t {
        commands,  // carries commands of the batch
        load_script,  // SCRIPT LOAD
        arm,  // CLIENT CACHING YES: the server tells of changes of the keys that the next call reads, if its permissions allow that
        time,  // TIME: reads the server's clock
        identity,  // INFO replication: the votes with tokens before this call count only if the answer shows the intended server
    };
    kind is;
    verb what{};
    bool fenced{false};
    bool shared{false};  // of readers
    bool of_slots{false};  // of a semaphore; of a watch: what counts is the first key that goes
    bool goes_on{false};  // the call is about another key of the same command as an earlier call
    std::uint32_t first{0};  // the index in the batch of the first command
    std::uint32_t count{0};  // how many commands of the batch
    std::unique_ptr<std::uint32_t[]> key_counts{};  // how many keys each extension or climb has; null: one each
};

// All scripts that a node may be asked to run.
std::vector<script const*> scripts_of_nodes();

// The calls of a request besides those of its commands.
struct request_extras {
    bool load_scripts{false};  // before the commands
    bool time{false};  // after the commands
    bool identity{false};  // at the end
    bool apart{false};  // commands share no call
    std::string_view prefix{};  // of all keys; must live until the request is answered

    friend bool operator==(request_extras const&, request_extras const&) = default;
};

class redis_request final : public encoded_batch {
public:
    redis_request() : request{one_connection_only()} {}
    explicit redis_request(batch const& work, std::string_view id = {}, request_extras extras = {}) : redis_request{}
    {
        encode(work, id, extras);
    }

    // Replaces the request by one that carries `work`. `id`: the server's id, which commands with tokens contain.
    void encode(batch const& work, std::string_view id, request_extras extras);

    request_extras const& extras() const noexcept { return extras_; }

    // Whether the bytes may be sent to the server `id`: they contain its id, or none.
    bool is_for(std::string_view id) const noexcept { return ids_.empty() || id == id_; }

    // Copies the bytes of `from`, without its calls, and puts `id` in place of the server's id there. That costs less than to encode once more.
    // Returns false and does nothing if the ids differ in length.
    bool copy_bytes(redis_request const& from, std::string_view id);

    boost::redis::request request;
    std::vector<wire_call> calls;

private:
    void push_watch(command const& c, std::size_t index);

    request_extras extras_;
    std::string id_;
    std::vector<std::size_t> ids_;  // the positions of id_ in the bytes
    resp_writer words_;  // the words of one call; kept for its memory
    set_options set_options_;
};

}  // namespace redlock::detail

#endif
