"""The climb of climb.py with everything of memory.py: losses, drains, admissions; and the mark that a climb leaves in a counter. This is what traces
of the code are replayed against (replay.py).

A climb that failed may have raised counters above the guard. Their marks say that nobody has set the key since. So extensions are not refused there,
and the next climb can start from them.

A climb that is in flight at a loss is what an attempt is: the node that forgets may have a vote of it. So a climb has an end, behind which it
does not succeed any more, and a drain waits for it as it waits for attempts: its validity is not longer than the longest ttl that drains wait
for. Its base, the founding's clock and the operator's word speak of guards as of tokens.
"""
import memory
from climb import (OWN, Climb, around, begin_to_climb, chosen_guard, common_invariants, declare, majority_has_climbed,
                   raise_the_counter)
from memory import Drain, Founding, Life, Mark, admitted, in_flight
from prover import Protocol, add, each, mutated, set_at, some, unless, when
from vocabulary import *  # noqa: F403
from vocabulary import And, If, Implies, Not, Or

p = Protocol("climb-memory", "The climb with losses: everything of memory.py, and the climb", [*memory.p.sorts, Climb], order=Token, not_after=le)
OF_LOSSES = ("marks", "goes_on_with_a_note", "ends_to_drain", "begins_to_found", "founds", "takes_the_operators_word", "is_admitted", "restarts", "is_wiped")
OF_MARKS = ("acquire", "confirm", "counter_vanishes")       # who writes a counter takes the mark away
p.extend(memory.p, without=(*OWN, *OF_LOSSES, *OF_MARKS))
declare(p)
p.relation("ended", Climb)                          # given up, or too late: it will not succeed
p.relation("step_said", Climb, Node, Name, Life)    # was executed in a message with this id ...
p.relation("step_counted", Climb, Node, Name)       # ... and the trailing check has let it through
p.relation("climb_flying", Drain, Climb)            # climbs that were in flight when the drain began
p.relation("known_climb", Founding, Climb)          # climbs that had succeeded when the founding began
p.relation("own", Node, Name)                       # the counter has the mark of a climb: nobody has set the key since
p.variable("since", Node, Name, Token)              # the guard of before that climb, or the base of an admission since; nobody can read it


@p.initially
def no_climb_has_ended(s, c: Climb, n: Node, x: Name, life: Life, d: Drain, f: Founding):
    return And(Not(s.ended(c)), Not(s.step_said(c, n, x, life)), Not(s.step_counted(c, n, x)), Not(s.climb_flying(d, c)), Not(s.known_climb(f, c)))


@p.initially
def no_counter_has_a_mark(s, n: Node, x: Name):
    return Not(s.own(n, x))


def climb_in_flight(s, c):
    """It may succeed yet."""
    return And(s.climbing(c), Not(s.ended(c)))


def climb_matters(s, c, q):
    return Or(climb_in_flight(s, c), s.climbed(c, q))


@p.transition("src/quorum/acquire_machine.cpp: choose_token")
def decide(s, a: Attempt, q: Quorum, t: Token):
    step = memory.decide(s, a, q, t)
    return when(*step.when, t == fate(a)).then(**step.changes)


@p.transition("src/quorum/acquire_machine.cpp: acquire_machine::decide")
def completes(s, a: Attempt, q: Quorum):
    step = memory.completes(s, a, q)
    return when(*step.when).then(guard=set_at(s.guard, a, s.token(a)), **step.changes)


@p.transition("src/quorum/lease_machine.cpp: on_extension_sent", "src/core/lease/lease_record.hpp: guard")
def asks_to_extend(s, e: Extension, a: Attempt, g: Token):
    step = memory.asks_to_extend(s, e, a)
    return when(*step.when, chosen_guard(s, a, g)).then(under=add(s.under, e, g), **step.changes)


@p.transition("src/core/lease/climb.cpp: lease_registry::climb_ended")
def goes_on_to_extend(s, e: Extension, g: Token):
    """Messages that are sent later may have a larger guard, and count for an extension that is under way."""
    return when(s.asked(e), chosen_guard(s, s.lease(e), g)).then(under=add(s.under, e, g))


def without_marks(s, n, named):
    return lambda m, x: And(s.own(m, x), Not(And(m == n, named(x))))


