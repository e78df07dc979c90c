// Which rows of a list of locks somebody wants to see: those that mention a text, from a row on. A lock is a row; a semaphore is a row, and each of its slots
// is one. No I/O.
#ifndef REDLOCK_CLI_LOCKS_LIST_PART_HPP
#define REDLOCK_CLI_LOCKS_LIST_PART_HPP

#include "cli/locks/lock_search.hpp"

#include <cstddef>
#include <limits>
#include <string>
#include <vector>

namespace redlock::cli {

inline constexpr char slots_follow = '#';  // so that a semaphore stands where its slots would

struct list_part {
    static constexpr std::size_t all = std::numeric_limits<std::size_t>::max();

    std::string search;  // in a name, or in a holder's host, process or label, in small or capital letters; empty: all locks
    std::size_t from{0};  // the first row; beyond the end: the last `rows` ones
    std::size_t rows{all};

    bool is_limited() const noexcept { return rows != all; }
    friend bool operator==(list_part const&, list_part const&) = default;
};

struct list_row {
    std::size_t number;  // of all that match
    lock_view const* lock;  // null: it is a semaphore
    semaphore_view const* semaphore;  // with the slots that are among the rows; if these begin with slots, it stands before them once more
    std::size_t first_slot{0}, slots{0};
};

struct list_rows {
    std::vector<list_row> chosen;  // by name
    std::size_t first{0};
    std::size_t all{0};  // that match
    std::size_t held{0};  // locks that are held, and semaphores of which a permit is, whether they match or not
};

list_rows choose(search_result const& found, list_part const& part);

}  // namespace redlock::cli

#endif
