// Why a node has a vote with tokens or none, in words.
#ifndef REDLOCK_CORE_ADMISSION_ADMISSION_PICTURE_HPP
#define REDLOCK_CORE_ADMISSION_ADMISSION_PICTURE_HPP

#include "quorum/node_set.hpp"
#include "quorum/timing.hpp"

#include <redlock/status.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace redlock::detail {

// Why a node may vote with tokens or not, for status() and for errors.
struct admission_picture {
    redlock::admission_state state{redlock::admission_state::unknown};
    quorum::time_point drained{};  // while draining: its end
    std::optional<quorum::time_point> started{};  // its server has run since then, and has lost nothing: its quarantine counts from there
    std::size_t admitted{0};  // nodes, now
    std::size_t needed{0};  // to admit another one
    std::size_t nodes{0};
    bool nobody_remembers{false};
    bool has_traces{false};  // some node has a record, so the set is not new
    bool is_another{false};  // the node's record names another server
    bool is_shard{false};  // it is a shard of a Redis Cluster, which moves between servers
    bool is_empty{false};  // the node has nothing of before
    bool recovers{false};  // a majority has lost its data, and votes again when all of it have waited
    bool lacks_members{false};  // the set has members that are none of the nodes
    quorum::node_set silent;  // nodes that have not answered
    quorum::node_set refused;  // and those with whom that will not change by itself
    bool is_noted{false};  // for other processes, which can go on with its wait
    std::string not_carried;  // why they cannot; empty: they can, or nobody wants that
    std::string why_unidentified;
    std::string not_marked;  // why the mark of its loss does not count yet
    std::shared_ptr<std::vector<std::string> const> names;  // of all nodes

    // Why it has no vote, for how long, and what to do; empty when it has one.
    std::string text(quorum::time_point now) const;

    friend bool operator==(admission_picture const&, admission_picture const&) = default;

private:
    std::string names_of(quorum::node_set const& some) const;
};

}  // namespace redlock::detail

#endif
