// `redlock nodes replace OLD NEW`: writes the next generation to the members that stay, one after the other, and waits until the new member may vote.
// quorum/set_change decides; whatever stops this command, the same command goes on where it was.
#ifndef REDLOCK_CLI_NODE_REPLACEMENT_HPP
#define REDLOCK_CLI_NODE_REPLACEMENT_HPP

#include "cli/commands.hpp"
#include "cli/server_group.hpp"
#include "cli/terminal.hpp"
#include "quorum/set_change.hpp"

#include <redlock/config.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace redlock::cli {

class node_replacement {
public:
    // `leaves`, `joins`: URLs, or addresses as `redlock nodes show` prints them. Throws `failure` when they cannot be used.
    node_replacement(node_options const& from, std::string const& leaves, std::string const& joins);

    // Returns when a majority has moved. Throws `failure`, and says what to do.
    void move();

    // Returns when the new member is admitted. Throws `failure` when it is not within this time.
    void admit_new_member(std::optional<milliseconds> patience) const;

private:
    std::vector<quorum::server_view> look();
    bool carry_out(quorum::set_change const& plan);
    void announce(quorum::set_change const& plan);

    config settings_;  // of the nodes of the list, and of both servers
    std::string leaves_;
    std::string joins_;
    std::vector<std::string> members_;  // what the nodes are called in a record
    std::optional<server_group> nodes_;
    terminal out_;
    std::string announced_;
};

}  // namespace redlock::cli

#endif
