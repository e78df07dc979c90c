// The seam between the public classes, which are templates over completion tokens, and the compiled library.
//
// A public operation `f(token)` starts an initiation object (initiation.hpp), which erases the handler's type and calls
// one of these functions. `basic_core<Clock>` in src/client implements them; tests implement them with a clock of their own.
// All functions may be called from any thread.
#ifndef REDLOCK_DETAIL_CORE_HPP
#define REDLOCK_DETAIL_CORE_HPP

#include <redlock/attempt_report.hpp>
#include <redlock/clock.hpp>
#include <redlock/detail/completion.hpp>
#include <redlock/detail/export.hpp>
#include <redlock/detail/resource.hpp>
#include <redlock/detail/same_macros.hpp>
#include <redlock/error.hpp>
#include <redlock/options.hpp>
#include <redlock/published.hpp>
#include <redlock/status.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace redlock {

class lease;

namespace detail {

struct access;
struct lease_state;

using plain_handler = completion<error_code>;
using lease_handler = completion<error_code, lease>;
using state_handler = completion<error_code, published_state>;
using peek_handler = completion<error_code, lock_peek>;

class key_format;

// with_lock: the coroutine that waits for the scope, and the one that is its body. All that one coroutine awaits has the cancellation slot of that
// coroutine; what it spawns has another one, or none. Slots are compared, and nothing else is done with them.
struct scope_coroutines {
    explicit scope_coroutines(asio::cancellation_slot who_waits) noexcept : asker{who_waits} {}

    asio::cancellation_slot const asker;
    std::atomic<asio::cancellation_slot> body{};  // while it runs
};

struct acquire_request {
    lock_descriptor_ptr what;
    attempt_report* report;  // may be null
    bool once;  // try_acquire
    std::shared_ptr<scope_coroutines const> within{};  // null without with_lock
};

struct adopt_request {
    std::string ticket;
    std::optional<lock_options> options{};  // none: the ttl of the ticket, and defaults
};

struct peek_request {
    lock_descriptor_ptr what;
    std::optional<lock_peek> last{};  // waits until something else is to be seen than this
};

// What one node keeps of a semaphore.
struct permits_on_node {
    bool answered{false};
    bool kept{false};  // what it was told
    std::uint32_t permits{0};  // 0: it has no record
    std::uint64_t version{0};
    std::uint64_t free{0};  // of the pool's slots, as bits
};

struct permits_on_nodes {
    std::vector<permits_on_node> each{};
    std::string first_failure{};  // of the first node that did not answer as it was asked to; empty: there is none
};

struct permit_query {
    std::shared_ptr<permit_pool const> of;
    std::uint64_t version{0};  // not 0: keep the pool's number of permits as this version
    std::shared_ptr<resolved_options const> under{};
    std::shared_ptr<permits_on_nodes> into{};  // null: only what a majority says matters
};

using permits_handler = completion<error_code, std::size_t>;

class REDLOCK_API core {
public:
    virtual ~core() = default;

    virtual asio::any_io_executor const& get_executor() const noexcept = 0;
    virtual boot_clock::time_point now() const noexcept = 0;
    virtual std::chrono::milliseconds max_ttl() const noexcept = 0;  // of locks with tokens
    virtual key_format const& keys() const noexcept = 0;

    // What these options come to; the same for the same.
    virtual std::shared_ptr<resolved_options const> resolved_options_of(lock_options const& options) = 0;

    // The core that looks after a lock; null: this one. A client of several sets of nodes has a core for each set. Throws std::invalid_argument if the
    // names of the lock belong to several.
    virtual std::shared_ptr<core> shard_of(resource const&) { return nullptr; }

    virtual void run(plain_handler&& handler) = 0;
    virtual void cancel() noexcept = 0;
    virtual void drain(plain_handler&& handler) = 0;
    virtual client_status status() const = 0;
    virtual void begin_admission() = 0;

    // How many slots of a semaphore are free on a majority, or what each node says; with a version, they are told to keep its number of permits.
    virtual void ask_permits(permit_query&& what, permits_handler&& handler) = 0;

    virtual void acquire(acquire_request&& request, lease_handler&& handler) = 0;
    virtual void adopt(adopt_request&& request, lease_handler&& handler) = 0;
    virtual void peek(peek_request&& request, peek_handler&& handler) = 0;

    // Waits for a random time between these.
    virtual void pause(boot_clock::duration min, boot_clock::duration max, plain_handler&& handler) = 0;
};

// A core that looks after leases itself. One of several shards does; the core around them never sees a lease.
class REDLOCK_API lease_core : public core {
public:
    virtual void extend(std::shared_ptr<lease_state>&& state, plain_handler&& handler) = 0;
    virtual void downgrade(std::shared_ptr<lease_state>&& state, plain_handler&& handler) = 0;
    virtual void release(std::shared_ptr<lease_state>&& state, plain_handler&& handler) = 0;
    virtual void wait_lost(std::shared_ptr<lease_state>&& state, plain_handler&& handler) = 0;

    // `bytes` were copied from the caller's.
    virtual void publish(std::shared_ptr<lease_state>&& state, std::string&& bytes, plain_handler&& handler) = 0;
    virtual void inherited(std::shared_ptr<lease_state>&& state, state_handler&& handler) = 0;

    // Ends the care for a lease without a release, and returns its ticket; empty, and nothing has changed: the lease is not held any more.
    virtual std::string detach(std::shared_ptr<lease_state> state) = 0;

    // Of the lock that it is about; lives as long as the state.
    virtual std::string_view name_of(lease_state const& state) const noexcept = 0;

    virtual lock_descriptor_ptr descriptor_of(lease_state const& state) const noexcept = 0;

    // What was the matter when the lease was lost. Empty: it was not, or the code says it.
    virtual std::string loss_reason_of(lease_state const& state) const = 0;

    // The slots of permits; empty for other leases. They live as long as the state.
    virtual std::span<std::uint32_t const> slots_of(lease_state const& state) const noexcept = 0;

    // A lease object is gone: release in the background.
    virtual void let_go(std::shared_ptr<lease_state> state) noexcept = 0;

    // The body of a scope ended; counts those that outlived their lease.
    virtual void scope_ended(lease_state const& state) noexcept = 0;
};

}  // namespace detail
}  // namespace redlock

#endif
