#include <redlock/lease.hpp>

#include <boost/asio/system_executor.hpp>

namespace redlock {

using detail::lease_phase;

bool lease::valid(std::chrono::nanoseconds min_left) const noexcept
{
    if (!state_ || state_->phase.load(std::memory_order_acquire) != lease_phase::held) return false;
    return state_->owner->now() < state_->valid_until() - min_left;
}

boot_clock::time_point lease::valid_until() const noexcept
{
    return state_ ? state_->valid_until() : boot_clock::time_point{};
}

std::size_t lease::nodes_held() const noexcept
{
    return state_ ? state_->nodes_held.load(std::memory_order_relaxed) : 0;
}

std::string_view lease::name() const noexcept { return state_ ? std::string_view{state_->name} : std::string_view{}; }

error_code lease::lost_error() const noexcept
{
    if (!state_) return {};
    switch (state_->phase.load(std::memory_order_acquire)) {
    case lease_phase::lost: return state_->lost_because.load(std::memory_order_relaxed);
    case lease_phase::held: return valid() ? error_code{} : error_code{errc::lease_lost};
    case lease_phase::acquiring:
    case lease_phase::released: break;
    }
    return {};
}

bool lease::held() const noexcept
{
    return state_ && state_->phase.load(std::memory_order_acquire) == lease_phase::held;
}

void lease::scope_ended() noexcept
{
    if (state_) state_->owner->scope_ended(*state_);
}

void lease::let_go() noexcept
{
    if (!state_) return;
    auto const owner = state_->owner;
    owner->let_go(std::move(state_));
}

namespace detail {

asio::any_io_executor initiate_on_lease::get_executor() const noexcept
{
    return state_ ? state_->owner->get_executor() : asio::any_io_executor{asio::system_executor{}};
}

void initiate_on_lease::start(plain_handler handler) const
{
    if (!state_) return handler(errc::not_held);
    auto const owner = state_->owner;
    ((*owner).*what_)(state_, std::move(handler));
}

}  // namespace detail
}  // namespace redlock
