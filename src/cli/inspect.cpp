// `redlock inspect`: shows the holder of each lock, on which nodes, and how safely.
#include "cli/commands.hpp"
#include "cli/exit_codes.hpp"
#include "cli/lock_view_text.hpp"
#include "cli/settings.hpp"

#include <algorithm>

namespace redlock::cli {

int execute(inspect_options const& options)
{
    for (std::string const& name : options.names) check_name(name);
    server_group nodes{settings_of(options.from).client, options.from.timeout};
    auto const locks = look(nodes, options.names);

    terminal const out;
    if (options.json) {
        auto list = nlohmann::ordered_json::array();
        for (lock_view const& lock : locks) list.push_back(to_json(nodes, lock));
        out.write(dump({{"locks", std::move(list)}}, 2));
    } else {
        for (lock_view const& lock : locks) {
            out.write(out.fold(headline(out, lock), 2) + '\n');
            if (auto const more = second_line(lock); !more.empty()) out.write(out.fold("  " + more, 2) + '\n');
            out.write(node_table(out, nodes, lock));
        }
    }
    bool const known = std::none_of(locks.begin(), locks.end(), [](auto const& lock) { return lock.state == lock_state::unknown; });
    return to_int(known ? exit_code::success : exit_code::no_majority);
}

}  // namespace redlock::cli
