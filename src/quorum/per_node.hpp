// A value for each node. In place for as many nodes as most sets have: every attempt has some of these.
#ifndef REDLOCK_QUORUM_PER_NODE_HPP
#define REDLOCK_QUORUM_PER_NODE_HPP

#include <redlock/config.hpp>

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace redlock::quorum {

template <class T>
class per_node {
    static_assert(std::is_trivially_copyable_v<T>);

public:
    explicit per_node(std::size_t nodes, T each = {}) : size_{static_cast<std::uint8_t>(nodes)}
    {
        static_assert(max_nodes < 256);
        assert(nodes <= max_nodes);
        if (!in_place()) values_.many = new T[nodes];
        fill(each);
    }
    per_node(per_node const& other) : size_{other.size_}
    {
        if (in_place()) {
            values_ = other.values_;  // all of them, since their number is known to the compiler
        } else {
            values_.many = new T[size_];
            std::copy(other.begin(), other.end(), begin());
        }
    }
    per_node& operator=(per_node const& other)
    {
        per_node copy{other};
        std::swap(size_, copy.size_);
        std::swap(values_, copy.values_);
        return *this;
    }
    ~per_node()
    {
        if (!in_place()) delete[] values_.many;
    }

    std::size_t size() const noexcept { return size_; }
    T* begin() noexcept { return in_place() ? values_.few : values_.many; }
    T* end() noexcept { return begin() + size_; }
    T const* begin() const noexcept { return in_place() ? values_.few : values_.many; }
    T const* end() const noexcept { return begin() + size_; }
    T& operator[](std::size_t node) noexcept
    {
        assert(node < size_);
        return begin()[node];
    }
    T operator[](std::size_t node) const noexcept
    {
        assert(node < size_);
        return begin()[node];
    }
    void fill(T each) noexcept { std::fill(begin(), end(), each); }

private:
    static constexpr std::size_t few = 5;
    bool in_place() const noexcept { return size_ <= few; }

    union values {
        values() noexcept {}
        T few[per_node::few];
        T* many;
    };

    values values_;
    std::uint8_t size_;
};

}  // namespace redlock::quorum

#endif
