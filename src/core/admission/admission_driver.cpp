#include "core/admission/admission_driver.hpp"

#include "base/to_error.hpp"
#include "core/operation.hpp"
#include "protocol/server_id.hpp"

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
    if (what == kind::mark) return verb::mark;
    return what == kind::admit ? verb::admit : verb::inspect;
}

// An error that does not go away by itself: an operator has to do something about it.
bool is_refusal(error_code why) { return why && why != errc::node_unreachable && why != errc::node_timeout; }

std::shared_ptr<std::vector<std::string> const> names_of_nodes(environment const& env)
{
    auto const names = std::make_shared<std::vector<std::string>>();
    for (std::size_t node = 0; node < env.to_nodes->nodes(); ++node) names->push_back(env.to_nodes->name(node));
    return names;
}

// A node that waits has one. Others are of servers that have left, or whose mark somebody else has taken away.
constexpr std::size_t max_sightings = 64;

std::string words_of(reply const& failure) { return failure.words().empty() ? to_error(failure.error).message() : failure.words(); }

// A node that waits does so because of the others.
bool depends_on_others(redlock::admission_state state)
{
    using enum redlock::admission_state;
    return state == quarantined || state == catching_up || state == needs_operator;
}

// How often nodes without a record of a set are looked at: others may have founded one.
constexpr duration set_look_interval = std::chrono::seconds{2};

quorum::admission_settings with_sets(quorum::admission_settings settings, quorum::set_membership const& sets)
{
    if (sets.is_active()) settings.may_be_admitted = [&sets](std::size_t node) { return sets.may_be_admitted(node); };
    return settings;
}

}  // namespace

// The command may refer to what `then` keeps.
template <class Then>
void admission_driver::ask_one(std::size_t node, command&& what, Then then)
{
    env_.to_nodes->ask(node, {std::move(what), std::make_shared<answer_of_one<Then>>(std::move(then))});
}

admission_driver::admission_driver(environment& env, quorum::admission_settings settings, quorum::set_settings sets, std::size_t nodes,
                                   std::shared_ptr<quarantine_log> log)
    : env_{env},
      sets_{std::move(sets)},
      rules_{nodes, with_sets(std::move(settings), sets_)},
      names_{names_of_nodes(env)},
      log_{std::move(log)},
      refused_(nodes, false),
      not_marked_(nodes),
      told_(nodes),
      voters_{nodes},
      members_{quorum::node_set::all(nodes)},
      size_{nodes}
{
}

std::string admission_driver::meet(std::size_t node, quorum::node_facts const& facts)
{
    if (!sets_.is_active()) return {};
    sets_.on_facts(node, facts, {}, env_.now());
    auto why = sets_.objection(node);
    if (why.empty()) return why;
    sets_.on_gone(node, true);
    tend_sets(env_.now());  // what it says may be about the other nodes, too
    return why;
}

void admission_driver::up(std::size_t node, quorum::node_facts const& facts)
{
    auto const now = env_.now();
    not_marked_[node].clear();
    met_.add(node);
    env_.to_nodes->ttl_in_use(facts.max_ttl);  // of other clients, perhaps
    // The facts were read at an unknown moment of the handshake, so they count as old.
    rules_.on_facts(node, facts_for_rules(node, facts), {}, now);
    go_on(now);
}

void admission_driver::down(std::size_t node, error_code why)
{
    refused_[node] = is_refusal(why);
    met_.remove(node);
    sets_.on_gone(node, why == errc::wrong_node_set);
    rules_.on_gone(node);
    go_on(env_.now());
}

void admission_driver::suspect(std::size_t node)
{
    rules_.on_contradiction(node, env_.now());
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
    tend_sets(now);
    if (wanted_) {
        for (admission_request const& what : rules_.requests(now)) ask(what, now);
        if (rules_.has_just_bootstrapped() && env_.outages) env_.outages->bootstrapped(rules_.quarantine());
        if (auto const recovered = rules_.has_just_recovered(); !recovered.empty()) tell_of_recovery(recovered);
        env_.cancel_timer(*this);
        if (auto const next = rules_.next(now)) env_.set_timer(*this, *next);
    }
    going_on_ = false;
    tell_all();
    if (on_idle && is_idle()) on_idle();
}

void admission_driver::tell_of_recovery(quorum::node_set const& which)
{
    if (env_.outages) env_.outages->recovered(*names_, which);
    for (std::size_t node = 0; env_.observed && node < names_->size(); ++node)
        if (which.has(node)) env_.observed->recovered(node);
}

