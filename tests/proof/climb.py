"""The climb: a lease that raises its guard, while its token stays.

A lease has an inner guard G, at first its token, and extensions compare with G. To climb to G' > G: at each node, if the key has its value
and no counter (nor the base) is above G, the counter becomes G'. A majority of such votes makes G' the guard. Then the lease can be set again
on a node whose counter or base is above its token: one that forgot and was admitted again, or where a rival's attempt failed.

This file is tokens.py and the climb; climb_memory.py is memory.py and the climb. Each has everything of the other file, and its own form of
the steps that use a guard. What is the same in both is not asked again (Protocol.extend).

The promises stay as they are; and no token of another lease falls between a lease's token and its guard. The argument: a vote for a climb is
a confirm under the old guard. Where a majority climbed from G to G', another attempt's votes are at most G, or above G'. Its majority shares a
node with that one, so its token is not between G and G', and by the climbs before not between the token and G.

`fate` is a device of the proof, a prophecy: the token that an attempt will decide on, if it ever does. An attempt decides once, so in every
run there is such a function, and no step of the protocol looks at it. With it the sorts stay in layers: that a majority climbed over a token is
said of attempts ("of B there is such a climb of A"), where of tokens it would lead in a circle, as nodes lead to tokens.
"""
import tokens
from prover import Protocol, add, each, mutated, set_at, some, sort, unless, when
from vocabulary import *  # noqa: F403
from vocabulary import And, Implies, Not, Or

Climb = sort("Climb")       # one round that raises the guard of a lease

OWN = ("decide", "completes", "asks_to_extend", "extend", "recreate")


# ---- what climb_memory.py has as well ----

def declare(p):
    p.variable("guard", Attempt, Token, only_if="complete")
    p.relation("under", Extension, Token)                       # guards that messages of an extension were sent with
    p.relation("climbing", Climb)                               # it has begun
    p.relation("of", Climb, Attempt)                            # whose it is. (A function would lead in a circle.)
    p.variable("low", Climb, Token, only_if="climbing")         # the guard when it began
    p.variable("high", Climb, Token, only_if="climbing")        # to be the guard
    p.relation("step", Climb, Node, Name)                       # a vote: executed there, for this name
    p.relation("climbed", Climb, Quorum)                        # it succeeded, with this majority

    @p.initially
    def nobody_climbs(s, c: Climb, a: Attempt, n: Node, x: Name, q: Quorum, e: Extension, t: Token):
        return And(Not(s.climbing(c)), Not(s.of(c, a)), Not(s.step(c, n, x)), Not(s.climbed(c, q)), Not(s.under(e, t)))


def around(s, c, b, t):
    """The climb passes t, or a part of the block of b that ends there."""
    return And(below(b, s.low(c), t), Not(below(b, s.high(c), t)))


def begin_to_climb(s, c, a, t):
    return when(Not(s.climbing(c)), s.complete(a), lt(s.guard(a), t)), dict(
        climbing=add(s.climbing, c), of=add(s.of, c, a), low=set_at(s.low, c, s.guard(a)), high=set_at(s.high, c, t))


def raise_the_counter(s, c, n, x, top):
    """Where the key is there and nothing is above the old guard."""
    guard = unless("climb-no-guard", mutated("climb-again", Or(le(top, s.low(c)), top == s.high(c)), le(top, s.low(c))))
    new = larger(top, s.high(c)) if mutated("climb-no-guard", True, False) else s.high(c)
    return (guard,), dict(kept=add(s.kept, n, x), count=set_at(s.count, n, x, new), hw=set_at(s.hw, n, larger(s.hw(n), new)))


def majority_has_climbed(s, q, has_voted):
    everywhere = each(Node, lambda n: Implies(member(n, q), has_voted(n)))
    return mutated("climb-minority", some(Node, lambda n: And(member(n, q), has_voted(n))), everywhere)


def chosen_guard(s, a, g):
    """What a message of an extension is sent with: the guard, or one of before."""
    one_of_its_own = And(le(s.token(a), g), le(g, s.guard(a)))
    one_under_way = some(Climb, lambda c: And(s.climbing(c), s.of(c, a), s.high(c) == g))
    return mutated("climb-too-soon", Or(one_of_its_own, one_under_way), one_of_its_own)


