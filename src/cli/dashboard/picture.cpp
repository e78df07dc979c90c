#include "cli/dashboard/picture.hpp"

#include "cli/doctor/doctor_admission.hpp"
#include "cli/doctor/grants.hpp"
#include "cli/doctor/votes.hpp"
#include "cli/locks/lock_list.hpp"
#include "cli/locks/lock_view_text.hpp"
#include "cli/output/text.hpp"
#include "cli/servers/set_views.hpp"
#include "quorum/votes.hpp"

#include <redlock/version.hpp>

#include <algorithm>
#include <iterator>
#include <utility>

namespace redlock::cli {

namespace {

using namespace std::chrono_literals;
using nlohmann::ordered_json;

constexpr std::size_t clock_samples = 10;
constexpr auto verdict_settles = 400ms;
constexpr auto min_clock_step = 100ms;  // less than that may be a busy machine

std::int64_t to_ms(moment t) { return t.time_since_epoch().count(); }

bool answers_and_votes(std::string const& state) { return state == "admitted"; }

// A node's state, named as in client::status().
std::string state_of(doctor_probe const& n, std::string const& objection, std::string const& grants_nothing, bool needs_operator)
{
    if (!n.problem.empty()) return "down";
    if (n.info.empty() && !n.is_admitted()) return "unidentified";
    if (!n.info.empty() && n.field("role") != "master") return "not_primary";
    if (!objection.empty()) return "wrong_node_set";
    if (!grants_nothing.empty()) return n.evicts() || n.memory_used() >= 1 || !n.takes_no_writes.empty() ? "unsuitable" : "not_durable";
    if (n.has_foreign_record()) return "needs_operator";
    if (n.is_admitted()) return "admitted";
    if (needs_operator) return "needs_operator";
    return n.mark().empty() ? "uninitialized" : "quarantined";
}

// Of a cluster: of the first of its shards that has no vote.
std::string state_of(std::vector<node_status> const& shards)
{
    auto const stuck = std::find_if(shards.begin(), shards.end(), [](node_status const& n) { return !votes(n, true); });
    if (stuck == shards.end()) return "admitted";
    if (stuck->state != node_state::usable) return stuck->last_error == errc::node_unsuitable ? "unsuitable" : "down";
    return stuck->admission == admission_state::admitted ? "unsuitable" : to_string(stuck->admission);
}

std::string state_in_words(doctor_probe const& n, std::string const& state, std::string const& objection)
{
    if (state == "down") return printable(n.problem);
    if (state == "unidentified") return "INFO is refused: " + printable(n.info_refused);
    if (state == "not_primary") return "it is a replica, and votes on no lock";
    if (state == "wrong_node_set") return printable(objection);
    if (state == "admitted") return "it votes";
    if (state == "needs_operator" && n.has_foreign_record()) return its_record_is_foreign;
    if (state == "needs_operator")
        return std::string{what_happened(n)} +
               ", and too few nodes have their data to admit it: waiting does not help; an operator must act";
    if (state == "quarantined")
        return std::string{what_happened(n)} + ": a client waits" + since_its_mark(n) +
               " until the leases that it may have granted are over; until then it votes on no lock with a token";
    return std::string{what_happened(n)} + "; the first client that wants a token begins its admission";
}

std::string words_for(std::string const& state)
{
    if (state == "wrong_node_set") return "wrong set";
    if (state == "not_durable") return "not durable";
    if (state == "unsuitable") return "unfit";
    if (state == "needs_operator") return "needs an operator";
    return state == "not_primary" ? "replica" : state == "uninitialized" ? "not admitted" : state;
}

std::string level_of(std::string const& state)
{
    if (state == "admitted") return "good";
    bool const is_lasting = state == "not_primary" || state == "wrong_node_set" || state == "not_durable" || state == "unsuitable" ||
                            state == "needs_operator";
    return state == "down" || is_lasting ? "danger" : "warning";
}

lock_turn turn_of(lock_view const& lock)
{
    turn what;
    what.state = to_string(lock.state);
    if (lock.holder && lock.state != lock_state::unknown) {
        key_view const& key = lock.nodes[*lock.holder];
        what.holder = short_holder(key);
        what.id = lock.readers > 0 ? "readers" : key.id();
        if (key.holder) what.label = key.holder->label;
    }
    what.token = lock.counter;
    what.shared = lock.readers > 0;
    return {lock.name, std::move(what)};
}

ordered_json spans_of(lane const& from)
{
    auto all = ordered_json::array();
    for (span const& s : from.spans()) {
        ordered_json one{{"from", to_ms(s.from)}, {"to", to_ms(s.to)}, {"state", s.what.state}};
        if (!s.what.holder.empty()) one["holder"] = s.what.holder;
        if (!s.what.label.empty()) one["label"] = s.what.label;
        if (!s.what.id.empty()) one["id"] = s.what.id;
        if (s.what.token) one["token"] = *s.what.token;
        if (s.what.shared) one["shared"] = true;
        all.push_back(std::move(one));
    }
    return all;
}

template <class T>
ordered_json or_null(std::optional<T> const& value)
{
    return value ? ordered_json(*value) : ordered_json{};
}

}  // namespace

picture::picture(config nodes, std::chrono::milliseconds interval, history_limits limits)
    : settings_{std::move(nodes)}, nodes_(settings_.nodes.size()), interval_{interval}, history_{settings_.nodes.size(), limits}
{
    for (node_address const& address : settings_.nodes) names_.push_back(address.to_string());
}

std::vector<doctor_probe> picture::asked() const
{
    std::vector<doctor_probe> all;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
        all.push_back(nodes_[i].last);
        all.back().node = names_[i];
        if (!nodes_[i].seen) all.back().problem = "not asked yet";
    }
    return all;
}