void admission_driver::tend_sets(time_point now)
{
    if (!sets_.is_active() || stopped_) return;
    follow_generation();
    env_.is_list_refused = sets_.is_list_refused();
    for (std::size_t node = 0; node < names_->size(); ++node)
        if (auto const why = sets_.objection(node); !why.empty() && met_.has(node) && on_wrong_set) on_wrong_set(node, why);
    for (std::size_t node : sets_.looks()) look_at_set_of(node);
    bool looks = false;
    for (std::size_t node = 0; node < names_->size(); ++node) looks = looks || (met_.has(node) && sets_.is_to_be_looked_at(node));
    if (!looks) env_.cancel_timer(look_for_sets_);
    else if (!look_for_sets_.is_set()) env_.set_timer(look_for_sets_, now + set_look_interval);
    if (!wanted_) return;
    for (quorum::set_claim const& each : sets_.claims()) {
        auto const what = std::make_shared<quorum::set_claim const>(each);
        command c{verb::claim, {}, what->text, {}};
        c.change_more().former = what->expected;
        c.change_more().id = what->id;
        c.stays = what->stays;
        ask_one(what->node, std::move(c), [this, what, asked = now](reply const& answer, time_point t) {
            bool const failed = answer.vote == vote::failed;
            claimed(what->node, failed ? std::nullopt : std::optional{answer.words()}, failed, asked, t);
        });
    }
}

// What the nodes have told was judged by the generation before, so they are asked again.
void admission_driver::follow_generation()
{
    bool const is_first = std::exchange(era_, sets_.era()) == sets_.era();
    quorum::node_set left;
    for (std::size_t node = 0; node < names_->size(); ++node)
        if (sets_.was_left_by(node)) left.add(node);
    rules_.set_has(sets_.size(), left, sets_.lists_all_members(), sets_.is_certain());
    bool const has_same_numbers = size_ == sets_.size() && was_resized_ == sets_.was_resized();
    bool const is_as_before = has_same_numbers && voters_ == sets_.voters() && members_ == sets_.members();
    if (is_first && is_as_before) return;
    voters_ = sets_.voters();
    members_ = sets_.members();
    size_ = sets_.size();
    was_resized_ = sets_.was_resized();
    for (std::size_t node = 0; node < names_->size(); ++node)
        if (met_.has(node) && !is_first) rules_.on_suspect(node);
    if (on_generation) on_generation({members_, voters_, size_, was_resized_, is_first});
}

// To the rules of admission, a node of another generation is nobody.
quorum::node_facts admission_driver::facts_for_rules(std::size_t node, quorum::node_facts facts) const
{
    // A member that joins waits from when a majority has moved, however long it has run.
    if (!quorum::binding_in(facts.set).empty()) facts.without_loss = {};
    if (!sets_.is_active() || !sets_.is_apart(node)) return facts;
    quorum::node_facts nobody;
    nobody.master = facts.master;
    nobody.why_unidentified = sets_.why_apart(node);
    return nobody;
}

void admission_driver::look_for_sets(time_point now)
{
    sets_.may_claim_again();
    for (std::size_t node = 0; node < names_->size(); ++node)
        if (met_.has(node) && sets_.is_to_be_looked_at(node)) look_at_set_of(node);
    go_on(now);
}

void admission_driver::look_at_set_of(std::size_t node)
{
    if (looking_.has(node)) return;
    looking_.add(node);
    ask_one(node, command{verb::inspect, {}, {}, {}}, [this, node, asked = env_.now()](reply const& answer, time_point now) {
        looking_.remove(node);
        if (answer.vote != vote::granted || !met_.has(node)) return;
        sets_.on_facts(node, *answer.facts(), asked, now);
        go_on(now);
    });
}

void admission_driver::claimed(std::size_t node, std::optional<std::string> const& text, bool failed, time_point asked, time_point now)
{
    sets_.on_claimed(node, text, asked, now);
    // It is another server, or has another id in a new generation.
    if (!failed && (!text || text->empty() || !quorum::binding_in(*text).empty())) rules_.on_suspect(node);
    go_on(now);
}

bool admission_driver::is_idle() const noexcept
{
    if (!wanted_ || stopped_) return true;
    if (sets_.is_claiming()) return false;
    bool waits = false, decides = false;
    for (std::size_t node = 0; node < names_->size(); ++node) {
        auto const state = rules_.of(node);
        waits = waits || (state != redlock::admission_state::admitted && state != redlock::admission_state::unknown);
        decides = decides || rules_.is_deciding(node);
    }
    return !(waits && decides);
}

void admission_driver::ask(admission_request const& of, time_point now)
{
    auto const what = std::make_shared<admission_request const>(of);
    command c{to_verb(what->what), {}, what->mark, std::chrono::ceil<std::chrono::milliseconds>(what->max_ttl)};
    c.token = what->base;
    c.change_more().id = what->id;
    ask_one(what->node, std::move(c), [this, what, asked = now](reply const& answer, time_point t) { answered(*what, answer, asked, t); });
}

