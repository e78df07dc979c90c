// Some of the nodes of one client, by index, as bits. Not a set of nodes as in set_record.hpp. The size is stored: votes ask for it often,
// and a popcount may be a call of a library function.
#ifndef REDLOCK_QUORUM_NODE_SET_HPP
#define REDLOCK_QUORUM_NODE_SET_HPP

#include <redlock/config.hpp>

#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>

namespace redlock::quorum {

class node_set {
public:
    // So many nodes, all of them.
    static node_set all(std::size_t nodes) noexcept
    {
        node_set s;
        s.mask_ = static_cast<std::uint16_t>((1u << nodes) - 1);
        s.size_ = static_cast<std::uint8_t>(nodes);
        return s;
    }

    static node_set only(std::size_t node) noexcept
    {
        node_set s;
        s.add(node);
        return s;
    }

    bool has(std::size_t node) const noexcept
    {
        assert(node < max_nodes);
        return (mask_ >> node & 1u) != 0;
    }
    std::size_t size() const noexcept { return size_; }
    bool empty() const noexcept { return mask_ == 0; }

    void add(std::size_t node) noexcept
    {
        if (has(node)) return;
        mask_ = static_cast<std::uint16_t>(mask_ | 1u << node);
        ++size_;
    }
    void remove(std::size_t node) noexcept
    {
        if (!has(node)) return;
        mask_ = static_cast<std::uint16_t>(mask_ & ~(1u << node));
        --size_;
    }
    void add(node_set const& others) noexcept
    {
        if (others.mask_ == mask_ || others.empty()) return;
        if (empty()) {
            *this = others;
            return;
        }
        mask_ = static_cast<std::uint16_t>(mask_ | others.mask_);
        size_ = static_cast<std::uint8_t>(std::popcount(mask_));
    }

    friend bool operator==(node_set const& a, node_set const& b) noexcept { return a.mask_ == b.mask_; }

private:
    static_assert(max_nodes <= 16);

    std::uint16_t mask_{0};
    std::uint8_t size_{0};
};

}  // namespace redlock::quorum

#endif
