#include "protocol/without_loss.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <utility>

namespace redlock::detail {

namespace {

using version = std::pair<int, int>;

// The newest versions of which inspect_script knows all commands that lose data. Of later ones nobody knows that yet.
constexpr version newest_redis{8, 6};
constexpr version newest_valkey{9, 1};

// The server counts from one whole second to another one, and either may be up to a second old.
constexpr std::chrono::seconds rounding{2};

version version_in(std::string_view text)
{
    version v{};
    auto const [end, ec] = std::from_chars(text.data(), text.data() + text.size(), v.first);
    if (ec == std::errc{} && end != text.data() + text.size() && *end == '.') std::from_chars(end + 1, text.data() + text.size(), v.second);
    return v;
}

bool is_known(std::string_view text, version const& newest)
{
    auto const v = version_in(text);
    return v > version{} && v <= newest;
}

}  // namespace

std::chrono::seconds time_without_loss(std::string_view uptime, std::string_view redis_version, std::string_view valkey_version)
{
    if (!(valkey_version.empty() ? is_known(redis_version, newest_redis) : is_known(valkey_version, newest_valkey))) return {};
    std::int64_t seconds{0};
    std::from_chars(uptime.data(), uptime.data() + uptime.size(), seconds);
    return std::max(std::chrono::seconds{seconds} - rounding, std::chrono::seconds::zero());
}

}  // namespace redlock::detail
