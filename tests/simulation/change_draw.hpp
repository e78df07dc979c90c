// Which changes of its set a world gets.
#ifndef REDLOCK_TESTS_SIMULATION_CHANGE_DRAW_HPP
#define REDLOCK_TESTS_SIMULATION_CHANGE_DRAW_HPP

#include "change_command.hpp"
#include "random.hpp"

#include <cstddef>
#include <utility>
#include <vector>

namespace redlock::simulation {

class change_draw {
public:
    using order = change_command::order;

    // The first `nodes` servers are the set in the beginning; three more are new.
    change_draw(random& chance, std::size_t nodes) : chance_{chance}, nodes_{nodes} {}

    order first()
    {
        auto const member = chance_.below(nodes_);
        auto const new_ones = chance_.one_in(2) ? std::vector{nodes_} : std::vector{nodes_, nodes_ + 1};
        switch (chance_.below(4)) {
        case 0: return nodes_ > 1 ? order{member, {}} : order{{}, new_ones};
        case 1: return {{}, new_ones};
        default: return nodes_ < 3 ? order{{}, {nodes_}} : order{member, {nodes_}};
        }
    }

    // What somebody else wants at the same time.
    order rival_of(order const& first)
    {
        auto const leaver = first.leaves.value_or(0);
        return without_one_half({chance_.one_in(2) ? leaver : (leaver + 1) % nodes_, {nodes_ + 1}});
    }

    // What is wanted later. Of two members that leave at once, leases may be left with too few.
    order after(order const& first)
    {
        order next{(first.leaves.value_or(0) + 1) % nodes_, {nodes_ + 2}};
        if (!first.join.empty() || chance_.one_in(2)) return without_one_half(std::move(next));
        next.join.clear();
        return next;
    }

    static order way_back(order const& first)
    {
        order back;
        if (!first.join.empty()) back.leaves = first.join.front();
        if (first.leaves) back.join = {*first.leaves};
        return back;
    }

private:
    // Or with both: then a member is replaced.
    order without_one_half(order change)
    {
        if (chance_.one_in(3)) change.leaves.reset();
        else if (chance_.one_in(3) || nodes_ < 3) change.join.clear();
        return change;
    }

    random& chance_;
    std::size_t nodes_;
};

}  // namespace redlock::simulation

#endif
