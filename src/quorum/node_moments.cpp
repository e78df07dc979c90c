#include "quorum/node_moments.hpp"

#include <algorithm>
#include <functional>

namespace redlock::quorum {

// Returns false if there is no room among the two; then the node has time_point{}.
bool node_moments::put(std::size_t node, time_point at) noexcept
{
    for (node_set& each : nodes_of_) each.remove(node);
    if (at == time_point{}) return true;
    auto const has = [&](std::size_t which) { return !nodes_of_[which].empty() && places_.two[which] == at; };
    std::size_t const to = has(1) || (!has(0) && !nodes_of_[0].empty()) ? 1 : 0;
    if (!nodes_of_[to].empty() && places_.two[to] != at) return false;
    places_.two[to] = at;
    nodes_of_[to].add(node);
    return true;
}

void node_moments::set_one_of_many(std::size_t node, time_point at)
{
    if (!is_many_) {
        auto* const all = new time_point[size_];
        for (std::size_t each = 0; each < size_; ++each) all[each] = (*this)[each];
        places_.many = all;
        is_many_ = true;
    }
    places_.many[node] = at;
    node_moments two{size_};
    for (std::size_t each = 0; each < size_; ++each)
        if (!two.put(each, places_.many[each])) return;
    swap(two);
}

time_point* node_moments::copy_of_many(node_moments const& other)
{
    auto* const all = new time_point[other.size_];
    std::copy_n(other.places_.many, other.size_, all);
    return all;
}

std::size_t node_moments::later_of_many(time_point t) const noexcept
{
    return static_cast<std::size_t>(std::count_if(places_.many, places_.many + size_, [t](time_point each) { return each > t; }));
}

time_point node_moments::latest_of_many(std::size_t n) const noexcept
{
    if (n > size_) return {};
    std::array<time_point, max_nodes> latest_first;
    std::copy_n(places_.many, size_, latest_first.begin());
    std::sort(latest_first.begin(), latest_first.begin() + size_, std::greater<>{});
    return latest_first[n - 1];
}

}  // namespace redlock::quorum
