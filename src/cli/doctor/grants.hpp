// Why a server that answers grants no lock, or none that counts, and since when.
#ifndef REDLOCK_CLI_DOCTOR_GRANTS_HPP
#define REDLOCK_CLI_DOCTOR_GRANTS_HPP

#include "cli/doctor/facts.hpp"

#include <redlock/config.hpp>

#include <string>

namespace redlock::cli {

inline constexpr char const* keeps_no_file =
    "its votes are to wait for the disk (fsync), but it keeps no append-only file: they never count";
inline constexpr char const* its_record_is_foreign =
    "the key redlock:node holds something else than the record of its admission, so that it cannot be admitted; waiting does not help";
std::string it_takes_no_writes(doctor_probe const& n);
std::string it_evicts(doctor_probe const& n);
std::string memory_is_full(doctor_probe const& n);

// Since when something may be so that a server does not tell the moment of; empty: it does not say when it started either.
std::string since_its_start(doctor_probe const& n);

// Of what one look shows, and nothing tells the beginning of. `who_knows`: what else may.
std::string now_or_earlier(std::string const& who_knows);

// Why no vote of this node counts, as locks wait for replicas that it does not have, or that do not follow it; empty: they do, or it does not say.
std::string why_votes_do_not_count(doctor_probe const& n, node_address const& address);

// Why a server that answers, and may be admitted, grants no lock; empty: nothing keeps it from that.
std::string why_it_grants_nothing(doctor_probe const& n, node_address const& address);

// Of replicas that do not follow in time.
std::string since_replicas_were_heard(doctor_probe const& n);

}  // namespace redlock::cli

#endif