set_words picture::said() const { return words_of_set(asked(), settings_); }

// Why a client with this list of nodes would get no vote of this one.
std::string picture::objection_of(std::size_t node) const
{
    std::vector<set_view> all;
    for (std::size_t i = 0; i < nodes_.size(); ++i)
        all.push_back({names_[i], nodes_[i].seen ? nodes_[i].last.problem : "not asked yet", nodes_[i].last.set});
    judge_sets(all, settings_);
    return all[node].objection;
}

void picture::add(std::size_t node, doctor_probe const& looked, moment now)
{
    auto& n = nodes_[node];
    n.last = looked;
    auto const objection = objection_of(node);
    auto const grants_nothing = why_it_grants_nothing(looked, settings_.nodes[node]);
    auto state = state_of(looked, objection, grants_nothing, only_an_operator_can_help(asked(), settings_));
    auto text = state == "not_durable" || state == "unsuitable" ? grants_nothing : state_in_words(looked, state, objection);
    note_state(node, std::move(state), std::move(text), now);
    note_clock(node, now);
    auto const round_trip = looked.clock.empty() ? std::nullopt : std::optional{looked.clock.front().round_trip};
    history_.add_node(node, {n.state, {}, n.state == "admitted" ? std::string{} : n.text, {}, {}, false}, round_trip, now);
    note_verdict(now);
    cached_json_.reset();
}

void picture::add(std::vector<node_status> const& shards, moment now)
{
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
        std::vector<node_status> own;
        std::copy_if(shards.begin(), shards.end(), std::back_inserter(own), [&](node_status const& n) { return n.node == names_[i]; });
        auto const found = judge_votes(own, true);
        note_state(i, state_of(own), found.empty() ? "each of its " + count_of(own.size(), "shard") + " votes" : found.front().what, now);
        history_.add_node(i, {nodes_[i].state, {}, {}, {}, {}, false}, std::nullopt, now);
    }
    auto const found = judge_votes(shards, true);
    of_clusters_ = found.empty() ? verdict{"good", "Locks can be acquired in each of " + count_of(shards.size() / nodes_.size(), "shard")}
                                 : verdict{to_string(found.front().is), found.front().what};
    note_verdict(now);
    cached_json_.reset();
}

