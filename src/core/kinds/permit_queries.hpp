// What nodes keep of a semaphore: asks them all once, and completes when all have answered or their time is over. semaphore::available() and
// change_permits() use it.
#ifndef REDLOCK_CORE_KINDS_PERMIT_QUERIES_HPP
#define REDLOCK_CORE_KINDS_PERMIT_QUERIES_HPP

#include "core/environment.hpp"
#include "core/failed_votes.hpp"
#include "core/operation.hpp"
#include "protocol/reply.hpp"
#include "quorum/node_set.hpp"

#include <redlock/detail/core.hpp>

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace redlock::detail {

class permit_queries;

class permit_question final : public operation<permit_question> {
public:
    permit_question(permit_queries& owner, permit_query&& what, permits_handler&& to_tell);

    void start(time_point now);
    void abandon(error_code ec);

    void on_vote(std::size_t node, reply const& answer, time_point) override;
    bool wanted(std::size_t, time_point now) const override { return !is_over() && now < ends_; }
    void time_is_up(time_point) { abandon({}); }

private:
    permit_queries& owner_;
    permit_query const what_;
    permits_handler to_tell_;
    std::vector<permits_on_node> nodes_;
    quorum::node_set answered_;
    failed_votes failures_;
    time_point ends_{};
};

class permit_queries : public ongoing<permit_question> {
public:
    explicit permit_queries(environment& env) : env_{env} {}

    void start(std::shared_ptr<permit_question> const& what, time_point now);

private:
    friend class permit_question;

    environment& env_;
};

// How many of the slots are free on a majority of nodes; or why that cannot be said.
std::pair<error_code, std::size_t> free_on_majority(permit_pool const& of, std::vector<permits_on_node> const& nodes, std::size_t needed);

}  // namespace redlock::detail

#endif
