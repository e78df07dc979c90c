#include "lease_facts.hpp"

namespace redlock::simulation {

std::string text_of_keys(detail::command const& c)
{
    std::string text{c.key};
    for (std::string const& other : c.others) text += ", " + other;
    return text;
}

bool have_one_in_common(std::vector<std::string> const& a, std::vector<std::string> const& b)
{
    return std::any_of(a.begin(), a.end(), [&](std::string const& name) { return std::find(b.begin(), b.end(), name) != b.end(); });
}

std::vector<std::string> names_in(std::string_view text)
{
    std::vector<std::string> names;
    constexpr std::string_view between = ", ";
    for (auto end = text.find(between); end != text.npos; end = text.find(between)) {
        names.emplace_back(text.substr(0, end));
        text.remove_prefix(end + between.size());
    }
    names.emplace_back(text);
    return names;
}

}  // namespace redlock::simulation
