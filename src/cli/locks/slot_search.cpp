#include "cli/locks/slot_search.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace redlock::cli {

namespace {

constexpr std::size_t numbers_per_message = 200;

using numbers_by_name = std::map<std::string, std::vector<number_view>>;

numbers_by_name numbers_of_those_found(server_group& nodes, search_result const& found)
{
    numbers_by_name all;
    for (lock_view const& lock : found.locks)
        if (auto const slot = slot_of(lock.name)) all.try_emplace(slot->first);
    std::vector<std::string> names;
    for (auto const& [name, numbers] : all) names.push_back(name);
    auto const was_searched = [&](std::size_t node) { return found.nodes[node].problem.empty(); };
    for (std::size_t from = 0; from < names.size() && !nodes.interrupted(); from += numbers_per_message) {
        auto const to = std::min(names.size(), from + numbers_per_message);
        std::vector<std::string> const some(names.begin() + static_cast<std::ptrdiff_t>(from),
                                            names.begin() + static_cast<std::ptrdiff_t>(to));
        auto numbers = numbers_of(nodes, some, was_searched);
        for (std::size_t i = 0; i < some.size(); ++i) all[some[i]] = std::move(numbers[i]);
    }
    return all;
}

}  // namespace

void gather_slots(server_group& nodes, search_result& found)
{
    auto numbers = numbers_of_those_found(nodes, found);
    std::map<std::string, std::vector<slot_view>> slots;
    std::vector<lock_view> locks;
    for (lock_view& lock : found.locks) {
        auto const slot = slot_of(lock.name);
        if (slot && !numbers[slot->first].empty()) slots[slot->first].push_back({slot->second, std::move(lock)});
        else locks.push_back(std::move(lock));
    }
    found.locks = std::move(locks);
    for (auto& [name, of] : slots) {
        std::sort(of.begin(), of.end(), [](slot_view const& a, slot_view const& b) { return a.number < b.number; });
        found.semaphores.push_back(judge_semaphore(name, std::move(numbers[name]), std::move(of)));
    }
}

}  // namespace redlock::cli
