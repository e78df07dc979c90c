// Some of the nodes. Counted as they come: how many there are is asked for with every vote, and to count bits is a call of a library
// function where the compiler may not assume the instruction.
#ifndef REDLOCK_QUORUM_NODE_SET_HPP
#define REDLOCK_QUORUM_NODE_SET_HPP

#include <redlock/config.hpp>

#include <cassert>
#include <cstddef>
#include <cstdint>

namespace redlock::quorum {

class node_set {
public:
    bool has(std::size_t node) const noexcept
    {
        assert(node < nodes_max);
        return (mask_ >> node & 1u) != 0;
    }
    std::size_t size() const noexcept { return size_; }

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

private:
    static_assert(nodes_max <= 16);

    std::uint16_t mask_{0};
    std::uint8_t size_{0};
};

}  // namespace redlock::quorum

#endif