def common_invariants(p):
    @p.invariant
    def tokens_are_as_foreseen(s, a: Attempt):
        """By what `fate` is."""
        return Implies(s.decided(a), s.token(a) == fate(a))

    @p.invariant
    def a_guard_is_not_below_the_token(s, a: Attempt, e: Extension, c: Climb, t: Token):
        """It begins as the token, and climbs go up. An extension was sent with a guard that its lease had, and a climb began from one."""
        return And(Implies(s.complete(a), le(s.token(a), s.guard(a))), Implies(s.under(e, t), And(s.asked(e), le(s.token(s.lease(e)), t))),
                   Implies(s.of(c, a), le(s.token(a), s.low(c))))

    @p.invariant
    def climbs_are_of_leases(s, c: Climb, a: Attempt, b: Attempt, n: Node, x: Name, q: Quorum):
        """Only the holder climbs, and it climbs up. A script runs after it was sent."""
        return And(Implies(s.of(c, a), And(s.climbing(c), s.complete(a))), Implies(And(s.of(c, a), s.of(c, b)), a == b),
                   Implies(s.climbing(c), lt(s.low(c), s.high(c))), Implies(s.step(c, n, x), s.climbing(c)), Implies(s.climbed(c, q), s.climbing(c)))

    @p.invariant
    def every_guard_above_a_token_was_climbed_to(s, a: Attempt, b: Attempt):
        """The guard of A goes up from its token only by climbs that succeeded, and each begins where the one before has ended. So one of them
        passed whatever is between."""
        return Implies(And(s.complete(a), below(b, s.token(a), fate(b)), Not(below(b, s.guard(a), fate(b)))),
                       some(Climb, lambda c: And(s.of(c, a), some(Quorum, lambda q: s.climbed(c, q)), around(s, c, b, fate(b)))))

    @p.invariant
    def no_token_falls_between(s, a: Attempt, b: Attempt, q: Quorum, x: Name):
        """A's majority and B's share a node, where the blocks are apart. So do B's majority and that of the climb that would have passed B's
        token, where B's votes are at most `low`, or above `high`."""
        return Implies(And(s.complete(a), s.done(b, q), a != b, both_want(a, b, x)),
                       Or(below(a, s.token(b), s.token(a)), below(b, s.guard(a), s.token(b))))

    @p.invariant
    def a_lease_has_a_majority(s, a: Attempt):
        """With which it completed."""
        return Implies(s.complete(a), some(Quorum, lambda q: s.done(a, q)))

    @p.invariant
    def rivals_are_above_the_guards_of_the_extension(s, e: Extension, b: Attempt, q: Quorum, t: Token):
        """Their tokens are larger than the lease's, so they are not between its token and its guard."""
        return Implies(And(s.rival(e, b, q), s.under(e, t)), lt(t, s.token(b)))

    @p.promise
    def no_token_between_a_token_and_its_guard(s, a: Attempt, b: Attempt, q: Quorum, x: Name, t: Token):
        """However far A has climbed, no other lease with a name in common has a token from A's last one to A's guard."""
        return Implies(And(s.complete(a), s.done(b, q), a != b, both_want(a, b, x), owns(b, t, s.token(b))),
                       Not(And(le(s.token(a), t), le(t, s.guard(a)))))


# ---- without losses ----

p = Protocol("climb", "The climb: a guard that is raised, while the token stays", [*tokens.p.sorts, Climb], order=Token, not_after=le)
p.extend(tokens.p, without=OWN)
declare(p)


@p.transition("src/quorum/acquire_machine.cpp: choose_token")
def decide(s, a: Attempt, q: Quorum, t: Token):
    step = tokens.decide(s, a, q, t)
    return when(*step.when, t == fate(a)).then(**step.changes)


@p.transition("src/quorum/acquire_machine.cpp: acquire_machine::decide")
def completes(s, a: Attempt, q: Quorum):
    step = tokens.completes(s, a, q)
    return when(*step.when).then(guard=set_at(s.guard, a, s.token(a)), **step.changes)