def extension(s, e, n, x, life, g):
    """Whoever writes a counter takes the mark of a climb away, if there is one."""
    conditions, changes = memory.extension(s, e, n, x, life)
    new = mutated("climb-recreate-old", s.token(s.lease(e)), g)
    guard = mutated("climb-no-base", le(memory.counter(s, n, x), g), le(memory.top(s, n, x), g))
    return (*conditions[:-1], s.under(e, g), guard), changes | dict(
        count=set_at(s.count, n, x, new), hw=set_at(s.hw, n, larger(s.hw(n), new)), own=without_marks(s, n, lambda y: y == x))


@p.transition("src/protocol/fence_scripts.cpp: extend_text", "src/quorum/lease_machine.cpp: extend_machine::on_vote")
def extend(s, e: Extension, n: Node, x: Name, life: Life, g: Token):
    conditions, changes = extension(s, e, n, x, life, g)
    return when(*conditions, s.key(n, x) == value(s.lease(e))).then(**changes)


@p.transition("src/protocol/fence_scripts.cpp: extend_text")
def extend_at_a_mark(s, e: Extension, n: Node, x: Name, life: Life, g: Token):
    """The counter is above the guard, and has the mark of a climb that failed. It stays as it is."""
    conditions, changes = memory.extension(s, e, n, x, life)
    stays = {name: change for name, change in changes.items() if name not in ("kept", "count", "hw")}
    mark = mutated("climb-mark-of-any", lt(g, s.count(n, x)), And(s.own(n, x), lt(g, s.count(n, x))))
    return when(*conditions[:-1], s.under(e, g), s.kept(n, x), mark, unless("climb-mark-no-base", le(s.base(n), g)),
                s.key(n, x) == value(s.lease(e))).then(**stays)


@p.transition("src/protocol/fence_scripts.cpp: extend_text")
def recreate(s, e: Extension, n: Node, x: Name, life: Life, g: Token):
    conditions, changes = extension(s, e, n, x, life, g)
    return when(*conditions, s.key(n, x) == free).then(
        key=set_at(s.key, n, x, value(s.lease(e))), held=add(s.held, n, x, s.lease(e)), **changes)


@p.transition("src/core/lease/climb.cpp: lease_registry::start_climb")
def begins_to_climb(s, c: Climb, a: Attempt, t: Token):
    """One at a time, and not less far than one that failed."""
    step, changes = begin_to_climb(s, c, a, t)
    earlier = each(Climb, lambda d: Implies(s.of(d, a), And(Not(climb_in_flight(s, d)), le(s.high(d), t))))
    return when(*step.when, earlier).then(**changes)


@p.transition("src/protocol/fence_scripts.cpp: climb_text")
def climb(s, c: Climb, a: Attempt, n: Node, x: Name, life: Life):
    """In a message with whatever id the client knows by then. A vote, if the server has that id now."""
    conditions, changes = raise_the_counter(s, c, n, x, memory.top(s, n, x))
    return when(*its_key_is_there(s, c, a, n, x, life), *conditions).then(
        own=add(s.own, n, x), since=set_at(s.since, n, x, s.low(c)), **is_a_step(s, c, n, x, life), **changes)


def its_key_is_there(s, c, a, n, x, life):
    return s.of(c, a), wants(a, x), s.lived(n, life), memory.runs(s, n, life), s.key(n, x) == value(a)


def is_a_step(s, c, n, x, life):
    here = lambda d, m, y: And(d == c, m == n, y == x)  # noqa: E731
    return dict(step_said=add(s.step_said, c, n, x, life), step=lambda d, m, y: Or(And(here(d, m, y), s.life(n) == life), s.step(d, m, y)))


@p.transition("src/protocol/fence_scripts.cpp: climb_text")
def climb_from_a_mark(s, c: Climb, a: Attempt, n: Node, x: Name, life: Life):
    """The counter is above the old guard, and has the mark of a climb that failed, or of this one."""
    _, changes = raise_the_counter(s, c, n, x, memory.top(s, n, x))
    mark = mutated("climb-from-any-mark", True, le(s.count(n, x), s.high(c)))
    return when(*its_key_is_there(s, c, a, n, x, life), s.own(n, x), s.kept(n, x), mark, le(s.base(n), s.low(c))).then(**is_a_step(s, c, n, x, life), **changes)


@p.transition("src/protocol/redis_replies.cpp: on_identity, drop_votes_of_another_server")
def check_climb(s, c: Climb, n: Node, x: Name, life: Life):
    """The trailing check, as for extensions."""
    return when(s.step_said(c, n, x, life), s.life(n) == life).then(step_counted=add(s.step_counted, c, n, x))


