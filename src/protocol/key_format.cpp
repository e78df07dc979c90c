#include "protocol/key_format.hpp"

#include "protocol/keys.hpp"

#include <cassert>
#include <cstddef>
#include <utility>

namespace redlock::detail {

namespace {

constexpr std::string_view raw_word = "raw";
constexpr std::string_view place = "{0}";
constexpr std::size_t max_format_size = 256;

}  // namespace

std::string key_format_problem(std::string_view text)
{
    if (text == raw_word) return {};
    if (text.size() > max_format_size) return "is longer than " + std::to_string(max_format_size) + " bytes";
    auto const at = text.find(place);
    if (at == text.npos) return "must be \"raw\", or have {0} where the name of the lock goes";
    // Formats are copied from other libraries, where {{ may stand for {. If the key then differed unnoticed, the lock would exclude nobody.
    auto const rest = std::string{text.substr(0, at)}.append(text.substr(at + place.size()));
    if (rest.find_first_of("{}") != rest.npos) return "has other braces than those of one {0}";
    // By its suffix: a text with {0} is none of the whole keys. checked_key.hpp looks at each key.
    if (is_own_key(text))
        return "makes keys that end in " + std::string{text.substr(text.rfind(':'))} + ", which this library keeps for itself";
    return {};
}

key_format::key_format(std::string_view text, std::string prefix) : before_{std::move(prefix)}
{
    assert(key_format_problem(text).empty());
    if (text == raw_word) return;
    auto const at = text.find(place);
    before_ += text.substr(0, at);
    after_ = text.substr(at + place.size());
}

std::string key_format::key_of(std::string name) const
{
    if (raw()) return name;
    return before_ + name + after_;
}

std::string key_format::name_of(std::string const& key) const
{
    assert(key.size() >= before_.size() + after_.size() && key.starts_with(before_) && key.ends_with(after_));
    return key.substr(before_.size(), key.size() - before_.size() - after_.size());
}

}  // namespace redlock::detail
