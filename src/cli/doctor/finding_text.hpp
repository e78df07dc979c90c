// How findings are shown: by doctor, and by what else looks whether nodes vote.
#ifndef REDLOCK_CLI_DOCTOR_FINDING_TEXT_HPP
#define REDLOCK_CLI_DOCTOR_FINDING_TEXT_HPP

#include "cli/doctor/doctor_rules.hpp"
#include "cli/output/terminal.hpp"

#include <nlohmann/json.hpp>

#include <string>

namespace redlock::cli {

std::string paragraph(terminal const& out, finding const& f);
nlohmann::ordered_json to_json(finding const& f);

}  // namespace redlock::cli

#endif
