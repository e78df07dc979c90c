// `redlock nodes replace OLD NEW`, `grow NEW…` and `shrink OLD`: writes the next generation to the members, one after the other, and waits until those that
// join may vote. quorum/sets/set_change decides; whatever stops this command, the same command goes on where it was.
#ifndef REDLOCK_CLI_NODES_NODE_CHANGE_HPP
#define REDLOCK_CLI_NODES_NODE_CHANGE_HPP

#include "cli/options/commands.hpp"
#include "cli/output/progress.hpp"
#include "cli/output/terminal.hpp"
#include "cli/servers/server_group.hpp"
#include "quorum/sets/set_change.hpp"

#include <redlock/clock.hpp>
#include <redlock/config.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace redlock::cli {

class node_change {
public:
    // Servers are URLs, or addresses as `redlock nodes show` prints them. Throws `failure` when they cannot be used. `named`: all that the command line
    // names; one that joins or leaves with another change may still be a member, or be one already. `json`: it says nothing before report().
    node_change(node_options const& from, quorum::wanted_change const& wanted, std::vector<std::string> const& named, bool json);

    // Returns when the set is what was wanted, and the servers that join are admitted. Throws `failure`, and says what to do; also when they are not admitted
    // within this time.
    void carry_out(std::optional<milliseconds> patience);

    // Says which list clients need from now on, and which servers nobody needs any more. Throws `failure` when something that it said could not be written.
    void report(std::vector<std::string> const& left);

private:
    std::vector<quorum::server_view> look();
    bool take_steps(quorum::set_change const& plan);
    std::vector<std::string> not_admitted_yet(quorum::set_change const& plan, std::vector<quorum::server_view> const& seen) const;
    bool is_drained(quorum::set_change const& plan);
    void announce(quorum::set_change const& plan);
    void wait_for(std::vector<std::string> joining, std::optional<milliseconds> patience);
    void say_list(std::vector<std::string> const& left);
    void tell(std::string const& text);
    std::string what_counts_now() const;
    std::string list_of_clients() const;
    config settings_of_clients() const;
    std::string name_of(std::string const& server);

    config settings_;  // of the nodes of the list, and of the servers that were named
    quorum::wanted_change wanted_;
    bool json_;
    std::vector<std::string> members_;  // what the nodes are called in a record
    std::optional<server_group> nodes_;
    terminal terminal_;  // how wide it is
    progress out_;
    std::string announced_;
    std::vector<std::string> set_;  // its members now
    std::size_t votes_needed_{0};  // a majority of them
    quorum::open_drain drain_;
};

}  // namespace redlock::cli

#endif
