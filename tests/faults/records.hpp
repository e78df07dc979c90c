// What workers, the register and the runner write down, a line of JSON each. All times are of CLOCK_BOOTTIME, which is one clock for
// all processes of a machine.
#ifndef REDLOCK_TESTS_FAULTS_RECORDS_HPP
#define REDLOCK_TESTS_FAULTS_RECORDS_HPP

#include "fault.hpp"

#include <redlock/clock.hpp>

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace redlock::faults {

using moment = boot_clock::time_point;

/// A lease, as its holder saw it.
struct lease_record {
    std::string worker;
    std::vector<std::string> names;
    bool fenced{false};
    bool reads{false};      ///< Beside others that read.
    bool downgraded{false}; ///< Its holder was the writer with this token.
    std::uint32_t permits{0};///< It is of a semaphore with so many permits, and its names are slots; 0: of no semaphore.
    std::uint64_t token{0};
    moment asked;              ///< Before it was asked for.
    moment held;               ///< From here on its holder believed in it,
    std::optional<moment> over;///< until here; none: its process was killed.
    moment valid_until;        ///< And never after this, as far as it was written down.
    bool lost{false};          ///< It ended by itself, not by its holder's will.
};

/// A write as the register judged it, or as a worker heard of it; or what a reader asked the register for.
struct write_record {
    std::string worker;
    std::string name;
    std::uint64_t token{0};
    std::uint64_t value{0};
    moment at;
    std::string answer;  ///< ok; stale: a larger token was there before; conflict: not the next value.
    bool reads{false};   ///< `value` is what the reader was told.

    bool accepted() const { return answer == "ok"; }
};

/// What a worker's client says of itself, now and then.
struct sample_record {
    moment at;
    std::uint64_t extended{0};
    std::vector<std::string> admission;  ///< Of each node.
    std::size_t rss_kb{0};
    std::size_t descriptors{0};
};

/// One life of a worker.
struct worker_record {
    std::string name;
    std::vector<lease_record> leases;
    std::vector<write_record> acknowledged;
    std::vector<sample_record> samples;
    std::map<std::string, std::uint64_t> failures;  ///< Acquisitions that failed, by their error.
    std::map<std::string, std::uint64_t> counters;  ///< What its client had counted at its end.
    std::optional<moment> killed;                   ///< By the runner.
    bool finished{false};                           ///< It said so itself, at its end.
};

/// A fault that was there, and when all that it did was healed.
struct fault_record {
    fault what;
    moment injected;
    moment healed;
    moment settled;
};

struct history {
    std::vector<worker_record> workers;
    std::vector<write_record> writes;  ///< Of the register, in its order.
    std::vector<fault_record> faults;  ///< In the order in which they began.
};

/// A file of such lines. Each is written at once, so that the lines of a process that is killed are there.
class record_file {
public:
    /// Throws `std::system_error`.
    explicit record_file(std::filesystem::path const& file);
    record_file(record_file const&) = delete;
    record_file& operator=(record_file const&) = delete;
    ~record_file();

    void write(nlohmann::json const& line);

private:
    int fd_;
};

std::int64_t to_number(moment at) noexcept;
moment to_moment(std::int64_t ns) noexcept;

/// Throw `std::runtime_error`, which names the file and the line, for anything that does not belong there. A last line that is not complete is
/// left out: its writer was killed.
worker_record read_worker(std::filesystem::path const& file);
std::vector<write_record> read_register(std::filesystem::path const& file);

}  // namespace redlock::faults

#endif
