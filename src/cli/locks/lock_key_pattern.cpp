#include "cli/locks/lock_key_pattern.hpp"

#include "node/cluster/cluster_map.hpp"
#include "protocol/keys.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace redlock::cli {

namespace {

// A pattern that matches this text only.
std::string escaped(std::string_view text)
{
    constexpr std::string_view special = "*?[]\\";
    std::string result;
    for (char const c : text) {
        if (special.find(c) != std::string_view::npos) result += '\\';
        result += c;
    }
    return result;
}

}  // namespace

lock_key_pattern::lock_key_pattern(detail::key_format keys, std::string_view names, bool all_shards)
    : keys_{std::move(keys)}, all_shards_{all_shards}, names_{names}
{
    text_ = (all_shards ? "{s*}:" : "") + escaped(keys_.before()).append(names) + escaped(keys_.after());
}

std::optional<std::string> lock_key_pattern::name_of(std::string const& key) const
{
    std::string_view rest{key};
    std::optional<std::size_t> shard;
    if (all_shards_) {
        shard = detail::take_shard_off(rest);
        if (!shard) return std::nullopt;
    }
    auto const& before = keys_.before();
    auto const& after = keys_.after();
    bool const fits = rest.size() > before.size() + after.size() && rest.starts_with(before) && rest.ends_with(after);
    if (!fits || detail::is_own_key(rest)) return std::nullopt;
    auto name = keys_.name_of(std::string{rest});
    if (!shard) return name;
    return matches(names_, name) ? std::optional{detail::prefix_of_shard(*shard) + name} : std::nullopt;
}

namespace {

// Whether a character is in what stands between brackets, which are taken off the pattern.
bool takes_class(std::string_view& pattern, char c)
{
    pattern.remove_prefix(1);
    bool const is_not = pattern.starts_with('^');
    if (is_not) pattern.remove_prefix(1);
    bool found = false;
    while (!pattern.empty() && pattern.front() != ']') {
        if (pattern.front() == '\\' && pattern.size() >= 2) {
            found = found || pattern[1] == c;
            pattern.remove_prefix(2);
        } else if (pattern.size() >= 3 && pattern[1] == '-') {
            auto const [low, high] = std::minmax(pattern[0], pattern[2]);
            found = found || (c >= low && c <= high);
            pattern.remove_prefix(3);
        } else {
            found = found || pattern.front() == c;
            pattern.remove_prefix(1);
        }
    }
    if (!pattern.empty()) pattern.remove_prefix(1);
    return found != is_not;
}

}  // namespace

// Where the rest does not match, the last star takes one character more: what an earlier one took need not change.
bool matches(std::string_view pattern, std::string_view name)
{
    std::optional<std::pair<std::string_view, std::string_view>> behind_star;
    for (;;) {
        if (pattern.starts_with('*')) {
            pattern.remove_prefix(1);
            behind_star = {pattern, name};
            continue;
        }
        bool same = pattern.empty() && name.empty();
        if (same) return true;
        if (!pattern.empty() && !name.empty()) {
            if (pattern.front() == '[') {
                same = takes_class(pattern, name.front());
            } else {
                bool const literal = pattern.front() == '\\' && pattern.size() >= 2;
                if (literal) pattern.remove_prefix(1);
                same = (!literal && pattern.front() == '?') || pattern.front() == name.front();
                pattern.remove_prefix(1);
            }
            name.remove_prefix(1);
        }
        if (same) continue;
        if (!behind_star || behind_star->second.empty()) return false;
        behind_star->second.remove_prefix(1);
        std::tie(pattern, name) = *behind_star;
    }
}

}  // namespace redlock::cli
