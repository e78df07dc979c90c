// The commands of a message that the server did not execute, which are sent once more: after SCRIPT FLUSH, or where it has evicted its scripts; or with
// a key that the user may not use, in a call with those of other locks.
#ifndef REDLOCK_PROTOCOL_REPETITION_HPP
#define REDLOCK_PROTOCOL_REPETITION_HPP

#include "protocol/command.hpp"
#include "protocol/redis_replies.hpp"
#include "protocol/reply.hpp"

#include <cstddef>
#include <utility>
#include <vector>

namespace redlock::detail {

class repetition {
public:
    // `of`: the message, and `replies` to it.
    repetition(reply_reader::repeatable what, batch const& of, std::vector<reply> const& replies)
    {
        for (std::size_t i = 0; i < replies.size(); ++i) {
            // A key has to be watched after what else is asked about it.
            if (!what.is(replies[i]) && of.commands[i].what != verb::watch) continue;
            work_.commands.push_back(of.commands[i]);
            where_.push_back(i);
        }
    }

    batch const& work() const noexcept { return work_; }
    std::vector<reply>& replies() noexcept { return replies_; }

    // Puts the new replies in the places of the old ones.
    void give_back(std::vector<reply>& replies)
    {
        for (std::size_t i = 0; i < where_.size(); ++i) replies[where_[i]] = std::move(replies_[i]);
    }

private:
    batch work_;
    std::vector<std::size_t> where_;
    std::vector<reply> replies_;
};

}  // namespace redlock::detail

#endif