void picture::note_state(std::size_t node, std::string state, std::string text, moment now)
{
    auto& n = nodes_[node];
    bool const is_first = !std::exchange(n.seen, true);
    n.text = std::move(text);
    if (is_first || state != n.state) {
        if (!is_first || state != "admitted")
            history_.add_event({now, level_of(state), names_[node], (state == "admitted" ? "" : words_for(state) + ": ") + n.text});
        n.since = now;
        n.is_since_first_look = is_first;
    }
    n.state = std::move(state);
}

// A clock that was set shows as a difference that no two round trips explain.
void picture::note_clock(std::size_t node, moment now)
{
    auto& n = nodes_[node];
    if (n.last.clock.empty()) return n.clock.clear();
    auto const latest = n.last.clock.front();
    if (auto const before = best_of(n.clock)) {
        auto const by = latest.ahead - before->ahead;
        if (std::chrono::abs(by) > latest.round_trip + before->round_trip + min_clock_step) {
            n.clock.clear();
            history_.add_event({now, "warning", names_[node],
                                "its clock was set " + std::string{by > 0ns ? "forward" : "back"} + " by " +
                                    in_words(std::chrono::abs(by)) + ", or this machine's was set the other way"});
        }
    }
    n.clock.push_back(latest);
    if (n.clock.size() > clock_samples) n.clock.pop_front();
}

// Nodes change one after the other: what is so only in between is not told.
void picture::note_verdict(moment now)
{
    bool const is_lost = current_verdict().level == "danger";
    if (is_lost != majority_lost_) {
        if (!differs_since_) differs_since_ = now;
        if (now < *differs_since_ + verdict_settles) return;
        auto const is = current_verdict();
        history_.add_event({*differs_since_, is.level, "", is.text});
        majority_lost_ = is_lost;
    }
    differs_since_.reset();
}

verdict picture::current_verdict() const
{
    if (of_clusters_) return *of_clusters_;
    auto const all = nodes_.size();
    if (!std::all_of(nodes_.begin(), nodes_.end(), [](node_picture const& n) { return n.seen; })) return {"wait", "asking the nodes"};
    auto const count = [&](auto what) { return static_cast<std::size_t>(std::count_if(nodes_.begin(), nodes_.end(), what)); };
    auto const vote = count([](node_picture const& n) { return answers_and_votes(n.state); });
    auto const of_other_sets = count([](node_picture const& n) { return n.state == "wrong_node_set"; });
    auto const is_new = count([](node_picture const& n) { return n.state == "uninitialized"; });
    if (is_new == all && vote_when_asked(asked(), settings_))
        return {"good", "Locks can be acquired: no node was used so far, and the first lock admits them at once"};
    if (is_new == all) return {"danger", "No lock with a token can be acquired: no node was ever admitted; redlock admit begins that"};
    auto const own_words = said();
    vote_count const is{vote, all, own_words.needed};
    std::string const of_set = own_words.needed > 0 ? ", as the set has " + count_of(own_words.size, "member") : "";
    if (!is.is_enough() && vote_when_asked(asked(), settings_))
        return {"good", "Locks can be acquired: " + is.text() + ", and the first lock admits the others at once, which have lost nothing"};
    if (!is.is_enough())
        return {"danger", "No lock with a token can be acquired or extended: " + is.text() + ", and " + std::to_string(is.needed()) +
                              (is.needed() == 1 ? " is needed" : " are needed") + of_set +
                              (of_other_sets > 0 ? "; the list of nodes is not that of the set" : "")};
    std::string const works = "Locks can be acquired: ";
    auto const spare = std::to_string(is.spare());
    if (is.is_tight() && own_words.needed > 0)
        return {"warning", works + is.text() + is.text_of_needed() + of_set + "; no further node may fail"};
    if (vote == all && all == 1) return {"good", works + "the node votes"};
    if (vote == all)
        return {"good", works + "all " + std::to_string(all) + " nodes vote; " + (is.spare() == 0 ? "none" : spare) + " may fail"};
    return {"warning", works + is.text() + "; " + (is.spare() == 0 ? "no further node" : spare + " more") + " may fail"};
}

