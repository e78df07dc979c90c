#include "core/admissions.hpp"

#include "core/in_seconds.hpp"

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

std::string of_nodes(std::size_t n, std::size_t all) { return std::to_string(n) + " of " + std::to_string(all) + " nodes"; }

}  // namespace

std::string admission_picture::text(time_point now) const
{
    auto const left = in_seconds(std::max(duration::zero(), drained - now));
    std::string const waits_for = silent.empty() ? "" : " (not connected: " + silent + ")";
    switch (state) {
    case standing::admitted: return "";
    case standing::unknown: return "it is not connected, or has not said yet what it remembers";
    case standing::no_master: return "it is a replica, which would forget what its master granted; use independent masters";
    case standing::unidentified:
        return "its rules forbid what tells whether it lost its memory; allow +info +mget +time and the keys redlock:node and redlock:hw, "
               "or let a client that may use INFO admit it";
    case standing::marking: return "it does not remember what it granted; the wait for that to be over begins with the next lock";
    case standing::draining:
        if (nobody_remembers)
            return "no node remembers anything, so this is a new set of nodes or all was lost: " + left +
                   " left until no lease of before can be valid; if nothing was ever locked here, set config::fresh" + waits_for;
        return "it restarted, or lost its memory: " + left + " left until every lease that it may have forgotten is over";
    case standing::catching_up:
        if (nobody_remembers) return "no node remembers anything; a new beginning needs all of them" + waits_for;
        return "it restarted, or lost its memory, and must be told what " + of_nodes(needed, nodes) + " remember; " +
               of_nodes(admitted, nodes) + " can say" + waits_for;
    case standing::stranded:
        return "only " + of_nodes(admitted, nodes) + " remember what they granted, and " + std::to_string(needed) +
               " must, for the others to be admitted; to begin anew, delete the key redlock:node on every node: they wait until no "
               "lease of before can be valid, and tokens go on from the wall clock";
    }
    return "";
}

// One question to one node.
class admissions::question final : public voter {
public:
    question(admissions& owner, admission_request what, time_point now) : owner_{owner}, what_{std::move(what)}, asked_{now} {}

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
    admissions& owner_;
    admission_request what_;
    time_point asked_;
};

admissions::admissions(environment& env, quorum::admission_settings settings, std::size_t nodes)
    : env_{env}, rules_{nodes, std::move(settings)}, nodes_{nodes}
{
}

void admissions::up(std::size_t node, quorum::node_facts const& facts)
{
    auto const now = env_.now();
    rules_.on_facts(node, facts, time_point{}, now);  // it was asked at some moment of the handshake
    go_on(now);
}

void admissions::down(std::size_t node)
{
    rules_.on_gone(node);
    go_on(env_.now());
}

void admissions::doubt(std::size_t node)
{
    rules_.on_doubt(node);
    go_on(env_.now());
}

void admissions::wanted()
{
    if (std::exchange(wanted_, true)) return;
    go_on(env_.now());
}

void admissions::on_alarm(time_point now) { go_on(now); }

void admissions::go_on(time_point now)
{
    if (stopped_ || std::exchange(going_on_, true)) return;
    if (wanted_) {
        for (admission_request const& what : rules_.requests(now)) ask(what, now);
        env_.cancel_alarm(*this);
        if (auto const next = rules_.next(now)) env_.set_alarm(*this, *next);
    }
    going_on_ = false;
    for (std::size_t node = 0; node < nodes_; ++node) tell(node);
}

void admissions::ask(admission_request const& what, time_point now)
{
    auto const q = std::make_shared<question>(*this, what, now);
    env_.to_nodes->ask(what.node, {q->request(), q});
}

void admissions::answered(admission_request const& what, reply const& answer, time_point asked, time_point now)
{
    bool const yes = answer.vote == vote::granted;
    if (answer.vote == vote::failed) {
        rules_.on_failed(what.node, now);
    } else if (what.what == kind::mark) {
        rules_.on_marked(what.node, yes ? std::optional{answer.detail} : std::nullopt, now);
    } else if (what.what == kind::admit) {
        rules_.on_admit_answered(what.node, yes);
    } else {
        rules_.on_facts(what.node, *answer.facts, asked, now);
    }
    go_on(now);
}

void admissions::tell(std::size_t node)
{
    auto const now = picture(node);
    if (on_change) on_change(node, now);
    if (rules_.is_deciding(node)) {
        env_.to_nodes->decide_later(node);
    } else if (now.state == redlock::standing::admitted) {
        env_.to_nodes->admit(node, rules_.id(node));
    } else {
        env_.to_nodes->exclude(node, [now](time_point t) { return now.text(t); });
    }
}

admission_picture admissions::picture(std::size_t node) const
{
    admission_picture p;
    p.state = rules_.of(node);
    p.drained = rules_.drained_at(node);
    p.admitted = rules_.admitted();
    p.needed = rules_.intact_needed();
    p.nodes = nodes_;
    p.nobody_remembers = p.admitted == 0;
    for (std::size_t i = 0; i < nodes_; ++i)
        if (rules_.of(i) == redlock::standing::unknown) p.silent += (p.silent.empty() ? "" : ", ") + env_.to_nodes->name(i);
    return p;
}

}  // namespace redlock::detail
