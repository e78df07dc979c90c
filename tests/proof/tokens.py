"""Tokens while no node loses its memory: acquire, confirm, extend, recreate; blocks of tokens; several names in one lock.

Messages are not stored. A request that was sent may be executed at any later time, any number of times, or never: loss, delay,
reordering and repetition are the freedom to choose the next step. So are keys that vanish: by expiry, release, or for no reason.

A lock on one name is a lock whose set of names has one element. A plain attempt is one whose block is one token.
"""
from prover import Protocol, add, each, mutated, set_at, some, unless, when
from vocabulary import *  # noqa: F403
from vocabulary import And, If, Implies, Not, Or, axioms

p = Protocol("tokens", "Tokens: two phases, the guard, extension, blocks, several names",
             [Node, Attempt, Name, Value, Token, Extension, Quorum], order=Token, not_after=le)
axioms(p)

# ---- a node ----
p.variable("key", Node, Name, Value)        # a lock's key, or `free`
p.relation("kept", Node, Name)              # the counter is there ...
p.variable("count", Node, Name, Token, only_if="kept")      # ... and is this
p.variable("hw", Node, Token)               # the high-water mark: what a counter that is not there reads as
# ---- a client ----
p.relation("begun", Attempt)
p.relation("decided", Attempt)              # it has chosen its token ...
p.variable("token", Attempt, Token, only_if="decided")      # ... and this is it
p.relation("complete", Attempt)             # it is a lease
p.relation("done", Attempt, Quorum)         # it became one with this majority
p.relation("before", Attempt, Attempt)      # before(a, b): a was complete when b began
# A vote (a, n, t) is a step of a at node n that left a's value in all of its keys there, and t in all of its counters. What proof.md calls
# a confirm event is a vote whose t is the attempt's token. Answers that come when the attempt is complete are not counted as votes.
p.relation("vote", Attempt, Node, Token)
# ---- an extension ----
p.variable("lease", Extension, Attempt, only_if="asked")    # whose
p.relation("asked", Extension)              # it has begun
p.relation("rival", Extension, Attempt, Quorum)     # had completed, with a larger token and a name in common, when it began
p.relation("renewed", Extension, Node, Name)        # was executed there, for this name
p.relation("extended", Extension, Quorum)   # succeeded, with this majority


def counter(s, n, x):
    """What the scripts read: the counter, or the high-water mark where it has expired."""
    return If(s.kept(n, x), s.count(n, x), s.hw(n))


def has_all_keys(s, a, n):
    return all_names(a, lambda x: s.key(n, x) == value(a))


def write_all(s, a, n, t):
    """All counters of the attempt's names become t, at one node; never less than they are."""
    mine = lambda m, x: And(m == n, wants(a, x))  # noqa: E731
    return dict(kept=lambda m, x: Or(mine(m, x), s.kept(m, x)),
                count=lambda m, x: If(mine(m, x), t, s.count(m, x)),
                hw=set_at(s.hw, n, larger(s.hw(n), t)))


def votes(s, a, n, t):
    return lambda b, m, u: Or(And(b == a, m == n, u == t, Not(s.complete(a))), s.vote(b, m, u))


# ---- the beginning: nodes have seen any history; nobody has begun ----

@p.initially
def nobody_has_begun(s, a: Attempt, b: Attempt, n: Node, t: Token, q: Quorum, e: Extension, x: Name):
    return And(Not(s.begun(a)), Not(s.decided(a)), Not(s.complete(a)), Not(s.done(a, q)), Not(s.before(a, b)), Not(s.vote(a, n, t)),
               Not(s.asked(e)), Not(s.rival(e, a, q)), Not(s.renewed(e, n, x)), Not(s.extended(e, q)))


@p.initially
def nodes_are_consistent(s, n: Node, x: Name, a: Attempt):
    return And(Implies(s.kept(n, x), le(s.count(n, x), s.hw(n))), s.key(n, x) != value(a))


# ---- the client's steps ----

@p.transition("src/core/acquire/acquisitions.cpp: fresh_value")
def begin(s, b: Attempt):
    return when(Not(s.begun(b))).then(
        begun=add(s.begun, b),
        before=lambda a, c: If(c == b, s.complete(a), s.before(a, c)))


