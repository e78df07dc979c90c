// What nodes keep of a semaphore: asks them all once, and completes when all have answered or their time is over. semaphore::available() and
// change_permits() use it.
#ifndef REDLOCK_CORE_ACQUIRE_PERMIT_QUERIES_HPP
#define REDLOCK_CORE_ACQUIRE_PERMIT_QUERIES_HPP

#include "core/environment.hpp"

#include <redlock/detail/core.hpp>

#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace redlock::detail {

class permit_queries {
public:
    class question;

    explicit permit_queries(environment& env) : env_{env} {}

    std::shared_ptr<question> make(permit_query&& what, permit_query_handler&& to_tell);
    std::shared_ptr<question> make(permit_query&& what, available_handler&& to_tell);

    void start(std::shared_ptr<question> const& what, time_point now);
    void complete(question& what, error_code ec);

    // Completes all with `why`.
    void fail_all(error_code why);

    // The execution context is destroyed: destroys all without completing them.
    void clear() noexcept { auto const gone = std::exchange(running_, {}); }

private:
    environment& env_;
    std::vector<std::shared_ptr<question>> running_;
};

// How many of the slots are free on a majority of nodes; or why that cannot be said.
std::pair<error_code, std::size_t> free_on_majority(permit_pool const& of, std::vector<permits_on_node> const& nodes, std::size_t needed);

}  // namespace redlock::detail

#endif
