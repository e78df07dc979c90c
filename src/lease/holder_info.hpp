// What a lock's value says of its holder, behind its random digits: host, process, time and label, for people who look at the servers.
// Nothing decides by it. No I/O, except that this_process() asks the system.
#ifndef REDLOCK_LEASE_HOLDER_INFO_HPP
#define REDLOCK_LEASE_HOLDER_INFO_HPP

#include "lease/lock_value.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace redlock::detail {

struct holder_info {
    std::string host;
    std::uint64_t pid{0};
    std::uint64_t since{0};  // by the holder's wall clock, in seconds since 1970: when it asked
    std::string label;       // empty: none

    friend bool operator==(holder_info const&, holder_info const&) = default;
};

// `:host:pid:seconds[:label]`. All but the seconds is the same for every value of a client; a text is made once a second, if at all.
class holder_mark {
public:
    explicit holder_mark(holder_info const& who);

    shared_text_ptr const& at(std::uint64_t since);

private:
    void write(std::uint64_t since);

    std::string before_;
    std::string after_;
    std::uint64_t since_{0};
    shared_text_ptr text_;  // with that
};

// This host and process, with a label that is valid.
holder_info this_process(std::string_view label);

// A host's name as it stands in values: up to 40 characters, those that could be mistaken for something else replaced by '-'.
std::string host_in_values(std::string_view host);

// None: the value is not one of ours, or says nothing of its holder.
std::optional<holder_info> holder_of(std::string_view value);

}  // namespace redlock::detail

#endif