void admission_driver::answered(admission_request const& what, reply const& answer, time_point asked, time_point now)
{
    bool const yes = answer.vote == vote::granted;
    if (what.what == kind::mark) not_marked_[what.node] = answer.vote == vote::failed ? words_of(answer) : "";
    if (answer.vote == vote::failed) {
        rules_.on_failed(what.node, now);
    } else if (what.what == kind::mark) {
        auto before = log_ && yes ? log_->read() : std::vector<quorum::mark_sighting>{};
        before.insert(before.end(), seen_.begin(), seen_.end());
        rules_.on_marked(what.node, yes ? std::optional{answer.words()} : std::nullopt, now, before);
        note_sighting(what);
    } else if (what.what == kind::admit) {
        rules_.on_admit_answered(what.node, yes, now);
        if (yes) forget(what);
    } else {
        sets_.on_facts(what.node, *answer.facts(), asked, now);
        env_.to_nodes->ttl_in_use(answer.facts()->max_ttl);
        rules_.on_facts(what.node, facts_for_rules(what.node, *answer.facts()), asked, now);
    }
    go_on(now);
}

// Does nothing if another server has taken the node's place since the request: the sighting would be of that server.
void admission_driver::note_sighting(admission_request const& what)
{
    auto const s = rules_.sighting(what.node);
    if (!s || s->id != what.id) return;
    if (log_) log_->add(*s, env_.to_nodes->name(what.node));
    auto const same = [&](quorum::mark_sighting const& each) { return each.id == s->id && each.mark == s->mark; };
    std::erase_if(seen_, same);  // *s is no later
    if (seen_.size() == max_sightings) seen_.erase(seen_.begin());
    seen_.push_back(*s);
}

void admission_driver::forget(admission_request const& what)
{
    std::erase_if(seen_, [&](quorum::mark_sighting const& s) { return s.id == what.id && s.mark == what.mark; });
    if (log_) log_->remove(what.id, what.mark);
}

void admission_driver::tell_all()
{
    std::optional<admission_picture> of_all;
    auto const telling = ++tellings_;
    // A listener may change something, and all nodes are told from there.
    for (std::size_t node = 0; node < names_->size() && telling == tellings_; ++node) {
        auto const state = rules_.of(node);
        if (!depends_on_others(state)) {
            tell(node, picture_alone(node, state));
            continue;
        }
        if (!of_all) of_all = picture_of_all();
        of_all->state = state;
        of_all->is_another = rules_.has_record_of_another(node);
        of_all->is_shard = is_of_cluster(rules_.id(node));
        of_all->is_empty = rules_.is_empty(node);
        of_all->drained = rules_.drained_at(node);
        of_all->started = rules_.counts_from_start(node);
        of_all->is_noted = log_ != nullptr;
        of_all->not_carried = log_ && state == redlock::admission_state::quarantined ? log_->problem() : std::string{};
        tell(node, *of_all);
    }
}

// Of a node whose sentence does not say anything of the other nodes.
admission_picture admission_driver::picture_alone(std::size_t node, redlock::admission_state state) const
{
    admission_picture p;
    p.state = state;
    if (state == redlock::admission_state::unidentified) p.why_unidentified = rules_.why_unidentified(node);
    if (state == redlock::admission_state::uninitialized) {
        p.is_another = rules_.has_record_of_another(node);
        p.is_shard = is_of_cluster(rules_.id(node));
        p.not_marked = not_marked_[node];
    }
    return p;
}

// Listeners copy the picture and make sentences of it, so a node is told of changes only.
void admission_driver::tell(std::size_t node, admission_picture const& now)
{
    bool const deciding = rules_.is_deciding(node);
    std::string const& id = rules_.id(node);
    auto& told = told_[node];
    if (told && told->deciding == deciding && told->id == id && told->picture == now) return;
    if (!told) told.emplace();
    told->picture = now;
    told->deciding = deciding;
    told->id = id;
    if (on_change) on_change(node, now);
    if (deciding) {
        env_.to_nodes->decide_later(node);
    } else if (now.state == redlock::admission_state::admitted) {
        env_.to_nodes->admit(node, id);
    } else {
        env_.to_nodes->exclude(node, [now](time_point t) { return now.text(t); });
    }
}

// What sentences about a node say of all nodes.
admission_picture admission_driver::picture_of_all() const
{
    admission_picture p;
    p.admitted = rules_.admitted();
    p.needed = rules_.intact_needed();
    p.nodes = names_->size();
    p.names = names_;
    p.nobody_remembers = p.admitted == 0;
    p.has_traces = rules_.has_traces();
    p.lacks_members = !rules_.has_all_members();
    p.recovers = rules_.recovers();
    for (std::size_t i = 0; i < names_->size(); ++i) {
        if (rules_.of(i) != redlock::admission_state::unknown) continue;
        (refused_[i] ? p.refused : p.silent).add(i);
    }
    return p;
}

}  // namespace redlock::detail
