#include "cli/locks/other_kind.hpp"

#include "cli/output/text.hpp"
#include "cli/servers/settings.hpp"
#include "protocol/keys.hpp"

#include <algorithm>

namespace redlock::cli {

std::vector<words> question_about_other_kind(config const& settings, std::string const& name, kind_of_name own)
{
    auto const key = keys_of(settings).key_of(name);
    if (own == kind_of_name::lock) return {{"GET", key + std::string{detail::permits_suffix}}};
    return {{"EXISTS", key}};
}

bool is_of_both_kinds(std::vector<answers> const& all, kind_of_name own)
{
    return std::any_of(all.begin(), all.end(), [own](answers const& a) {
        if (!a.ok() || a.replies.empty()) return false;
        return own == kind_of_name::lock ? a.replies.front().is_text() : a.replies.front().number(0) == 1;
    });
}

std::string warning_of_both_kinds(std::string const& name, kind_of_name own)
{
    std::string const other = own == kind_of_name::lock ? "there is a semaphore of this name, too" : "a lock of this name is held, too";
    return name_in_words(name) + ": " + other + ", and a lock and a semaphore do not exclude each other; give one of them another name";
}

}  // namespace redlock::cli
