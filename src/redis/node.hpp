// src/redis: one Redis server. `node` is the seam: the core knows nothing else of a server, and simulations put servers of
// their own behind it. `redis_node` is the real one, over Boost.Redis.
//
// Everything here runs on the core's strand.
#ifndef REDLOCK_REDIS_NODE_HPP
#define REDLOCK_REDIS_NODE_HPP

#include "quorum/clock_step_detector.hpp"
#include "quorum/node_facts.hpp"
#include "quorum/slot_set.hpp"

#include <redlock/attempt_report.hpp>
#include <redlock/error.hpp>

#include <boost/asio/any_completion_handler.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace redlock {
namespace asio = boost::asio;
}

namespace redlock::detail {

enum class verb : std::uint8_t {
    acquire,  // set the key if it is free; with tokens, raise the counter
    confirm,  // tokens: raise the counter to the token if the value is ours and no other token is above it
    extend,   // set the key's expiry if the value is ours; with tokens, also set a key again that is missing
    climb,    // tokens: raise the counter above the token if the value is ours and no other token is above the guard
    release,  // delete the key if the value is ours
    watch,    // be told of the next change of the key; and how long is the node going to keep it?
    inspect,  // what the node says of itself
    claim,    // keep a record of the set that the node belongs to
    mark,     // leave a mark in the record of a node that lost its data
    admit,    // let it vote again
    adopt,    // a lease goes on under a new value: replace the former value; with tokens, raise the counter above the guard
    publish,  // tokens: keep a state of the holder if the value is ours and nothing newer is known
    inherit,  // tokens: say which state is kept, if the value is ours, and take none of an older holder from then on
    peek,     // say whose value the key has, for how long, and which state is kept
    want,     // leave the wish of a writer, so that no new readers come
    keep,     // keep the number of permits of a semaphore
    look,     // how many permits a semaphore has, and which of its slots are free
};

// A vote that gives away the lock, if it is one.
constexpr bool may_grant(verb what) noexcept { return what == verb::acquire || what == verb::confirm; }

// A vote that a lease goes on, if it is one.
constexpr bool may_renew(verb what) noexcept { return what == verb::extend || what == verb::climb || what == verb::adopt; }

// A vote about the state that goes with the lock.
constexpr bool is_about_state(verb what) noexcept { return what == verb::publish || what == verb::inherit; }

// The node's vote counts only if it is admitted, where the command has tokens.
constexpr bool may_vote_with_tokens(verb what) noexcept
{
    return may_grant(what) || may_renew(what) || is_about_state(what) || what == verb::keep;
}

// One request about one lock, or about a node's admission. The strings belong to the part that waits for the answer.
struct command {
    verb what;
    std::string_view key;
    std::string_view value;         // mark, admit: the mark; claim: the record; else the lock's value, or the first part of it
    std::chrono::milliseconds ttl;  // not used by confirm, release and watch; admit: the largest that the node shall allow

    // Tokens. acquire and extend without them are the plain protocol.
    bool fenced{false};
    // acquire: the lower bound; confirm: the lease's last; extend, climb, publish, inherit: its guard; admit: the base
    quorum::token_number token{0};
    quorum::token_number goal{0};   // climb: the guard to be; publish: the guard of the lease that published it
    std::uint32_t block{1};         // acquire: how many tokens
    std::chrono::milliseconds retention{};
    bool refresh{false};            // extend: the counter's retention, too
    bool shared{false};             // acquire, confirm, extend, release: of a reader (redis/shared_scripts.hpp)
    bool was_writer{false};         // extend, shared: the lease began as a writer's
    std::string_view id{};          // claim, mark, admit: that the server must still have
    bool stays{false};  // claim: the server stays a member, so its admission goes on
    std::string_view value_end{};           // what stands behind that; many values have it in common
    // adopt: the whole value that is replaced, whose guard is `token`; publish: the state's text; claim: what must be there
    std::string_view former{};
    std::span<std::string const> others{};  // further keys of the same lock: all or none; sorted, and behind `key`
    // acquire, shared: the counter of the last refusal by a writer; -1: there was none. publish: the state's number
    std::int64_t since{-1};

    // Of a semaphore (redis/semaphore_scripts.hpp): acquire (the first free ones of the keys), extend (of slots), keep, look. The key of
    // keep and look is the record's, and the further keys of look are slots.
    std::string_view permits_key{};
    std::uint32_t permits{0};  // how many it has; 0: it is of no semaphore
    std::uint64_t version{0};  // of that number
    std::uint32_t wanted{1};  // acquire: how many of the keys
    std::uint32_t from{0};  // acquire: the key to begin with
    bool any{false};  // watch: when the first of the keys goes, and not the last

    std::size_t key_count() const noexcept { return 1 + others.size(); }
    std::string_view key_at(std::size_t i) const noexcept { return i == 0 ? key : std::string_view{others[i - 1]}; }

    bool may_grant() const noexcept { return detail::may_grant(what); }
    bool may_renew() const noexcept { return detail::may_renew(what); }
    bool is_about_state() const noexcept { return detail::is_about_state(what); }
    bool votes_with_tokens() const noexcept { return fenced && may_vote_with_tokens(what); }

