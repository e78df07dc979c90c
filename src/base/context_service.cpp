#include "base/context_service.hpp"

#include <utility>

namespace redlock::detail {

boost::asio::execution_context::id context_service::id;

void context_service::add(std::weak_ptr<shutdown_hook> hook)
{
    std::lock_guard const guard{mutex_};
    std::erase_if(hooks_, [](auto const& h) { return h.expired(); });
    hooks_.push_back(std::move(hook));
}

void context_service::shutdown()
{
    std::unique_lock guard{mutex_};
    auto const hooks = std::exchange(hooks_, {});
    guard.unlock();
    for (auto const& weak : hooks)
        if (auto const hook = weak.lock()) hook->context_destroyed();
    gate_->close();
}

}  // namespace redlock::detail
