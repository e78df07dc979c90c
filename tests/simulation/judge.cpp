#include "judge.hpp"

#include "judge_arithmetic.hpp"
#include "link.hpp"
#include "lock_names.hpp"

#include <algorithm>

namespace redlock::simulation {

namespace {

bool share_a_hold(lease_facts const& a, lease_facts const& b) noexcept
{
    bool const nested = a.nested || b.nested;
    return nested && a.process == b.process && a.name == b.name && a.options.owner == b.options.owner && a.value == b.value;
}

}  // namespace

judge::judge(universe& in, assumptions const& a) : universe_{in}, assumes_{a}
{
    in.on_sent = [this](process const& p, detail::command const& c) {
        if (c.what == detail::verb::acquire && c.fenced) tokens_.sent(c);
        if (c.what == detail::verb::release) check_release(p, c);
        if (c.what == detail::verb::adopt) tickets_.sent(p, c);
    };
    in.on_extension = [this](detail::command const& c) { tokens_.extends(c); };
    in.on_climb = [this](std::size_t server, detail::command const& c) { tokens_.climbs(server, c); };
    in.on_confirm_event = [this](server& s, detail::command const& c, token_number token) {
        for (std::size_t i = 0; !c.shared && i < c.key_count(); ++i) turns_.writer_moved(std::string{c.key_at(i)});
        tokens_.confirms(s, c, token);
    };
}

std::string judge::find_value(lease_facts& w) const { return w.has_tokens() ? tokens_.find_value(w) : keys_.most_stored(w); }

// From the moment at which the lease says that it is a reader's, it is.
void judge::note_downgrade(lease_facts& w)
{
    if (w.reads || !*w.held || w.held->mode() != lock_mode::shared) return;
    turns_.writer_moved(w);
    w.reads = true;
    ++universe_.covered->downgraded;
}

// Only the holder of a lease, or one who lost it, gives its keys back.
void judge::check_release(process const& p, detail::command const& c)
{
    for (lease_facts const* const w : watched_)
        if (w->process == p.index() && w->known_value() == c.value && share_a_name(w->names, split_names(names_text_of(c))) && w->is_sure &&
            !w->left && valid(*w))
            violation("the keys of a valid lease are given back: " + w->called());
}

lease_facts const* judge::find_outer(lease_facts const& w) const
{
    auto const it = std::find_if(watched_.begin(), watched_.end(), [&](lease_facts const* const each) {
        bool const same = each->process == w.process && each->name == w.name && each->options.owner == w.options.owner;
        if (!same || w.options.owner == owner_id{}) return false;
        if (each->has_tokens()) return w.token >= each->first && w.token <= each->last;
        return each->held->valid_until() == w.held->valid_until();
    });
    return it == watched_.end() ? nullptr : *it;
}

void judge::record()
{
    universe_.records->look_at(universe_);
    for (lease_facts* const w : watched_) {
        if (universe_.processes()[w->process] == nullptr) continue;
        auto const until = universe_.processes()[w->process]->clock.when(w->held->valid_until());
        universe_.records->lease_extends(w->record, universe_.now(), until);
    }
}

void judge::check()
{
    if (universe_.records) record();
    for (lease_facts* const w : watched_) {
        note_downgrade(*w);
        if (auto const until = w->held->valid_until(); until > w->seen_until) {
            w->seen_until = until;
            if (universe_.processes()[w->process]) tokens_.check_proof(*w);
        }
        if (w->options.max_hold) check_max_hold(*w);
    }
    turns_.check();
    slots_.check();
    check_exclusion();
}

void judge::check_exclusion()
{
    if (watched_.size() < 2 || !assumes_.exclusion(true)) return;
    for (std::size_t i = 0; i < watched_.size(); ++i) {
        for (std::size_t j = i + 1; j < watched_.size(); ++j) {
            lease_facts const& a = *watched_[i];
            lease_facts const& b = *watched_[j];
            if (a.permits > 0 && b.permits > 0) slots_.check_numbers(a, b);
            if (!share_a_name(a.names, b.names) || !assumes_.exclusion(a.has_tokens() && b.has_tokens())) continue;
            if (share_a_hold(a, b)) continue;
            if (!valid(a) || !valid(b)) continue;
            if (a.reads && b.reads) {
                ++universe_.covered->read_together;
            } else {
                violation("two leases on \"" + a.name + "\" are valid at once: " + a.called() + " and " + b.called());
            }
        }
    }
}

bool judge::overlaps_a_watched_lease(process const& p, lease const& held, std::string const& name)
{
    auto const holds_it = [&](lease_facts* w) { return !w->reads && std::count(w->names.begin(), w->names.end(), name) > 0 && valid(*w); };
    return valid(p.index(), held) && std::any_of(watched_.begin(), watched_.end(), holds_it);
}

bool judge::valid(std::size_t process, lease const& held)
{
    bool result = false;
    auto const& p = universe_.processes()[process];
    if (p) p->visit(universe_.now(), [&] { result = held.valid(); });
    return result;
}

void judge::check_max_hold(lease_facts const& w)
{
    auto const& p = universe_.processes()[w.process];
    if (!p || !p->running()) return;
    duration const held = universe_.now() - w.since;
    duration const max_hold = *w.options.max_hold;
    duration const most = max_hold + between_clocks(max_hold) + rounding;
    duration const late = held - most - universe_.paused_between(*p, w.since, universe_.now());
    if (late > 0ns && valid(w)) violation("a lease is kept " + std::to_string(late.count()) + " ns longer than max_hold allows");
}

void judge::at_the_end()
{
    if (auto key = keys_.without_an_owner()) violation(std::move(*key));
    for (auto const& p : universe_.processes()) {
        if (!p) continue;
        if (p->ready() > 0) violation("a handler was left ready to run");
        if (p->timers() > 0) violation("a timer was left waiting");
        if (p->outstanding() > 0) violation("work was left outstanding");
        if (open_operations(*p) > 0) violation("an operation never ended: its handler was dropped");
        if (open_operations(*p) < 0) violation("an operation ended twice");
    }
    for (auto const& l : universe_.links())
        if (l->outstanding() > 0) violation("a request was left without an answer");
}

void judge::violation(std::string what)
{
    if (!verdict_) verdict_ = std::move(what);
}

}  // namespace redlock::simulation