@p.transition("src/core/lease/climb.cpp: climb::on_vote", "src/protocol/redis_replies.cpp: on_extended")
def has_climbed(s, c: Climb, a: Attempt, q: Quorum):
    vote = lambda n: all_names(a, lambda x: s.step_counted(c, n, x))  # noqa: E731
    return when(s.of(c, a), climb_in_flight(s, c), s.guard(a) == s.low(c), majority_has_climbed(s, q, vote)).then(
        climbed=add(s.climbed, c, q), guard=set_at(s.guard, a, s.high(c)), ended=add(s.ended, c))


@p.transition("src/core/lease/climb.cpp: climb::end", "src/core/operation.hpp: on_timer", world="a crash")
def climb_ends(s, c: Climb):
    """Its answers came too late, or its client has given it up, or it is not needed any more."""
    return when(s.climbing(c)).then(ended=add(s.ended, c))


@p.transition("src/protocol/fence_scripts.cpp: acquire_text, acquire_several_text")
def acquire(s, a: Attempt, n: Node, t: Token):
    step = memory.acquire(s, a, n, t)
    return when(*step.when).then(own=without_marks(s, n, lambda x: wants(a, x)), **step.changes)


@p.transition("src/protocol/fence_scripts.cpp: confirm_text, confirm_several_text", "src/quorum/acquire_machine.cpp: on_confirmation")
def confirm(s, a: Attempt, n: Node, life: Life):
    step = memory.confirm(s, a, n, life)
    return when(*step.when).then(own=without_marks(s, n, lambda x: wants(a, x)), **step.changes)


@p.transition(world="expiry (token_retention)")
def counter_vanishes(s, n: Node, x: Name):
    step = memory.counter_vanishes(s, n, x)
    return when(*step.when).then(own=without_marks(s, n, lambda y: y == x), **step.changes)


def older_marks(s, n, kept, own):
    """Any counters that came back may have one."""
    return each(Name, lambda x: Implies(own(x), kept(x))), lambda m, x: If(m == n, own(x), s.own(m, x))


@p.transition(world="a restart, a failover, a resynchronisation: another id, any older data, any older record")
def restarts(s, n: Node, life: Life, keys: (Name, Value), kept: (Name, Boolean), counts: (Name, Token), hw: Token, base: Token,
             recorded: Boolean, record: Life, marked: Boolean, mark: Mark, own: (Name, Boolean)):
    step = memory.restarts(s, n, life, keys, kept, counts, hw, base, recorded, record, marked, mark)
    there, marks = older_marks(s, n, kept, own)
    return when(*step.when, there).then(own=marks, **step.changes)


@p.transition(world="FLUSHALL, FLUSHDB, DEL redlock:node: the same id, no record")
def is_wiped(s, n: Node, keys: (Name, Value), kept: (Name, Boolean), counts: (Name, Token), hw: Token, base: Token, own: (Name, Boolean)):
    step = memory.is_wiped(s, n, keys, kept, counts, hw, base)
    there, marks = older_marks(s, n, kept, own)
    return when(*step.when, there).then(own=marks, **step.changes)


@p.transition("src/protocol/admission_scripts.cpp: admit_text")
def is_admitted(s, d: Drain, t: Token):
    """What the node may have forgotten is not above its base."""
    n = s.drained_node(d)
    step = memory.is_admitted(s, d, t)
    base = larger(larger(s.base(n), s.hw(n)), t)
    return when(*step.when).then(since=lambda m, x: If(m == n, base, s.since(m, x)), **step.changes)


def waits_for_climbs(s, d):
    return each(Climb, lambda c: Implies(s.climb_flying(d, c), Not(climb_in_flight(s, c))))


@p.transition("src/protocol/admission_scripts.cpp: mark_text", "src/quorum/admission.cpp: on_marked")
def marks(s, d: Drain, n: Node, fresh: Mark):
    step = memory.marks(s, d, n, fresh)
    return when(*step.when).then(climb_flying=lambda e, c: If(e == d, climb_in_flight(s, c), s.climb_flying(e, c)), **step.changes)


@p.transition("src/protocol/admission_scripts.cpp: mark_text", "src/quorum/admission.cpp: admission::on_marked",
              "src/core/admission/quarantine_folder.cpp: quarantine_folder::read")
