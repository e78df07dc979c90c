"""The rule for the longest ttl: a drain need not wait for attempts with a longer ttl than those nodes allow that were read behind it, as
such an attempt does not complete.

A node's record says which ttl it allows (`maxttl`), and its scripts refuse a longer one. A drain is as long as the longest ttl that its
client knows: its own, and those that ceil(N/2) admitted nodes allow. memory.py says that who was in flight when the drain began is
complete or over when it ends. clocks.py proves that of attempts with no longer ttl; this file, of the others: they are `outwaited`, and
not being able to complete is as good as being over.

Only what this needs is here: votes, losses, and what nodes allow. Everything else is in memory.py.
"""
from z3 import And, Function, Implies, Not, Or

from prover import Protocol, add, each, set_at, some, sort, unless, when
from vocabulary import Attempt, Boolean, Node, Quorum, member

Ttl = sort("Ttl")
Drain = sort("Drain")
Half = sort("Half")
no_longer = Function("no_longer", Ttl, Ttl, Boolean)
ttl = Function("ttl", Attempt, Ttl)
read_from = Function("read_from", Node, Half, Boolean)

p = Protocol("ttl", "The longest ttl: whom a drain need not wait for", [Node, Attempt, Quorum, Half, Ttl, Drain], order=Ttl, not_after=no_longer)


@p.axiom
def durations_are_in_a_row(r: Ttl, s: Ttl, t: Ttl):
    return And(Or(no_longer(r, s), no_longer(s, r)), Implies(And(no_longer(r, s), no_longer(s, r)), r == s),
               Implies(And(no_longer(r, s), no_longer(s, t)), no_longer(r, t)))


@p.axiom
def halves_meet_majorities(q: Quorum, h: Half):
    return unless("longest-of-too-few", some(Node, lambda n: And(member(n, q), read_from(n, h))))


p.relation("admitted", Node)
p.variable("allows", Node, Ttl)
p.relation("begun", Attempt)
p.relation("complete", Attempt)
p.relation("vote", Attempt, Node)           # a script of it was executed there, while the node was admitted
p.relation("drains", Drain)
p.variable("node", Drain, Node, only_if="drains")
p.relation("current", Drain)                # nothing has happened to the node since it began: its id and its mark are there
p.relation("flying", Drain, Attempt)        # in flight when it began
p.variable("longest", Drain, Ttl, only_if="drains")     # what it waits for
p.relation("read", Drain, Node)             # admitted nodes that were read behind it, and allowed no more
p.relation("refused", Attempt, Node)        # in flight when the node was read, without a vote there, and of a ttl that it does not allow
p.relation("outwaited", Attempt)            # a node was admitted that may have forgotten a vote of it, and it was in flight ...
p.relation("refused_by", Attempt, Half)     # ... and these nodes had been read


def in_flight(s, a):
    return And(s.begun(a), Not(s.complete(a)))


def is_longer(s, d, a):
    """It was in flight when the drain began, is so still, and is none of those that the drain waits for."""
    return And(s.flying(d, a), in_flight(s, a), Not(no_longer(ttl(a), s.longest(d))))


@p.initially
def nobody_has_begun(s, a: Attempt, n: Node, d: Drain, h: Half):
    return And(Not(s.begun(a)), Not(s.complete(a)), Not(s.vote(a, n)), Not(s.drains(d)), Not(s.current(d)), Not(s.flying(d, a)),
               Not(s.read(d, n)), Not(s.refused(a, n)), Not(s.outwaited(a)), Not(s.refused_by(a, h)))


@p.transition("src/core/acquire/acquisitions.cpp: fresh_value")
def begin(s, a: Attempt):
    return when(Not(s.begun(a))).then(begun=add(s.begun, a))


@p.transition("src/protocol/fence_scripts.cpp: acquire_text, acquire_several_text")
def acquire(s, a: Attempt, n: Node):
    """A node confirms only what it finds acquired, so confirmations need not look."""
    return when(in_flight(s, a), s.admitted(n), unless("any-ttl", no_longer(ttl(a), s.allows(n)))).then(vote=add(s.vote, a, n))


@p.transition("src/quorum/acquire_machine.cpp: acquire_machine::decide")
def completes(s, a: Attempt, q: Quorum):
    return when(s.begun(a), each(Node, lambda n: Implies(member(n, q), s.vote(a, n)))).then(complete=add(s.complete, a))


@p.transition(world="a restart, FLUSHALL, ...: any older record")
def loses_its_memory(s, n: Node, t: Ttl):
    return when().then(admitted=lambda m: And(s.admitted(m), Not(m == n)), allows=set_at(s.allows, n, t),
                       current=lambda d: And(s.current(d), Not(s.node(d) == n)))


@p.transition("src/quorum/admission.cpp: on_marked, drained_at")
def drain(s, d: Drain, n: Node, t: Ttl):
    """t: the longest ttl that it waits for, in the end. (If a node that is read makes it wait longer, t is that.)"""
    return when(Not(s.drains(d)), Not(s.admitted(n))).then(
        drains=add(s.drains, d), current=add(s.current, d), node=set_at(s.node, d, n), longest=set_at(s.longest, d, t),
        flying=lambda c, a: Or(And(c == d, in_flight(s, a)), And(Not(c == d), s.flying(c, a))))