void picture::add(lock_watch::found found)
{
    auto const now = std::chrono::time_point_cast<std::chrono::milliseconds>(found.at);
    std::vector<lock_turn> turns;
    auto const note = [&](lock_view const& lock) {
        if (lock.state != lock_state::free) turns.push_back(turn_of(lock));
    };
    for (lock_view const& lock : found.result.locks) note(lock);
    for (semaphore_view const& semaphore : found.result.semaphores)
        for (slot_view const& slot : semaphore.slots) note(slot.lock);
    bool const complete = found.result.because == search_result::end::complete && found.result.enough();
    history_.add_locks(std::move(turns), complete, now);
    found_ = std::move(found);
    cached_json_.reset();
}

std::vector<std::string> picture::problems() const
{
    std::vector<std::string> all;
    for (node_picture const& n : nodes_) all.push_back(n.last.problem);
    return all;
}

ordered_json picture::node_json(std::size_t i) const
{
    auto const& n = nodes_[i];
    auto const clock = best_of(n.clock);
    auto const version = n.last.version();
    bool const answers = n.seen && n.last.problem.empty();
    ordered_json j{{"node", names_[i]},
                   {"state", n.seen ? n.state : "unknown"},
                   {"level", n.seen ? level_of(n.state) : "wait"},
                   {"text", n.text}};
    j["since"] = n.seen ? ordered_json(to_ms(n.since)) : ordered_json{};
    j["since_first_look"] = n.is_since_first_look;
    if (n.last.info.empty()) j["server"] = nullptr;
    else j["server"] = n.last.field("valkey_version").empty() ? "Redis" : "Valkey";
    j["version"] = version.empty() ? ordered_json{} : ordered_json(version);
    j["up_for_s"] = answers && !n.last.info.empty() ? ordered_json(n.last.number("uptime_in_seconds")) : ordered_json{};
    auto const latest = n.last.clock.empty() ? std::nullopt : std::optional{n.last.clock.front().round_trip.count() / 1'000};
    j["round_trip_us"] = or_null(latest);
    j["clock_ahead_us"] = answers && clock ? ordered_json(clock->ahead.count() / 1'000) : ordered_json{};
    j["clock_uncertain_us"] = answers && clock ? ordered_json(clock->round_trip.count() / 2'000) : ordered_json{};
    return j;
}

ordered_json picture::timeline_json() const
{
    ordered_json j{{"window_ms", history_.limits().window.count()},
                   {"locks_now", history_.seen_now()},
                   {"nodes", ordered_json::array()},
                   {"locks", ordered_json::array()}};
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
        auto trips = ordered_json::array();
        for (point const& p : history_.round_trips(i)) trips.push_back({to_ms(p.at), p.round_trip.count() / 1'000});
        j["nodes"].push_back({{"node", names_[i]}, {"spans", spans_of(history_.node(i))}, {"round_trips_us", std::move(trips)}});
    }
    for (auto const& [name, states] : history_.locks())
        j["locks"].push_back({{"name", name}, {"held_now", states.is_open()}, {"spans", spans_of(states)}});
    return j;
}

std::shared_ptr<std::string const> picture::json(moment now, list_part const& part)
{
    if (cached_json_ && part == cached_part_) return cached_json_;
    auto const is = current_verdict();
    ordered_json j{{"time", to_ms(now)},
                   {"version", REDLOCK_VERSION_STRING},
                   {"interval_ms", interval_.count()},
                   {"majority", vote_count{0, nodes_.size(), said().needed}.needed()},
                   {"verdict", {{"level", is.level}, {"text", is.text}}}};
    j["nodes"] = ordered_json::array();
    for (std::size_t i = 0; i < nodes_.size(); ++i) j["nodes"].push_back(node_json(i));
    j["locks"] = found_ ? to_json(names_, found_->result, found_->at, part) : ordered_json{};
    j["timeline"] = timeline_json();
    j["events"] = ordered_json::array();
    for (past_event const& e : history_.events())
        j["events"].push_back(
            {{"at", to_ms(e.at)}, {"level", e.level}, {"node", e.node.empty() ? ordered_json{} : ordered_json(e.node)}, {"text", e.text}});
    cached_json_ = std::make_shared<std::string const>(dump(j, -1));
    cached_part_ = part;
    return cached_json_;
}

}  // namespace redlock::cli
