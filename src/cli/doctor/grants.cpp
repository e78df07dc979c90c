#include "cli/doctor/grants.hpp"

#include "cli/output/text.hpp"
#include "protocol/server_facts.hpp"

#include <chrono>
#include <cstdint>

namespace redlock::cli {

namespace {

std::uint64_t now_in_seconds()
{
    return static_cast<std::uint64_t>(std::chrono::system_clock::to_time_t(std::chrono::system_clock::now()));
}

}  // namespace

std::string it_takes_no_writes(doctor_probe const& n) { return "it takes no writes, and grants no locks: " + printable(n.takes_no_writes); }

std::string it_evicts(doctor_probe const& n)
{
    return "it evicts keys when its memory is full (maxmemory " + std::to_string(n.number("maxmemory")) + ", maxmemory-policy " +
           std::string{n.field("maxmemory_policy")} + "), and with them locks that are held";
}

std::string memory_is_full(doctor_probe const& n)
{
    return "its memory is full (" + std::to_string(static_cast<int>(n.memory_used() * 100)) + " % of maxmemory): it grants no locks";
}

std::string since_replicas_were_heard(doctor_probe const& n)
{
    std::string text;
    for (std::uint64_t const seconds : n.silence_of_replicas())
        text += (text.empty() ? "" : ", ") + in_words(std::chrono::seconds{seconds}) + " ago";
    return text.empty() ? since_its_start(n) : "a replica was heard the last time " + text;
}

std::string since_its_start(doctor_probe const& n)
{
    if (n.field("uptime_in_seconds").empty()) return {};
    return "when it started, or later: " + local_time(now_in_seconds() - n.number("uptime_in_seconds"));
}

std::string now_or_earlier(std::string const& who_knows) { return local_time(now_in_seconds()) + ", or earlier: " + who_knows; }

std::string why_votes_do_not_count(doctor_probe const& n, node_address const& address)
{
    auto const connected = n.number("connected_slaves");
    auto const wanted = n.group ? n.group->acknowledgements : address.replicas;
    if (n.field("connected_slaves").empty() || wanted == 0) return {};
    std::string const waits = "its votes are to wait for " + count_of(wanted, "replica") + ", and ";
    if (connected < wanted) return waits + "it has " + std::to_string(connected) + ": they never count";
    auto const in_time = n.replicas_in_time();
    if (in_time >= wanted) return {};
    return waits + (in_time == 0 ? std::string{"none"} : "only " + std::to_string(in_time)) + " of the " + std::to_string(connected) +
           " that it has " + (in_time == 1 ? "follows" : "follow") + " it in time: they do not count now";
}

std::string why_it_grants_nothing(doctor_probe const& n, node_address const& address)
{
    if (n.evicts()) return it_evicts(n);
    if (n.memory_used() >= 1) return memory_is_full(n);
    if (!n.takes_no_writes.empty()) return it_takes_no_writes(n);
    if (address.fsync && !n.info.empty() && n.field("aof_enabled") != "1") return keeps_no_file;
    if (auto why = why_votes_do_not_count(n, address); !why.empty()) return why;
    for (refusal const& r : n.refused)
        if (r.command == "wait" || r.command == "waitaof") return r.command + " is refused, so that " + r.costs + " (" + r.words + ')';
    auto const waits_for = n.group ? static_cast<std::uint16_t>(n.group->acknowledgements) : address.replicas;
    return detail::objection_to_group(static_cast<std::uint32_t>(n.number("connected_slaves")), waits_for).value_or("");
}

}  // namespace redlock::cli
