#include "diary.hpp"

#include <nlohmann/json.hpp>

#include <fstream>
#include <iterator>
#include <utility>

#include <unistd.h>

namespace redlock::faults {
namespace {

using nlohmann::json;

std::size_t resident_kb()
{
    std::size_t pages_in_all = 0;
    std::size_t resident = 0;
    std::ifstream{"/proc/self/statm"} >> pages_in_all >> resident;
    return resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)) / 1024;
}

std::size_t descriptors()
{
    std::filesystem::directory_iterator const all{"/proc/self/fd"};
    return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

}  // namespace

diary::diary(std::string worker, std::filesystem::path const& file) : worker_{std::move(worker)}, file_{file}
{
    file_.write({{"e", "start"}, {"t", to_number(boot_clock::now())}, {"worker", worker_}});
}

std::vector<std::string> names_held(redlock::lock const& what, redlock::lease const& lease)
{
    if (lease.mode() != redlock::lock_mode::permit) return what.names();
    std::vector<std::string> slots;
    for (std::uint32_t const slot : lease.slots()) slots.push_back(std::string{what.name()} + "#" + std::to_string(slot));
    return slots;
}

std::uint64_t diary::held(diary_entry const& entry)
{
    auto const& [what, lease, asked, downgraded, permits] = entry;
    file_.write({{"e", "held"},
                 {"t", to_number(boot_clock::now())},
                 {"id", ++leases_},
                 {"names", names_held(what, lease)},
                 {"fenced", what.options().fencing},
                 {"reads", downgraded || lease.mode() == redlock::lock_mode::shared},
                 {"downgraded", downgraded},
                 {"permits", permits},
                 {"token", lease.token()},
                 {"asked", to_number(asked)},
                 {"until", to_number(lease.valid_until())}});
    return leases_;
}

void diary::still(std::uint64_t id, redlock::lease const& lease)
{
    file_.write({{"e", "still"}, {"id", id}, {"until", to_number(lease.valid_until())}});
}

void diary::over(std::uint64_t id, redlock::lease const& lease, bool lost, moment at)
{
    file_.write({{"e", "over"}, {"t", to_number(at)}, {"id", id}, {"lost", lost}, {"until", to_number(lease.valid_until())}});
}

void diary::failed(std::string const& why) { file_.write({{"e", "failed"}, {"t", to_number(boot_clock::now())}, {"why", why}}); }

void diary::acknowledged(std::string const& name, std::uint64_t token, std::uint64_t value)
{
    file_.write({{"e", "write"},
                 {"t", to_number(boot_clock::now())},
                 {"worker", worker_},
                 {"name", name},
                 {"token", token},
                 {"value", value},
                 {"answer", "ok"}});
}

void diary::sample(redlock::client_status const& status)
{
    json admission = json::array();
    for (auto const& node : status.nodes) admission.push_back(to_string(node.admission));
    auto const& c = status.counters;
    file_.write({{"e", "sample"},
                 {"t", to_number(boot_clock::now())},
                 {"extended", c.extensions_renewed + c.extensions_held},
                 {"admission", std::move(admission)},
                 {"rss_kb", resident_kb()},
                 {"descriptors", descriptors()}});
}

void diary::end(redlock::client_counters const& counted)
{
    json const counters{{"clocks noticed that were set", counted.clock_steps},
                        {"handed over", counted.handoffs},
                        {"confirmations", counted.confirmations},
                        {"extensions unknown", counted.extensions_unknown},
                        {"extensions lost", counted.extensions_lost},
                        {"keys recreated", counted.recreated},
                        {"late grants undone", counted.late_grants_undone},
                        {"attempts without a majority", counted.no_majority},
                        {"leases lost", counted.leases_lost},
                        {"overruns", counted.overruns},
                        {"watchdog late", counted.watchdog_late}};
    file_.write({{"e", "end"}, {"t", to_number(boot_clock::now())}, {"counters", counters}});
}

}  // namespace redlock::faults
