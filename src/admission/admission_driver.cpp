#include "admission/admission_driver.hpp"

#include "base/in_seconds.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

namespace redlock::detail {

using quorum::admission_request;
using kind = admission_request::kind;

namespace {

verb to_verb(kind what)
{
    switch (what) {
    case kind::inspect: return verb::inspect;
    case kind::mark: return verb::mark;
    case kind::admit: return verb::admit;
    }
    return verb::inspect;
}

// An error that does not go away by itself: an operator has to do something about it.
bool is_refusal(error_code why) { return why && why != errc::node_unreachable && why != errc::node_timeout; }

std::shared_ptr<std::vector<std::string> const> names_of_nodes(environment const& env)
{
    auto const names = std::make_shared<std::vector<std::string>>();
    for (std::size_t node = 0; node < env.to_nodes->nodes(); ++node) names->push_back(env.to_nodes->name(node));
    return names;
}

std::string words_of(reply const& failure) { return failure.detail.empty() ? failure.error.message() : failure.detail; }

std::string of_nodes(std::size_t n, std::size_t all) { return std::to_string(n) + " of " + std::to_string(all) + " nodes"; }

}  // namespace

std::string admission_picture::text(time_point now) const
{
    auto const left = in_seconds(std::max(duration::zero(), drained - now));
    std::string waits_for = silent.empty() ? "" : " (not connected: " + names_of(silent) + ")";
    if (!refused.empty()) waits_for += " (refused, which waiting does not change: " + names_of(refused) + ")";
    std::string const alone = not_carried.empty() ? "" : "; " + not_carried;
    switch (state) {
    case admission_state::admitted: return "";
    case admission_state::unknown: return "it is not connected, or has not said yet what it remembers";
    case admission_state::not_primary:
        return "it is a replica, which would forget what its master granted; waiting does not help: use independent masters";
    case admission_state::unidentified:
        if (!why_unidentified.empty()) return why_unidentified;
        return "it does not tell whether it lost its memory: allow +info +mget +time and the keys redlock:node and redlock:hw, rename none "
               "of these commands, or let a client that may use INFO admit it";
    case admission_state::uninitialized:
        if (!not_marked.empty()) return "it does not remember what it granted; the wait for that to be over cannot begin: " + not_marked;
        return "it does not remember what it granted; the wait for that to be over begins with the next lock";
    case admission_state::quarantined:
        if (nobody_remembers)
            return "no node remembers anything, so this is a new set of nodes or all was lost: " + left +
                   " left until no lease of before can be valid; if nothing was ever locked here, set config::bootstrap" + waits_for +
                   alone;
        return "it restarted, or lost its memory: " + left + " left until every lease that it may have forgotten is over" + alone;
    case admission_state::catching_up:
        if (nobody_remembers) return "no node remembers anything; a new beginning needs all of them" + waits_for;
        return "it restarted, or lost its memory, and must be told what " + of_nodes(needed, nodes) + " remember; " +
               of_nodes(admitted, nodes) + " can say" + waits_for;
    case admission_state::needs_operator:
        return "only " + of_nodes(admitted, nodes) + " remember what they granted, and " + std::to_string(needed) +
               " must, for the others to be admitted; to begin anew, delete the key redlock:node on every node: they wait until no "
               "lease of before can be valid, and tokens go on from the wall clock";
    }
    return "";
}

std::string admission_picture::names_of(quorum::node_set const& some) const
{
    std::string text;
    for (std::size_t node = 0; node < nodes; ++node)
        if (some.has(node)) text += (text.empty() ? "" : ", ") + (*names)[node];
    return text;
}

// One request of quorum::admission to one node; it hands the node's answer to the driver.
class admission_driver::question final : public vote_handler {
public:
    question(admission_driver& owner, admission_request what, time_point now) : owner_{owner}, what_{std::move(what)}, asked_{now} {}

    command request() const noexcept
    {
        command c{to_verb(what_.what), {}, what_.mark, std::chrono::ceil<std::chrono::milliseconds>(what_.max_ttl)};
        c.token = what_.base;
        c.id = what_.id;
        return c;
    }

