// One run of everything: what its steps share.
#ifndef REDLOCK_BENCHMARKS_SPEED_RUN_HPP
#define REDLOCK_BENCHMARKS_SPEED_RUN_HPP

#include "report.hpp"
#include "testbed.hpp"
#include "turns.hpp"
#include "workload.hpp"

#include <memory>
#include <string>
#include <vector>

namespace bench {

/// How long and how often.
struct plan {
    bool quick{false};
    std::size_t rounds{5};
    std::chrono::nanoseconds measured{1'500ms};
    std::chrono::nanoseconds warm_up{300ms};
    std::size_t leases{100'000};               ///< How many are kept alive.
    std::chrono::milliseconds leases_ttl{30'000};  ///< The ttl of those.
    std::size_t names{100'000};                ///< How many locks are taken in turn.

    /// Whether as many leases and names are used as the goals are about.
    bool has_sizes_of_goals() const noexcept { return leases == plan{}.leases && names == plan{}.names; }
};

class run {
public:
    explicit run(plan chosen) : how{chosen} {}

    plan const how;

    testbed& three() { return bed(three_, 3); }
    testbed& five() { return bed(five_, 5); }

    /// The next step starts servers anew: a step that failed may have left these in any state.
    void drop_testbeds() { three_.reset(), five_.reset(); }

    /// A workload of the plan's length.
    workload work(testbed const& where, std::size_t callers, bool fencing) const;

    /// A figure of the summary, shown at once.
    void put(std::string const& name, double value);

    /// More about it, for the pictures.
    void add_detail(std::string const& name, json value) { details_[name] = std::move(value); }
    void add_detail(std::string const& name, std::vector<medians> const& all);

    json const& summary() const noexcept { return summary_; }
    json const& details() const noexcept { return details_; }

private:
    static testbed& bed(std::unique_ptr<testbed>& which, std::size_t nodes)
    {
        if (!which) which = std::make_unique<testbed>(nodes);
        return *which;
    }

    std::unique_ptr<testbed> three_;
    std::unique_ptr<testbed> five_;
    json summary_ = json::object();
    json details_ = json::object();
};

/// What a figure should be.
struct goal {
    std::string_view name;
    double value;
    bool at_most;  ///< Otherwise at least.
};
std::vector<goal> const& goals();

struct step {
    char const* name;
    char const* what;
    void (*measure)(run&);
};

void measure_plain_three(run&);
void measure_plain_five(run&);
void measure_single_three(run&);
void measure_single_five(run&);
void measure_sixteen(run&);
void measure_crowd(run&);
void measure_fenced(run&);
void measure_server_cost(run&);
void measure_scripts_cost(run&, std::size_t names);
void measure_readers(run&);
void measure_permits(run&);
void measure_shards(run&);
void measure_cluster(run&);
void measure_stalled(run&);
void measure_far(run&);
void measure_keepalive(run&);
void measure_names(run&);
void measure_peers(run&);
void measure_handoffs(run&);
void measure_first(run&);
void measure_group(run&);
void measure_instructions(run&);
void measure_threads(run&);

/// Of this library's callers, in step with their servers, for workload::pairs.
double instructions_per_pair(workload const& what);

/// Many leases that are held and extended.
struct keeping {
    double cpu_share{0};  ///< Of one processor.
    double bytes_per_lease{0};
    double extensions{0};  ///< While it was measured.
    double acquire_seconds{0};
};

/// Holds leases for a cycle of extensions, and measures two more. Throws if a lease is lost, or is not extended.
keeping keep_alive(workload const& what, std::size_t leases);

/// From the construction of a client to its first lease.
double first_lease_ms(redlock::config const& settings, bool fencing);

/// Of this process.
double resident_bytes();

/// Resident memory of a lease that is held, its key included.
double bytes_per_held_lease(workload const& what, std::size_t leases);

}  // namespace bench

#endif
