#include "judge.hpp"

#include "link.hpp"

#include <algorithm>
#include <map>

namespace redlock::simulation {

std::size_t most_of(std::size_t nodes) noexcept { return nodes / 2 + 1; }

namespace {

duration stop_margin_of(lock_options const& o) noexcept { return o.stop_margin.value_or(o.ttl / 10); }

// Virtual time stands still while handlers run, so that this covers only what is rounded.
constexpr duration rounding = 1us;

}  // namespace

judge::watched::watched(judge& by, process& p, lease const& held, lock_options const& options)
    : judge_{by}, process_{p.index()}, lease_{&held}, options_{options}, name_{held.name()}, since_{by.universe_.now()}
{
    std::map<std::string, std::size_t> values;
    std::string const mine = "p" + std::to_string(process_) + "-";
    for (auto const& s : by.universe_.servers())
        if (auto const* const e = s->find(name_); e && e->value.starts_with(mine)) ++values[e->value];
    for (auto const& [value, count] : values)
        if (value_.empty() || count > values[value_]) value_ = value;
    seen_until_ = held.valid_until();
    if (auto* const r = by.universe_.records) record_ = r->lease_begins(process_, name_, since_, p.clock.when(seen_until_));
    by.leases_.push_back(this);
}

judge::watched::~watched()
{
    std::erase(judge_.leases_, this);
    if (auto* const r = judge_.universe_.records) r->lease_ends(record_, judge_.universe_.now(), "given back");
}

// Servers that have forgotten it cannot tell its value.
std::string judge::watched::called() const { return value_.empty() ? "p" + std::to_string(process_) + "-?" : value_; }

void judge::watched::lost()
{
    universe& u = judge_.universe_;
    if (u.records) u.records->lease_ends(record_, u.now(), "lost");
    if (!judge_.assumes_.exclusion() || value_.empty()) return;
    process& p = *u.processes()[process_];
    if (u.now() >= p.clock.when(seen_until_ - stop_margin_of(options_))) return;  // it was time
    if (options_.max_hold && u.now() - since_ >= *options_.max_hold - 1ms) return;
    auto const nodes = u.servers().size();
    if (judge_.stored(name_, value_) >= most_of(nodes))
        judge_.violation("a lease was given up although it was valid and a majority of the nodes held its key");
}

void judge::watched::body_ended(bool heeds_cancellation)
{
    universe& u = judge_.universe_;
    process& p = *u.processes()[process_];
    duration const end = p.clock.when(lease_->valid_until());
    if (u.now() <= end) return;
    ++u.covered->body_outlived_lease;
    duration const late = u.now() - end;
    // What it could not know of, it cannot have stopped for: pauses of its own process since it should have heard.
    duration const excuse = u.paused_between(p, end - stop_margin_of(options_), u.now());
    if (heeds_cancellation && late > excuse)
        judge_.violation("a scope's body ran " + std::to_string(late.count()) + " ns past its lease, and only " +
                         std::to_string(excuse.count()) + " ns of that were a pause of its process");
}

void judge::look()
{
    if (universe_.records) {
        universe_.records->look_at(universe_);
        for (watched* const w : leases_) {
            if (universe_.processes()[w->process_] == nullptr) continue;
            auto const until = universe_.processes()[w->process_]->clock.when(w->lease_->valid_until());
            universe_.records->lease_extends(w->record_, universe_.now(), until);
        }
    }
    for (watched* const w : leases_) {
        w->seen_until_ = std::max(w->seen_until_, w->lease_->valid_until());
        if (w->options_.max_hold) check_max_hold(*w);
    }
    if (leases_.size() < 2 || !assumes_.exclusion()) return;
    for (std::size_t i = 0; i < leases_.size(); ++i) {
        for (std::size_t j = i + 1; j < leases_.size(); ++j) {
            watched const& a = *leases_[i];
            watched const& b = *leases_[j];
            if (a.name_ != b.name_) continue;
            if (valid(a) && valid(b))
                violation("two leases on \"" + a.name_ + "\" are valid at once: " + a.called() + " and " + b.called());
        }
    }
}

// As its holder would find it now.
bool judge::valid(watched const& w)
{
    bool result = false;
    auto const& p = universe_.processes()[w.process_];
    if (p) p->visit(universe_.now(), [&] { result = w.lease_->valid(); });
    return result;
}

void judge::check_max_hold(watched const& w)
{
    auto const& p = universe_.processes()[w.process_];
    if (!p || !p->running()) return;
    duration const held = universe_.now() - w.since_;
    duration const max_hold = *w.options_.max_hold;
    duration const most = max_hold + max_hold / 500 + rounding;  // clocks differ by 0.1 %
    duration const late = held - most - universe_.paused_between(*p, w.since_, universe_.now());
    if (late > 0ns && valid(w)) violation("a lease is kept " + std::to_string(late.count()) + " ns longer than max_hold allows");
}

std::size_t judge::stored(std::string const& name, std::string const& value)
{
    auto const& servers = universe_.servers();
    return static_cast<std::size_t>(std::count_if(servers.begin(), servers.end(), [&](auto const& s) {
        auto const* const e = s->find(name);
        return e && e->value == value && !e->of_nobody;
    }));
}

void judge::at_the_end()
{
    for (auto const& s : universe_.servers()) {
        if (!assumes_.clocks_within_drift) break;  // a client cannot tell how long such a server keeps a key
        for (auto const& e : s->memory.entries(s->time())) {
            if (e.of_nobody || !e.expires) continue;
            if (std::any_of(excused_.begin(), excused_.end(), [&](auto const& x) { return e.value.starts_with(x); })) continue;
            violation("server " + std::to_string(s->index()) + " still has a key without an owner: " + e.key + " = " + e.value);
        }
    }
    for (auto const& p : universe_.processes()) {
        if (!p) continue;
        if (p->ready() > 0) violation("a handler was left ready to run");
        if (p->timers() > 0) violation("a timer was left waiting");
        if (p->outstanding() > 0) violation("work was left outstanding");
        if (balance(*p) > 0) violation("an operation never ended: its handler was dropped");
        if (balance(*p) < 0) violation("an operation ended twice");
    }
    for (auto const& l : universe_.links())
        if (l->outstanding() > 0) violation("a request was left without an answer");
}

void judge::violation(std::string what)
{
    if (!verdict_) verdict_ = std::move(what);
}

}  // namespace redlock::simulation
