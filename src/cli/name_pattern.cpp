#include "cli/name_pattern.hpp"

#include "redis/keys.hpp"

namespace redlock::cli {

namespace {

constexpr std::string_view raw_format = "raw", place_of_name = "{0}";

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

name_pattern::name_pattern(std::string_view key_format, std::string_view names)
{
    if (auto const at = key_format.find(place_of_name); key_format != raw_format && at != std::string_view::npos) {
        before_ = key_format.substr(0, at);
        after_ = key_format.substr(at + place_of_name.size());
    }
    keys_ = escaped(before_) + std::string{names} + escaped(after_);
}

std::optional<std::string> name_pattern::name_of(std::string_view key) const
{
    bool const fits = key.size() > before_.size() + after_.size() && key.starts_with(before_) && key.ends_with(after_);
    if (!fits || detail::is_own_key(key)) return std::nullopt;
    return std::string{key.substr(before_.size(), key.size() - before_.size() - after_.size())};
}

}  // namespace redlock::cli
