// `redlock inspect`: shows the holder of each lock, on which nodes, and how safely; of a semaphore, the holders of its slots.
#include "cli/commands.hpp"
#include "cli/exit_codes.hpp"
#include "cli/lock_view_text.hpp"
#include "cli/semaphore_text.hpp"
#include "cli/settings.hpp"

#include <algorithm>
#include <cstddef>

namespace redlock::cli {

namespace {

void write_lock(terminal const& out, server_group const& nodes, lock_view const& lock)
{
    out.write(out.fold(headline(out, lock), 2) + '\n');
    for (auto const& more : {second_line(lock), published_line(lock)})
        if (!more.empty()) out.write(out.fold("  " + more, 2) + '\n');
    out.write(node_table(out, nodes, lock));
}

}  // namespace

int execute(inspect_options const& options)
{
    for (std::string const& name : options.names) check_name(name);
    server_group nodes{settings_of(options.from, options.names).client, options.from.timeout};
    auto const locks = look(nodes, options.names);
    auto const semaphores = look_for_semaphores(nodes, options.names);

    terminal const out;
    if (options.json) {
        auto list = nlohmann::ordered_json::array();
        for (std::size_t i = 0; i < locks.size(); ++i) {
            list.push_back(to_json(nodes.names(), locks[i]));
            list.back()["semaphore"] = semaphores[i] ? to_json(nodes.names(), *semaphores[i]) : nlohmann::ordered_json{};
        }
        out.write(dump({{"locks", std::move(list)}}, 2));
    } else {
        for (std::size_t i = 0; i < locks.size(); ++i) {
            if (semaphores[i]) out.write(text_of(out, nodes, *semaphores[i]));
            if (!semaphores[i] || is_anywhere(locks[i])) write_lock(out, nodes, locks[i]);
        }
    }
    bool known = std::none_of(locks.begin(), locks.end(), [](auto const& lock) { return lock.state == lock_state::unknown; });
    for (auto const& s : semaphores) known = known && (!s || (s->is_known() && s->held_unclearly() == 0));
    return to_int(known ? exit_code::success : exit_code::no_majority);
}

}  // namespace redlock::cli
