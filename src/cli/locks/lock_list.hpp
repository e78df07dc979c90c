// Found locks as a table, as lines and as JSON, for `redlock list` and `redlock dashboard`. No I/O but the clock.
#ifndef REDLOCK_CLI_LOCKS_LOCK_LIST_HPP
#define REDLOCK_CLI_LOCKS_LOCK_LIST_HPP

#include "cli/locks/list_part.hpp"
#include "cli/locks/lock_search.hpp"
#include "cli/locks/lock_view_text.hpp"

#include <nlohmann/json.hpp>

#include <chrono>
#include <string>
#include <vector>

namespace redlock::cli {

// A row for each lock.
std::string lock_table(terminal const& out, search_result const& found);

// How many there are, which nodes have a problem, and what the list may lack: sentences, one a line.
std::string remarks(terminal const& out, server_group const& nodes, search_result const& found, search_limits const& limits);

// A line for each lock, each with the time; or one that says that there is none.
std::string lock_lines(search_result const& found);

// `nodes`: their names. `now`: when it was found.
nlohmann::ordered_json to_json(std::vector<std::string> const& nodes, search_result const& found, std::chrono::system_clock::time_point now,
                               list_part const& part = {});

// Whether what was found is all that there is on a majority, and known of each lock.
bool is_known(search_result const& found);

}  // namespace redlock::cli

#endif
