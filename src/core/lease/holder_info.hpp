// The part of a lock's value that describes its holder, after the random digits: host, process, time and label. It is for people who look at the
// servers; no decision depends on it. No I/O, except that this_process() asks the system.
#ifndef REDLOCK_CORE_LEASE_HOLDER_INFO_HPP
#define REDLOCK_CORE_LEASE_HOLDER_INFO_HPP

#include "core/lock_value.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace redlock::detail {

struct holder_info {
    std::string host;
    std::uint64_t pid{0};
    std::uint64_t since{0};  // by the holder's wall clock, in seconds since 1970: when it began to acquire
    std::string label;  // empty: none

    friend bool operator==(holder_info const&, holder_info const&) = default;
};

// Makes the text `:host:pid:seconds[:label]` for the values of a client. Only the seconds change, so a new text is made once a second at most.
class holder_mark {
public:
    explicit holder_mark(holder_info const& who);

    shared_text_ptr const& at(std::uint64_t since);

private:
    void write(std::uint64_t since);

    std::string before_;
    std::string after_;
    std::uint64_t since_{0};
    shared_text_ptr text_;  // contains since_
};

// This host and process, with a label that is valid.
holder_info this_process(std::string_view label);

// A host's name as values contain it: at most 40 characters; '-' replaces all but letters, digits, '.', '_' and '-'.
std::string host_in_values(std::string_view host);

// None: the value is not one of ours, or says nothing of its holder.
std::optional<holder_info> holder_of(std::string_view value);

}  // namespace redlock::detail

#endif
