#include <redlock/election.hpp>
#include <redlock/operation_error.hpp>

#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <tuple>

namespace redlock {

namespace {

constexpr std::chrono::hours longest_pause{1};

lock_options checked(std::string const& address, election_options const& options)
{
    auto const refuse = [](std::string const& why) { throw std::invalid_argument{"redlock::election: " + why}; };
    if (!options.lock.fencing) refuse("lock_options::fencing is off, but each term needs a token");
    if (address.size() > max_state_size)
        refuse("the address has " + std::to_string(address.size()) + " bytes, and " + std::to_string(max_state_size) + " is the most");
    if (options.min_pause < options.min_pause.zero() || options.max_pause > longest_pause)
        refuse("min_pause and max_pause are from 0 ms to an hour");
    if (options.max_pause < options.min_pause) refuse("max_pause is below min_pause");
    return options.lock;
}

}  // namespace

election::election(client const& owner, std::string name, std::string address, election_options const& options)
    : lock_{owner, std::move(name), checked(address, options)},
      address_{std::move(address)},
      options_{options},
      state_{std::make_shared<detail::election_state>()}
{
}

asio::awaitable<leader_info> election::look(lock of)
{
    auto looking = of.peek(asio::use_awaitable);
    lock_peek const seen = co_await std::move(looking);
    co_return in(seen);
}

// One that holds the lock and has published nothing does not lead yet, or is no candidate.
leader_info election::in(lock_peek const& seen)
{
    if (!seen.held || !seen.is_holders) return {};
    return {true, seen.state.value, seen.state.token, seen.host, seen.pid, seen.label, seen.since};
}

lock_peek election::nothing_yet()
{
    lock_peek p;
    p.marks.rank = std::numeric_limits<std::uint64_t>::max();
    return p;
}

namespace detail {

void election_state::enter(std::weak_ptr<campaign_handle> what)
{
    std::lock_guard const guard{mutex_};
    std::erase_if(running_, [](auto const& each) { return each.expired(); });
    running_.push_back(std::move(what));
}

void election_state::resign()
{
    std::lock_guard const guard{mutex_};
    for (auto const& each : running_) {
        auto const found = each.lock();
        if (!found) continue;
        asio::post(found->strand, [found] {
            found->has_resigned = true;
            found->resigned.cancel();
        });
    }
}

bool campaigns_again(error_code why) noexcept
{
    if (why == errc::client_cancelled || why == errc::self_deadlock || why == errc::ttl_too_long || why == errc::wrong_node_set)
        return false;
    return why == condition::lost || why == condition::not_acquired;
}

asio::awaitable<void> publish_address(lease& held, std::string address)
{
    for (;;) {
        auto publishing = held.publish(address, asio::use_awaitable);
        try {
            co_await std::move(publishing);
            co_return;
        } catch (operation_error const& e) {
            if (e.code() != errc::no_majority || !held.valid()) throw;
        }
    }
}

asio::awaitable<void> pause_before_campaign(lock of, pause_bounds bounds)
{
    auto pausing = access::pause(of, bounds.min, bounds.max, asio::as_tuple(asio::use_awaitable));
    error_code ec;
    std::tie(ec) = co_await std::move(pausing);
    if (ec) throw operation_error{ec, of.name()};
}

}  // namespace detail
}  // namespace redlock
