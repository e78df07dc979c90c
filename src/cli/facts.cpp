#include "cli/facts.hpp"

#include "node/server_facts.hpp"

#include <algorithm>
#include <charconv>

namespace redlock::cli {

std::string_view checkup::field(std::string_view name) const { return detail::field_of_info(info, name); }

std::uint64_t checkup::number(std::string_view name) const
{
    auto const digits = field(name);
    std::uint64_t value{0};
    std::from_chars(digits.data(), digits.data() + digits.size(), value);
    return value;
}

std::optional<clock_sample> checkup::best_clock() const
{
    auto const best = std::min_element(clock.begin(), clock.end(),
                                       [](auto const& a, auto const& b) { return a.round_trip < b.round_trip; });
    return best == clock.end() ? std::nullopt : std::optional{*best};
}

std::chrono::nanoseconds checkup::round_trip() const
{
    auto const best = best_clock();
    return best ? best->round_trip : std::chrono::nanoseconds{};
}

std::string checkup::persistence() const
{
    if (info.empty()) return "unknown";
    if (field("aof_enabled") == "1") return "aof " + (append_fsync.empty() ? "unknown" : append_fsync);
    if (!save) return "unknown";
    return save->empty() ? "none" : "snapshots";
}

}  // namespace redlock::cli
