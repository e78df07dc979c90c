// `redlock inspect`: shows the holder of each lock, on which nodes, and how safely; of a semaphore, the holders of its slots.
#include "cli/doctor/finding_text.hpp"
#include "cli/doctor/votes.hpp"
#include "cli/locks/lock_view_text.hpp"
#include "cli/locks/semaphore_text.hpp"
#include "cli/options/commands.hpp"
#include "cli/output/exit_codes.hpp"
#include "cli/output/text.hpp"
#include "cli/servers/settings.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <tuple>
#include <vector>

namespace redlock::cli {

namespace {

std::string text_of_lock(terminal const& out, server_group const& nodes, lock_view const& lock)
{
    auto text = out.fold(headline(out, lock), 2) + '\n';
    for (auto const& more : {second_line(lock), published_line(lock)})
        if (!more.empty()) text += out.fold("  " + more, 2) + '\n';
    return text + node_table(out, nodes, lock);
}

// What is shown of one name.
struct shown {
    std::string text;
    nlohmann::ordered_json json;
    bool known{false};
};

// The names that are in one shard.
void look_in_shard(inspect_options const& options, settings_of_some const& some, terminal const& out, std::vector<shown>& all,
                   std::vector<finding>& found)
{
    server_group nodes{some.of.client, options.from.timeout};
    nodes.leave_out_silent();
    std::vector<std::string> names;
    for (std::size_t const place : some.places) names.push_back(options.names[place]);
    auto locks = look(nodes, names);
    auto const semaphores = look_for_semaphores(nodes, names);
    auto report = report_about_votes(nodes, some.of, options.from.timeout);
    if (report.set.size > 0) locks = look(nodes, names, report.set);  // the list is not that of the set
    for (std::size_t i = 0; i < names.size(); ++i) {
        auto const& [lock, semaphore, one] = std::tie(locks[i], semaphores[i], all[some.places[i]]);
        one.known = lock.state != lock_state::unknown && (!semaphore || (semaphore->is_known() && semaphore->held_unclearly() == 0));
        if (options.json) {
            one.json = to_json(nodes.names(), lock);
            one.json["semaphore"] = semaphore ? to_json(nodes.names(), *semaphore) : nlohmann::ordered_json{};
            continue;
        }
        if (semaphore) one.text = text_of(out, nodes, *semaphore);
        if (!semaphore || is_anywhere(lock)) one.text += text_of_lock(out, nodes, lock);
    }
    for (finding& f : report.findings) {
        if (some.of.client.place) f.where = "shard " + std::to_string(some.of.client.place->shard);
        found.push_back(std::move(f));
    }
}

}  // namespace

int execute(inspect_options const& options)
{
    for (std::string const& name : options.names) check_name(name);
    terminal const out;
    std::vector<shown> all(options.names.size());
    std::vector<finding> found;
    for (settings_of_some const& some : settings_by_shard(options.from, options.names)) look_in_shard(options, some, out, all, found);
    auto list = nlohmann::ordered_json::array();
    for (shown& one : all) {
        if (options.json) list.push_back(std::move(one.json));
        else out.write(one.text);
    }
    auto findings = nlohmann::ordered_json::array();
    for (finding const& f : found) {
        if (options.json) findings.push_back(to_json(f));
        else out.write(paragraph(out, f));
    }
    if (options.json) out.write(dump({{"locks", std::move(list)}, {"findings", std::move(findings)}}, 2));
    bool const known = std::all_of(all.begin(), all.end(), [](shown const& one) { return one.known; });
    return to_int(known ? exit_code::success : exit_code::no_majority);
}

}  // namespace redlock::cli
