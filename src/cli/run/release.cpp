// `redlock release --force`: takes locks away from their holders. It shows the keys and then deletes exactly those, node by node. A key that changed
// meanwhile may be another holder's, and stays.
#include "cli/locks/lock_key_pattern.hpp"
#include "cli/locks/lock_search.hpp"
#include "cli/locks/lock_view_text.hpp"
#include "cli/locks/semaphore_view.hpp"
#include "cli/options/commands.hpp"
#include "cli/output/exit_codes.hpp"
#include "cli/output/table.hpp"
#include "cli/output/text.hpp"
#include "cli/run/tickets.hpp"
#include "cli/servers/settings.hpp"

#include "protocol/scripts.hpp"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <iostream>
#include <optional>
#include <utility>
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

constexpr std::size_t max_found = 1'000;

constexpr char const* delete_if_of_type =
    "if redis.call('TYPE', KEYS[1]).ok == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0";

// Removes the readers that were shown, as their own releases would; others who have come meanwhile stay.
constexpr char const* remove_readers = R"lua(local removed = 0
for i = 1, #ARGV do
  local gone = redis.pcall('ZREM', KEYS[1], ARGV[i])
  if type(gone) == 'table' then return string.find(gone.err, 'WRONGTYPE', 1, true) and 0 or gone end
  removed = removed + gone
end
if removed > 0 then
  local last = redis.call('ZRANGE', KEYS[1], -1, -1, 'WITHSCORES')
  if not last[1] or last[1] == '' then redis.call('DEL', KEYS[1]) else redis.call('PEXPIREAT', KEYS[1], last[2]) end
end
return removed)lua";

std::vector<words> deletion(std::string const& lock, key_view const& key)
{
    if (!key.problem.empty() || !key.present) return {};
    if (key.readers > 0 && !key.some_readers.empty()) {
        words call{"EVAL", remove_readers, "1", lock};
        for (reader_view const& r : key.some_readers) call.push_back(r.value);
        return {std::move(call)};
    }
    if (key.type != "string") return {{"EVAL", delete_if_of_type, "1", lock, key.type}};
    return {{"EVAL", std::string{detail::release_script().text}, "1", lock, key.value}};
}

// What became of the key on one node.
struct result {
    std::string what;
    tone in{tone::plain};
    bool deleted{false};
};

result result_of(key_view const& key, answers const& a, std::size_t place)
{
    if (!key.problem.empty()) return {"not asked: " + key.problem, tone::alarm};
    if (!key.present) return {"nothing there", tone::quiet};
    if (!a.ok()) return {a.problem, tone::alarm};
    if (a.replies[place].is_error()) return {a.replies[place].text, tone::alarm};
    auto const gone = static_cast<std::size_t>(std::max<std::int64_t>(0, a.replies[place].number(0)));
    if (gone > 0 && key.readers > 0) {
        bool const all = gone >= key.readers;
        return {(all ? "" : std::to_string(gone) + " of ") + count_of(key.readers, "reader") + " removed", all ? tone::good : tone::warning,
                true};
    }
    if (gone > 0) return {"deleted", tone::good, true};
    return {"stays: it changed meanwhile, and is no longer what was shown", tone::warning};
}

// Of a lock that many read, only the readers of this host stay to be removed. False: nobody of this host holds it.
bool keep_only_of(std::string const& host, lock_view& lock)
{
    auto const is_of_host = [&](std::optional<detail::holder_info> const& who) { return who && who->host == host; };
    bool any = false;
    for (key_view& key : lock.nodes) {
        if (key.readers > 0) {
            std::erase_if(key.some_readers, [&](reader_view const& r) { return !is_of_host(r.who); });
            key.readers = key.some_readers.size();
            key.present = key.readers > 0;
        } else if (!is_of_host(key.holder)) {
            key.present = false;
        }
        any = any || (key.problem.empty() && key.present);
    }
    return any;
}

// Instead of names. A list that may lack a lock is an error: who believes that all are gone goes on.
std::vector<lock_view> search(release_options const& options, server_group& nodes)
{
    lock_key_pattern const pattern{nodes.keys(), options.pattern.empty() ? "*" : options.pattern, nodes.has_all_shards()};
    auto const found = find_locks(nodes, pattern, {.names = max_found});
    if (found.because == search_result::end::too_many_names)
        throw failure{exit_code::usage, "there are more than " + std::to_string(max_found) +
                                            " such locks: give a narrower --pattern. "
                                            "Nothing was deleted"};
    if (!found.enough())
        throw failure{exit_code::no_majority, "too few nodes could be searched to the end to know all of these locks; redlock list says "
                                              "why. Nothing was deleted"};
    std::vector<std::string> names;
    for (lock_view const& lock : found.locks) names.push_back(lock.name);
    auto locks = look(nodes, names);
    std::erase_if(locks, [](lock_view const& lock) { return !is_anywhere(lock); });
    if (!options.host.empty()) std::erase_if(locks, [&](lock_view& lock) { return !keep_only_of(options.host, lock); });
    if (locks.empty()) throw failure{exit_code::warnings, "no such lock was found; nothing was deleted"};
    return locks;
}

