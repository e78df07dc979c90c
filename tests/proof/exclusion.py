"""Mutual exclusion: at no instant are two leases on one name valid. This one is about clocks.

Instants are those of real time, in a row. What the clocks of clients and servers have to do with them is in two sentences, which
clocks.py proves from bounded rates:

  the key outlives the deadline   Where a step of a lease was executed, the key does not expire before the deadline that its client counts
                                  with, of any message that it has sent until then. (`horizon` is the latest of these.)
  the wait outlives the deadlines When a drain is over, so are the deadlines of all that was executed before the loss.

Tokens are left out: every step here is one that an admitted node has counted (tokens.py and memory.py say more of that), or has no vote.
"""
from prover import Protocol, add, each, set_at, sort, unless, when
from vocabulary import *  # noqa: F403
from vocabulary import And, Boolean, Function, If, Implies, Not, Or, member_axiom, value_axiom

Instant = sort("Instant")
until = Function("until", Instant, Instant, Boolean)    # until(s, t): s is not later than t

p = Protocol("exclusion", "Mutual exclusion, with clocks", [Node, Attempt, Name, Value, Quorum, Instant], order=Instant, not_after=until)
value_axiom(p)
member_axiom(p)


@p.axiom
def instants_are_in_a_row(r: Instant, s: Instant, t: Instant):
    return And(Or(until(r, s), until(s, r)), Implies(And(until(r, s), until(s, r)), r == s),
               Implies(And(until(r, s), until(s, t)), until(r, t)))


def before(s, t):
    return Not(until(t, s))


p.variable("now", Instant)
# ---- a node ----
p.variable("key", Node, Name, Value)
p.variable("expiry", Node, Name, Instant)       # the key is there until then, if nobody deletes it
p.relation("admitted", Node)
# ---- a client ----
p.relation("sent", Attempt)                     # it has sent a message ...
p.variable("horizon", Attempt, Instant, only_if="sent")     # ... and this is the latest deadline of what it has sent
p.relation("holds", Attempt, Node)              # a step of it was executed there and counts ...
p.variable("deadline", Attempt, Node, Instant, only_if="holds")     # ... until then
p.relation("released", Attempt)                 # it is no lease any more, by its own will


def counts(s, a, n):
    """Its client counts on this node now."""
    return And(s.holds(a, n), Not(s.released(a)), before(s.now(), s.deadline(a, n)))


def valid(s, a, q):
    return each(Node, lambda n: Implies(member(n, q), counts(s, a, n)))


@p.initially
def nobody_has_begun(s, a: Attempt, n: Node, x: Name):
    return And(Not(s.sent(a)), Not(s.holds(a, n)), Not(s.released(a)))


@p.transition(world="time")
def time_passes(s, t: Instant):
    return when(until(s.now(), t)).then(now=lambda: t)


@p.transition("src/quorum/acquire_machine.hpp: deadline", "src/quorum/lease_machine.cpp: renewed_until_",
              "src/quorum/timing.cpp: validity_of")
def sends(s, a: Attempt, t: Instant):
    """A message to acquire or to extend; t is its deadline. The ttl of a lease does not change, so later messages have later ones."""
    return when(Implies(s.sent(a), until(s.horizon(a), t))).then(sent=add(s.sent, a), horizon=set_at(s.horizon, a, t))


def executes(s, a, n, part, t):
    """Keys of a are set, or renewed, until t. If these are all, and the node has a vote, its client may count on it."""
    outlives = unless("deadline-from-answer", until(s.horizon(a), t))
    can = each(Name, lambda x: Implies(part(x), And(wants(a, x), Or(s.key(n, x) == free, s.key(n, x) == value(a)))))
    vote = lambda b, m: And(b == a, m == n, s.admitted(n), all_names(a, part))  # noqa: E731
    return when(s.sent(a), can, outlives).then(
        key=lambda m, x: If(And(m == n, part(x)), value(a), s.key(m, x)), expiry=lambda m, x: If(And(m == n, part(x)), t, s.expiry(m, x)),
        holds=lambda b, m: Or(vote(b, m), s.holds(b, m)), deadline=lambda b, m: If(vote(b, m), s.horizon(a), s.deadline(b, m)))


@p.transition("src/protocol/fence_scripts.cpp: acquire_text, acquire_several_text, extend_text")
def step_of_a_lease(s, a: Attempt, n: Node, part: (Name, Boolean), t: Instant):
    """Acquire, extension, recreate: free keys are set, own ones renewed; an extension may do so for a part of the names."""
    return executes(s, a, n, part, t)


@p.transition("src/core/lease/releases.cpp: releases")
def is_released(s, a: Attempt):
    """First the lease ends, then the keys are deleted."""
    return when().then(released=add(s.released, a))


@p.transition("src/protocol/scripts.cpp: release_text")
def deletes(s, a: Attempt, n: Node, x: Name):
    return when(unless("deletes-first", s.released(a)), s.key(n, x) == value(a)).then(key=set_at(s.key, n, x, free))


@p.transition(world="expiry, by the server's wall clock")
def key_expires(s, n: Node, x: Name):
    return when(unless("clock-set-forward", until(s.expiry(n, x), s.now()))).then(key=set_at(s.key, n, x, free))


@p.transition(world="another library")
def somebody_else_sets_or_deletes_a_key(s, n: Node, x: Name, v: Value):
    nobodys = lambda w: each(Attempt, lambda a: value(a) != w)  # noqa: E731
    return when(nobodys(s.key(n, x)), nobodys(v)).then(key=set_at(s.key, n, x, v))


@p.transition(world="a restart, FLUSHALL, ...")
def loses_its_memory(s, n: Node, keys: (Name, Value), expiries: (Name, Instant)):
    return when().then(admitted=set_at(s.admitted, n, False), key=lambda m, x: If(m == n, keys(x), s.key(m, x)),
                       expiry=lambda m, x: If(m == n, expiries(x), s.expiry(m, x)))


@p.transition("src/protocol/admission_scripts.cpp: admit_text", "src/quorum/admission.cpp: drained_at")
def is_admitted(s, n: Node):
    over = each(Attempt, lambda a: Implies(s.holds(a, n), until(s.deadline(a, n), s.now())))
    return when(unless("admitted-too-early", over)).then(admitted=add(s.admitted, n))


# ---- invariants ----

@p.invariant
def deadlines_are_of_messages_that_were_sent(s, a: Attempt, n: Node):
    """A client counts with what it has sent."""
    return Implies(s.holds(a, n), And(s.sent(a), until(s.deadline(a, n), s.horizon(a))))


@p.invariant
def who_counts_on_a_node_has_its_keys_there(s, a: Attempt, n: Node, x: Name):
    """Until the deadline the key does not expire, it is not deleted as there was no release, others do not set a key that is there, and a
    node that lost it has no vote until the deadline is over."""
    return Implies(And(counts(s, a, n), s.admitted(n), wants(a, x)), And(s.key(n, x) == value(a), until(s.deadline(a, n), s.expiry(n, x))))


@p.invariant
def no_two_count_on_one_node(s, a: Attempt, b: Attempt, n: Node, x: Name):
    """The later of their steps would have found the other's key. Where the node has lost it, there are no such steps."""
    return Implies(And(counts(s, a, n), counts(s, b, n), both_want(a, b, x)), a == b)


# ---- the promise ----

@p.promise
def mutual_exclusion(s, a: Attempt, b: Attempt, q: Quorum, r: Quorum, x: Name):
    """4. At no instant are two leases on one name valid."""
    return Implies(And(valid(s, a, q), valid(s, b, r), both_want(a, b, x)), a == b)
