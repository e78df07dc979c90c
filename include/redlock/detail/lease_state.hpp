// What a lease object shares with the client that keeps it alive. Readable from any thread.
#ifndef REDLOCK_DETAIL_LEASE_STATE_HPP
#define REDLOCK_DETAIL_LEASE_STATE_HPP

#include <redlock/clock.hpp>
#include <redlock/detail/export.hpp>
#include <redlock/error.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

namespace redlock::detail {

class lease_core;

enum class lease_phase : std::uint8_t { held, lost, released };

struct REDLOCK_API lease_state {
    static constexpr std::uint8_t reader_bit = 0x80;

    explicit lease_state(std::shared_ptr<lease_core> from) : owner{std::move(from)} {}
    lease_state(lease_state const&) = delete;
    lease_state& operator=(lease_state const&) = delete;

    boot_clock::time_point valid_until() const noexcept
    {
        return boot_clock::time_point{boot_clock::duration{valid_until_ns.load(std::memory_order_acquire)}};
    }

    std::shared_ptr<lease_core> const owner;
    std::atomic<std::int64_t> valid_until_ns{0};
    std::uint64_t last_token{0};  // of the block; 0: there are none. As `nodes`, set before anybody has the lease
    std::atomic<std::uint64_t> token{0};
    std::atomic<errc> lost_because{errc::lease_lost};  // meaningful in phase lost
    std::atomic<lease_phase> phase{lease_phase::held};
    std::atomic<std::uint8_t> nodes_held{0};
    std::atomic<std::uint8_t> nodes_and_side{
        0};  // N of the set, set before anybody has the lease, and when the set changes; and reader_bit

    std::size_t nodes() const noexcept { return nodes_and_side.load(std::memory_order_relaxed) & (reader_bit - 1u); }
    void set_nodes(std::size_t n) noexcept { nodes_and_side.store(static_cast<std::uint8_t>(n), std::memory_order_relaxed); }
    void resize(std::size_t n) noexcept
    {
        auto const side = static_cast<std::uint8_t>(nodes_and_side.load(std::memory_order_relaxed) & reader_bit);
        nodes_and_side.store(static_cast<std::uint8_t>(n | side), std::memory_order_relaxed);
    }
    bool is_of_reader() const noexcept { return (nodes_and_side.load(std::memory_order_relaxed) & reader_bit) != 0; }
    void becomes_reader() noexcept { nodes_and_side.fetch_or(reader_bit, std::memory_order_relaxed); }

protected:
    ~lease_state() = default;
};

}  // namespace redlock::detail

#endif
