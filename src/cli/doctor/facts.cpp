#include "cli/doctor/facts.hpp"

#include "cli/servers/node_link.hpp"
#include "protocol/fence_keys.hpp"
#include "protocol/server_facts.hpp"
#include "protocol/server_id.hpp"

#include <charconv>

namespace redlock::cli {

namespace {

constexpr std::int64_t latest_second = 9'000'000'000;  // the year 2255; nanoseconds can count somewhat further

}  // namespace

std::optional<clock_sample> sample_of(answers const& said)
{
    if (!said.ok() || said.replies[0].items.size() != 2) return std::nullopt;
    auto const& time = said.replies[0].items;
    auto const s = time[0].number(-1), us = time[1].number(-1);
    if (s < 0 || s > latest_second || us < 0 || us > 999'999) return std::nullopt;
    std::chrono::nanoseconds const theirs = std::chrono::seconds{s} + std::chrono::microseconds{us};
    // The server read its clock somewhere between the question and the answer: assume the middle.
    return clock_sample{said.took, theirs - (said.asked + said.took / 2)};
}

std::string_view doctor_probe::field(std::string_view name) const { return detail::field_of_info(info, name); }

std::string_view doctor_probe::version() const
{
    auto const of_valkey = field("valkey_version");  // which says the version of Redis that it is compatible with, too
    return of_valkey.empty() ? field("redis_version") : of_valkey;
}

bool doctor_probe::is_admitted() const
{
    return has_high_water && record.size() >= detail::record_mark_at &&
           detail::names_server(record.substr(0, detail::record_id_size), field("master_replid"));
}

std::string_view doctor_probe::mark() const
{
    if (record.size() <= detail::record_mark_at || record[detail::record_mark_at] == '-') return "";
    return std::string_view{record}.substr(detail::record_mark_at);
}

std::uint64_t doctor_probe::number(std::string_view name) const
{
    auto const digits = field(name);
    std::uint64_t value{0};
    std::from_chars(digits.data(), digits.data() + digits.size(), value);
    return value;
}

std::chrono::nanoseconds doctor_probe::round_trip() const
{
    auto const best = best_clock();
    return best ? best->round_trip : std::chrono::nanoseconds{};
}

std::string doctor_probe::persistence() const
{
    if (info.empty()) return "unknown";
    if (field("aof_enabled") == "1") return "aof " + (append_fsync.empty() ? "unknown" : append_fsync);
    if (!save) return "unknown";
    return save->empty() ? "none" : "snapshots";
}

bool is_unknown_command(std::string_view error)
{
    return error.find("unknown command") != std::string_view::npos || error.find("unknown subcommand") != std::string_view::npos ||
           error.find("Unknown subcommand") != std::string_view::npos;
}

}  // namespace redlock::cli
