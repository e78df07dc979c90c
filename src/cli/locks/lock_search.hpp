// Finds the locks on the nodes without knowing their names, for `redlock list`: by SCAN, in steps that a server does not notice, and never by KEYS.
#ifndef REDLOCK_CLI_LOCKS_LOCK_SEARCH_HPP
#define REDLOCK_CLI_LOCKS_LOCK_SEARCH_HPP

#include "cli/locks/lock_key_pattern.hpp"
#include "cli/locks/semaphore_view.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace redlock::cli {

struct search_limits {
    bool foreign{false};  // also keys whose values are not in this library's form
    std::chrono::milliseconds time{10'000};  // for the search; a step that is under way is finished
    std::size_t names{10'000};
    std::vector<std::string> problems{};  // by node: why it is not asked; empty: it is. Nothing here: all are asked
};

// How far the search has come on one node.
struct node_search {
    std::string problem;  // why it could not be searched; empty: no problem
    std::string missing{};  // of a cluster: why some of its primaries could not be, while others were
    bool complete{false};  // all of its keys were seen
    std::size_t keys{0};  // how many matched; a server may name a key twice
    std::size_t foreign{0};  // how many of them are not in this library's form
};

struct search_result {
    enum class end : std::uint8_t { complete, out_of_time, too_many_names, interrupted };

    end because{end::complete};
    std::vector<node_search> nodes;
    std::vector<lock_view> locks;  // those of which a node has a key, by name
    std::vector<semaphore_view> semaphores{};  // see slot_search.hpp; they have those slots only that were found, so `free` says nothing

    // Whether the search saw so many nodes that no lock that is held on a majority of them can be missing.
    bool enough() const;
    // The largest of the nodes' counts.
    std::size_t foreign() const;
};

// The state of a search on one node: what to ask next, and what the answers mean. No I/O.
class node_scan {
public:
    static constexpr std::size_t step = 500;  // keys that the server looks at in one go

    explicit node_scan(lock_key_pattern const& pattern, bool foreign) : pattern_{pattern}, with_foreign_{foreign} {}

    // Empty: there is nothing left to ask.
    std::vector<words> next_questions() const;
    // Takes the answers to next_questions(), and adds the names that it finds.
    void take(answers const& from, std::set<std::string>& names);

    // The node is not asked any more, for this reason.
    void give_up(std::string const& why) { found_.problem = why; }

    node_search const& found() const noexcept { return found_; }

private:
    void take_value(std::string const& name, reply const& value, std::set<std::string>& names);
    void take_epoch(std::string const& name, reply const& epoch, std::set<std::string>& names);
    void take_keys(reply const& scan);

    lock_key_pattern const& pattern_;
    bool with_foreign_;
    bool at_end_{false};  // the cursor came back to the start
    std::string cursor_{"0"};
    std::vector<std::pair<std::string, std::string>> unread_;  // keys and names of the last step
    std::vector<std::pair<std::string, std::string>> no_strings_;  // those of the step before that may be sets of readers
    node_search found_;
};

// Where all shards of clusters were searched, the names have their shards before them, for server_group::key_of(). When nothing more is asked about them, these
// are taken off.
std::string without_shard(server_group const& nodes, std::string_view name);
void take_shards_off(server_group const& nodes, search_result& found);

// Blocks until all nodes were searched, a limit is reached, or server_group::interrupted().
search_result find_locks(server_group& nodes, lock_key_pattern const& pattern, search_limits const& limits);

}  // namespace redlock::cli

#endif
