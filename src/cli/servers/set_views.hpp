// What the servers of a configuration say of the set that they belong to, and whether a client with this configuration would be refused. No I/O.
#ifndef REDLOCK_CLI_SERVERS_SET_VIEWS_HPP
#define REDLOCK_CLI_SERVERS_SET_VIEWS_HPP

#include "cli/servers/node_link.hpp"
#include "quorum/sets/set_record.hpp"
#include "quorum/votes.hpp"

#include <redlock/config.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace redlock::cli {

// One server. The command to ask is `GET redlock:set`.
struct set_view {
    std::string node;
    std::string problem;  // why it could not be asked; empty: it answered
    std::string text;  // as quorum::read_set_text() takes it
    std::string objection{};  // why a client with this configuration would be refused; empty: it would not be

    // Whether the user may not read it.
    bool is_forbidden() const
    {
        return quorum::read_set_text(text).is == quorum::set_text::kind::hidden && text.find("NOPERM") != text.npos;
    }
};

// What the record of a set says, where it has another number of members than the list; otherwise zeros.
struct set_words {
    std::size_t needed{0};  // votes
    std::size_t size{0};
};

// The text of the record, from the answer to GET.
std::string set_text_of(reply const& r);

// Whose votes count, and how many members the set has. Of a list that is refused that says nothing.
struct set_numbers {
    quorum::electorate voters;
    std::size_t size;
};

// Fills in the objections. `all` has one element for each node of `settings`, in their order.
set_numbers judge_sets(std::vector<set_view>& all, config const& settings);

}  // namespace redlock::cli

#endif