@p.transition("src/quorum/acquire_machine.cpp: choose_token")
def decide(s, a: Attempt, q: Quorum, t: Token):
    """The token is the largest counter among the answers of a majority. (No invariant needs that it is the largest.)"""
    return when(s.begun(a), Not(s.decided(a)),
                each(Node, lambda n: Implies(member(n, q), some(Token, lambda u: And(s.vote(a, n, u), le(u, t))))),
                some(Node, lambda n: And(member(n, q), s.vote(a, n, t)))).then(
        decided=add(s.decided, a), token=set_at(s.token, a, t))


@p.transition("src/quorum/acquire_machine.cpp: acquire_machine::decide")
def completes(s, a: Attempt, q: Quorum):
    confirmed = each(Node, lambda n: Implies(member(n, q), mutated(
        "one-round", some(Token, lambda u: s.vote(a, n, u)), s.vote(a, n, s.token(a)))))
    return when(s.decided(a), Not(s.complete(a)), confirmed).then(
        complete=add(s.complete, a), done=add(s.done, a, q))


@p.transition("src/quorum/lease_machine.cpp: on_extension_sent")
def asks_to_extend(s, e: Extension, a: Attempt):
    rivals = lambda b, q: And(s.done(b, q), lt(s.token(a), s.token(b)), some(Name, lambda x: both_want(a, b, x)))  # noqa: E731
    return when(Not(s.asked(e)), s.complete(a)).then(
        asked=add(s.asked, e), lease=set_at(s.lease, e, a),
        rival=lambda f, b, q: If(f == e, rivals(b, q), s.rival(f, b, q)))


@p.transition("src/quorum/lease_machine.cpp: extend_machine::decide", "src/protocol/redis_replies.cpp: on_extended")
def is_extended(s, e: Extension, q: Quorum):
    a = s.lease(e)
    vote = lambda n: mutated("part-counts", some_name(a, lambda x: s.renewed(e, n, x)),  # noqa: E731
                             all_names(a, lambda x: s.renewed(e, n, x)))
    return when(s.asked(e), each(Node, lambda n: Implies(member(n, q), vote(n)))).then(extended=add(s.extended, e, q))


# ---- the scripts ----

@p.transition("src/protocol/fence_scripts.cpp: acquire_text, acquire_several_text")
def acquire(s, a: Attempt, n: Node, t: Token, first: Name):
    """All keys are free: keys and counters are set, and the answer is t, at least k above every counter. (A floor: t may be any such.)
    Executed as late and as often as you like."""
    step = lambda c: mutated("not-raised", le(c, t), mutated("block-by-one", lt(c, t), below(a, c, t)))  # noqa: E731
    above = mutated("token-of-first", And(wants(a, first), step(counter(s, n, first))),
                    all_names(a, lambda x: step(counter(s, n, x))))
    changes = write_all(s, a, n, t)
    if mutated("token-of-first", True, False):      # a counter that is larger stays
        changes["count"] = lambda m, x: If(And(m == n, wants(a, x)), larger(counter(s, n, x), t), s.count(m, x))
    return when(s.begun(a), all_names(a, lambda x: s.key(n, x) == free), above).then(
        key=lambda m, x: If(And(m == n, wants(a, x)), value(a), s.key(m, x)),
        vote=votes(s, a, n, t), **changes)


@p.transition("src/protocol/fence_scripts.cpp: acquire_text, acquire_several_text")
def acquire_again(s, a: Attempt, n: Node, t: Token):
    """The keys are its own: the answer is the counter as it is. With several names: if all counters agree."""
    even = mutated("uneven", And(some_name(a, lambda x: counter(s, n, x) == t), all_names(a, lambda x: le(counter(s, n, x), t))),
                   all_names(a, lambda x: counter(s, n, x) == t))
    return when(s.begun(a), has_all_keys(s, a, n), even).then(vote=votes(s, a, n, t))