@p.transition("src/quorum/lease_machine.cpp: on_extension_sent", "src/core/lease/lease_record.hpp: guard")
def asks_to_extend(s, e: Extension, a: Attempt, g: Token):
    step = tokens.asks_to_extend(s, e, a)
    return when(*step.when, chosen_guard(s, a, g)).then(under=add(s.under, e, g), **step.changes)


def extension(s, e, n, x, g):
    new = mutated("climb-recreate-old", s.token(s.lease(e)), g)
    return (s.under(e, g), wants(s.lease(e), x), le(tokens.counter(s, n, x), g)), dict(
        kept=add(s.kept, n, x), count=set_at(s.count, n, x, new), hw=set_at(s.hw, n, larger(s.hw(n), new)), renewed=add(s.renewed, e, n, x))


@p.transition("src/protocol/fence_scripts.cpp: extend_text", "src/quorum/lease_machine.cpp: extend_machine::on_vote")
def extend(s, e: Extension, n: Node, x: Name, g: Token):
    conditions, changes = extension(s, e, n, x, g)
    return when(*conditions, s.key(n, x) == value(s.lease(e))).then(**changes)


@p.transition("src/protocol/fence_scripts.cpp: extend_text")
def recreate(s, e: Extension, n: Node, x: Name, g: Token):
    conditions, changes = extension(s, e, n, x, g)
    return when(*conditions, s.key(n, x) == free).then(key=set_at(s.key, n, x, value(s.lease(e))), **changes)


@p.transition("src/core/lease/climb.cpp: lease_registry::start_climb")
def begins_to_climb(s, c: Climb, a: Attempt, t: Token):
    step, changes = begin_to_climb(s, c, a, t)
    return step.then(**changes)


@p.transition("src/protocol/fence_scripts.cpp: climb_text")
def climb(s, c: Climb, a: Attempt, n: Node, x: Name):
    """One name of a lease, by itself. Executed as late and as often as you like."""
    conditions, changes = raise_the_counter(s, c, n, x, tokens.counter(s, n, x))
    return when(s.of(c, a), wants(a, x), s.key(n, x) == value(a), *conditions).then(step=add(s.step, c, n, x), **changes)


@p.transition("src/core/lease/climb.cpp: climb::on_vote", "src/protocol/redis_replies.cpp: on_extended")
def has_climbed(s, c: Climb, a: Attempt, q: Quorum):
    """A node is a vote if all names were climbed there. One climb at a time: the guard is still the old one."""
    return when(s.of(c, a), s.guard(a) == s.low(c), majority_has_climbed(s, q, lambda n: all_names(a, lambda x: s.step(c, n, x)))).then(
        climbed=add(s.climbed, c, q), guard=set_at(s.guard, a, s.high(c)))


common_invariants(p)


@p.invariant
def a_climb_succeeds_with_a_majority(s, c: Climb, a: Attempt, q: Quorum, n: Node, x: Name):
    """For all names of the lease."""
    return Implies(And(s.climbed(c, q), s.of(c, a), member(n, q), wants(a, x)), s.step(c, n, x))


@p.invariant
def counters_stay_above_climbs(s, c: Climb, n: Node, x: Name):
    """A climb leaves `high` in the counter, which never falls."""
    return Implies(s.step(c, n, x), le(s.high(c), tokens.counter(s, n, x)))


@p.invariant
def a_key_was_set_above_all_earlier_climbs(s, c: Climb, a: Attempt, b: Attempt, n: Node, x: Name):
    """As of votes: the climb found A's value. B's came later, by an acquire, which stepped over what the climb had left."""
    return Implies(And(s.step(c, n, x), s.of(c, a), s.key(n, x) == value(b), Not(s.complete(b)), a != b), below(b, s.high(c), tokens.counter(s, n, x)))


@p.invariant
def votes_are_not_where_a_climb_passed(s, c: Climb, a: Attempt, b: Attempt, n: Node, x: Name, t: Token):
    """B's vote came before the climb: then the counter was at least t, and by the old guard `low` is. Or it came later, from an acquire that
    stepped over `high`."""
    return Implies(And(s.step(c, n, x), s.of(c, a), a != b, both_want(a, b, x), s.vote(b, n, t)), Not(around(s, c, b, t)))
