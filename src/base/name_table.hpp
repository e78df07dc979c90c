// Objects by the names that they are about: each has `what`, a pointer to them.
#ifndef REDLOCK_BASE_NAME_TABLE_HPP
#define REDLOCK_BASE_NAME_TABLE_HPP

#include <redlock/detail/resource.hpp>

#include <boost/unordered/unordered_flat_set.hpp>

#include <cstddef>

namespace redlock::detail {

struct hash_of_names {
    using is_transparent = void;

    std::size_t operator()(resource const& names) const noexcept { return names.hash(); }
    template <class T>
    std::size_t operator()(T const* object) const noexcept
    {
        return object->what->hash();
    }
};

struct same_names {
    using is_transparent = void;

    template <class T>
    bool operator()(T const* a, T const* b) const noexcept
    {
        return *a->what == *b->what;
    }
    template <class T>
    bool operator()(resource const& names, T const* object) const noexcept
    {
        return names == *object->what;
    }
    template <class T>
    bool operator()(T const* object, resource const& names) const noexcept
    {
        return names == *object->what;
    }
};

template <class T>
using name_table = boost::unordered_flat_set<T*, hash_of_names, same_names>;

// Null, if there is none.
template <class T>
T* find(name_table<T> const& in, resource const& names) noexcept
{
    auto const found = in.find(names);
    return found == in.end() ? nullptr : *found;
}

}  // namespace redlock::detail

#endif