    void on_vote(std::size_t, reply const& answer, time_point now) override { owner_.answered(what_, answer, asked_, now); }
    bool wanted(std::size_t, time_point) const override { return true; }

private:
    admission_driver& owner_;
    admission_request what_;
    time_point asked_;
};

admission_driver::admission_driver(environment& env, quorum::admission_settings settings, std::size_t nodes,
                                   std::shared_ptr<quarantine_log> log)
    : env_{env},
      rules_{nodes, std::move(settings)},
      names_{names_of_nodes(env)},
      log_{std::move(log)},
      refused_(nodes, false),
      not_marked_(nodes),
      told_(nodes)
{
}

void admission_driver::up(std::size_t node, quorum::node_facts const& facts)
{
    auto const now = env_.now();
    refused_[node] = false;
    not_marked_[node].clear();
    rules_.on_facts(node, facts, time_point{}, now);  // the facts were read at an unknown moment of the handshake, so they count as old
    go_on(now);
}

void admission_driver::down(std::size_t node, error_code why)
{
    refused_[node] = is_refusal(why);
    rules_.on_gone(node);
    go_on(env_.now());
}

void admission_driver::suspect(std::size_t node)
{
    rules_.on_suspect(node);
    go_on(env_.now());
}

void admission_driver::wanted()
{
    if (std::exchange(wanted_, true)) return;
    go_on(env_.now());
}

void admission_driver::on_timer(time_point now) { go_on(now); }

void admission_driver::go_on(time_point now)
{
    if (stopped_ || std::exchange(going_on_, true)) return;
    if (wanted_) {
        for (admission_request const& what : rules_.requests(now)) ask(what, now);
        env_.cancel_timer(*this);
        if (auto const next = rules_.next(now)) env_.set_timer(*this, *next);
    }
    going_on_ = false;
    tell_all();
    if (on_idle && is_idle()) on_idle();
}

bool admission_driver::is_idle() const noexcept
{
    if (!wanted_ || stopped_) return true;
    bool waits = false, decides = false;
    for (std::size_t node = 0; node < names_->size(); ++node) {
        auto const state = rules_.of(node);
        waits = waits || (state != redlock::admission_state::admitted && state != redlock::admission_state::unknown);
        decides = decides || rules_.is_deciding(node);
    }
    return !(waits && decides);
}

void admission_driver::ask(admission_request const& what, time_point now)
{
    auto const q = std::make_shared<question>(*this, what, now);
    env_.to_nodes->ask(what.node, {q->request(), q});
}

void admission_driver::answered(admission_request const& what, reply const& answer, time_point asked, time_point now)
{
    bool const yes = answer.vote == vote::granted;
    if (what.what == kind::mark) not_marked_[what.node] = answer.vote == vote::failed ? words_of(answer) : "";
    if (answer.vote == vote::failed) {
        rules_.on_failed(what.node, now);
    } else if (what.what == kind::mark) {
        auto const before = log_ && yes ? log_->read() : std::vector<quorum::mark_sighting>{};
        rules_.on_marked(what.node, yes ? std::optional{answer.detail} : std::nullopt, now, before);
        note_sighting(what);
    } else if (what.what == kind::admit) {
        rules_.on_admit_answered(what.node, yes);
        if (log_ && yes) log_->remove(what.id, what.mark);
    } else {
        rules_.on_facts(what.node, *answer.facts, asked, now);
    }
    go_on(now);
}

// Does nothing if another server has taken the node's place since the request: the sighting would be of that server.
void admission_driver::note_sighting(admission_request const& what)
{
    auto const s = rules_.sighting(what.node);
    if (log_ && s && s->id == what.id) log_->add(*s, env_.to_nodes->name(what.node));
}

void admission_driver::tell_all()
{
    auto const common = picture();
    auto const telling = ++tellings_;
    // A listener may change something, and all nodes are told from there.
    for (std::size_t node = 0; node < names_->size() && telling == tellings_; ++node) {
        auto own = common;
        own.state = rules_.of(node);
        own.drained = rules_.drained_at(node);
        if (log_ && own.state == redlock::admission_state::quarantined) own.not_carried = log_->problem();
        own.why_unidentified = rules_.why_unidentified(node);
        own.not_marked = not_marked_[node];
        tell(node, std::move(own));
    }
}

// Listeners copy the picture and make sentences of it, so a node is told of changes only.
void admission_driver::tell(std::size_t node, admission_picture&& now)
{
    bool const deciding = rules_.is_deciding(node);
    std::string const& id = rules_.id(node);
    if (auto const& before = told_[node]; before && before->picture == now && before->deciding == deciding && before->id == id) return;
    told_[node] = notice{now, deciding, id};
    if (on_change) on_change(node, now);
    if (deciding) {
        env_.to_nodes->decide_later(node);
    } else if (now.state == redlock::admission_state::admitted) {
        env_.to_nodes->admit(node, id);
    } else {
        env_.to_nodes->exclude(node, [now = std::move(now)](time_point t) { return now.text(t); });
    }
}

// What is the same for all nodes.
admission_picture admission_driver::picture() const
{
    admission_picture p;
    p.admitted = rules_.admitted();
    p.needed = rules_.intact_needed();
    p.nodes = names_->size();
    p.names = names_;
    p.nobody_remembers = p.admitted == 0;
    for (std::size_t i = 0; i < names_->size(); ++i) {
        if (rules_.of(i) != redlock::admission_state::unknown) continue;
        (refused_[i] ? p.refused : p.silent).add(i);
    }
    return p;
}

}  // namespace redlock::detail
