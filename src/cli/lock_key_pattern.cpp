#include "cli/lock_key_pattern.hpp"

#include "redis/keys.hpp"

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

lock_key_pattern::lock_key_pattern(detail::key_format keys, std::string_view names) : keys_{std::move(keys)}
{
    text_ = escaped(keys_.before()).append(names) + escaped(keys_.after());
}

std::optional<std::string> lock_key_pattern::name_of(std::string const& key) const
{
    auto const& before = keys_.before();
    auto const& after = keys_.after();
    bool const fits = key.size() > before.size() + after.size() && key.starts_with(before) && key.ends_with(after);
    if (!fits || detail::is_own_key(key)) return std::nullopt;
    return keys_.name_of(key);
}

}  // namespace redlock::cli
