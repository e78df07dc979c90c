#include <redlock/testing.hpp>

#include "testing/virtual_time.hpp"

#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <memory>
#include <stdexcept>
#include <utility>

namespace redlock::testing {

clock::time_point clock::now() noexcept { return virtual_clock::now(); }

class timer::state {
public:
    explicit state(asio::any_io_executor const& on) : executor{of_a_simulation(on)}, waits{executor} {}

    asio::any_io_executor executor;
    virtual_timer waits;
    time_point expiry{};

private:
    static asio::any_io_executor of_a_simulation(asio::any_io_executor on)
    {
        if (!asio::has_service<virtual_time>(asio::query(on, asio::execution::context)))
            throw std::logic_error{"redlock::testing::timer: this executor is not of a simulation, where virtual time passes"};
        return on;
    }
};

timer::timer(asio::any_io_executor executor) : state_{std::make_unique<state>(executor)} {}
timer::timer(asio::any_io_executor executor, duration after) : timer{std::move(executor)} { expires_after(after); }
timer::timer(timer&&) noexcept = default;
timer& timer::operator=(timer&&) noexcept = default;
timer::~timer() = default;

timer::executor_type timer::get_executor() const { return state_->executor; }
void timer::expires_after(duration after) { expires_at(clock::now() + after); }
void timer::expires_at(time_point at)
{
    state_->expiry = at;
    state_->waits.expires_at(at);
}
timer::time_point timer::expiry() const { return state_->expiry; }
void timer::cancel() { state_->waits.cancel(); }
void timer::wait(detail::completion<error_code> done) { state_->waits.wait(std::move(done)); }

asio::awaitable<void> sleep(clock::duration time)
{
    timer t{co_await asio::this_coro::executor, time};
    auto wait = t.async_wait(asio::use_awaitable);
    co_await std::move(wait);
}

}  // namespace redlock::testing
