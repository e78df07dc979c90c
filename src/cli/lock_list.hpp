// Found locks as a table, as lines and as JSON, for `redlock list`. No I/O but the clock.
#ifndef REDLOCK_CLI_LOCK_LIST_HPP
#define REDLOCK_CLI_LOCK_LIST_HPP

#include "cli/lock_search.hpp"
#include "cli/lock_view_text.hpp"

#include <nlohmann/json.hpp>

#include <string>

namespace redlock::cli {

// A row for each lock.
std::string lock_table(terminal const& out, search_result const& found);

// How many there are, which nodes have a problem, and what the list may lack: sentences, one a line.
std::string remarks(terminal const& out, server_group const& nodes, search_result const& found, search_limits const& limits);

// A line for each lock, each with the time; or one that says that there is none.
std::string lock_lines(search_result const& found);

nlohmann::ordered_json to_json(server_group const& nodes, search_result const& found);

// Whether what was found is all that there is on a majority, and known of each lock.
bool is_known(search_result const& found);

}  // namespace redlock::cli

#endif