@p.transition("src/protocol/admission_scripts.cpp: inspect_text", "src/quorum/admission.cpp: drained_at, read_since")
def reads(s, d: Drain, m: Node):
    """Behind the wait. If the node allows more, the wait is longer than that, and has to be over before a reading counts."""
    enough = unless("own-ttl-only", no_longer(s.allows(m), s.longest(d)))
    return when(s.drains(d), s.admitted(m), enough).then(
        read=add(s.read, d, m), refused=lambda a, n: Or(And(n == m, is_longer(s, d, a), Not(s.vote(a, m))), s.refused(a, n)))


@p.transition("src/protocol/admission_scripts.cpp: admit_text", "src/quorum/admission.cpp: admission::admit, max_ttl")
def is_admitted(s, d: Drain, h: Half, t: Ttl):
    """The drain was long enough for all others (clocks.py). It is assumed that what a node allows is not raised to the ttl of an attempt
    that is in flight and was not waited for."""
    n = s.node(d)
    waited = each(Attempt, lambda a: Implies(And(s.flying(d, a), no_longer(ttl(a), s.longest(d))), Not(in_flight(s, a))))
    raised = unless("raised-during-the-wait", each(Attempt, lambda a: Implies(And(in_flight(s, a), s.refused(a, n)), Not(no_longer(ttl(a), t)))))
    now = lambda a: And(is_longer(s, d, a), Not(s.outwaited(a)))  # noqa: E731
    return when(s.current(d), each(Node, lambda m: Implies(read_from(m, h), s.read(d, m))), waited, raised).then(
        admitted=add(s.admitted, n), allows=set_at(s.allows, n, t), current=lambda c: And(s.current(c), Not(s.node(c) == n)),
        outwaited=lambda a: Or(now(a), s.outwaited(a)), refused_by=lambda a, g: Or(And(g == h, now(a)), s.refused_by(a, g)))


# ---- invariants ----

@p.invariant
def drains_are_of_nodes_that_wait(s, d: Drain, a: Attempt, n: Node, h: Half):
    """A loss ends what was true of the node, and so does an admission."""
    return And(Implies(s.current(d), And(s.drains(d), Not(s.admitted(s.node(d))))), Implies(s.read(d, n), s.drains(d)),
               Implies(s.flying(d, a), s.begun(a)), Implies(Or(s.vote(a, n), s.complete(a), s.outwaited(a), s.refused(a, n), s.refused_by(a, h)), s.begun(a)))


@p.invariant
def a_drain_knows_all_who_have_a_vote_there(s, d: Drain, a: Attempt):
    """There are no votes while a node waits."""
    return Implies(And(s.current(d), s.vote(a, s.node(d)), in_flight(s, a)), s.flying(d, a))


@p.invariant
def votes_at_admitted_nodes_were_allowed(s, a: Attempt, n: Node):
    """The script compares, and a record changes only with an admission; by then such an attempt was waited for, or is outwaited."""
    return Implies(And(s.vote(a, n), s.admitted(n), in_flight(s, a), Not(s.outwaited(a))), no_longer(ttl(a), s.allows(n)))


@p.invariant
def who_is_refused_stays_so(s, a: Attempt, n: Node):
    """The node allows less than its ttl, and its record does not rise so far while the attempt is in flight."""
    return Implies(And(s.refused(a, n), in_flight(s, a)),
                   And(Not(s.vote(a, n)), Implies(s.admitted(n), Not(no_longer(ttl(a), s.allows(n))))))


@p.invariant
def nodes_that_were_read_refuse_it(s, d: Drain, a: Attempt, m: Node):
    """Behind the drain they allow no more than it waits for, and who had a vote there with a longer ttl is outwaited already."""
    return Implies(And(s.read(d, m), is_longer(s, d, a), Not(s.outwaited(a))), s.refused(a, m))


@p.invariant
def the_outwaited_are_refused_by_some(s, a: Attempt):
    """By those that were read."""
    return Implies(s.outwaited(a), some(Half, lambda h: s.refused_by(a, h)))


@p.invariant
def these_are_half_of_the_nodes(s, a: Attempt, h: Half, m: Node):
    """All of them refuse it, and go on doing so."""
    return Implies(And(s.refused_by(a, h), read_from(m, h), in_flight(s, a)), s.refused(a, m))


@p.invariant
def the_outwaited_do_not_complete(s, a: Attempt):
    """Every majority has one of those nodes."""
    return Implies(s.outwaited(a), Not(s.complete(a)))


# ---- the promise ----

@p.promise
def who_completes_was_waited_for(s, a: Attempt):
    """An attempt that a node may have forgotten completes before the node is admitted, or never."""
    return Not(And(s.complete(a), s.outwaited(a)))
