#include "waiting_user.hpp"

#include "link.hpp"

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

namespace redlock::simulation {

asio::awaitable<void> waiting_user::come_when_free()
{
    auto& chance = stage_.world.chance;
    auto const resource = choose_lock(stage_.usual);
    for (std::size_t tries = 1 + chance.below(4); tries > 0 && client_; --tries) {
        auto const free = time_until_free(resource.names());
        auto const when = std::max(duration{}, free + chance.between(-100us, 300us) - stage_.world.weather.min_delay);
        auto wait = sleep(when);
        co_await std::move(wait);
        auto taking = take(resource, true);
        lease held = co_await std::move(taking);
        if (!held) continue;
        watched_lease watched{stage_.rules, process_, held, resource.options()};
        auto rest = sleep(chance.scaled(stage_.longest_hold) / 4);
        co_await std::move(rest);
        auto end = write_and_end(held, watched);
        co_await std::move(end);
    }
}

asio::awaitable<void> waiting_user::give_up_waiting()
{
    auto const resource = choose_lock();
    auto waiting = give_up_waiting_for(resource);
    co_await std::move(waiting);
}

// Several at once, through one client: some give up, some do not wait, the others have it one after the other.
asio::awaitable<void> waiting_user::wait_in_line()
{
    auto options = choose_options();
    options.max_attempts = 0;
    if (stage_.world.chance.one_in(4))
        options.max_hold = std::max(1ms, std::chrono::duration_cast<std::chrono::milliseconds>(options.ttl / 8));
    auto const resource = choose_lock(options);
    std::vector<asio::awaitable<void>> line;
    for (std::size_t const all = 2 + stage_.world.chance.below(5); line.size() < all;) line.push_back(wait_for_turn(resource, line.size()));
    auto everybody = all_of(std::move(line));
    co_await std::move(everybody);
}

asio::awaitable<void> waiting_user::wait_for_turn(redlock::lock const& resource, std::size_t number)
{
    auto& chance = stage_.world.chance;
    if (chance.one_in(3)) {
        auto later = sleep(chance.scaled(stage_.longest_hold / 4));
        co_await std::move(later);
    }
    if (chance.one_in(6)) {
        if (number > 0) ++stage_.world.covered->gave_up_in_line;
        auto waiting = give_up_waiting_for(resource);
        co_await std::move(waiting);
        co_return;
    }
    auto taking = take(resource, chance.one_in(8));
    lease held = co_await std::move(taking);
    if (!held) co_return;
    watched_lease watched{stage_.rules, process_, held, resource.options()};
    if (!chance.one_in(4)) {
        auto const max_hold = duration{resource.options().max_hold.value_or(0ms)};
        auto rest = sleep(chance.scaled(max_hold > 0ns ? 2 * max_hold : stage_.longest_hold / 4));
        co_await std::move(rest);
    }
    auto end = write_and_end(held, watched);
    co_await std::move(end);
}

}  // namespace redlock::simulation