    bool is_of_permits() const noexcept { return permits > 0 && (what == verb::acquire || what == verb::extend); }
};

// What a node says of the slots of a semaphore that were listed. The first one is bit 0.
struct slots_answer {
    quorum::slot_set ours{0};
    quorum::slot_set free{0};
    std::uint64_t version{0};
    std::uint32_t permits{0};  // 0: those that the client says
};

// When a key expires that does not expire.
inline constexpr std::chrono::milliseconds never_expires = std::chrono::milliseconds::max();

// A watch is granted when the node could be asked, whether it will say anything or not.
struct reply {
    redlock::vote vote{redlock::vote::pending};
    error_code error;  // why it failed
    // The server's words; mark: the mark that it keeps now; claim: the record that it keeps; inherit, peek: what it keeps
    // (redis/state_text.hpp).
    std::string detail;
    quorum::token_number counter{0};  // acquire with tokens: the last of those that were granted; extend: the guard that it needs
    bool recreated{false};  // extend: the key was missing, and is there again
    bool watching{false};  // watch: the node will say when a key changes
    bool writer_waits{false};  // acquire, shared: refused because of a writer's wish
    // watch, peek: when the last of the keys goes, `never_expires` if it does not; none: all are free
    std::optional<std::chrono::milliseconds> expires_in{};
    std::uint64_t admission{0};  // set by fanout: equal numbers, the same admission of the node as the same server
    std::shared_ptr<quorum::node_facts const> facts{};  // inspect
    std::shared_ptr<slots_answer const> slots{};  // acquire of permits, keep, look
    // Of the last reply of a batch: what the node's clock showed when it had executed it; 0: it does not say.
    quorum::wall_time server_time{};

    // As a new one, but for its memory.
    void clear() noexcept
    {
        vote = redlock::vote::pending;
        error = {};
        detail.clear();
        counter = 0;
        recreated = watching = writer_waits = false;
        expires_in.reset();
        admission = 0;
        if (facts) facts.reset();
        if (slots) slots.reset();
        server_time = {};
    }
};

// What is filed in place of an answer that a node did not give.
inline reply failure(errc why) { return reply{redlock::vote::failed, why, {}}; }

// What a node made of a batch to send it; shared by all nodes that send the same bytes.
class encoded_batch {
public:
    virtual ~encoded_batch() = default;
};

// Commands that go to a node together, in this order.
struct batch {
    std::vector<command> commands;
    mutable std::unique_ptr<encoded_batch> wire;  // made by the first node that needs it, and kept for the next batch
    mutable bool is_encoded{false};  // it is of these commands

    bool votes_with_tokens() const noexcept
    {
        return std::any_of(commands.begin(), commands.end(), [](command const& c) { return c.votes_with_tokens(); });
    }
    bool may_grant() const noexcept
    {
        return std::any_of(commands.begin(), commands.end(), [](command const& c) { return c.may_grant(); });
    }
};

// What a node tells its owner.
class node_listener {
public:
    // `server`: which one it is, in whatever words, the same for all addresses of one server; empty: unknown.
    virtual void on_up(std::size_t node, std::string const& server, quorum::node_facts const& facts) = 0;
    virtual void on_down(std::size_t node, error_code why, std::string const& text) = 0;
    virtual void on_stopped(std::size_t node) = 0;

    // A key that was watched has changed: set, extended, deleted or expired. Empty: any of them may have.
    // A node loses what it watches with its connection, and after one change of a key; it may say more than it was asked to.
    virtual void on_changed(std::size_t node, std::string_view key) = 0;

    // What the node's clock showed at a moment between these, if nothing else was asked for a while.
    virtual void on_time(std::size_t node, quorum::wall_time clock, quorum::time_point sent, quorum::time_point received) = 0;

    // Of a group, before on_up: which server it is connected to, as host:port.
    virtual void on_primary(std::size_t /*node*/, std::string const& /*server*/) {}

    // Whether a node that is up could renew its credentials; empty: it could.
    virtual void on_login(std::size_t /*node*/, std::string const& /*why_not*/) {}

protected:
    ~node_listener() = default;
};

using exec_handler = asio::any_completion_handler<void(error_code)>;

class node {
public:
    virtual ~node() = default;

    virtual std::string const& name() const noexcept = 0;

    // Connects, and stays connected until stop(). Events come with `index`, until on_stopped.
    virtual void start(std::size_t index, std::weak_ptr<node_listener> listener) = 0;
    virtual void stop() = 0;

    // The server that was connected is not one that the owner can use. The connection is closed, on_down says so in these words, and the
    // address is asked again with pauses that go on growing. Precondition: after on_up, or in it.
    virtual void reject(error_code why, std::string words) = 0;

    // Executes a batch. Precondition: usable, between on_up and on_down. Writes one reply a command and completes with
    // no error, or completes with the reason why the connection was lost. Requests are executed by the server in the order
    // of these calls, and may complete in another one. A vote that failed with errc::not_durable was executed. Completes before on_down
    // does, or at the latest soon after it; cannot be cancelled. `id`: which server it must be, and must still be after the last command,
    // for those that vote with tokens; if not, they failed with errc::node_not_admitted.
    // `work`, `id` and `replies` must live until then.
    virtual void exec(batch const& work, std::string_view id, std::vector<reply>& replies, exec_handler handler) = 0;
};

}  // namespace redlock::detail

#endif
