// What a node answers to one command.
#ifndef REDLOCK_REDIS_REPLY_HPP
#define REDLOCK_REDIS_REPLY_HPP

#include "quorum/clock_step_detector.hpp"
#include "quorum/node_facts.hpp"
#include "quorum/slot_set.hpp"

#include <redlock/attempt_report.hpp>
#include <redlock/error.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

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

}  // namespace redlock::detail

#endif
