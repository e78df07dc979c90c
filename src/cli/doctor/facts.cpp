#include "cli/doctor/facts.hpp"

#include "cli/servers/node_link.hpp"
#include "protocol/fence_keys.hpp"
#include "protocol/server_facts.hpp"
#include "protocol/server_id.hpp"
#include "protocol/without_loss.hpp"

#include <algorithm>
#include <charconv>

namespace redlock::cli {

namespace {

constexpr std::int64_t latest_second = 9'000'000'000;  // the year 2255; nanoseconds can count somewhat further
constexpr std::uint64_t silent_for = 3;  // seconds: a replica acknowledges once a second, and a busy machine may be late

// The value of `name` in what INFO says of a replica: "ip=127.0.0.1,port=6380,state=online,offset=42,lag=1".
std::string_view field_of_replica(std::string_view line, std::string_view name)
{
    for (std::size_t at = 0; at < line.size();) {
        auto const end = std::min(line.find(',', at), line.size());
        auto const part = line.substr(at, end - at);
        if (part.starts_with(name) && part.size() > name.size() && part[name.size()] == '=') return part.substr(name.size() + 1);
        at = end + 1;
    }
    return "";
}

std::uint64_t number_in(std::string_view digits, std::uint64_t otherwise)
{
    std::uint64_t value{otherwise};
    std::from_chars(digits.data(), digits.data() + digits.size(), value);
    return value;
}

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
    if (!has_high_water || record.size() < detail::record_mark_at) return false;
    if (info.empty() && !is_unknown_command(info_refused)) return record.find_first_not_of('0') < detail::record_id_size;
    return detail::names_server(record.substr(0, detail::record_id_size), field("master_replid"));
}

bool doctor_probe::has_foreign_record() const { return !record.empty() && record.size() < detail::record_mark_at; }

// By the rule of the script with which a client inspects a node.
std::chrono::seconds doctor_probe::without_loss() const
{
    auto const id = field("master_replid");
    bool const was_never_admitted = record.find_first_not_of('0') >= detail::record_id_size;
    if (id.empty() || detail::names_server(record.substr(0, detail::record_id_size), id) || (has_high_water && was_never_admitted))
        return {};
    auto left = detail::commands_that_lose_data;
    while (!left.empty()) {
        auto const end = std::min(left.find(' '), left.size());
        if (!field("cmdstat_" + std::string{left.substr(0, end)}).empty()) return {};
        left.remove_prefix(std::min(end + 1, left.size()));
    }
    bool const clean = field("cluster_enabled") == "0" && info.find("\ncmdstat_") != info.npos && field("evicted_keys") == "0" &&
                       field("second_repl_offset") == "-1";
    if (!clean) return {};
    return detail::time_without_loss(field("uptime_in_seconds"), field("redis_version"), field("valkey_version"));
}

std::string_view doctor_probe::mark() const
{
    if (record.size() <= detail::record_mark_at || record[detail::record_mark_at] == '-') return "";
    return std::string_view{record}.substr(detail::record_mark_at);
}

std::optional<std::uint64_t> doctor_probe::marked_at() const
{
    auto const text = mark();  // RANDOM-SECONDS-MICROSECONDS
    auto const end = text.rfind('-'), begin = text.substr(0, std::min(end, text.size())).rfind('-');
    if (begin == text.npos) return std::nullopt;
    auto const seconds = number_in(text.substr(begin + 1, end - begin - 1), 0);
    return seconds > 0 ? std::optional{seconds} : std::nullopt;
}

std::uint64_t doctor_probe::number(std::string_view name) const { return number_in(field(name), 0); }

bool doctor_probe::evicts() const
{
    auto const policy = field("maxmemory_policy");
    return number("maxmemory") > 0 && !policy.empty() && policy != "noeviction";
}

double doctor_probe::memory_used() const
{
    auto const limit = number("maxmemory");
    if (limit == 0) return 0;
    auto const used = number("used_memory"), not_counted = number("mem_not_counted_for_evict");
    return static_cast<double>(used - std::min(used, not_counted)) / static_cast<double>(limit);
}

std::size_t doctor_probe::replicas_in_time() const
{
    std::size_t count = 0;
    for (std::uint64_t i = 0; i < number("connected_slaves"); ++i) {
        auto const line = field("slave" + std::to_string(i));
        if (line.empty()) ++count;  // it does not say
        else if (field_of_replica(line, "state") == "online" && number_in(field_of_replica(line, "lag"), 0) < silent_for) ++count;
    }
    return count;
}

std::vector<std::uint64_t> doctor_probe::silence_of_replicas() const
{
    std::vector<std::uint64_t> all;
    for (std::uint64_t i = 0; i < number("connected_slaves"); ++i) {
        auto const lag = number_in(field_of_replica(field("slave" + std::to_string(i)), "lag"), 0);
        if (lag >= silent_for) all.push_back(lag);
    }
    return all;
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
