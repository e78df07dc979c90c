#include "cli/locks/list_part.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace redlock::cli {

namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool has_text(std::string const& text, std::string const& part)
{
    auto const same = [](char a, char b) { return lower(a) == lower(b); };
    return std::search(text.begin(), text.end(), part.begin(), part.end(), same) != text.end();
}

bool mentions(lock_view const& lock, std::string const& part)
{
    if (part.empty() || has_text(lock.name, part)) return true;
    if (!lock.holder) return false;
    auto const& who = lock.nodes[*lock.holder].holder;
    return who && has_text(who->host + ' ' + std::to_string(who->pid) + ' ' + who->label, part);
}

bool mentions(semaphore_view const& s, std::string const& part)
{
    return has_text(s.name, part) ||
           std::any_of(s.slots.begin(), s.slots.end(), [&](slot_view const& slot) { return mentions(slot.lock, part); });
}

std::size_t rows_of(list_row const& row) { return row.lock ? 1 : 1 + row.semaphore->slots.size(); }

}  // namespace

list_rows choose(search_result const& found, list_part const& part)
{
    std::map<std::string, semaphore_view const*> semaphores;
    for (semaphore_view const& s : found.semaphores) semaphores.emplace(s.name + slots_follow, &s);
    list_rows result;
    std::vector<list_row> all;
    auto const add = [&](list_row row, bool is_held, bool is_wanted) {
        if (is_held) ++result.held;
        if (!is_wanted) return;
        row.number = result.all;
        all.push_back(row);
        result.all += rows_of(row);
    };
    auto const add_semaphore = [&](semaphore_view const& s) { add({0, nullptr, &s}, s.held() > 0, mentions(s, part.search)); };
    auto next = semaphores.begin();
    for (lock_view const& lock : found.locks) {
        for (; next != semaphores.end() && next->first <= lock.name; ++next) add_semaphore(*next->second);
        add({0, &lock, nullptr}, lock.state == lock_state::held, mentions(lock, part.search));
    }
    for (; next != semaphores.end(); ++next) add_semaphore(*next->second);

    result.first = std::min(part.from, result.all - std::min(part.rows, result.all));
    auto const end = result.first + std::min(part.rows, result.all - result.first);
    for (list_row& row : all) {
        if (row.number + rows_of(row) <= result.first || row.number >= end) continue;
        if (row.semaphore) {
            row.first_slot = result.first > row.number + 1 ? result.first - row.number - 1 : 0;
            row.slots = std::min(row.semaphore->slots.size(), end - row.number - 1) - row.first_slot;
        }
        result.chosen.push_back(row);
    }
    return result;
}

}  // namespace redlock::cli
