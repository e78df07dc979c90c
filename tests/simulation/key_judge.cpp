#include "key_judge.hpp"

#include "judge.hpp"
#include "lock_names.hpp"

#include <algorithm>
#include <map>

namespace redlock::simulation {

namespace {

// A wish that nobody renews any more is over by then.
constexpr duration max_wish_lasts = 1'001ms;

}  // namespace

std::size_t key_judge::stored(std::string const& name, std::string const& value) const
{
    auto const& servers = rules_.world().servers();
    auto const names = split_names(name);
    return static_cast<std::size_t>(std::count_if(servers.begin(), servers.end(), [&](auto const& s) {
        return std::all_of(names.begin(), names.end(), [&](std::string const& each) {
            return s->has(each, value) && !s->find(each)->of_nobody && !s->is_stray(each, value);
        });
    }));
}

std::string key_judge::most_stored(lease_facts const& w) const
{
    std::map<std::string, std::size_t> values;
    std::string const mine = "p" + std::to_string(w.process) + "-";
    for (auto const& s : rules_.world().servers())
        if (auto const* const e = s->find(w.names.front()); e && e->value.starts_with(mine)) ++values[e->value];
    std::string most;
    for (auto const& [value, count] : values)
        if (most.empty() || count > values[most]) most = value;
    return most;
}

std::optional<std::string> key_judge::without_an_owner() const
{
    if (!rules_.assumes().clocks_within_drift) return {};  // a client cannot tell how long such a server keeps a key
    auto const is_excused = [&](std::string const& value) {
        return std::any_of(excused_.begin(), excused_.end(), [&](auto const& x) { return value.starts_with(x); });
    };
    for (auto const& s : rules_.world().servers()) {
        auto const text = "server " + std::to_string(s->index()) + " still has ";
        for (auto const& e : s->memory.entries(s->time())) {
            if (e.key.ends_with(":want")) {
                if (!e.expires || *e.expires > s->time() + max_wish_lasts) return text + "a wish that does not end: " + e.key;
            } else if (e.key.ends_with(":permits")) {
                continue;  // stays for the retention
            } else if (e.readers) {
                for (auto const& reader : e.readers->ends)
                    if (s->has(e.key, reader.first) && !e.of_nobody && !s->is_stray(e.key, reader.first) && !is_excused(reader.first))
                        return text + "a reader without an owner: " + e.key + " = " + reader.first;
            } else if (!e.key.ends_with(":published") && !e.of_nobody && e.expires && !rules_.tickets().is_detached(e.value) &&
                       !is_excused(e.value)) {
                return text + "a key without an owner: " + e.key + " = " + e.value;
            }
        }
    }
    return {};
}

}  // namespace redlock::simulation
