// redlock release --force: takes a lock away from whoever has it. What is deleted is what was shown, node by node: a key that changed
// meanwhile is somebody else's, and stays.
#include "cli/commands.hpp"
#include "cli/exit_codes.hpp"
#include "cli/settings.hpp"
#include "cli/sight_text.hpp"
#include "cli/text.hpp"

#include "node/scripts.hpp"

#include <cstdio>
#include <iostream>
#include <vector>

#include <unistd.h>

namespace redlock::cli {

namespace {

using nlohmann::ordered_json;

// Reads a line from the terminal. Anything but "y" or "yes" is a no.
bool agreed()
{
    std::fputs("Delete these keys? The holder is not told, and may go on working. [y/N] ", stderr);
    std::string answer;
    std::getline(std::cin, answer);
    return answer == "y" || answer == "Y" || answer == "yes";
}

std::vector<words> deletion(std::string const& lock, key_sight const& key)
{
    if (!key.problem.empty() || !key.present) return {};
    if (key.type != "string") return {{"DEL", lock}};
    return {{"EVAL", std::string{detail::release_script().text}, "1", lock, key.value}};
}

// What became of the key on one node.
struct result {
    std::string what;
    tone in{tone::plain};
};

result result_of(key_sight const& key, answers const& a)
{
    if (!key.problem.empty()) return {"not asked: " + key.problem, tone::alarm};
    if (!key.present) return {"nothing there", tone::quiet};
    if (!a.ok()) return {a.problem, tone::alarm};
    if (a.replies[0].is_error()) return {a.replies[0].text, tone::alarm};
    if (a.replies[0].number(0) > 0) return {"deleted", tone::good};
    return {"stays: it changed meanwhile, and is no longer what was shown", tone::warning};
}

void confirm(release_options const& options, terminal const& out, fleet const& nodes, lock_sight const& lock)
{
    if (options.yes) return;
    if (::isatty(STDIN_FILENO) != 1)
        throw failure{exit_code::usage, "without a terminal nobody can be asked; to delete without a question, give --yes"};
    if (!options.json) out.write(headline(out, lock) + '\n' + node_table(out, nodes, lock));
    if (!agreed()) throw failure{exit_code::warnings, "nothing was deleted"};
}

}  // namespace

int execute(release_options const& options)
{
    check_name(options.name);
    if (!options.force)
        throw failure{exit_code::usage, "release takes a lock away from its holder, who is not told; if that is meant, give --force. "
                                        "(A holder releases by itself: redlock run does when its command ends.)"};
    fleet nodes{settings_of(options.from).client, options.from.timeout};
    auto const lock = look(nodes, {options.name}).front();
    terminal const out;
    bool const anything = lock.held_on > 0;
    if (anything) confirm(options, out, nodes, lock);

    auto const done = nodes.ask_each([&](std::size_t i) { return deletion(nodes.key_of(options.name), lock.nodes[i]); });
    std::size_t deleted = 0, unknown = 0;
    table rows{{"node", "key"}};
    ordered_json list = ordered_json::array();
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        auto const r = result_of(lock.nodes[i], done[i]);
        deleted += r.what == "deleted" ? 1 : 0;
        unknown += r.in == tone::alarm ? 1 : 0;
        rows.add({{nodes.name(i)}, {printable(r.what), r.in}});
        list.push_back({{"node", nodes.name(i)}, {"result", r.what}, {"deleted", r.what == "deleted"}});
    }
    if (options.json) {
        out.write(
            dump({{"name", options.name}, {"deleted", deleted}, {"unknown", unknown}, {"before", to_json(nodes, lock)}, {"nodes", list}},
                 2));
    } else {
        out.write(name_in_words(options.name) + ": deleted on " + std::to_string(deleted) + " of " + count_of(nodes.size(), "node") + '\n' +
                  rows.text(out, "  "));
        if (deleted > 0 && lock.state == lock_state::held)
            out.write("A holder that is alive sets a fenced lock again at its next extension (every third of its ttl), unless somebody\n"
                      "has acquired it by then; to keep it out, end the holder first.\n");
    }
    if (unknown >= lock.majority) return to_int(exit_code::no_majority);
    return to_int(deleted > 0 ? exit_code::success : exit_code::warnings);
}

}  // namespace redlock::cli