@p.transition("src/protocol/fence_scripts.cpp: confirm_text, confirm_several_text", "src/quorum/acquire_machine.cpp: on_confirmation")
def confirm(s, a: Attempt, n: Node, first: Name):
    """The keys still have its value, and no counter is above its token: all counters become the token."""
    keys = mutated("key-of-first", And(wants(a, first), s.key(n, first) == value(a)), has_all_keys(s, a, n))
    changes = write_all(s, a, n, s.token(a))
    if mutated("no-guard", True, False):        # a counter that is larger stays
        changes["count"] = lambda m, x: If(And(m == n, wants(a, x)), larger(counter(s, n, x), s.token(a)), s.count(m, x))
    return when(s.decided(a), keys, unless("no-guard", all_names(a, lambda x: le(counter(s, n, x), s.token(a))))).then(
        vote=votes(s, a, n, s.token(a)), **changes)


def extension(s, e, n, x, mutant):
    """One name of a lease, by itself, under its own guard."""
    a = s.lease(e)
    guard = unless(mutant, le(counter(s, n, x), s.token(a)))
    new = larger(counter(s, n, x), s.token(a)) if mutated(mutant, True, False) else s.token(a)
    return when(s.asked(e), wants(a, x), guard), dict(
        kept=add(s.kept, n, x), count=set_at(s.count, n, x, new), hw=set_at(s.hw, n, larger(s.hw(n), new)),
        renewed=add(s.renewed, e, n, x))


@p.transition("src/protocol/fence_scripts.cpp: extend_text", "src/quorum/lease_machine.cpp: extend_machine::on_vote")
def extend(s, e: Extension, n: Node, x: Name):
    """The key is there. Executed at any time after it was asked for, by leases that are over as well."""
    step, changes = extension(s, e, n, x, "extend-no-guard")
    return when(*step.when, s.key(n, x) == value(s.lease(e))).then(**changes)


@p.transition("src/protocol/fence_scripts.cpp: extend_text")
def recreate(s, e: Extension, n: Node, x: Name):
    step, changes = extension(s, e, n, x, "recreate-no-guard")
    return when(*step.when, s.key(n, x) == free).then(key=set_at(s.key, n, x, value(s.lease(e))), **changes)


# ---- what happens by itself ----

@p.transition("src/protocol/scripts.cpp: release_text", world="expiry, an operator")
def key_vanishes(s, n: Node, x: Name):
    return when().then(key=set_at(s.key, n, x, free))


@p.transition(world="expiry (token_retention)")
def counter_vanishes(s, n: Node, x: Name):
    return when().then(kept=lambda m, y: And(s.kept(m, y), Not(And(m == n, y == x))))


@p.transition(world="another library, an operator")
def somebody_else_sets_a_key(s, n: Node, x: Name, v: Value):
    return when(each(Attempt, lambda a: value(a) != v)).then(key=set_at(s.key, n, x, v))


# ---- invariants ----

@p.invariant
def counters_are_not_above_the_mark(s, n: Node, x: Name):
    """Every script that writes a counter raises the mark as well. So a counter that expires does not fall."""
    return Implies(s.kept(n, x), le(s.count(n, x), s.hw(n)))


@p.invariant
def complete_attempts_are_decided(s, a: Attempt, q: Quorum):
    """An attempt completes when its token is confirmed, and with one majority."""
    return And(Implies(s.decided(a), s.begun(a)), Implies(s.complete(a), s.decided(a)), Implies(s.done(a, q), s.complete(a)))


@p.invariant
def a_majority_voted_for_the_token(s, a: Attempt, q: Quorum, n: Node):
    """That is what it means to complete. Votes are not taken back, and the token is chosen once."""
    return Implies(And(s.done(a, q), member(n, q)), s.vote(a, n, s.token(a)))


@p.invariant
def votes_are_of_attempts_that_began(s, a: Attempt, b: Attempt, n: Node, t: Token):
    """Nobody votes, and nobody is complete, before it began."""
    return And(Implies(s.vote(a, n, t), s.begun(a)), Implies(s.before(a, b), And(s.complete(a), s.begun(b))))


@p.invariant
def counters_never_fall(s, a: Attempt, n: Node, t: Token, x: Name):
    """A vote leaves its t in the counters, and every script leaves them at least as they are: acquire steps up, confirm and extension
    write a token only where the counter is not above it."""
    return Implies(And(s.vote(a, n, t), wants(a, x)), le(t, counter(s, n, x)))


