#include "cli/doctor/finding_text.hpp"

#include "cli/output/text.hpp"

namespace redlock::cli {

namespace {

tone tone_of(severity s)
{
    switch (s) {
    case severity::note: return tone::quiet;
    case severity::warning: return tone::warning;
    case severity::danger: return tone::alarm;
    }
    return tone::plain;
}

}  // namespace

std::string paragraph(terminal const& out, finding const& f)
{
    std::string const where = f.where.empty() ? "all nodes" : f.where;
    auto const what = out.paint(tone_of(f.is), to_string(f.is)) + "  " + out.paint(tone::strong, where) + ": " + printable(f.what);
    auto const since = f.since.empty() ? std::string{} : out.fold("  since: " + printable(f.since), 4) + '\n';
    return '\n' + out.fold(what, 2) + '\n' + since + out.fold("  remedy: " + printable(f.remedy), 4) + '\n';
}

nlohmann::ordered_json to_json(finding const& f)
{
    return {{"severity", to_string(f.is)},
            {"node", f.where.empty() ? nlohmann::ordered_json{} : nlohmann::ordered_json(f.where)},
            {"what", f.what},
            {"since", f.since.empty() ? nlohmann::ordered_json{} : nlohmann::ordered_json(f.since)},
            {"remedy", f.remedy}};
}

}  // namespace redlock::cli
