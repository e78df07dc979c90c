#include "judge.hpp"

#include "lease/ticket.hpp"
#include "link.hpp"
#include "transition_log.hpp"

#include <algorithm>
#include <bit>
#include <map>

namespace redlock::simulation {

std::size_t most_of(std::size_t nodes) noexcept { return nodes / 2 + 1; }

namespace {

duration stop_margin_of(lock_options const& o) noexcept { return o.stop_margin.value_or(o.ttl / 10); }

std::string text_of_keys(detail::command const& c)
{
    std::string text{c.key};
    for (std::string const& other : c.others) text += ", " + other;
    return text;
}

// Those that the command has there.
std::string text_of_own_keys(server& s, detail::command const& c)
{
    std::string text;
    for (std::size_t i = 0; i < c.key_count(); ++i)
        if (s.has(std::string{c.key_at(i)}, std::string{c.value})) text += (text.empty() ? "" : ", ") + std::string{c.key_at(i)};
    return text;
}

bool have_one_in_common(std::vector<std::string> const& a, std::vector<std::string> const& b)
{
    return std::any_of(a.begin(), a.end(), [&](std::string const& name) { return std::find(b.begin(), b.end(), name) != b.end(); });
}

std::vector<std::string> names_in(std::string_view text)
{
    std::vector<std::string> names;
    constexpr std::string_view between = ", ";
    for (auto end = text.find(between); end != text.npos; end = text.find(between)) {
        names.emplace_back(text.substr(0, end));
        text.remove_prefix(end + between.size());
    }
    names.emplace_back(text);
    return names;
}

// Virtual time stands still while handlers run, so that this covers only what is rounded.
constexpr duration rounding = 1us;

// A wish that nobody renews any more is over by then.
constexpr duration wish_lasts_max = 1'001ms;

}  // namespace

judge::judge(universe& in, assumptions const& a) : universe_{in}, assumes_{a}
{
    in.on_sent = [this](process const& p, detail::command const& c) {
        if (c.what == detail::verb::acquire && c.fenced)
            attempts_.try_emplace(std::string{c.value},
                                  attempt{universe_.now(), text_of_keys(c), c.shared ? 1 : c.block, c.shared, c.is_of_permits()});
        if (c.what == detail::verb::release) check_release(p, c);
        if (c.what == detail::verb::adopt) note_adoption(p, c);
    };
    in.on_extension = [this](detail::command const& c) { check_guard(c); };
    in.on_climb = [this](std::size_t server, detail::command const& c) {
        attempts_[std::string{c.value}].climbs[c.goal] |= std::uint32_t{1} << server;
    };
    in.on_confirm_event = [this](server& s, detail::command const& c, token_number token) { confirm_event(s, c, token); };
}

judge::watched::watched(judge& by, process& p, lease& held, lock_options const& options, ticket const* adopted)
    : judge_{by},
      process_{p.index()},
      lease_{&held},
      options_{options},
      name_{held.name()},
      names_{names_in(name_)},
      since_{by.universe_.now()},
      token_{held.token()}
{
    reads_ = held.mode() == lock_mode::shared;
    if (reads_) options_.token_block = 1;
    if (adopted) {
        lineage_ = adopted->lineage;
        value_ = by.value_of(*this, *adopted);
        first_ = adopted->token;
        last_ = adopted->last;
        by.arrives(*adopted);
    } else if (auto const* const outer = by.find_outer(*this)) {
        nested_ = true;
        options_ = outer->options_;
        since_ = outer->since_;
        value_ = outer->value_;
    } else {
        value_ = by.find_value(*this);
    }
    seen_until_ = held.valid_until();
    if (auto* const r = by.universe_.records)
        record_ = r->lease_begins(process_, name_, by.universe_.now(), p.clock.when(seen_until_), known_value());
    by.leases_.push_back(this);
    if (reads_) ++by.universe_.covered->read;
    by.a_writer_comes_or_goes(*this);
    adopted ? by.check_proof(*this) : by.take_down_tokens(*this);
    if (adopted && token_ != first_) by.violation("an adopted lease has another token than its ticket: " + called());
    if (by.universe_.transitions && has_tokens() && !nested_) by.universe_.transitions->held(value_, first_, last_);
    if (names_.size() > 1) ++by.universe_.covered->several_names;
    if (nested_) ++by.universe_.covered->nested;
    if (!nested_ && !reads_) by.check_turn(*this);
    bool const at_rest = by.universe_.paused_between(p, by.universe_.now() - rounding, by.universe_.now()) == 0ns;
    if (at_rest && !by.valid(*this) && held.lost_error() != errc::client_cancelled)
        by.violation("acquire handed out a lease that had ended: " + called());
}

judge::watched::~watched()
{
    if (judge_.universe_.processes()[process_]) leaves();
    judge_.a_writer_comes_or_goes(*this);
    std::erase(judge_.leases_, this);
    if (auto* const r = judge_.universe_.records) r->lease_ends(record_, judge_.universe_.now(), "given back");
}

void judge::watched::leaves(lease const& held)
{
    if (std::exchange(left_, true)) return;
    bool const valid = judge_.valid(process_, held);
    auto const now = judge_.universe_.now();
    judge_.a_writer_comes_or_goes(*this);
    auto& row = judge_.turns_[{process_, name_}];
    if (row.value == known_value()) row.left = valid ? std::optional{now} : std::nullopt;
}

judge::place::place(judge& by, process const& p, std::string name, wants what)
    : judge_{by}, process_{p.index()}, name_{std::move(name)}, names_{names_in(name_)}, what_{what}, since_{by.universe_.now()}
{
    by.in_line_.push_back(this);
}

judge::place::~place()
{
    std::erase(judge_.in_line_, this);
    if (what_ == wants::to_write) judge_.writers_moved_[name_] = judge_.universe_.now();
}

// One that was lost before its holder could hear of it says nothing; nor does the order, when one client may have two leases at once.
void judge::place::served(lease const& with)
{
    if (!judge_.valid(process_, with) || !judge_.assumes_.exclusion(false) || what_ == wants::to_read) return;
    if (overtaken_)
        judge_.violation("somebody who asked later was served before: client " + std::to_string(process_) + ", \"" + name_ + "\"");
    for (place* const other : judge_.in_line_) {
        if (other == this) break;
        if (other->process_ == process_ && other->name_ == name_ && other->what_ == what_) other->overtaken_ = true;
    }
}

// Servers that have forgotten it cannot tell its value.
std::string judge::watched::called() const { return value_.empty() ? "p" + std::to_string(process_) + "-?" : value_; }

void judge::watched::lost(error_code why)
{
    universe& u = judge_.universe_;
    if (why == errc::max_hold_exceeded) return had_its_time();
    if (u.records) u.records->lease_ends(record_, u.now(), "lost");
    if (!judge_.assumes_.exclusion(false) || value_.empty() || !is_sure_) return;
    process& p = *u.processes()[process_];
    if (u.now() >= p.clock.when(seen_until_ - stop_margin_of(options_))) return;  // it was time
    if (judge_.can_be_extended(*this) >= most_of(u.servers().size()))
        judge_.violation("a lease was given up although it was valid and a majority of the nodes held its key");
}

// All of max_hold: also one whose lease was passed on to him.
void judge::watched::had_its_time()
{
    universe& u = judge_.universe_;
    if (nested_ || u.paused_between(*u.processes()[process_], since_ - rounding, since_) > 0ns) return;
    duration const max_hold = *options_.max_hold;
    if (u.now() - since_ < max_hold - max_hold / 500 - rounding) judge_.violation("a lease was ended before max_hold: " + called());
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

void judge::watched::next_token()
{
    bool const there_is_one = token_ < last_;
    if (lease_->next_token() != there_is_one) judge_.violation("a lease has more tokens, or less, than were asked for");
    if (there_is_one) ++token_;
    if (there_is_one) ++judge_.universe_.covered->next_token;
    if (lease_->token() != token_) judge_.violation("the next token of a lease is not the one after the last");
}

void judge::watched::write()
{
    if (!has_tokens()) return;
    auto& covered = *judge_.universe_.covered;
    for (std::string const& name : names_) {
        auto& what = judge_.resources_[name];
        bool const refused = token_ < what.token || (!reads_ && token_ <= what.readers);
        if (refused == (reads_ ? what.guard.admit_shared(token_) : what.guard.admit(token_)))
            judge_.violation("redlock::fence does not keep its rule, with a token of " + called());
        if (refused) {
            ++(reads_ ? covered.reading_refused : covered.write_refused);
            // Nobody with a larger token can have been there: it would have needed a key that this lease still has. Only those whose
            // hold it is, too, may have moved on to a later token.
            bool const by_itself = token_ < what.token && what.writer == lineage();
            if (judge_.assumes_.exclusion(true) && !by_itself && judge_.valid(*this))
                judge_.violation("what \"" + name + "\" protects refused the holder of a valid lease: " + called());
            continue;
        }
        ++(reads_ ? covered.access_of_reader : covered.written);
        if (token_ == what.token && what.writer != lineage())
            judge_.violation("two holders write with one token: " + what.writer + " and " + called());
        if (reads_) {
            what.readers = std::max(what.readers, token_);
        } else {
            what.token = token_;
            what.writer = lineage();
        }
    }
}

void judge::confirm_event(server& s, detail::command const& c, token_number token)
{
    for (std::size_t i = 0; !c.shared && i < c.key_count(); ++i) writers_moved_[std::string{c.key_at(i)}] = universe_.now();
    auto& events = attempts_[std::string{c.value}].confirmed;
    auto const bit = std::uint32_t{1} << s.index();
    std::string const slots = attempts_[std::string{c.value}].of_permits ? text_of_own_keys(s, c) : std::string{};
    auto const it = std::find_if(events.begin(), events.end(),
                                 [&](attempt::event const& e) { return e.token == token && e.slots == slots; });
    if (it == events.end()) {
        events.push_back({token, bit, slots});
    } else {
        it->servers |= bit;
    }
}

// What is passed on is passed on at once, since no message is needed for it; while enough is left of it; and neither too often nor
// for too long.
void judge::check_turn(watched const& w)
{
    auto& row = turns_[{w.process_, w.name_}];
    auto const now = universe_.now();
    auto const& p = *universe_.processes()[w.process_];
    bool const at_once = row.left == now;  // a message takes longer
    bool const passed_on = row.value == w.known_value() && (w.has_tokens() || at_once);
    if (!passed_on) {
        row = {w.options_, now, 0, w.known_value(), {}};
        return;
    }
    ++universe_.covered->passed_on;
    ++row.passed_on;
    bool const seen = unseen(p).scopes == 0 && unseen(p).latest < row.left.value_or(now);
    duration const paused = universe_.paused_between(p, row.left.value_or(row.began), now);
    if (seen && !row.left) violation("a lease was passed on after it had ended: " + w.called());
    if (seen && row.left && now - *row.left > paused) violation("passing on a lease takes time: " + w.called());
    auto const ttl = duration{w.options_.ttl};
    if (paused == 0ns && p.clock.when(w.seen_until_) - now < (ttl - ttl / 10) / 5)
        violation("what is passed on of a lease is not worth it: " + w.called());
    if (row.passed_on > row.rules.max_handoffs) violation("a lease is passed on more often than max_handoffs allows: " + w.called());
    auto const most = duration{row.rules.max_local_hold};
    if (now - row.began > most + most / 500 + rounding + universe_.paused_between(p, row.began, now))
        violation("a lease is passed on after max_local_hold: " + w.called());
}

void judge::check_waiting()
{
    for (place* const each : in_line_) {
        auto const& servers = universe_.servers();
        bool const free = std::all_of(servers.begin(), servers.end(),
                                      [&](auto const& s) { return s->memory.admitted() && !is_kept_out(*each, *s); });
        if (!free) {
            each->free_since_.reset();
        } else if (!each->free_since_) {
            each->free_since_ = universe_.now();
        } else if (universe_.now() - *each->free_since_ > *free_at_most) {
            violation("\"" + each->name_ + "\" is free, and client " + std::to_string(each->process_) + " does not take it");
        }
    }
}

// Whatever an attempt got beside what became its lease goes back at once, and not when it expires.
void judge::check_slots()
{
    // Clients hear of an admission late, and until then an attempt may wait for that server.
    auto const& servers = universe_.servers();
    if (!std::all_of(servers.begin(), servers.end(), [](auto const& s) { return s->memory.admitted(); })) return slots_left_at_most.reset();
    decltype(slots_left_) left;
    for (auto const& s : servers) {
        for (auto const& e : s->memory.entries(s->time())) {
            if (e.of_nobody || is_needed(e.key, e.value)) continue;
            std::tuple const which{s->index(), e.key, e.value};
            auto const before = slots_left_.find(which);
            auto const since = before == slots_left_.end() ? universe_.now() : before->second;
            if (universe_.now() - since > *slots_left_at_most)
                violation("server " + std::to_string(s->index()) + " keeps a slot that nobody needs: " + e.key + " = " + e.value);
            left.emplace(which, since);
        }
    }
    slots_left_ = std::move(left);
}

// Of permits. As long as a server has not answered its client, be it that it cannot be asked, the attempt may be undecided.
bool judge::is_needed(std::string const& slot, std::string const& value) const
{
    auto const a = attempts_.find(value);
    if (a == attempts_.end() || !a->second.of_permits) return true;
    for (auto const& l : universe_.links()) {
        bool const is_its = value.starts_with("p" + std::to_string(l->client()) + "-");
        if (is_its && (!l->up() || !l->quiet() || !l->to().memory.admitted())) return true;
    }
    return std::any_of(leases_.begin(), leases_.end(), [&](watched const* const w) {
        return w->value_ == value && std::find(w->names_.begin(), w->names_.end(), slot) != w->names_.end();
    });
}

// Readers do not keep out each other, but a writer's wish does.
bool judge::is_kept_out(place const& who, server& s) const
{
    return std::any_of(who.names_.begin(), who.names_.end(), [&](std::string const& name) {
        auto const* const e = s.find(name);
        if (who.what_ != wants::to_read) return e != nullptr;
        return (e && !e->readers) || s.find(name + ":want");
    });
}

// While a writer waits, and no other one has come or gone, his wish stands.
void judge::let_in(std::string const& name, duration asked)
{
    if (!wish_known_after) return;
    // Whoever waited behind a writer goes before the next one, also when his lease expired and he does not know yet.
    bool const behind_a_writer = std::ranges::any_of(leases_, [&](watched const* const w) {
        return !w->reads_ && !w->left_ && std::ranges::find(w->names_, name) != w->names_.end();
    });
    if (behind_a_writer) return;
    for (place const* const each : in_line_) {
        if (each->what_ != wants::to_write || each->name_ != name) continue;
        if (asked > std::max(each->since_, writers_moved_[name]) + *wish_known_after)
            violation("a reader who came later was let in before a writer of client " + std::to_string(each->process_) + " who waits: \"" +
                      name + "\"");
        else ++universe_.covered->let_in_beside_a_waiting_writer;
    }
}

void judge::a_writer_comes_or_goes(watched const& w)
{
    if (w.reads_) return;
    for (std::string const& name : w.names_) writers_moved_[name] = universe_.now();
}

// From the moment at which the lease says that it is a reader's, it is.
void judge::note_side(watched& w)
{
    if (w.reads_ || !*w.lease_ || w.lease_->mode() != lock_mode::shared) return;
    a_writer_comes_or_goes(w);
    w.reads_ = w.was_writer_ = true;
    ++universe_.covered->downgraded;
}

// Who holds it gives it back, or has lost it, and nobody else.
// A lease has climbed when a majority granted it. That two complete with tokens in the wrong order because one had fewer takes several messages that are
// late in the right way, so it is looked at where the new guard is used.
void judge::check_guard(detail::command const& extension)
{
    attempt& a = attempts_[std::string{extension.value}];
    a.guard = std::max(a.guard, extension.token);
    auto const climbed = a.climbs.find(extension.token);
    if (climbed == a.climbs.end()) return;
    auto const servers = universe_.servers().size();
    auto const granted = static_cast<std::size_t>(std::popcount(climbed->second));
    if (granted >= most_of(servers)) return;
    violation(std::to_string(granted) + " of " + std::to_string(servers) + " servers have granted the guard " +
              std::to_string(extension.token) + " that a lease on " + a.name + " is extended with");
}

void judge::check_release(process const& p, detail::command const& c)
{
    for (watched const* const w : leases_)
        if (w->process_ == p.index() && w->known_value() == c.value && have_one_in_common(w->names_, names_in(text_of_keys(c))) &&
            w->is_sure_ && !w->left_ && valid(*w))
            violation("the keys of a valid lease are given back: " + w->called());
}

// Another lease of the same owner, of the same lock.
judge::watched const* judge::find_outer(watched const& w) const
{
    auto const it = std::find_if(leases_.begin(), leases_.end(), [&](watched const* const each) {
        bool const same = each->process_ == w.process_ && each->name_ == w.name_ && each->options_.owner == w.options_.owner;
        if (!same || w.options_.owner == owner_id{}) return false;
        if (each->has_tokens()) return w.token_ >= each->first_ && w.token_ <= each->last_;
        return each->lease_->valid_until() == w.lease_->valid_until();
    });
    return it == leases_.end() ? nullptr : *it;
}

bool judge::share_a_hold(watched const& a, watched const& b) const noexcept
{
    bool const nested = a.nested_ || b.nested_;
    return nested && a.process_ == b.process_ && a.name_ == b.name_ && a.options_.owner == b.options_.owner && a.value_ == b.value_;
}

void judge::note_adoption(process const& p, detail::command const& c)
{
    adoption const a{p.index(), std::string{c.key}, c.token, std::string{c.value}};
    if (!adoptions_.empty() && adoptions_.back().value == a.value) return;  // another node is asked, or once more
    adoptions_.push_back(a);
    if (c.fenced) guards_.try_emplace(a.value, a.guard + 1);
}

// What the process that adopts it has asked for with its ticket. Servers may have lost it again. If it has asked twice, they can tell which one won.
std::string judge::value_of(watched const& w, ticket const& adopted) const
{
    detail::ticket t;
    if (detail::read_ticket(adopted.text, t) != errc{}) return {};
    std::string const stored = most_stored(w);
    std::string last;
    for (adoption const& a : adoptions_) {
        bool const is_it = a.process == w.process_ && a.guard == t.guard && std::ranges::find(w.names_, a.key) != w.names_.end();
        if (is_it && (last.empty() || last != stored)) last = a.value;
    }
    return last;
}

std::string judge::find_value(watched& w) const { return w.has_tokens() ? value_by_token(w) : most_stored(w); }

std::string judge::most_stored(watched const& w) const
{
    std::map<std::string, std::size_t> values;
    std::string const mine = "p" + std::to_string(w.process_) + "-";
    for (auto const& s : universe_.servers())
        if (auto const* const e = s->find(w.names_.front()); e && e->value.starts_with(mine)) ++values[e->value];
    std::string most;
    for (auto const& [value, count] : values)
        if (most.empty() || count > values[most]) most = value;
    return most;
}

// The attempt of its process that a majority confirmed with its token, or whose tokens, reserved for others to come, it is one of.
std::string judge::value_by_token(watched& w) const
{
    std::string const mine = "p" + std::to_string(w.process_) + "-";
    token_number const last = w.token_ + w.options_.token_block - 1;
    std::string found;
    int most = 0;
    int candidates = 0;
    for (auto const& [value, a] : attempts_) {
        if (!value.starts_with(mine) || (a.name != w.name_ && !a.of_permits) || a.reads != w.reads_) continue;
        for (auto const& e : a.confirmed) {
            if (a.of_permits && e.slots != w.name_) continue;
            int const servers = std::popcount(e.servers);
            bool const is_in = last <= e.token && w.token_ + a.reserved > e.token;
            if (is_in && w.reads_ && static_cast<std::size_t>(servers) >= most_of(universe_.servers().size()) && ++candidates > 1)
                w.is_sure_ = false;
            if (!is_in || servers < most || (servers == most && value > found)) continue;
            most = servers;
            found = value;
        }
    }
    return found;
}

// All slots that it has, with its token.
std::size_t judge::servers_that_gave(attempt const& a, watched const& w) const
{
    token_number const last = w.token_ + w.options_.token_block - 1;
    std::uint32_t servers = 0;
    for (auto const& e : a.confirmed)
        if (e.slots == w.name_ && last <= e.token && w.token_ + a.reserved > e.token) servers |= e.servers;
    return static_cast<std::size_t>(std::popcount(servers));
}

// When the first attempt to read began that it can be.
duration judge::first_of_readers(watched const& w) const
{
    auto first = universe_.now();
    std::string const mine = "p" + std::to_string(w.process_) + "-";
    for (auto const& [value, a] : attempts_) {
        if (!value.starts_with(mine) || a.name != w.name_ || !a.reads) continue;
        if (std::any_of(a.confirmed.begin(), a.confirmed.end(), [&](auto const& e) { return e.token == w.token_; }))
            first = std::min(first, a.began);
    }
    return first;
}

// Promises 1 and 2 of the proof.
void judge::take_down_tokens(watched& w)
{
    if (!w.has_tokens()) {
        ++universe_.covered->plain;
        if (w.token_ != 0) violation("a lease without tokens has one");
        return;
    }
    w.first_ = w.token_;
    w.last_ = w.nested_ ? w.token_ : w.token_ + w.options_.token_block - 1;
    if (w.nested_) return;
    if (w.options_.token_block > 1) ++universe_.covered->block;
    auto const a = attempts_.find(w.value_);
    if (w.token_ == 0 || a == attempts_.end()) return violation("a lease has a token that no server has granted: " + w.called());
    if (a->second.of_permits && servers_that_gave(a->second, w) < most_of(universe_.servers().size()))
        violation("too few servers have given all slots of a lease: " + w.called());
    auto const began = w.is_sure_ ? a->second.began : first_of_readers(w);
    for (std::string const& name : w.names_) compare_tokens(name, {w.value_, w.token_, w.last_, w.reads_, began, universe_.now()});
}

void judge::compare_tokens(std::string const& name, owned const& mine)
{
    auto& others = tokens_[name];
    for (owned const& o : others) {
        if (mine.first > o.last || (mine.reads && o.reads)) continue;
        auto const both = o.by + " has " + std::to_string(o.first) + " to " + std::to_string(o.last) + ", " + mine.by + " has " +
                          std::to_string(mine.first) + " to " + std::to_string(mine.last);
        if (o.first <= mine.last) violation("two leases on \"" + name + "\" own one token: " + both);
        if (o.completed < mine.began || o.by == mine.by)
            violation("a lease on \"" + name + "\" has a token that is not above those before it: " + both);
    }
    others.push_back(mine);
}

// Promise 3. A lease stands on M servers that executed a request which was sent no earlier than its validity begins. A larger token
// that was complete by then has one of them, where the guard refuses.
void judge::check_proof(watched const& w)
{
    if (!w.has_tokens()) return;
    auto const& p = universe_.processes()[w.process_];
    auto const ttl = duration{w.options_.ttl};
    auto const validity = ttl - duration{static_cast<duration::rep>(static_cast<double>(ttl.count()) * w.options_.clock_drift)} - 2ms;
    duration const begins = p->clock.when(w.seen_until_ - validity);
    if (universe_.transitions && !w.nested_) universe_.transitions->moved_on(w.value_, begins);
    for (std::string const& name : w.names_)
        for (owned const& o : tokens_[name])
            if (o.first > w.last_ && o.by != w.value_ && !(w.reads_ && o.reads) && o.completed < begins - rounding)
                violation("a lease was extended although one with a larger token was complete: " + w.called() + " and " + o.by);
}

// Where an extension would not be refused.
std::size_t judge::can_be_extended(watched const& w)
{
    auto const& servers = universe_.servers();
    auto const guard = w.has_tokens() ? guard_of(w.value_) : 0;
    return static_cast<std::size_t>(std::count_if(servers.begin(), servers.end(), [&](auto const& s) {
        return std::all_of(w.names_.begin(), w.names_.end(), [&](std::string const& name) { return keeps(*s, w, name, guard); });
    }));
}

bool judge::keeps(server& s, watched const& w, std::string const& name, token_number guard) const
{
    auto const* const e = s.find(name);
    if (!e || !s.has(name, w.value_) || e->of_nobody || s.is_stray(name, w.value_)) return false;
    if (!w.has_tokens() || !s.memory.admitted()) return true;
    if (s.memory.record->base > guard) return false;
    if (e->readers) return e->readers->epoch <= guard;
    auto const* const fence = s.memory.find_counter(name, s.time());
    auto const counter = fence && fence->value ? *fence->value : *s.memory.high_water;
    return counter <= guard || (fence && fence->marked);
}

// By the attempt of this value, and by its extensions: that is what its requests carry.
token_number judge::guard_of(std::string const& value) const
{
    if (auto const g = guards_.find(value); g != guards_.end()) return g->second;
    auto const a = attempts_.find(value);
    if (a == attempts_.end() || a->second.confirmed.empty()) return 0;
    if (a->second.guard > 0) return a->second.guard;
    auto const& events = a->second.confirmed;
    auto const by_servers = [](attempt::event const& x, attempt::event const& y) {
        return std::popcount(x.servers) < std::popcount(y.servers);
    };
    return std::max_element(events.begin(), events.end(), by_servers)->token;
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
        note_side(*w);
        if (auto const until = w->lease_->valid_until(); until > w->seen_until_) {
            w->seen_until_ = until;
            if (universe_.processes()[w->process_]) check_proof(*w);
        }
        if (w->options_.max_hold) check_max_hold(*w);
    }
    if (free_at_most) check_waiting();
    if (slots_left_at_most) check_slots();
    if (leases_.size() < 2 || !assumes_.exclusion(true)) return;
    for (std::size_t i = 0; i < leases_.size(); ++i) {
        for (std::size_t j = i + 1; j < leases_.size(); ++j) {
            watched const& a = *leases_[i];
            watched const& b = *leases_[j];
            if (a.permits_ > 0 && b.permits_ > 0) check_permits(a, b);
            if (!have_one_in_common(a.names_, b.names_) || !assumes_.exclusion(a.has_tokens() && b.has_tokens())) continue;
            if (share_a_hold(a, b)) continue;
            if (!valid(a) || !valid(b)) continue;
            if (a.reads_ && b.reads_) {
                ++universe_.covered->read_together;
            } else {
                violation("two leases on \"" + a.name_ + "\" are valid at once: " + a.called() + " and " + b.called());
            }
        }
    }
}

bool judge::are_two(process const& p, lease const& held, std::string const& name)
{
    auto const holds_it = [&](watched* w) { return !w->reads_ && std::count(w->names_.begin(), w->names_.end(), name) > 0 && valid(*w); };
    return valid(p.index(), held) && std::any_of(leases_.begin(), leases_.end(), holds_it);
}

// Clients that say different numbers do not hold permits of one semaphore at the same time.
void judge::check_permits(watched const& a, watched const& b)
{
    auto const semaphore = [](watched const& w) { return w.names_.front().substr(0, w.names_.front().find('#')); };
    if (semaphore(a) != semaphore(b) || !valid(a) || !valid(b)) return;
    ++universe_.covered->permits_at_once;
    if (a.permits_ == b.permits_) return;
    violation("one holds permits of \"" + semaphore(a) + "\" who says " + std::to_string(a.permits_) + ", and one who says " +
              std::to_string(b.permits_));
}

// As its holder would find it now.
bool judge::valid(watched const& w) { return valid(w.process_, *w.lease_); }

bool judge::valid(std::size_t process, lease const& held)
{
    bool result = false;
    auto const& p = universe_.processes()[process];
    if (p) p->visit(universe_.now(), [&] { result = held.valid(); });
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
    auto const names = names_in(name);
    return static_cast<std::size_t>(std::count_if(servers.begin(), servers.end(), [&](auto const& s) {
        return std::all_of(names.begin(), names.end(), [&](std::string const& each) {
            return s->has(each, value) && !s->find(each)->of_nobody && !s->is_stray(each, value);
        });
    }));
}

std::optional<std::string> judge::key_without_an_owner() const
{
    if (!assumes_.clocks_within_drift) return {};  // a client cannot tell how long such a server keeps a key
    auto const is_excused = [&](std::string const& value) {
        return std::any_of(excused_.begin(), excused_.end(), [&](auto const& x) { return value.starts_with(x); });
    };
    for (auto const& s : universe_.servers()) {
        auto const text = "server " + std::to_string(s->index()) + " still has ";
        for (auto const& e : s->memory.entries(s->time())) {
            if (e.key.ends_with(":want")) {
                if (!e.expires || *e.expires > s->time() + wish_lasts_max) return text + "a wish that does not end: " + e.key;
            } else if (e.key.ends_with(":permits")) {
                continue;  // stays for the retention
            } else if (e.readers) {
                for (auto const& reader : e.readers->ends)
                    if (s->has(e.key, reader.first) && !e.of_nobody && !s->is_stray(e.key, reader.first) && !is_excused(reader.first))
                        return text + "a reader without an owner: " + e.key + " = " + reader.first;
            } else if (!e.key.ends_with(":published") && !e.of_nobody && e.expires && !detached_.contains(e.value) &&
                       !is_excused(e.value)) {
                return text + "a key without an owner: " + e.key + " = " + e.value;
            }
        }
    }
    return {};
}

void judge::travels(std::string const& text)
{
    detail::ticket t;
    if (detail::read_ticket(text, t) != errc{}) return violation("a ticket that nobody can read");
    detached_.insert(t.value);
}

// Without tokens, the nodes remember nothing of a lease that is over. A request that comes again then may bring its value back.
void judge::arrives(ticket const& with)
{
    if (!adopted_.insert(with.text).second && with.options.fencing) violation("two have adopted one lease: " + with.lineage);
}

void judge::at_the_end()
{
    if (auto key = key_without_an_owner()) violation(std::move(*key));
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
