"""The climb of climb.py with everything of memory.py: losses, drains, admissions. PROVEN, NOT BUILT YET.

A climb that is in flight at a loss is what an attempt is: the node that forgets may have a vote of it. So a climb has an end, behind which it
does not succeed any more, and a drain waits for it as it waits for attempts: whoever builds the climb has to give it a validity that is not
longer than the longest ttl that drains wait for. Its base, the founding's clock and the operator's word speak of guards as of tokens.
"""
import memory
from climb import (NOT_BUILT, OWN, Climb, around, begin_to_climb, chosen_guard, common_invariants, declare, majority_has_climbed,
                   raise_the_counter)
from memory import Drain, Founding, Life, Mark, admitted, in_flight
from prover import Protocol, add, each, mutated, set_at, some, unless, when
from vocabulary import *  # noqa: F403
from vocabulary import And, If, Implies, Not, Or

p = Protocol("climb-memory", "The climb with losses: everything of memory.py, and the climb", [*memory.p.sorts, Climb], order=Token, not_after=le)
OF_LOSSES = ("marks", "goes_on_with_a_note", "ends_to_drain", "begins_to_found", "founds", "takes_the_operators_word")
p.extend(memory.p, without=(*OWN, *OF_LOSSES))
declare(p)
p.relation("ended", Climb)                          # given up, or too late: it will not succeed
p.relation("step_said", Climb, Node, Name, Life)    # was executed in a message with this id ...
p.relation("step_counted", Climb, Node, Name)       # ... and the trailing check has let it through
p.relation("climb_flying", Drain, Climb)            # climbs that were in flight when the drain began
p.relation("known_climb", Founding, Climb)          # climbs that had succeeded when the founding began


@p.initially
def no_climb_has_ended(s, c: Climb, n: Node, x: Name, life: Life, d: Drain, f: Founding):
    return And(Not(s.ended(c)), Not(s.step_said(c, n, x, life)), Not(s.step_counted(c, n, x)), Not(s.climb_flying(d, c)), Not(s.known_climb(f, c)))


def climb_in_flight(s, c):
    """It may succeed yet. (One that has succeeded may be so as well, which is more than there is to wait for.)"""
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


@p.transition(world=NOT_BUILT)
def asks_to_extend(s, e: Extension, a: Attempt, g: Token):
    step = memory.asks_to_extend(s, e, a)
    return when(*step.when, chosen_guard(s, a, g)).then(under=set_at(s.under, e, g), **step.changes)


def extension(s, e, n, x, life):
    conditions, changes = memory.extension(s, e, n, x, life)
    t, new = s.under(e), mutated("climb-recreate-old", s.token(s.lease(e)), s.under(e))
    guard = mutated("climb-no-base", le(memory.counter(s, n, x), t), le(memory.top(s, n, x), t))
    return (*conditions[:-1], guard), changes | dict(count=set_at(s.count, n, x, new), hw=set_at(s.hw, n, larger(s.hw(n), new)))


@p.transition(world=NOT_BUILT)
def extend(s, e: Extension, n: Node, x: Name, life: Life):
    conditions, changes = extension(s, e, n, x, life)
    return when(*conditions, s.key(n, x) == value(s.lease(e))).then(**changes)


@p.transition(world=NOT_BUILT)
def recreate(s, e: Extension, n: Node, x: Name, life: Life):
    conditions, changes = extension(s, e, n, x, life)
    return when(*conditions, s.key(n, x) == free).then(
        key=set_at(s.key, n, x, value(s.lease(e))), held=add(s.held, n, x, s.lease(e)), **changes)


@p.transition(world=NOT_BUILT)
def begins_to_climb(s, c: Climb, a: Attempt, t: Token):
    step, changes = begin_to_climb(s, c, a, t)
    return step.then(**changes)


@p.transition(world=NOT_BUILT)
def climb(s, c: Climb, a: Attempt, n: Node, x: Name, life: Life):
    """In a message with whatever id the client knows by then. A vote, if the server has that id now."""
    conditions, changes = raise_the_counter(s, c, n, x, memory.top(s, n, x))
    here = lambda d, m, y: And(d == c, m == n, y == x)  # noqa: E731
    return when(s.of(c, a), wants(a, x), s.lived(n, life), memory.runs(s, n, life), s.key(n, x) == value(a), *conditions).then(
        step_said=add(s.step_said, c, n, x, life), step=lambda d, m, y: Or(And(here(d, m, y), s.life(n) == life), s.step(d, m, y)), **changes)


@p.transition(world=NOT_BUILT)
def check_climb(s, c: Climb, n: Node, x: Name, life: Life):
    """The trailing check, as for extensions."""
    return when(s.step_said(c, n, x, life), s.life(n) == life).then(step_counted=add(s.step_counted, c, n, x))


@p.transition(world=NOT_BUILT)
def has_climbed(s, c: Climb, a: Attempt, q: Quorum):
    vote = lambda n: all_names(a, lambda x: s.step_counted(c, n, x))  # noqa: E731
    return when(s.of(c, a), climb_in_flight(s, c), s.guard(a) == s.low(c), majority_has_climbed(s, q, vote)).then(
        climbed=add(s.climbed, c, q), guard=set_at(s.guard, a, s.high(c)))


@p.transition(world="nothing yet: the end of a climb, which is proven, not built; a crash")
def climb_ends(s, c: Climb):
    """Its answers came too late, or its client has given it up, or it is not needed any more."""
    return when(s.climbing(c)).then(ended=add(s.ended, c))


def waits_for_climbs(s, d):
    return each(Climb, lambda c: Implies(s.climb_flying(d, c), Not(climb_in_flight(s, c))))


@p.transition(world=NOT_BUILT)
def marks(s, d: Drain, n: Node, fresh: Mark):
    step = memory.marks(s, d, n, fresh)
    return when(*step.when).then(climb_flying=lambda e, c: If(e == d, climb_in_flight(s, c), s.climb_flying(e, c)), **step.changes)


@p.transition(world=NOT_BUILT)
def goes_on_with_a_note(s, d: Drain, n: Node, earlier: Drain):
    step = memory.goes_on_with_a_note(s, d, n, earlier)
    return when(*step.when).then(climb_flying=lambda e, c: If(e == d, s.climb_flying(earlier, c), s.climb_flying(e, c)), **step.changes)


@p.transition(world=NOT_BUILT)
def ends_to_drain(s, d: Drain):
    """Behind it the climbs that were in flight have ended as well, or succeeded."""
    step = memory.ends_to_drain(s, d)
    return when(*step.when, unless("climb-not-drained", waits_for_climbs(s, d))).then(**step.changes)


@p.transition(world=NOT_BUILT)
def begins_to_found(s, f: Founding):
    step = memory.begins_to_found(s, f)
    succeeded = lambda c: some(Quorum, lambda q: s.climbed(c, q))  # noqa: E731
    return when(*step.when).then(known_climb=lambda g, c: If(g == f, succeeded(c), s.known_climb(g, c)), **step.changes)


@p.transition(world=NOT_BUILT)
def founds(s, f: Founding, d: Drain, t: Token):
    """The wall clock is assumed to be ahead of all guards of before, too."""
    step = memory.founds(s, f, d, t)
    ahead = each(Climb, lambda c: Implies(s.known_climb(f, c), le(s.high(c), t)))
    return when(*step.when, unless("climb-founding-behind", Or(some(Node, lambda n: Not(s.forgotten(f, n))), ahead))).then(**step.changes)


@p.transition(world=NOT_BUILT)
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
