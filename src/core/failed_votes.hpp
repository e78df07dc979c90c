// Why nodes did not vote for an operation: for callers who get errors as exceptions, with the reason (redlock/detail/throwing.hpp).
#ifndef REDLOCK_CORE_FAILED_VOTES_HPP
#define REDLOCK_CORE_FAILED_VOTES_HPP

#include "protocol/reply.hpp"
#include "quorum/node_set.hpp"

#include <redlock/attempt_report.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace redlock::detail {

class fanout;

class failed_votes {
public:
    // What is said of nodes that have lost the key, or have given it to another holder.
    static constexpr std::string_view key_is_gone = ": its key is gone, or another holder's";
    static std::string gone_at(quorum::node_set const& which, fanout const& nodes);  // empty: at none

    // From now on, until it is called again. Nothing is kept for operations whose callers do not ask.
    void keep(std::size_t nodes);

    void add(std::size_t node, reply const& answer)
    {
        if (node >= nodes_) return;
        answered_.add(node);
        if (answer.vote != vote::granted) add_other(node, answer);
    }

    // The first node whose vote failed, and why; or the first that has not answered. Empty: there is none, or nothing was kept.
    std::string first(fanout const& nodes) const;

    quorum::node_set const& refused() const noexcept { return refused_; }

private:
    void add_other(std::size_t node, reply const& answer);

    struct failure {
        std::size_t node;
        node_verdict why;
    };

    std::unique_ptr<failure> first_;  // in the order of the configuration
    quorum::node_set answered_;
    quorum::node_set refused_;
    std::uint8_t nodes_{0};
};

}  // namespace redlock::detail

#endif
