// One request to a node, and requests that go together.
#ifndef REDLOCK_PROTOCOL_COMMAND_HPP
#define REDLOCK_PROTOCOL_COMMAND_HPP

#include "base/random_bytes.hpp"
#include "base/rarely.hpp"
#include "protocol/verb.hpp"
#include "quorum/token_number.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace redlock::detail {

// One request about one lock, or about a node's admission. The strings belong to the part that waits for the answer. A client with many callers
// has thousands of commands at once, and they are copied on their way: what only some verbs need is apart.
struct command {
    command(verb of, std::string_view with_key, std::string_view with_value, std::chrono::milliseconds for_time)
        : what{of}, key{with_key}, value{with_value}, ttl{for_time}
    {
    }

    verb what;

    // Tokens. acquire and extend without them are the plain protocol.
    bool fenced{false};
    bool refresh{false};  // extend: the counter's retention, too
    bool shared{false};  // acquire, confirm, extend, release: of a reader (protocol/shared_scripts.hpp)
    bool was_writer{false};  // extend, shared: the lease began as a writer's
    bool stays{false};  // claim: the server stays a member, so its admission goes on
    bool any{false};  // watch: when the first of the keys goes, and not the last
    std::uint32_t block{1};  // acquire: how many tokens
    std::uint32_t permits{0};  // how many the semaphore has (protocol/semaphore.hpp); 0: it is of none

    std::string_view key;
    std::string_view value;  // mark, admit: the mark; claim: the record; else the lock's value, or the last part of it
    random_bytes const* value_bytes{nullptr};  // their digits stand in front of `value`
    std::chrono::milliseconds ttl;  // not used by confirm, release and watch; admit: the largest that the node shall allow
    // acquire: the lower bound; confirm: the lease's last; extend, climb, publish, inherit: its guard; admit: the base
    quorum::token_number token{0};
    std::chrono::milliseconds retention{};
    // Further keys of the same lock: all or none; sorted, and behind `key`. Of a semaphore: its other slots, in the order of their numbers.
    std::span<std::string const> others{};

    struct rare_members {
        quorum::token_number goal{0};  // climb: the guard to be; publish: the guard of the lease that published it
        std::string_view id{};  // claim, mark, admit: that the server must still have
        // adopt: the whole value that is replaced, whose guard is `token`; publish: the state's text; claim: what must be there
        std::string_view former{};
        // acquire, shared: the counter of the last refusal by a writer; -1: there was none. publish: the state's number
        std::int64_t since{-1};

        // Of a semaphore: acquire (the first free ones of the keys), extend (of slots), keep, look. The key of keep and look is the record's, and the
        // further keys of look are slots.
        std::string_view permits_key{};
        std::uint64_t version{0};  // of the number of permits
        std::uint32_t wanted{1};  // acquire: how many of the keys
        std::uint32_t from{0};  // acquire: the key to begin with
    };
    rare_members const& more() const noexcept { return more_.get(); }
    rare_members& change_more() { return more_.change(); }

    std::size_t key_count() const noexcept { return 1 + others.size(); }
    std::string_view key_at(std::size_t i) const noexcept { return i == 0 ? key : std::string_view{others[i - 1]}; }

    bool may_grant() const noexcept { return detail::may_grant(what); }
    bool may_renew() const noexcept { return detail::may_renew(what); }
    bool is_about_state() const noexcept { return detail::is_about_state(what); }
    // Whether a vote counts only in the generation of the set in which it was asked for.
    bool counts_in_era() const noexcept { return may_grant() || may_renew() || is_about_state(); }
    bool votes_with_tokens() const noexcept { return fenced && may_vote_with_tokens(what); }

    bool is_of_permits() const noexcept
    {
        return what == verb::keep || what == verb::look || (permits > 0 && (what == verb::acquire || what == verb::extend));
    }

    // What it refers to besides the further keys. Of a command that is not const, `f` may replace each.
    template <class Command, class F>
    static void each_text(Command& of, F f)
    {
        f(of.key), f(of.value);
        if (rare_members const& now = of.more(); now.id.empty() && now.former.empty() && now.permits_key.empty()) return;
        if constexpr (std::is_const_v<Command>) f(of.more().id), f(of.more().former), f(of.more().permits_key);
        else f(of.change_more().id), f(of.change_more().former), f(of.change_more().permits_key);
    }

private:
    rarely<rare_members> more_;
};

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
};

}  // namespace redlock::detail

#endif