def goes_on_with_a_note(s, d: Drain, n: Node, earlier: Drain):
    step = memory.goes_on_with_a_note(s, d, n, earlier)
    return when(*step.when).then(climb_flying=lambda e, c: If(e == d, s.climb_flying(earlier, c), s.climb_flying(e, c)), **step.changes)


@p.transition("src/quorum/admission.cpp: drained_at")
def ends_to_drain(s, d: Drain):
    """Behind it the climbs that were in flight have ended as well, or succeeded."""
    step = memory.ends_to_drain(s, d)
    return when(*step.when, unless("climb-not-drained", waits_for_climbs(s, d))).then(**step.changes)


@p.transition("src/quorum/admission.cpp: found_the_cluster_if_it_is_new")
def begins_to_found(s, f: Founding):
    step = memory.begins_to_found(s, f)
    succeeded = lambda c: some(Quorum, lambda q: s.climbed(c, q))  # noqa: E731
    return when(*step.when).then(known_climb=lambda g, c: If(g == f, succeeded(c), s.known_climb(g, c)), **step.changes)


@p.transition("src/quorum/admission.cpp: found_the_cluster_if_it_is_new, founding_base_")
def founds(s, f: Founding, d: Drain, t: Token):
    """The wall clock is assumed to be ahead of all guards of before, too."""
    step = memory.founds(s, f, d, t)
    ahead = each(Climb, lambda c: Implies(s.known_climb(f, c), le(s.high(c), t)))
    return when(*step.when, unless("climb-founding-behind", Or(memory.enough_remember(s, f), ahead))).then(**step.changes)


@p.transition("src/quorum/admission.cpp: all_remember_nothing", world="the operator: config::bootstrap")
def takes_the_operators_word(s, d: Drain, t: Token):
    step = memory.takes_the_operators_word(s, d, t)
    return when(*step.when, each((Climb, Name), lambda c, x: Not(s.step(c, s.drained_node(d), x)))).then(**step.changes)


common_invariants(p)


@p.invariant
def a_climb_succeeds_with_a_majority(s, c: Climb, a: Attempt, q: Quorum, n: Node, x: Name):
    """For all names of the lease."""
    return Implies(And(s.climbed(c, q), s.of(c, a), member(n, q), wants(a, x)), s.step(c, n, x))


@p.invariant
def what_the_trailing_check_of_a_climb_lets_through(s, c: Climb, n: Node, x: Name, life: Life):
    """Are votes: no server returns to an id that it left."""
    return And(Implies(And(s.step_said(c, n, x, life), s.life(n) == life), s.step(c, n, x)), Implies(s.step_counted(c, n, x), s.step(c, n, x)),
               Implies(s.step_said(c, n, x, life), And(s.climbing(c), s.lived(n, life))), Implies(s.ended(c), s.climbing(c)))


@p.invariant
def admitted_nodes_remember_climbs(s, c: Climb, a: Attempt, n: Node, x: Name, q: Quorum):
    """As votes: without a loss counters do not fall. After one the node was admitted behind the drain, so a climb with a vote there had ended,
    or had succeeded, and then one of the nodes that were read remembered it."""
    return Implies(And(admitted(s, n), s.step(c, n, x), s.of(c, a), climb_matters(s, c, q)), And(le(s.high(c), memory.top(s, n, x)), le(s.high(c), s.hw(n))))


@p.invariant
def a_key_was_set_above_all_earlier_climbs(s, c: Climb, a: Attempt, b: Attempt, n: Node, x: Name, q: Quorum):
    """As of votes: B's messages have the id of the server, so its acquire was executed since the admission, and behind the climb, which found
    A's value. It stepped over what the node remembers of the climb."""
    return Implies(And(admitted(s, n), s.key(n, x) == value(b), s.bound(b, n), s.id(b, n) == s.life(n), in_flight(s, b),
                       s.step(c, n, x), s.of(c, a), a != b, climb_matters(s, c, q)), below(b, s.high(c), memory.counter(s, n, x)))


@p.invariant
def votes_are_not_where_a_climb_passed(s, c: Climb, a: Attempt, b: Attempt, n: Node, x: Name, t: Token, q: Quorum, r: Quorum):
    """Said of votes and climbs that matter. B's vote came before the climb: then the node remembered it, and by the old guard `low` is not below
    it. Or it came later, from an acquire that stepped over `high`."""
    return Implies(And(s.step(c, n, x), s.of(c, a), a != b, both_want(a, b, x), climb_matters(s, c, q), s.vote(b, n, t), memory.may_matter(s, b, t, r)),
                   Not(around(s, c, b, t)))