void confirm(release_options const& options, terminal const& out, server_group const& nodes, std::vector<lock_view> const& locks)
{
    if (options.yes) return;
    if (::isatty(STDIN_FILENO) != 1)
        throw failure{exit_code::usage, "without a terminal nobody can be asked; to delete without a question, give --yes"};
    if (!options.json)
        for (lock_view const& lock : locks) out.write(out.fold(headline(out, lock), 2) + '\n' + node_table(out, nodes, lock));
    if (!agreed()) throw failure{exit_code::warnings, "nothing was deleted"};
}

// Deletes the keys that were seen, on all nodes.
std::vector<answers> delete_keys(server_group& nodes, std::vector<lock_view> const& locks)
{
    return nodes.ask_each([&](std::size_t node) {
        std::vector<words> calls;
        for (lock_view const& lock : locks)
            for (words& w : deletion(nodes.key_of(lock.name), lock.nodes[node])) calls.push_back(std::move(w));
        return calls;
    });
}

std::vector<lock_view> for_people(server_group const& nodes, std::vector<lock_view> locks)
{
    for (lock_view& lock : locks) lock.name = without_shard(nodes, lock.name);
    return locks;
}

struct outcome {
    std::size_t deleted{0}, unknown{0};
    std::vector<result> on;  // one for each node
};

ordered_json to_json(server_group const& nodes, lock_view const& lock, outcome const& o)
{
    auto list = ordered_json::array();
    for (std::size_t i = 0; i < nodes.size(); ++i)
        list.push_back({{"node", nodes.name(i)}, {"result", o.on[i].what}, {"deleted", o.on[i].deleted}});
    return {{"name", lock.name}, {"deleted", o.deleted}, {"unknown", o.unknown}, {"before", to_json(nodes.names(), lock)}, {"nodes", list}};
}

std::string text(terminal const& out, server_group const& nodes, lock_view const& lock, outcome const& o)
{
    table rows{{"node", "key"}};
    for (std::size_t i = 0; i < nodes.size(); ++i) rows.add({{nodes.name(i)}, {printable(o.on[i].what), o.on[i].in, true}});
    return name_in_words(lock.name) + ": deleted on " + std::to_string(o.deleted) + " of " + count_of(nodes.size(), "node") + '\n' +
           rows.text(out, "  ");
}

// In place of a semaphore, the slots of which a node has a key.
std::vector<lock_view> with_slots(server_group& nodes, std::vector<lock_view> locks, std::vector<std::string> const& names)
{
    auto semaphores = look_for_semaphores(nodes, names);
    std::vector<lock_view> all;
    for (std::size_t i = 0; i < locks.size(); ++i) {
        if (!semaphores[i] || semaphores[i]->slots.empty() || is_anywhere(locks[i])) all.push_back(std::move(locks[i]));
        if (!semaphores[i]) continue;
        for (slot_view& s : semaphores[i]->slots) all.push_back(std::move(s.lock));
    }
    return all;
}

}  // namespace

int execute(release_options const& options)
{
    if (!options.ticket.text.empty()) return release_by(options);
    ::signal(SIGPIPE, SIG_IGN);
    for (std::string const& name : options.names) check_name(name);
    if (!options.force)
        throw failure{exit_code::usage, "release takes a lock away from its holder, who is not told; if that is meant, give --force. "
                                        "(A holder releases by itself: redlock run does when its command ends.)"};
    bool const is_searched = options.names.empty();
    auto const from = is_searched ? settings_of_searched(options.from) : settings_of(options.from, options.names);
    server_group nodes{from.client, options.from.timeout};
    auto const locks = is_searched ? search(options, nodes) : with_slots(nodes, look(nodes, options.names), options.names);
    terminal const out;
    if (std::any_of(locks.begin(), locks.end(), [](lock_view const& l) { return l.held_on > 0; }))
        confirm(options, out, nodes, for_people(nodes, locks));

    auto const done = delete_keys(nodes, locks);
    std::vector<std::size_t> next(nodes.size());  // index of the next answer to use, for each node
    auto all = ordered_json::array();
    bool any_deleted = false, any_unknown = false, any_held = false;
    for (lock_view const& lock : for_people(nodes, locks)) {
        outcome o;
        for (std::size_t i = 0; i < nodes.size(); ++i) {
            bool const asked = !deletion("", lock.nodes[i]).empty();
            auto const r = result_of(lock.nodes[i], done[i], asked ? next[i]++ : 0);
            o.deleted += r.deleted ? 1 : 0;
            o.unknown += r.in == tone::alarm ? 1 : 0;
            o.on.push_back(r);
        }
        any_deleted = any_deleted || o.deleted > 0;
        any_unknown = any_unknown || o.unknown >= lock.majority;
        any_held = any_held || (o.deleted > 0 && lock.state == lock_state::held);
        if (options.json) all.push_back(to_json(nodes, lock, o));
        else out.write(text(out, nodes, lock, o));
    }
    if (options.json) out.write(dump({{"locks", std::move(all)}}, 2));
    else if (any_held)
        out.write(
            out.fold("A holder that is alive sets a fenced lock again at its next extension (every third of its ttl), unless somebody has "
                     "acquired it by then; to keep it out, end the holder first.",
                     0) +
            '\n');
    if (any_unknown) return to_int(exit_code::no_majority);
    return to_int(any_deleted ? exit_code::success : exit_code::warnings);
}

}  // namespace redlock::cli
