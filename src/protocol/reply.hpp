// What a node answers to one command.
#ifndef REDLOCK_PROTOCOL_REPLY_HPP
#define REDLOCK_PROTOCOL_REPLY_HPP

#include "base/rarely.hpp"
#include "quorum/clocks/clock_step_detector.hpp"
#include "quorum/node_facts.hpp"
#include "quorum/slot_set.hpp"

#include <redlock/attempt_report.hpp>
#include <redlock/error.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace redlock::detail {

// What a node says of the slots of a semaphore that were listed. The first one is bit 0.
struct slots_answer {
    quorum::slot_set ours{0};
    quorum::slot_set free{0};
    std::uint64_t version{0};
    std::uint32_t permits{0};  // 0: those that the client says
};

// When a key expires that does not expire.
inline constexpr std::chrono::milliseconds never_expires = std::chrono::milliseconds::max();

// A client with many callers has thousands of replies at once: what most of them have fits in 64 bytes.
class reply {
public:
    reply() = default;
    explicit reply(redlock::vote v) : vote{v} {}
    reply(redlock::vote v, errc why_failed, std::string words = {}) : vote{v}, error{why_failed}
    {
        if (!words.empty()) set_words(std::move(words));
    }

    // A watch is granted when the node could be asked, whether it will say anything or not.
    redlock::vote vote{redlock::vote::pending};
    bool recreated{false};  // extend: the key was missing, and is there again
    bool watching{false};  // watch: the node will say when a key changes
    bool writer_waits{false};  // acquire, shared: refused because of a writer's wish
    bool not_connected{false};  // failed: there is no connection, or it was lost
    errc error{};  // why it failed; errc{}: it has not
    quorum::token_number counter{0};  // acquire with tokens: the last of those that were granted; extend: the guard that it needs
    // watch, peek: when the last of the keys goes, `never_expires` if it does not; none: all are free
    std::optional<std::chrono::milliseconds> expires_in{};
    std::uint64_t admission{0};  // set by fanout: equal numbers, the same admission of the node as the same server
    // Of the last reply of a batch: what the node's clock showed when it had executed it; 0: it does not say.
    quorum::wall_time server_time{};

    // The server's words; mark: the mark that it keeps now; claim: the record that it keeps; inherit, peek: what it keeps
    // (protocol/state_text.hpp).
    std::string const& words() const noexcept { return details_.get().words; }
    void set_words(std::string words) { details_.change().words = std::move(words); }

    std::shared_ptr<quorum::node_facts const> const& facts() const noexcept { return details_.get().facts; }  // inspect
    void set_facts(quorum::node_facts facts) { details_.change().facts = std::make_shared<quorum::node_facts const>(std::move(facts)); }

    std::optional<slots_answer> const& slots() const noexcept { return details_.get().slots; }  // acquire of permits, keep, look
    void set_slots(slots_answer const& slots) { details_.change().slots = slots; }

private:
    // What few replies have.
    struct details {
        std::string words;
        std::shared_ptr<quorum::node_facts const> facts;
        std::optional<slots_answer> slots;
    };
    rarely<details> details_;
};

// What is filed in place of an answer that a node did not give.
inline reply failure(errc why) { return {redlock::vote::failed, why}; }
inline reply failure_to_connect(errc why, std::string words = {})
{
    reply r{redlock::vote::failed, why, std::move(words)};
    r.not_connected = true;
    return r;
}

}  // namespace redlock::detail

#endif