@p.invariant
def behind_a_drain_the_climbs_are_over(s, d: Drain, c: Climb):
    """That is what it waits for, too."""
    return And(Implies(And(s.drained(d), s.climb_flying(d, c)), Not(climb_in_flight(s, c))), Implies(s.climb_flying(d, c), s.climbing(c)))


@p.invariant
def a_drain_waits_for_all_climbs_with_a_vote_there(s, d: Drain, c: Climb, x: Name):
    """Votes of climbs at the node came before the loss, and there are none while it is not admitted."""
    return Implies(And(memory.current(s, d), s.step(c, s.drained_node(d), x), climb_in_flight(s, c)), s.climb_flying(d, c))


@p.invariant
def marks_that_were_read_cover_climbs(s, d: Drain, c: Climb, a: Attempt, m: Node, x: Name, u: Token, q: Quorum):
    """A node that was read was admitted at that moment, and remembered. A climb with a vote at the drained node does not succeed behind the drain."""
    return Implies(And(memory.current(s, d), s.read(d, m, u), s.of(c, a), s.climbed(c, q), member(m, q), s.step(c, s.drained_node(d), x)), le(s.high(c), u))


@p.invariant
def admissions_cover_climbs(s, d: Drain, c: Climb, a: Attempt, x: Name, t: Token, q: Quorum):
    """Those of ceil(N/2) nodes that were read share one with the climb's majority. A founding base is ahead of all guards."""
    return Implies(And(memory.current(s, d), s.admission(d, t), s.of(c, a), s.climbed(c, q), s.step(c, s.drained_node(d), x)), le(s.high(c), t))


@p.invariant
def foundings_know_of_climbs(s, f: Founding, d: Drain, c: Climb, x: Name, q: Quorum):
    """A climb with a vote at the drained node does not succeed behind the drain."""
    return Implies(And(s.was_over(f, d), memory.current(s, d), s.climbed(c, q), s.step(c, s.drained_node(d), x)), s.known_climb(f, c))


@p.invariant
def where_nothing_was_locked_nobody_climbs(s, d: Drain, c: Climb, x: Name):
    """Nor until the node is admitted."""
    return Implies(And(s.word(d), memory.current(s, d)), Not(s.step(c, s.drained_node(d), x)))


@p.invariant
def a_guard_grows_past_all_climbs_of_before(s, c: Climb, d: Climb, a: Attempt):
    """One climb at a time, and none goes less far than one before it. So when a guard was raised, it was raised above all that had been tried."""
    return And(Implies(s.of(c, a), le(s.low(c), s.guard(a))), Implies(And(s.of(c, a), lt(s.low(c), s.guard(a))), le(s.high(c), s.guard(a))),
               Implies(And(s.of(c, a), s.of(d, a), climb_in_flight(s, d)), le(s.high(c), s.high(d))),
               Implies(And(s.of(c, a), s.of(d, a), lt(s.low(c), s.low(d))), le(s.high(c), s.low(d))))


@p.invariant
def marks_are_in_counters(s, n: Node, x: Name):
    """As text."""
    return Implies(s.own(n, x), s.kept(n, x))


@p.invariant
def below_a_mark_there_are_no_votes_of_others(s, a: Attempt, b: Attempt, n: Node, x: Name, t: Token, r: Quorum):
    """A mark and A's value: nobody has set the key since a climb of A, or since the node was admitted. When A climbed, the votes of others were
    not above the guard of then."""
    return Implies(And(admitted(s, n), s.own(n, x), s.key(n, x) == value(a), a != b, both_want(a, b, x), s.vote(b, n, t), memory.may_matter(s, b, t, r)),
                   Or(le(t, s.base(n)), le(t, s.since(n, x))))


@p.invariant
def a_mark_is_of_a_climb_from_a_guard(s, a: Attempt, n: Node, x: Name, c: Climb):
    """Or it came back with older data, and the base is what counts. A climb from a lower guard does not go as far as the mark."""
    return Implies(And(admitted(s, n), s.own(n, x), s.key(n, x) == value(a), Not(le(s.since(n, x), s.base(n)))),
                   And(s.complete(a), le(s.since(n, x), s.guard(a)), lt(s.since(n, x), s.count(n, x)),
                       Implies(And(s.of(c, a), lt(s.low(c), s.since(n, x))), le(s.high(c), s.since(n, x)))))
