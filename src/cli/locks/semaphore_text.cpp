#include "cli/locks/semaphore_text.hpp"

#include "cli/locks/lock_view_text.hpp"
#include "cli/locks/waiting.hpp"
#include "cli/output/table.hpp"
#include "cli/output/text.hpp"

#include <algorithm>

namespace redlock::cli {

namespace {

using nlohmann::ordered_json;
using std::chrono::milliseconds;

constexpr std::size_t holders_named = 10;

std::string permits_in_words(std::uint32_t count) { return count_of(count, "permit"); }

std::string command_that_changes(semaphore_view const& of, std::string const& permits)
{
    return "redlock semaphore " + name_in_words(of.name) + " --permits " + permits;
}

std::string slot_end(lock_view const& slot)
{
    if (slot.state != lock_state::held) return "-";
    return slot.ttl_ms < 0 ? "never" : in_words(milliseconds{slot.ttl_ms});
}

std::string slot_holder(lock_view const& slot)
{
    auto who = slot.holder ? short_holder(slot.nodes[*slot.holder]) : "-";
    if (slot.state == lock_state::held) return who;
    return (slot.state == lock_state::unknown ? "unknown: " : "no majority: ") + who;
}

}  // namespace

std::string held_in_words(semaphore_view const& of)
{
    return std::to_string(of.held()) + (of.permits ? " of " + permits_in_words(*of.permits) : " permits");
}

std::int64_t last_ttl_ms(semaphore_view const& of)
{
    std::int64_t last = -1;
    for (slot_view const& s : of.slots) {
        if (s.lock.state != lock_state::held) continue;
        if (s.lock.ttl_ms < 0) return -1;
        last = std::max(last, s.lock.ttl_ms);
    }
    return last;
}

std::size_t least_held_on(semaphore_view const& of)
{
    std::size_t least = of.nodes.size();
    bool any = false;
    for (slot_view const& s : of.slots) {
        if (s.lock.state != lock_state::held) continue;
        any = true;
        least = std::min(least, s.lock.held_on);
    }
    return any ? least : 0;
}

std::string headline(terminal const& out, semaphore_view const& of)
{
    std::string line = out.paint(tone::strong, name_in_words(of.name)) + ": ";
    if (!of.is_known())
        return line + out.paint(tone::alarm, "unknown") + ", since " +
               so_few_nodes(of.answered, of.nodes.size(), "could be read", "could not be read");
    if (!of.permits && of.slots.empty()) return line + "no semaphore that the nodes know";
    line += of.permits ? permits_in_words(*of.permits) : "an unknown number of permits";
    line += ", " + out.paint(of.held() > 0 ? tone::warning : tone::good, std::to_string(of.held()) + " held");
    return of.permits ? line + ", about " + std::to_string(of.free) + " free" : line;
}

std::string second_line(semaphore_view const& of)
{
    if (!of.permits) return "";
    std::int64_t longest = -1;
    for (number_view const& n : of.nodes)
        if (n.permits == of.permits) longest = std::max(longest, n.ttl_ms);
    std::string line = "the number is kept on " + std::to_string(of.kept_on) + " of " + count_of(of.nodes.size(), "node");
    if (longest >= 0) line += ", for another " + in_words(milliseconds{longest}) + " unless it is used";
    auto const differs = [&](number_view const& n) { return n.permits && n.permits != of.permits; };
    if (std::any_of(of.nodes.begin(), of.nodes.end(), differs))
        line += "; others keep another one, so a change was begun and not finished: repeat " + command_that_changes(of, "K");
    if (auto const above = of.held_above(); above > 0)
        line += "; " + count_of(above, "slot is", "slots are") + " held above it, from before it was made smaller";
    if (of.held_unclearly() > 0) line += "; of " + count_of(of.held_unclearly(), "slot") + " too few nodes answered to know";
    return line;
}

std::string slot_table(terminal const& out, semaphore_view const& of)
{
    if (of.slots.empty()) return "";
    table rows{{"slot", "holder", "nodes", "ends", "token", "held"}};
    for (slot_view const& s : of.slots) {
        bool const is_held = s.lock.state == lock_state::held;
        auto const since = is_held ? held_for(s.lock.nodes[*s.lock.holder]) : "";
        rows.add({{std::to_string(s.number), of.is_above(s) ? tone::warning : tone::plain},
                  {slot_holder(s.lock), is_held ? tone::plain : tone::warning},
                  {std::to_string(s.lock.held_on) + " of " + std::to_string(of.nodes.size())},
                  {slot_end(s.lock)},
                  {s.lock.counter ? std::to_string(*s.lock.counter) : "-"},
                  {(since.empty() ? "-" : since) + (of.is_above(s) ? ", above the number" : ""), tone::plain, true}});
    }
    return rows.text(out, "  ");
}

std::string node_table(terminal const& out, server_group const& nodes, semaphore_view const& of)
{
    table rows{{"node", "permits"}};
    bool any = false;
    for (std::size_t i = 0; i < of.nodes.size(); ++i) {
        number_view const& n = of.nodes[i];
        if (n.problem.empty() && n.permits == of.permits) continue;
        any = true;
        if (!n.problem.empty()) rows.add({{nodes.name(i)}, {printable(n.problem), tone::alarm, true}});
        else rows.add({{nodes.name(i)}, {n.permits ? std::to_string(*n.permits) : "none kept", tone::warning, true}});
    }
    return any ? rows.text(out, "  ") : "";
}

std::string text_of(terminal const& out, server_group const& nodes, semaphore_view const& of)
{
    std::string text = out.fold(headline(out, of), 2) + '\n';
    if (auto const more = second_line(of); !more.empty()) text += out.fold("  " + more, 2) + '\n';
    return text + slot_table(out, of) + node_table(out, nodes, of);
}

std::string holders_in_words(semaphore_view const& of, bool above)
{
    std::string text;
    std::size_t named = 0, more = 0;
    for (slot_view const& s : of.slots) {
        if (s.lock.state != lock_state::held || (above && !of.is_above(s))) continue;
        if (named == holders_named) {
            ++more;
            continue;
        }
        auto const& key = s.lock.nodes[*s.lock.holder];
        auto const since = held_for(key);
        text += (named++ == 0 ? "slot " : "; slot ") + std::to_string(s.number) + " by " + holder_in_words(key) +
                (since.empty() ? "" : ", " + since);
    }
    return text + (more > 0 ? "; and " + std::to_string(more) + " more" : "");
}

namespace {

// What keeps others from so many permits.
std::string why_none(semaphore_view const& of, std::uint32_t wanted)
{
    auto const holders = holders_in_words(of);
    if (!of.permits || holders.empty()) return "";
    auto const held = of.held() >= *of.permits ? "all " + permits_in_words(*of.permits) + " are held" : held_in_words(of) + " are held";
    return (wanted > 1 ? count_of(wanted, "permit is", "permits are") + " wanted at once, and " : "") + held + ": " + holders;
}

}  // namespace

std::string waiting_for_permits_in_words(semaphore_view const& of, std::uint32_t wanted, client_status const& nodes,
                                         std::chrono::nanoseconds waited)
{
    auto const voting = count_voting(nodes, true);
    auto const why = why_none(of, wanted);
    std::string text = "waiting for " + (wanted > 1 ? std::to_string(wanted) + " permits of " : "a permit of ") + name_in_words(of.name) +
                       " for " + in_words(waited);
    if (!why.empty()) text += ": " + why;
    if (voting < of.majority)
        return text + (why.empty() ? ": only " : "; and only ") + std::to_string(voting) + " of " + count_of(nodes.nodes.size(), "node") +
               (voting == 1 ? " has" : " have") + " a vote, and a majority is " + std::to_string(of.majority) +
               nodes_without_vote(nodes, true);
    return why.empty() ? text + ": there were free ones a moment ago" + nodes_without_vote(nodes, true) : text;
}

std::string reason_to_wait_for_permits(semaphore_view const& of, client_status const& nodes)
{
    std::string text = of.is_known() ? "" : "unknown";
    for (slot_view const& s : of.slots)
        if (s.lock.state == lock_state::held) text += std::to_string(s.number) + ' ' + s.lock.nodes[*s.lock.holder].id() + ' ';
    return text + reason_of_nodes(nodes, true, of.majority);
}

std::string no_permit_in_words(semaphore_view const& of, std::uint32_t wanted, bool all_the_time)
{
    auto const why = why_none(of, wanted);
    return name_in_words(of.name) + ": " +
           (why.empty() ? "no permit was free a moment ago, or several clients came at once for the last ones" : why) +
           (all_the_time ? "; there was none for all the time of --wait" : "");
}

std::string other_number_in_words(semaphore_view const& of, std::uint32_t said)
{
    return name_in_words(of.name) + " has " +
           (of.permits && *of.permits != said ? permits_in_words(*of.permits) : std::string{"another number of permits"}) +
           ", and this command says " + std::to_string(said) +
           ": the number must be the same for all. To change it: " + command_that_changes(of, std::to_string(said));
}

ordered_json to_json(std::vector<std::string> const& nodes, semaphore_view const& of)
{
    ordered_json j{{"name", of.name}, {"known", of.is_known()}};
    j["permits"] = of.permits ? ordered_json(*of.permits) : ordered_json{};
    j["held"] = of.held();
    j["held_above"] = of.held_above();
    j["free_estimate"] = of.free;
    j["kept_on"] = of.kept_on;
    j["version"] = of.permits ? ordered_json(of.version) : ordered_json{};
    j["nodes"] = ordered_json::array();
    for (std::size_t i = 0; i < of.nodes.size(); ++i) {
        number_view const& n = of.nodes[i];
        ordered_json one{{"node", nodes[i]}};
        one["problem"] = n.problem.empty() ? ordered_json{} : ordered_json(n.problem);
        one["permits"] = n.permits ? ordered_json(*n.permits) : ordered_json{};
        one["ttl_ms"] = n.permits && n.ttl_ms >= 0 ? ordered_json(n.ttl_ms) : ordered_json{};
        j["nodes"].push_back(std::move(one));
    }
    j["slots"] = ordered_json::array();
    for (slot_view const& s : of.slots) {
        ordered_json one{{"slot", s.number}};
        one.update(to_json(nodes, s.lock));
        j["slots"].push_back(std::move(one));
    }
    return j;
}

}  // namespace redlock::cli
