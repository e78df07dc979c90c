#include "cli/doctor/doctor_probes.hpp"

#include "cli/doctor/doctor_group.hpp"
#include "cli/servers/set_views.hpp"
#include "core/admission/quarantine_folder.hpp"
#include "core/random_value.hpp"
#include "protocol/keys.hpp"
#include "protocol/scripts.hpp"
#include "protocol/server_facts.hpp"
#include "protocol/server_id.hpp"

#include <redlock/clock.hpp>

#include <algorithm>
#include <chrono>
#include <string_view>
#include <utility>

namespace redlock::cli {

namespace {

using namespace std::chrono_literals;

constexpr int looks_at_clock = 8;
constexpr auto between_looks = 60ms;

// A load balancer that takes turns leads one of them to another server; one that draws lots between two does so 15 times in 16.
constexpr int further_connections = 4;

enum question : std::size_t { info, fsync, save, whoami, record, high_water, client_list, client_id, set_record, questions };

std::vector<words> questions_to_node()
{
    return {{"INFO", "all"},
            {"CONFIG", "GET", "appendfsync"},
            {"CONFIG", "GET", "save"},
            {"ACL", "WHOAMI"},
            {"GET", std::string{detail::node_record_key}},
            {"GET", std::string{detail::high_water_key}},
            {"CLIENT", "LIST"},
            {"CLIENT", "ID"},
            {"GET", std::string{detail::set_record_key}}};
}

// A command as the library sends it, with arguments that make it do nothing. Servers check the user's permissions before the arguments, so the
// answer shows whether the library may use the command.
struct trial {
    char const* command;
    words call;
    char const* consequence;  // what the user loses if the command is refused
    bool needed_by_all{true};
};

constexpr char const* no_lock = "no lock can be acquired or kept";
constexpr char const* not_told = "waiting clients are not told of changes, and look by themselves";
constexpr char const* no_remaining_time =
    "waiting clients look by themselves, and nobody can use semaphores or hold a read-write lock to read";
constexpr char const* no_readers = "nobody can hold a read-write lock to read";
constexpr char const* no_state = "nothing can be published with a lock";
constexpr char const* no_permits = "no semaphore can be used";
constexpr char const* never_count = "its votes never count";
constexpr char const* no_token = "no lock with fencing can be acquired";

std::vector<trial> trials(std::string const& name, node_address const& address)
{
    auto const fence = name + std::string{detail::fence_suffix};
    std::string const node{detail::node_record_key}, hw{detail::high_water_key};
    std::string const nobody = name + ":redlock-doctor:" + detail::random_value();
    auto const script = detail::make_script("return 1");
    std::vector<trial> all{
        {"set", {"SET", name, "x", "PX", "0"}, no_lock},
        {"get", {"GET", name}, no_lock},
        {"pttl", {"PTTL", name}, no_remaining_time, false},
        {"pexpire", {"PEXPIRE", name, "soon"}, no_lock},
        {"exists", {"EXISTS", name}, "no lock of several names can be acquired"},
        {"del", {"DEL", nobody}, "no lock can be released"},
        {"script|load", {"SCRIPT", "LOAD", std::string{script.text}}, no_lock},
        {"evalsha", {"EVALSHA", script.sha1, "0"}, no_lock},
        {"time", {"TIME"}, no_lock},
        {"mget", {"MGET", name, fence, node, hw}, no_token},
        {"set", {"SET", fence, "x", "PX", "0"}, no_token},
        {"set", {"SET", node, "x", "PX", "0"}, "a node that restarts cannot be admitted again"},
        {"set", {"SET", hw, "x", "PX", "0"}, no_token},
        {"set", {"SET", name + std::string{detail::published_suffix}, "x", "PX", "0"}, no_state, false},
        {"set", {"SET", name + std::string{detail::permits_suffix}, "x", "PX", "0"}, no_permits, false},
        {"set", {"SET", name + "#0", "x", "PX", "0"}, no_permits, false},
        {"zadd", {"ZADD", name, "x", "x"}, no_readers, false},
        {"zscore", {"ZSCORE", nobody, "x"}, no_readers, false},
        {"zrem", {"ZREM", nobody, "x"}, no_readers, false},
        {"zrange", {"ZRANGE", nobody, "0", "0"}, no_readers, false},
        {"zremrangebyscore", {"ZREMRANGEBYSCORE", nobody, "x", "x"}, no_readers, false},
        {"pexpireat", {"PEXPIREAT", name, "soon"}, no_readers, false},
        {"client|tracking", {"CLIENT", "TRACKING", "ON", "OPTIN", "NOLOOP"}, not_told, false},
        {"client|caching", {"CLIENT", "CACHING", "YES"}, not_told, false},
    };
    if (auto const waits = trial_of_waiting(address); !waits.empty())
        all.push_back({address.fsync ? "waitaof" : "wait", waits, never_count});
    return all;
}

// Whether the same command was refused already, with the same consequence: on another key.
bool is_known(doctor_probe const& of, trial const& t)
{
    return std::any_of(of.refused.begin(), of.refused.end(),
                       [&](refusal const& r) { return r.command == t.command && r.costs == t.consequence; });
}

// The value in the answer of CONFIG GET: a name and a value.
std::string value_of(reply const& r) { return r.items.size() >= 2 ? r.items[1].text : ""; }

// The value of `name` in a line of CLIENT LIST.
std::string_view field_of_client(std::string_view line, std::string_view name)
{
    std::string const begins = ' ' + std::string{name} + '=';
    auto const at = line.find(begins);
    if (at == std::string_view::npos) return "";
    auto const value = line.substr(at + begins.size());
    return value.substr(0, value.find(' '));
}

// The hosts of the other clients that wait for this node's admission: they send it a request each second.
std::vector<std::string> hosts_that_look(std::string_view list, std::string_view our_name, std::string const& our_id)
{
    std::vector<std::string> hosts;
    for (std::size_t at = 0; at < list.size();) {
        auto const end = std::min(list.find('\n', at), list.size());
        auto const line = ' ' + std::string{list.substr(at, end - at)};
        at = end + 1;
        auto const idle = field_of_client(line, "idle"), address = field_of_client(line, "addr");
        bool const looks = idle == "0" || idle == "1" || idle == "2";
        if (field_of_client(line, "name") != our_name || field_of_client(line, "id") == our_id || !looks) continue;
        std::string host{address.substr(0, address.rfind(':'))};
        if (std::find(hosts.begin(), hosts.end(), host) == hosts.end()) hosts.push_back(std::move(host));
    }
    return hosts;
}

void note_waits_of_this_machine(std::vector<doctor_probe>& all, config const& settings)
{
    if (settings.quarantine_folder.empty()) return;
    auto const now = boot_clock::now();
    for (auto const& note : detail::quarantine_folder{settings.quarantine_folder}.notes())
        for (doctor_probe& c : all)
            if (note.what.seen <= now && detail::names_server(note.what.id, c.field("master_replid")) && c.mark() == note.what.mark)
                c.waited_here = now - note.what.seen;
}

// What each address leads to if one connects again. Groups and clusters are asked by the address of a server of theirs.
void meet_again(std::vector<doctor_probe>& all, config const& settings, std::chrono::milliseconds timeout)
{
    for (int i = 0; i < further_connections; ++i) {
        server_group again{settings, timeout};
        auto const said = again.ask_each([&](std::size_t node) {
            bool const is_asked = all[node].problem.empty() && !all[node].field("run_id").empty() && !all[node].group;
            return is_asked ? std::vector<words>{{"INFO", "server"}} : std::vector<words>{};
        });
        for (std::size_t node = 0; node < all.size(); ++node) {
            if (!said[node].ok() || !said[node].replies[0].is_text()) continue;
            std::string const id{detail::field_of_info(said[node].replies[0].text, "run_id")};
            if (!id.empty()) all[node].met_again.push_back(id);
        }
    }
}

void read_answers(doctor_probe& c, answers const& a, std::string_view our_name)
{
    if (!a.ok()) {
        c.why = a.why;
        c.problem = a.problem;
        return;
    }
    auto const& r = a.replies;
    if (r[info].is_text()) c.info = r[info].text;
    if (r[info].is_error()) c.info_refused = r[info].text;
    c.config_refused = r[fsync].is_error();
    c.append_fsync = value_of(r[fsync]);
    if (r[save].items.size() >= 2) c.save = value_of(r[save]);
    if (r[whoami].is_text()) c.user = r[whoami].text;
    if (r[record].is_text()) c.record = r[record].text;
    c.has_high_water = r[high_water].is_text();
    c.set = set_text_of(r[set_record]);
    if (r[client_list].is_text() && !r[client_id].is_error())
        c.watched_from = hosts_that_look(r[client_list].text, our_name, r[client_id].text);
}

}  // namespace

bool is_refusal(reply const& r)
{
    if (!r.is_error()) return false;
    for (char const* sign : {"NOPERM", "unknown command", "unknown subcommand", "Unknown subcommand"})
        if (r.text.find(sign) != std::string::npos) return true;
    return false;
}

// Of a key that nobody has.
words trial_of_writing() { return {"DEL", "redlock:doctor:nobody"}; }

std::string why_no_writes(reply const& r) { return r.is_error() && !is_refusal(r) ? r.text : std::string{}; }

words trial_of_waiting(node_address const& address)
{
    if (address.fsync) return {"WAITAOF", "1", "0", "1"};
    if (address.replicas > 0 || address.sentinel) return {"WAIT", "0", "1"};
    return {};
}

refusal refusal_of_waiting(node_address const& address, std::string const& said)
{
    return {address.fsync ? "waitaof" : "wait", said, never_count};
}

std::vector<doctor_probe> examine(server_group& nodes, config const& settings, std::chrono::milliseconds timeout, std::string const& name)
{
    std::vector<doctor_probe> all(nodes.size());
    auto const first = nodes.ask(questions_to_node());
    for (std::size_t i = 0; i < all.size(); ++i) {
        all[i].node = nodes.name(i);
        read_answers(all[i], first[i], settings.client_name);
        if (settings.nodes[i].sentinel) all[i].group = examine_group(settings.nodes[i], nodes.group(i), all[i].info);
    }
    note_waits_of_this_machine(all, settings);
    meet_again(all, settings, timeout);

    auto const probe = name.empty() ? "redlock:doctor:" + detail::random_value() : nodes.key_of(name);
    auto const tried = nodes.ask_each([&](std::size_t i) {
        std::vector<words> calls;
        if (all[i].problem.empty())
            for (trial const& t : trials(probe, settings.nodes[i])) calls.push_back(t.call);
        return calls;
    });
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (!all[i].problem.empty() || !tried[i].ok()) continue;
        auto const list = trials(probe, settings.nodes[i]);
        for (std::size_t t = 0; t < list.size(); ++t) {
            reply const& r = tried[i].replies[t];
            if (is_refusal(r) && !is_known(all[i], list[t]))
                all[i].refused.push_back({list[t].command, r.text, list[t].consequence, list[t].needed_by_all});
            if (list[t].command == std::string_view{"del"}) all[i].takes_no_writes = why_no_writes(r);
        }
    }

    for (int look = 0; look < looks_at_clock; ++look) {
        if (look > 0 && !nodes.pause(between_looks)) break;
        // One node after the other, so that no answer waits for another node's.
        for (std::size_t i = 0; i < all.size(); ++i) {
            if (!all[i].problem.empty()) continue;
            auto const a = nodes.ask_each([&](std::size_t n) { return n == i ? std::vector<words>{{"TIME"}} : std::vector<words>{}; });
            if (auto const sample = sample_of(a[i])) all[i].clock.push_back(*sample);
        }
    }
    return all;
}

}  // namespace redlock::cli
