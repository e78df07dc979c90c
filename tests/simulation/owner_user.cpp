#include "owner_user.hpp"

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace redlock::simulation {

// An owner takes what he has, again and again, and gives it back in any order.
asio::awaitable<void> owner_user::nest()
{
    struct level {
        lease held;
        std::unique_ptr<watched_lease> watched;
    };
    auto& chance = stage_.world.chance;
    auto options = choose_options();
    options.owner = owner_id{++stage_.owners};
    auto const resource = choose_lock(options);
    std::vector<std::unique_ptr<level>> levels;
    for (std::size_t n = 2 + chance.below(3); n > 0; --n) {
        bool const once = !levels.empty() && chance.one_in(3);
        auto taking = take(resource, once);
        lease held = co_await std::move(taking);
        if (!held) continue;
        levels.push_back(std::make_unique<level>(level{std::move(held), nullptr}));
        levels.back()->watched = std::make_unique<watched_lease>(stage_.rules, process_, levels.back()->held, resource.options());
        write(*levels.back()->watched);
        if (chance.one_in(2)) continue;
        auto rest = sleep(chance.scaled(stage_.longest_hold / 4));
        co_await std::move(rest);
    }
    while (!levels.empty()) {
        auto const which = chance.below(levels.size());
        auto const one = std::move(levels[which]);
        levels.erase(levels.begin() + static_cast<std::ptrdiff_t>(which));
        if (!one->watched->is_nested() && !levels.empty()) ++stage_.world.covered->outer_left_first;
        std::vector<level*> valid;
        for (auto const& each : levels)
            if (each->held.valid() && each->watched->value() == one->watched->value()) valid.push_back(each.get());
        auto const before = stage_.world.now();
        auto end = end_holding(std::move(one->held), *one->watched);
        co_await std::move(end);
        bool const at_once = stage_.world.now() == before;
        for (level* const each : valid)
            if (at_once && !each->held.valid()) stage_.rules.violation("a nested lease ended with another one");
        if (!valid.empty() && stage_.world.now() - before > stage_.world.paused_between(process_, before, stage_.world.now()))
            stage_.rules.violation("giving back one of several nested leases takes time");
        if (chance.one_in(2)) continue;
        auto rest = sleep(chance.scaled(stage_.longest_hold / 4));
        co_await std::move(rest);
    }
}

// Several ask for the same owner at once, and not all of them stand in line: who gets it while another one holds it is nested.
asio::awaitable<void> owner_user::ask_as_one_owner()
{
    auto& chance = stage_.world.chance;
    auto options = choose_options();
    options.owner = owner_id{++stage_.owners};
    options.max_attempts = 0;
    auto const drawn = choose_lock(options);
    options = drawn.options();
    options.token_block = 1;  // the judge cannot tell who was first of those who hear of it at the same moment
    redlock::lock const patient{*client_, drawn.names(), options};
    options.max_attempts = static_cast<std::uint32_t>(1 + chance.below(4));
    redlock::lock const impatient{*client_, patient.names(), options};
    std::vector<asio::awaitable<void>> all;
    for (std::size_t n = 2 + chance.below(4); n > 0; --n) {
        enum class manner : std::uint8_t { is_impatient, asks_once, is_patient, gives_up };
        auto const how = static_cast<manner>(chance.below(4));
        all.push_back(how == manner::gives_up ? give_up_waiting_for(patient)
                                              : hold_as_owner(how == manner::is_impatient ? impatient : patient, how == manner::asks_once));
    }
    auto everybody = all_of(std::move(all));
    co_await std::move(everybody);
}

asio::awaitable<void> owner_user::hold_as_owner(redlock::lock const& resource, bool once)
{
    auto& chance = stage_.world.chance;
    if (chance.one_in(2)) {
        auto later = sleep(chance.scaled(stage_.longest_hold / 8));
        co_await std::move(later);
    }
    auto taking = take(resource, once);
    lease held = co_await std::move(taking);
    if (!held) co_return;
    watched_lease watched{stage_.rules, process_, held, resource.options()};
    write(watched);
    auto rest = sleep(chance.between(1us, stage_.longest_hold / 4));
    co_await std::move(rest);
    auto end = end_holding(std::move(held), watched);
    co_await std::move(end);
}

}  // namespace redlock::simulation
