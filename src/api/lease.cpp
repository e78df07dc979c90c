#include <redlock/lease.hpp>

#include "base/in_place_executor.hpp"

#include <boost/asio/system_executor.hpp>

namespace redlock {

using detail::lease_phase;

bool lease::valid(std::chrono::nanoseconds min_left) const noexcept
{
    if (!state_ || state_->phase.load(std::memory_order_acquire) != lease_phase::held) return false;
    return state_->owner->now() < state_->valid_until() - min_left;
}

boot_clock::time_point lease::valid_until() const noexcept { return state_ ? state_->valid_until() : boot_clock::time_point{}; }

std::size_t lease::nodes_held() const noexcept { return state_ ? state_->nodes_held.load(std::memory_order_relaxed) : 0; }

std::size_t lease::faults_tolerated() const noexcept
{
    if (!state_) return 0;
    std::size_t const nodes = state_->nodes();
    std::size_t const needed = nodes - nodes / 2;  // N + 1 - M
    auto const held = nodes_held();
    return held > needed ? held - needed : 0;
}

std::uint64_t lease::token() const noexcept { return state_ ? state_->token.load(std::memory_order_relaxed) : 0; }

bool lease::next_token() noexcept
{
    if (!state_) return false;
    auto now = token();
    while (now < state_->last_token)
        if (state_->token.compare_exchange_weak(now, now + 1, std::memory_order_relaxed)) return true;
    return false;
}

char const* to_string(lock_mode mode) noexcept
{
    switch (mode) {
    case lock_mode::exclusive: return "exclusive";
    case lock_mode::shared: return "shared";
    case lock_mode::permit: return "permit";
    }
    return "unknown";
}

lock_mode lease::mode() const noexcept
{
    if (!state_) return lock_mode::exclusive;
    if (state_->is_of_reader()) return lock_mode::shared;
    return state_->owner->slots_of(*state_).empty() ? lock_mode::exclusive : lock_mode::permit;
}

std::optional<std::uint32_t> lease::slot() const noexcept
{
    auto const all = state_ ? state_->owner->slots_of(*state_) : std::span<std::uint32_t const>{};
    if (all.empty()) return std::nullopt;
    return all.front();
}

std::vector<std::uint32_t> lease::slots() const
{
    auto const all = state_ ? state_->owner->slots_of(*state_) : std::span<std::uint32_t const>{};
    return {all.begin(), all.end()};
}

std::string_view lease::name() const noexcept { return state_ ? state_->owner->name_of(*state_) : std::string_view{}; }

std::string lease::detach()
{
    if (!state_) return {};
    std::string ticket = state_->owner->detach(state_);
    if (!ticket.empty()) state_.reset();
    return ticket;
}

error_code lease::lost_error() const noexcept
{
    if (!state_) return {};
    switch (state_->phase.load(std::memory_order_acquire)) {
    case lease_phase::lost: return state_->lost_because.load(std::memory_order_relaxed);
    case lease_phase::held: return valid() ? error_code{} : error_code{errc::lease_lost};
    case lease_phase::released: break;
    }
    return {};
}

void lease::let_go() noexcept
{
    if (!state_) return;
    // The call that released the lease does the rest.
    if (state_->phase.load(std::memory_order_acquire) == lease_phase::released) return state_.reset();
    auto const owner = state_->owner;
    owner->let_go(std::move(state_));
}

namespace detail {

asio::any_io_executor const& initiate_on_lease::executor_of(std::shared_ptr<lease_state> const& state) noexcept
{
    if (state) return state->owner->get_executor();
    // Never destroyed: threads may use leases after main() has returned.
    // NOLINTNEXTLINE(bugprone-unhandled-exception-at-new): ends the program
    static asio::any_io_executor const& of_the_system = *new asio::any_io_executor{asio::system_executor{}};
    return of_the_system;
}

lock_descriptor_ptr initiate_on_lease::descriptor_of(std::shared_ptr<lease_state> const& state) noexcept
{
    return state ? state->owner->descriptor_of(*state) : nullptr;
}

asio::any_io_executor const& initiate_on_lease::in_place() noexcept
{
    // May be used after the end of main. NOLINTNEXTLINE(bugprone-unhandled-exception-at-new)
    static auto const& here = *new asio::any_io_executor{in_place_executor{}};
    return here;
}

void initiate_on_lease::start(std::shared_ptr<lease_state>&& state, plain_handler&& handler) const
{
    if (!state) return handler(errc::not_held);
    auto const owner = state->owner;
    ((*owner).*what_)(std::move(state), std::move(handler));
}

void initiate_publish::start(plain_handler&& handler) const
{
    if (!state_) return handler(errc::not_held);
    state_->owner->publish(std::shared_ptr<lease_state>{state_}, std::string{bytes_}, std::move(handler));
}

void initiate_inherited::start(state_handler&& handler) const
{
    if (!state_) return handler(errc::not_held, published_state{});
    state_->owner->inherited(std::shared_ptr<lease_state>{state_}, std::move(handler));
}

}  // namespace detail
}  // namespace redlock
