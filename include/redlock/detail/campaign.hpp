// What runs inside election::lead(), as far as it depends on the type of the body.
#ifndef REDLOCK_DETAIL_CAMPAIGN_HPP
#define REDLOCK_DETAIL_CAMPAIGN_HPP

#include <redlock/detail/export.hpp>
#include <redlock/detail/scope.hpp>
#include <redlock/lock.hpp>

#include <boost/asio/awaitable.hpp>

#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace redlock::detail {

struct pause_bounds {
    std::chrono::milliseconds min{};
    std::chrono::milliseconds max{};
};

struct term_settings {
    std::string address;
    pause_bounds pauses;
};

struct campaign_handle;

// What an election and its copies share.
class REDLOCK_API election_state {
public:
    void resign();
    void enter(std::weak_ptr<campaign_handle> what);

private:
    std::mutex mutex_;
    std::vector<std::weak_ptr<campaign_handle>> running_;
};

// Terms, one after the other, beside a wait for resign(). The work runs once in each.
REDLOCK_API asio::awaitable<void> campaign_until_done(std::shared_ptr<election_state> state, lock of, term_settings settings,
                                                      scope_work& work);

template <class Body>
asio::awaitable<void> run_lead(std::shared_ptr<election_state> state, lock of, term_settings settings, Body body)
{
    body_of_scope<Body> work{std::move(body)};
    auto campaigns = campaign_until_done(std::move(state), std::move(of), std::move(settings), work);
    co_await std::move(campaigns);
}

}  // namespace redlock::detail

#endif