@p.invariant
def a_key_was_set_above_all_earlier_votes(s, a: Attempt, b: Attempt, n: Node, t: Token, x: Name):
    """While b is not complete, its value is in a key only because of an acquire (a recreate comes after). Votes of others leave their own
    value there. So this acquire came after all votes of others, and stepped over what they left in the counter."""
    return Implies(And(s.key(n, x) == value(b), Not(s.complete(b)), a != b, both_want(a, b, x), s.vote(a, n, t)),
                   below(b, t, counter(s, n, x)))


@p.invariant
def keys_are_wanted(s, b: Attempt, n: Node, x: Name):
    """Scripts set only keys that were asked for."""
    return Implies(s.key(n, x) == value(b), And(wants(b, x), s.begun(b)))


@p.invariant
def votes_at_one_node_are_apart(s, a: Attempt, b: Attempt, n: Node, t: Token, u: Token, x: Name):
    """The claim of proof.md. The later vote is that of an acquire, which stepped over the counter and so over the earlier vote, or found a
    key that was set after the earlier vote, and a counter not above its token: the guard."""
    return Implies(And(s.vote(a, n, t), s.vote(b, n, u), a != b, both_want(a, b, x)), Or(below(b, t, u), below(a, u, t)))


@p.invariant
def later_attempts_vote_above_complete_ones(s, a: Attempt, b: Attempt, q: Quorum, n: Node, t: Token, x: Name):
    """A's votes came before A was complete, so before B began: at these nodes B's votes are the later ones."""
    return Implies(And(s.before(a, b), s.done(a, q), member(n, q), s.vote(b, n, t), both_want(a, b, x)), below(b, s.token(a), t))


@p.invariant
def extensions_are_of_leases(s, e: Extension, b: Attempt, q: Quorum):
    """Only the holder extends, and who was complete stays so."""
    return And(Implies(s.asked(e), s.complete(s.lease(e))),
               Implies(s.rival(e, b, q), And(s.asked(e), s.done(b, q), lt(s.token(s.lease(e)), s.token(b)))))


@p.invariant
def renewals_were_asked_for(s, e: Extension, n: Node, x: Name, q: Quorum):
    """A script runs after it was sent."""
    return And(Implies(s.renewed(e, n, x), s.asked(e)), Implies(s.extended(e, q), s.asked(e)))


@p.invariant
def no_renewal_where_a_rival_was_complete(s, e: Extension, b: Attempt, q: Quorum, n: Node, x: Name):
    """The rival left its token there before the extension began, counters never fall, and extensions have the guard."""
    return Not(And(s.rival(e, b, q), member(n, q), wants(b, x), s.renewed(e, n, x)))


@p.invariant
def an_extension_succeeds_with_a_majority(s, e: Extension, q: Quorum, n: Node, x: Name):
    """A node is a vote if all names of the lease were renewed there."""
    return Implies(And(s.extended(e, q), member(n, q), wants(s.lease(e), x)), s.renewed(e, n, x))


@p.invariant
def rivals_have_a_name_in_common(s, e: Extension, b: Attempt, q: Quorum):
    """That is who is asked about; the names of a lock do not change."""
    return Implies(s.rival(e, b, q), some(Name, lambda x: both_want(s.lease(e), b, x)))


# ---- the promises ----

@p.promise
def uniqueness(s, a: Attempt, b: Attempt, q: Quorum, r: Quorum, x: Name, t: Token):
    """1. No two completed attempts with a name in common own the same token."""
    return Implies(And(s.done(a, q), s.done(b, r), a != b, both_want(a, b, x)),
                   Not(And(owns(a, t, s.token(a)), owns(b, t, s.token(b)))))


@p.promise
def order(s, a: Attempt, b: Attempt, q: Quorum, r: Quorum, x: Name, t: Token, u: Token):
    """2. If A was complete before B began, every token of B is larger than every token of A."""
    return Implies(And(s.done(a, q), s.done(b, r), s.before(a, b), both_want(a, b, x), owns(a, t, s.token(a)), owns(b, u, s.token(b))),
                   lt(t, u))


@p.promise
def extension_promise(s, e: Extension, b: Attempt, q: Quorum, r: Quorum):
    """3. If an extension of A succeeds, no attempt with a larger token, and a name in common, was complete when it began."""
    return Not(And(s.extended(e, q), s.rival(e, b, r)))
