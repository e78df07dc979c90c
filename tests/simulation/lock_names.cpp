#include "lock_names.hpp"

#include <algorithm>

namespace redlock::simulation {

namespace {

constexpr std::string_view separator = ", ";

}  // namespace

std::vector<std::string> split_names(std::string_view text)
{
    std::vector<std::string> names;
    for (auto end = text.find(separator); end != text.npos; end = text.find(separator)) {
        names.emplace_back(text.substr(0, end));
        text.remove_prefix(end + separator.size());
    }
    names.emplace_back(text);
    return names;
}

std::string names_text_of(detail::command const& c)
{
    std::string text{c.key};
    for (std::string const& other : c.others) text.append(separator).append(other);
    return text;
}

bool share_a_name(std::vector<std::string> const& a, std::vector<std::string> const& b)
{
    return std::any_of(a.begin(), a.end(), [&](std::string const& name) { return std::find(b.begin(), b.end(), name) != b.end(); });
}

}  // namespace redlock::simulation
