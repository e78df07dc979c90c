// A moment for each node. Usually there are one or two different ones, since all nodes that answer an extension have the same: each is kept once, with
// the nodes that have it. Every lease has these.
#ifndef REDLOCK_QUORUM_NODE_MOMENTS_HPP
#define REDLOCK_QUORUM_NODE_MOMENTS_HPP

#include "quorum/node_set.hpp"
#include "quorum/timing.hpp"

#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace redlock::quorum {

class node_moments {
public:
    // time_point{} for all.
    explicit node_moments(std::size_t nodes) noexcept : size_{static_cast<std::uint8_t>(nodes)} { assert(nodes <= max_nodes); }

    // `at` for these nodes.
    node_moments(std::size_t nodes, node_set const& which, time_point at) noexcept : node_moments{nodes}
    {
        places_.two[0] = at;
        nodes_of_[0] = which;
    }

    node_moments(node_moments const& other)
        : places_{other.places_}, nodes_of_{other.nodes_of_}, size_{other.size_}, is_many_{other.is_many_}
    {
        if (is_many_) places_.many = copy_of_many(other);
    }
    node_moments& operator=(node_moments const& other)
    {
        node_moments copy{other};
        swap(copy);
        return *this;
    }
    ~node_moments()
    {
        if (is_many_) delete[] places_.many;
    }

    std::size_t size() const noexcept { return size_; }

    time_point operator[](std::size_t node) const noexcept
    {
        assert(node < size_);
        if (is_many_) return places_.many[node];
        if (nodes_of_[0].has(node)) return places_.two[0];
        return nodes_of_[1].has(node) ? places_.two[1] : time_point{};
    }

    void set(std::size_t node, time_point at)
    {
        assert(node < size_);
        if (!is_many_ && places_.two[0] == at && !nodes_of_[0].empty()) {  // as nearly always
            nodes_of_[1].remove(node);
            nodes_of_[0].add(node);
        } else if (is_many_ || !put(node, at)) {
            set_one_of_many(node, at);
        }
    }

    // How many are later than `t`, which is time_point{} or later.
    std::size_t later_than(time_point t) const noexcept
    {
        if (is_many_) return later_of_many(t);
        return (places_.two[0] > t ? nodes_of_[0].size() : 0u) + (places_.two[1] > t ? nodes_of_[1].size() : 0u);
    }

    // The n-th latest, from 1 on; time_point{} if there are fewer.
    time_point latest(std::size_t n) const noexcept
    {
        if (is_many_) return latest_of_many(n);
        std::size_t const last = places_.two[1] > places_.two[0] ? 1 : 0;
        if (n <= nodes_of_[last].size()) return places_.two[last];
        return n <= nodes_of_[0].size() + nodes_of_[1].size() ? places_.two[1 - last] : time_point{};
    }

private:
    union places {
        places() noexcept : two{} {}

        time_point two[2];
        time_point* many;  // one for each node
    };

    void swap(node_moments& other) noexcept
    {
        std::swap(places_, other.places_);
        std::swap(nodes_of_, other.nodes_of_);
        std::swap(size_, other.size_);
        std::swap(is_many_, other.is_many_);
    }
    bool put(std::size_t node, time_point at) noexcept;
    static time_point* copy_of_many(node_moments const& other);
    void set_one_of_many(std::size_t node, time_point at);
    std::size_t later_of_many(time_point t) const noexcept;
    time_point latest_of_many(std::size_t n) const noexcept;

    places places_;
    std::array<node_set, 2> nodes_of_;  // of the two; the other nodes have time_point{}
    std::uint8_t size_;
    bool is_many_{false};  // so many different ones that each node has a place of its own, for as long as there are
};

}  // namespace redlock::quorum

#endif
