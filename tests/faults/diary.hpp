// What a worker writes down of its leases.
#ifndef REDLOCK_TESTS_FAULTS_DIARY_HPP
#define REDLOCK_TESTS_FAULTS_DIARY_HPP

#include "records.hpp"

#include <redlock/client.hpp>
#include <redlock/lease.hpp>
#include <redlock/lock.hpp>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace redlock::faults {

/// What is held and used of a lock. Of permits of a semaphore: the slots that the lease has.
std::vector<std::string> names_held(redlock::lock const& what, redlock::lease const& lease);

struct diary_entry {
    redlock::lock const& what;
    redlock::lease const& lease;
    moment asked;
    bool downgraded{false};  ///< From now on it counts as a reader's, which was a writer's.
    std::uint32_t permits{0};///< Of the semaphore, if it is of one.
};

class diary {
public:
    diary(std::string worker, std::filesystem::path const& file);

    std::string const& worker() const noexcept { return worker_; }

    std::uint64_t held(diary_entry const& entry);
    void still(std::uint64_t id, redlock::lease const& lease);
    void over(std::uint64_t id, redlock::lease const& lease, bool lost, moment at);
    void failed(std::string const& why);
    void acknowledged(std::string const& name, std::uint64_t token, std::uint64_t value);
    void sample(redlock::client_status const& status);
    void end(redlock::client_counters const& counted);

private:
    std::string worker_;
    record_file file_;
    std::uint64_t leases_{0};
};

/// From when a holder has its lease until it leaves, however that happens. The lease must live as long.
class stay {
public:
    stay(diary& book, diary_entry const& entry) : book_{book}, lease_{entry.lease}, id_{book.held(entry)} {}
    stay(stay const&) = delete;
    stay& operator=(stay const&) = delete;
    ~stay()
    {
        bool const lost = !lease_.valid();
        book_.over(id_, lease_, lost, boot_clock::now());
    }

    void still() { book_.still(id_, lease_); }

private:
    diary& book_;
    redlock::lease const& lease_;
    std::uint64_t id_;
};

}  // namespace redlock::faults

#endif
