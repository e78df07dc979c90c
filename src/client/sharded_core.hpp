// A client of several sets of nodes: a core for each shard. Locks keep the core of their shard (core::shard_of), so that no operation on a lock passes
// through here; what concerns the whole client does.
#ifndef REDLOCK_CLIENT_SHARDED_CORE_HPP
#define REDLOCK_CLIENT_SHARDED_CORE_HPP

#include <redlock/detail/core.hpp>
#include <redlock/observer.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace redlock::detail {

class sharded_core final : public core {
public:
    // Precondition: `shards` is not empty. All of them have the same executor, key format and max_ttl.
    // `together`: the first lock begins the admission of all shards, so that a new one makes no later caller wait.
    enum class admission : std::uint8_t { apart, together };
    explicit sharded_core(std::vector<std::shared_ptr<core>> shards, admission admissions = admission::apart);

    asio::any_io_executor const& get_executor() const noexcept override { return shards_.front()->get_executor(); }
    boot_clock::time_point now() const noexcept override { return shards_.front()->now(); }
    std::chrono::milliseconds max_ttl() const noexcept override { return shards_.front()->max_ttl(); }
    key_format const& keys() const noexcept override { return shards_.front()->keys(); }
    std::shared_ptr<resolved_options const> resolved_options_of(lock_options const& options) override;
    std::shared_ptr<core> shard_of(resource const& what) override;

    void run(plain_handler&& handler) override;
    void cancel() noexcept override;
    void drain(plain_handler&& handler) override;
    client_status status() const override;
    void begin_admission() override;

    void ask_permits(permit_query&& what, permits_handler&& handler) override;

    void acquire(acquire_request&& request, lease_handler&& handler) override;
    void adopt(adopt_request&& request, lease_handler&& handler) override;
    void peek(peek_request&& request, peek_handler&& handler) override;
    void pause(boot_clock::duration min, boot_clock::duration max, plain_handler&& handler) override;

private:
    using operation = void (core::*)(plain_handler&&);

    // Starts the operation on all shards, and completes when all have.
    void all_of(operation what, bool (*observes)(asio::cancellation_type_t), plain_handler&& handler);

    std::vector<std::shared_ptr<core>> const shards_;
    std::atomic<bool> admissions_to_begin_;
};

// An observer of several cores. Each has a queue of events of its own; this one is told one event at a time, on `executor` unless the observer names
// one. `to` is not null.
std::shared_ptr<observer> one_at_a_time(std::shared_ptr<observer> to, asio::any_io_executor const& executor);

// The same sink for a shard: its sentences begin with the number of the shard. Empty: stays empty.
std::function<void(std::string_view)> log_of_shard(std::function<void(std::string_view)> to, std::size_t shard);

}  // namespace redlock::detail

#endif
