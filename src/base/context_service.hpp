// Told when an execution context is destroyed, so that cores on it let go of the handlers they keep, and cores on other contexts of what belongs to
// this one.
//
// A core keeps its callers' handlers, handlers keep coroutine frames, and frames keep leases that keep the core: a circle
// that nobody would open when an io_context is destroyed with operations outstanding. Asio's own services destroy what
// they keep at that moment; this one makes our cores do the same.
#ifndef REDLOCK_BASE_CONTEXT_SERVICE_HPP
#define REDLOCK_BASE_CONTEXT_SERVICE_HPP

#include <redlock/detail/context_gate.hpp>

#include <boost/asio/execution_context.hpp>

#include <memory>
#include <mutex>
#include <vector>

namespace redlock::detail {

class shutdown_hook {
public:
    // The context is going: destroy all handlers and everything that belongs to the context. Nothing runs any more.
    virtual void context_destroyed() noexcept = 0;

protected:
    ~shutdown_hook() = default;
};

class context_service final : public boost::asio::execution_context::service {
public:
    static boost::asio::execution_context::id id;

    explicit context_service(boost::asio::execution_context& context) : service{context} {}

    void add(std::weak_ptr<shutdown_hook> hook);

    std::shared_ptr<context_gate> const& gate() const noexcept { return gate_; }

private:
    void shutdown() override;

    std::shared_ptr<context_gate> const gate_ = std::make_shared<context_gate>();
    std::mutex mutex_;
    std::vector<std::weak_ptr<shutdown_hook>> hooks_;
};

}  // namespace redlock::detail

#endif
