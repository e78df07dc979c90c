// Objects by the names that they are about. They stand in rows, in which each knows the next: there is nothing to allocate but the
// beginnings of the rows, about one for each object.
#ifndef REDLOCK_CORE_NAME_TABLE_HPP
#define REDLOCK_CORE_NAME_TABLE_HPP

#include <redlock/detail/resource.hpp>

#include <cassert>
#include <cstddef>
#include <utility>
#include <vector>

namespace redlock::detail {

// An object has `what`, a pointer to its names, and `next_by_name`, which is the table's. It leaves the table before it is destroyed.
template <class T>
class name_table {
public:
    // Null, if there is none.
    T* find(resource const& names) const noexcept
    {
        if (rows_.empty()) return nullptr;
        T* found = rows_[row_of(names)];
        while (found && !(*found->what == names)) found = found->next_by_name;
        return found;
    }

    // Precondition: there is none of these names.
    void add(T& object)
    {
        assert(!find(*object.what));
        if (size_ == rows_.size()) grow();
        ++size_;
        put(object);
    }

    // Precondition: it is there.
    void remove(T& object) noexcept
    {
        T** at = &rows_[row_of(*object.what)];
        while (*at != &object) at = &(*at)->next_by_name;
        *at = object.next_by_name;
        --size_;
    }

    // Looks at no object: some may be gone.
    void clear() noexcept
    {
        rows_.clear();
        size_ = 0;
    }

    // Each is told when the table is empty already, and may destroy itself.
    template <class F>
    void clear_and_dispose(F dispose) noexcept
    {
        size_ = 0;
        for (T* object : std::exchange(rows_, {}))
            while (object) dispose(*std::exchange(object, object->next_by_name));
    }

private:
    static constexpr std::size_t rows_min = 16;  // a power of two, as all numbers of rows

    std::size_t row_of(resource const& names) const noexcept { return names.hash() & (rows_.size() - 1); }

    void put(T& object) noexcept
    {
        T*& row = rows_[row_of(*object.what)];
        object.next_by_name = row;
        row = &object;
    }

    void grow()
    {
        auto const before = std::exchange(rows_, std::vector<T*>(rows_.empty() ? rows_min : 2 * rows_.size()));
        for (T* object : before)
            while (object) put(*std::exchange(object, object->next_by_name));
    }

    std::vector<T*> rows_;
    std::size_t size_{0};
};

}  // namespace redlock::detail

#endif
