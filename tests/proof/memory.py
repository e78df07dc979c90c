"""Tokens when nodes lose their memory: ids of servers, drain, catch-up from ceil(N/2) nodes that remember, admission by mark; the
trailing identity check; attempts that are bound to one id a node. Everything of tokens.py is in here again.

A node is a Redis server at one address. Its *life* is the id that the server shows (master_replid); a restart begins a new one. Its record
says which life it was admitted in. A loss leaves any older state, or nothing; the keys, counters, base and mark of it need not even have
been there together: more than can happen. (A replica that shows an id again is not in the model: it answers no votes, as the trailing
read asks for the role.)

A drain is one client's wait for one loss. What is said of clocks here is one thing: when it is over, the attempts that were in flight
when it began are over, complete or not. It begins when the node has the mark, so behind the loss; or, when another process of the machine
has left a note that this mark was there at this id, when that one did.
"""
from prover import Protocol, add, each, mutated, set_at, some, sort, unless, when
from vocabulary import *  # noqa: F403
from vocabulary import And, Boolean, Function, If, Implies, Not, Or, axioms

Life = sort("Life")         # what a server is called between two losses: its replication id
Mark = sort("Mark")         # of a loss; random
Drain = sort("Drain")       # a client's wait, and what it reads and sends behind it
Half = sort("Half")         # a set of ceil(N/2) nodes, or more
Founding = sort("Founding") # a client's decision that too few nodes remember anything

read_from = Function("read_from", Node, Half, Boolean)

p = Protocol("memory", "Memory: loss, drain, catch-up, admission, the trailing check; with all of the above",
             [Node, Attempt, Name, Value, Token, Extension, Quorum, Life, Mark, Drain, Half, Founding], order=Token, not_after=le)
axioms(p)


@p.axiom
def halves_meet_majorities(q: Quorum, h: Half):
    return unless("one-too-few", some(Node, lambda n: And(member(n, q), read_from(n, h))))


# ---- a node ----
p.variable("key", Node, Name, Value)
p.relation("kept", Node, Name)
p.variable("count", Node, Name, Token, only_if="kept")
p.variable("hw", Node, Token)
p.variable("base", Node, Token)             # no token that was complete before the admission is above it
p.variable("life", Node, Life)              # the id of the server now
p.relation("recorded", Node)                # it has a record, and a high-water mark ...
p.variable("record", Node, Life, only_if="recorded")    # ... of this id: the life that it was admitted in
p.relation("marked", Node)                  # it has a mark ...
p.variable("mark", Node, Mark, only_if="marked")        # ... and this is it
# ---- history, which nobody can read ----
p.relation("lived", Node, Life)             # the ids that it has had
p.relation("held", Node, Name, Attempt)     # whose value was ever in the key
p.relation("used", Mark)                    # marks that were given out
# ---- a client ----
p.relation("begun", Attempt)
p.relation("over", Attempt)                 # given up: it will not be complete
p.relation("bound", Attempt, Node)          # it has sent its acquire there ...
p.variable("id", Attempt, Node, Life, only_if="bound")  # ... with this id
p.relation("decided", Attempt)
p.variable("token", Attempt, Token, only_if="decided")
p.relation("complete", Attempt)
p.relation("done", Attempt, Quorum)
p.relation("before", Attempt, Attempt)
# A script that was executed in a message with some id answers (said). The answer counts behind the trailing check (counted). A vote is one
# that was executed while the server had that id, the attempt's own: nobody can see that, but the trailing check makes sure of it.
p.relation("said", Attempt, Node, Token, Life)
p.relation("vote", Attempt, Node, Token)
p.relation("counted", Attempt, Node, Token)
# ---- an extension; the same with its answers ----
p.variable("lease", Extension, Attempt, only_if="asked")
p.relation("asked", Extension)
p.relation("rival", Extension, Attempt, Quorum)
p.relation("renewal_said", Extension, Node, Name, Life)
p.relation("renewal", Extension, Node, Name)
p.relation("renewed", Extension, Node, Name)
p.relation("extended", Extension, Quorum)
# ---- a drain ----
p.relation("drains", Drain)                 # it has begun
p.variable("drained_node", Drain, Node, only_if="drains")
p.variable("drained_life", Drain, Life, only_if="drains")
p.variable("drained_mark", Drain, Mark, only_if="drains")
p.relation("flying", Drain, Attempt)        # attempts that were in flight when it began
p.relation("drained", Drain)                # the wait is over
p.relation("read", Drain, Node, Token)      # high-water marks of admitted nodes that were read behind it
p.relation("admission", Drain, Token)       # admissions that were sent, with this base
p.relation("word", Drain)                   # the operator says that nothing was ever locked on its node
# ---- a founding: drains of all nodes are over, and then all nodes are looked at once more ----
p.relation("founding", Founding)            # it has begun
p.relation("was_over", Founding, Drain)     # drains that were over then
p.relation("known", Founding, Attempt)      # complete by then
p.relation("forgotten", Founding, Node)     # nodes that were not admitted then
p.relation("found", Founding, Node)         # nodes that were seen to be so


def counter(s, n, x):
    return If(s.kept(n, x), s.count(n, x), s.hw(n))


def top(s, n, x):
    """What acquire steps over, and the guard compares with."""
    return larger(counter(s, n, x), s.base(n))


def enough_remember(s, f):
    """ceil(N/2) nodes were admitted when the founding began. Then nothing is assumed of clocks."""
    return some(Half, lambda h: each(Node, lambda n: Implies(read_from(n, h), Not(s.forgotten(f, n)))))


def in_flight(s, a):
    return And(s.begun(a), Not(s.complete(a)), Not(s.over(a)))


def admitted(s, n):
    return And(s.recorded(n), s.record(n) == s.life(n))


def runs(s, n, life):
    """What every script looks at first. A server that came back with an old record runs those of its old id."""
    return And(s.recorded(n), s.record(n) == life)


def current(s, d):
    """Nothing has happened to the node since this drain began."""
    n = s.drained_node(d)
    return And(s.drains(d), s.life(n) == s.drained_life(d), s.marked(n), s.mark(n) == s.drained_mark(d))


def may_matter(s, a, t, q):
    """A vote that may be, or is, one of those that complete the attempt: `q` is its majority if it is complete."""
    return Or(in_flight(s, a), And(s.done(a, q), t == s.token(a)))


def write_all(s, a, n, t):
    mine = lambda m, x: And(m == n, wants(a, x))  # noqa: E731
    return dict(kept=lambda m, x: Or(mine(m, x), s.kept(m, x)),
                count=lambda m, x: If(mine(m, x), t, s.count(m, x)),
                hw=set_at(s.hw, n, larger(s.hw(n), t)))


def own_id(s, a, n, life):
    """An attempt is bound to one id at each node: what messages with another one find was not put there by its acquire."""
    return unless("trailing-new-id", life == s.id(a, n))


def answers(s, a, n, t, life):
    """Who is over or complete does not listen any more."""
    heard = lambda b, m, u: And(b == a, m == n, u == t, in_flight(s, a))  # noqa: E731
    changes = dict(said=lambda b, m, u, other: Or(And(heard(b, m, u), other == life), s.said(b, m, u, other)),
                   vote=lambda b, m, u: Or(And(heard(b, m, u), s.life(n) == life, own_id(s, a, n, life)), s.vote(b, m, u)))
    if mutated("trailing-no-wait", True, False):
        changes["counted"] = lambda b, m, u: Or(heard(b, m, u), s.counted(b, m, u))
    return changes


# ---- the beginning: a cluster, founded or not; nobody has begun ----

@p.initially
def nobody_has_begun(s, a: Attempt, b: Attempt, n: Node, t: Token, q: Quorum, e: Extension, x: Name, life: Life):
    return And(Not(s.begun(a)), Not(s.over(a)), Not(s.bound(a, n)), Not(s.decided(a)), Not(s.complete(a)), Not(s.done(a, q)),
               Not(s.before(a, b)), Not(s.said(a, n, t, life)), Not(s.vote(a, n, t)), Not(s.counted(a, n, t)), Not(s.held(n, x, a)),
               Not(s.asked(e)), Not(s.rival(e, a, q)), Not(s.renewal_said(e, n, x, life)), Not(s.renewal(e, n, x)),
               Not(s.renewed(e, n, x)), Not(s.extended(e, q)))


@p.initially
def no_two_servers_have_one_id(s, n: Node, m: Node):
    return Implies(s.life(n) == s.life(m), n == m)


@p.initially
def nobody_drains(s, d: Drain, a: Attempt, n: Node, t: Token, f: Founding):
    return And(Not(s.drains(d)), Not(s.flying(d, a)), Not(s.drained(d)), Not(s.read(d, n, t)), Not(s.admission(d, t)), Not(s.word(d)),
               Not(s.founding(f)), Not(s.was_over(f, d)), Not(s.known(f, a)), Not(s.forgotten(f, n)), Not(s.found(f, n)),
               Not(s.marked(n)))


@p.initially
def nodes_are_consistent(s, n: Node, x: Name, a: Attempt, life: Life):
    return And(Implies(s.kept(n, x), le(s.count(n, x), s.hw(n))), le(s.base(n), s.hw(n)), s.key(n, x) != value(a),
               s.lived(n, life) == (life == s.life(n)))


# ---- the client's steps ----

@p.transition("src/core/acquire/acquisitions.cpp: fresh_value")
def begin(s, b: Attempt):
    return when(Not(s.begun(b))).then(
        begun=add(s.begun, b), before=lambda a, c: If(c == b, s.complete(a), s.before(a, c)))


@p.transition("src/core/fanout_votes.cpp: fanout::admit", "src/core/fanout.cpp: as->number")
def bind(s, a: Attempt, n: Node, life: Life):
    """The attempt takes the id that its client knows of the node: the present one, or an old one."""
    return when(s.begun(a), Not(s.bound(a, n)), s.lived(n, life)).then(bound=add(s.bound, a, n), id=set_at(s.id, a, n, life))


@p.transition("src/protocol/redis_replies.cpp: on_identity, drop_votes_of_another_server", "src/core/acquire/attempt.cpp: granted_as_")
def check(s, a: Attempt, n: Node, t: Token, life: Life):
    """The reply to the trailing INFO shows the id of the message, and that is the attempt's."""
    return when(s.said(a, n, t, life), s.life(n) == life, own_id(s, a, n, life)).then(counted=add(s.counted, a, n, t))


@p.transition("src/quorum/acquire_machine.cpp: choose_token")
def decide(s, a: Attempt, q: Quorum, t: Token):
    """Also when it is too late, and then by answers that do not count any more. What is confirmed then does not count either."""
    answered = And(each(Node, lambda n: Implies(member(n, q), some(Token, lambda u: And(s.counted(a, n, u), le(u, t))))),
                   some(Node, lambda n: And(member(n, q), s.counted(a, n, t))))
    return when(s.begun(a), Not(s.complete(a)), Not(s.decided(a)), Or(s.over(a), answered)).then(
        decided=add(s.decided, a), token=set_at(s.token, a, t))


@p.transition("src/quorum/acquire_machine.cpp: acquire_machine::decide")
def completes(s, a: Attempt, q: Quorum):
    return when(in_flight(s, a), s.decided(a), each(Node, lambda n: Implies(member(n, q), s.counted(a, n, s.token(a))))).then(
        complete=add(s.complete, a), done=add(s.done, a, q))


@p.transition("src/quorum/acquire_machine.cpp: on_timeout", "src/core/acquire/acquisitions.cpp: undo", world="a crash, a cancellation")
def gives_up(s, a: Attempt):
    return when(in_flight(s, a)).then(over=add(s.over, a))


@p.transition("src/quorum/lease_machine.cpp: on_extension_sent")
def asks_to_extend(s, e: Extension, a: Attempt):
    rivals = lambda b, q: And(s.done(b, q), lt(s.token(a), s.token(b)), some(Name, lambda x: both_want(a, b, x)))  # noqa: E731
    return when(Not(s.asked(e)), s.complete(a)).then(
        asked=add(s.asked, e), lease=set_at(s.lease, e, a),
        rival=lambda f, b, q: If(f == e, rivals(b, q), s.rival(f, b, q)))


@p.transition("src/protocol/redis_replies.cpp: on_identity, drop_votes_of_another_server")
def check_extension(s, e: Extension, n: Node, x: Name, life: Life):
    return when(s.renewal_said(e, n, x, life), s.life(n) == life).then(renewed=add(s.renewed, e, n, x))


@p.transition("src/quorum/lease_machine.cpp: extend_machine::decide", "src/protocol/redis_replies.cpp: on_extended")
def is_extended(s, e: Extension, q: Quorum):
    a = s.lease(e)
    return when(s.asked(e), each(Node, lambda n: Implies(member(n, q), all_names(a, lambda x: s.renewed(e, n, x))))).then(
        extended=add(s.extended, e, q))


# ---- the scripts of locks ----

@p.transition("src/protocol/fence_scripts.cpp: acquire_text, acquire_several_text")
def acquire(s, a: Attempt, n: Node, t: Token):
    over = mutated("acquire-no-base", counter, top)
    return when(s.bound(a, n), runs(s, n, s.id(a, n)),
                all_names(a, lambda x: And(s.key(n, x) == free, below(a, over(s, n, x), t)))).then(
        key=lambda m, x: If(And(m == n, wants(a, x)), value(a), s.key(m, x)),
        held=lambda m, x, b: Or(And(m == n, wants(a, x), b == a), s.held(m, x, b)),
        **write_all(s, a, n, t), **answers(s, a, n, t, s.id(a, n)))


@p.transition("src/protocol/fence_scripts.cpp: acquire_text, acquire_several_text")
def acquire_again(s, a: Attempt, n: Node, t: Token):
    return when(s.bound(a, n), runs(s, n, s.id(a, n)),
                all_names(a, lambda x: And(s.key(n, x) == value(a), counter(s, n, x) == t))).then(**answers(s, a, n, t, s.id(a, n)))


@p.transition("src/protocol/fence_scripts.cpp: confirm_text, confirm_several_text", "src/quorum/acquire_machine.cpp: on_confirmation")
def confirm(s, a: Attempt, n: Node, life: Life):
    """Its message may have a newer id than the acquire had. It is executed then, but not counted."""
    t = s.token(a)
    guard = unless("no-guard-after-loss", all_names(a, lambda x: le(top(s, n, x), t)))
    changes = write_all(s, a, n, t)
    if mutated("no-guard-after-loss", True, False):
        changes["count"] = lambda m, x: If(And(m == n, wants(a, x)), larger(counter(s, n, x), t), s.count(m, x))
    return when(s.bound(a, n), s.lived(n, life), runs(s, n, life), s.decided(a), all_names(a, lambda x: s.key(n, x) == value(a)),
                guard).then(**changes, **answers(s, a, n, t, life))


def extension(s, e, n, x, life):
    a, t = s.lease(e), s.token(s.lease(e))
    guard = mutated("no-base", le(counter(s, n, x), t), le(top(s, n, x), t))
    said = lambda f, m, y, other: And(f == e, m == n, y == x, other == life)  # noqa: E731
    return (s.asked(e), wants(a, x), s.lived(n, life), runs(s, n, life), guard), dict(
        kept=add(s.kept, n, x), count=set_at(s.count, n, x, t), hw=set_at(s.hw, n, larger(s.hw(n), t)),
        renewal_said=lambda f, m, y, other: Or(said(f, m, y, other), s.renewal_said(f, m, y, other)),
        renewal=lambda f, m, y: Or(And(f == e, m == n, y == x, s.life(n) == life), s.renewal(f, m, y)))


@p.transition("src/protocol/fence_scripts.cpp: extend_text", "src/quorum/lease_machine.cpp: extend_machine::on_vote")
def extend(s, e: Extension, n: Node, x: Name, life: Life):
    """With whatever id the client knows by then."""
    conditions, changes = extension(s, e, n, x, life)
    return when(*conditions, s.key(n, x) == value(s.lease(e))).then(**changes)


@p.transition("src/protocol/fence_scripts.cpp: extend_text")
def recreate(s, e: Extension, n: Node, x: Name, life: Life):
    conditions, changes = extension(s, e, n, x, life)
    return when(*conditions, s.key(n, x) == free).then(
        key=set_at(s.key, n, x, value(s.lease(e))), held=add(s.held, n, x, s.lease(e)), **changes)


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


def older_state(s, n, keys, kept, counts, hw, base):
    """Any keys that were there once, any counters, any mark, any base."""
    conditions = (each((Name, Attempt), lambda x, a: Implies(keys(x) == value(a), s.held(n, x, a))),)
    return conditions, dict(key=lambda m, x: If(m == n, keys(x), s.key(m, x)), kept=lambda m, x: If(m == n, kept(x), s.kept(m, x)),
                            count=lambda m, x: If(m == n, counts(x), s.count(m, x)), hw=set_at(s.hw, n, hw), base=set_at(s.base, n, base))


@p.transition(world="a restart, a failover, a resynchronisation: another id, any older data, any older record")
def restarts(s, n: Node, life: Life, keys: (Name, Value), kept: (Name, Boolean), counts: (Name, Token), hw: Token, base: Token,
             recorded: Boolean, record: Life, marked: Boolean, mark: Mark):
    conditions, changes = older_state(s, n, keys, kept, counts, hw, base)
    new = unless("id-again", each(Node, lambda m: Not(s.lived(m, life))))
    return when(new, record != life, Implies(marked, s.used(mark)), *conditions).then(
        life=set_at(s.life, n, life), lived=add(s.lived, n, life), recorded=set_at(s.recorded, n, recorded),
        record=set_at(s.record, n, record), marked=set_at(s.marked, n, marked), mark=set_at(s.mark, n, mark), **changes)


@p.transition(world="FLUSHALL, FLUSHDB, DEL redlock:node: the same id, no record")
def is_wiped(s, n: Node, keys: (Name, Value), kept: (Name, Boolean), counts: (Name, Token), hw: Token, base: Token):
    conditions, changes = older_state(s, n, keys, kept, counts, hw, base)
    return when(*conditions).then(recorded=set_at(s.recorded, n, False), marked=set_at(s.marked, n, False), **changes)


@p.transition(world="DEL redlock:hw: the high-water mark alone; the mark of an earlier loss stays")
def high_water_vanishes(s, n: Node, t: Token):
    return when().then(recorded=set_at(s.recorded, n, False), hw=set_at(s.hw, n, t))


# ---- admission ----

@p.transition("src/protocol/admission_scripts.cpp: mark_text", "src/quorum/admission.cpp: on_marked")
def marks(s, d: Drain, n: Node, fresh: Mark):
    """A fresh mark, or the one that is there already. The wait begins."""
    now = If(s.marked(n), s.mark(n), fresh)
    return when(Not(s.drains(d)), Not(admitted(s, n)), unless("mark-again", Not(s.used(fresh)))).then(
        marked=set_at(s.marked, n, True), mark=set_at(s.mark, n, now), used=add(s.used, fresh),
        drains=add(s.drains, d), drained_node=set_at(s.drained_node, d, n), drained_life=set_at(s.drained_life, d, s.life(n)),
        drained_mark=set_at(s.drained_mark, d, now), flying=lambda c, a: If(c == d, in_flight(s, a), s.flying(c, a)))


@p.transition("src/protocol/admission_scripts.cpp: mark_text", "src/quorum/admission.cpp: admission::on_marked",
              "src/core/admission/quarantine_folder.cpp: quarantine_folder::read")
def goes_on_with_a_note(s, d: Drain, n: Node, earlier: Drain):
    """The mark that is there was seen before, at this id, by another process of this machine: the wait began then."""
    same_id = unless("carried-no-id", s.life(n) == s.drained_life(earlier))
    same_mark = unless("carried-no-mark", s.mark(n) == s.drained_mark(earlier))
    then = (lambda a: False) if mutated("carried-any-boot", True, False) else (lambda a: s.flying(earlier, a))
    return when(Not(s.drains(d)), Not(admitted(s, n)), s.marked(n), s.drains(earlier), same_id, same_mark).then(
        drains=add(s.drains, d), drained_node=set_at(s.drained_node, d, n), drained_life=set_at(s.drained_life, d, s.life(n)),
        drained_mark=set_at(s.drained_mark, d, s.mark(n)), flying=lambda c, a: If(c == d, then(a), s.flying(c, a)))


@p.transition("src/quorum/admission.cpp: drained_at, outlived_at")
def ends_to_drain(s, d: Drain):
    """All are over that were in flight when it began, or, where a server shows since when it has lost nothing, those of them that had anything there. The
    others get nothing there before the node is admitted."""
    n = s.drained_node(d)
    there = lambda a: Or(some(Token, lambda u: s.vote(a, n, u)), some(Name, lambda x: s.held(n, x, a)))  # noqa: E731
    over = each(Attempt, lambda a: Implies(And(s.flying(d, a), there(a)), Not(in_flight(s, a))))
    return when(s.drains(d), unless("no-drain", over)).then(
        drained=add(s.drained, d), flying=lambda c, a: And(s.flying(c, a), Or(c != d, mutated("no-drain", True, Not(in_flight(s, a))))))


@p.transition("src/protocol/admission_scripts.cpp: inspect_text", "src/quorum/admission.cpp: on_facts")
def reads_a_mark(s, d: Drain, m: Node):
    return when(s.drained(d), admitted(s, m)).then(read=add(s.read, d, m, s.hw(m)))


@p.transition("src/quorum/admission.cpp: admission::admit, read_since")
def sends_an_admission(s, d: Drain, h: Half, t: Token):
    """The base is not below what was read from ceil(N/2) nodes. (The code takes the largest of what it read last from each.)"""
    enough = unless("no-catch-up", each(Node, lambda m: Implies(
        read_from(m, h), some(Token, lambda u: And(s.read(d, m, u), le(u, t))))))
    return when(s.drained(d), enough).then(admission=add(s.admission, d, t))


@p.transition("src/quorum/admission.cpp: found_the_cluster_if_it_is_new")
def begins_to_found(s, f: Founding):
    """The last of its drains is over. It does not know yet what the nodes are now; it has to look once more."""
    over = mutated("founded-without-drain", s.drains, s.drained)
    return when(Not(s.founding(f))).then(
        founding=add(s.founding, f), was_over=lambda g, d: If(g == f, over(d), s.was_over(g, d)),
        known=lambda g, a: If(g == f, s.complete(a), s.known(g, a)),
        forgotten=lambda g, n: If(g == f, Not(admitted(s, n)), s.forgotten(g, n)))


@p.transition("src/quorum/admission.cpp: all_read_since_the_last_quarantine")
def finds_that_it_forgot(s, f: Founding, d: Drain):
    """The node still has the id and the mark of this drain, so it was not admitted when the founding began."""
    still = unless("founded-on-old-facts", current(s, d))
    return when(s.founding(f), s.was_over(f, d), still).then(found=add(s.found, f, s.drained_node(d)))


@p.transition("src/quorum/admission.cpp: found_the_cluster_if_it_is_new, founding_base_")
def founds(s, f: Founding, d: Drain, t: Token):
    """All nodes have forgotten, or so many that the others are fewer than ceil(N/2), so that nobody can catch up: a recovery. (The code asks for an answer
    of the others as well.) The base is a wall clock, which is assumed to be ahead of all tokens of before, if it is so."""
    so_many = unless("founded-by-some", each(Half, lambda h: some(Node, lambda n: And(read_from(n, h), s.found(f, n)))))
    ahead = each(Attempt, lambda a: Implies(s.known(f, a), le(s.token(a), t)))
    clock = unless("founding-clock-behind", Or(enough_remember(s, f), ahead))
    return when(s.founding(f), s.was_over(f, d), so_many, clock).then(admission=add(s.admission, d, t))


@p.transition("src/quorum/admission.cpp: all_remember_nothing", world="the operator: config::bootstrap")
def takes_the_operators_word(s, d: Drain, t: Token):
    """Nothing was ever locked on its node: that is assumed. Then there is nothing to wait for."""
    n = s.drained_node(d)
    unused = unless("word-is-wrong", And(each((Attempt, Token), lambda a, u: Not(s.vote(a, n, u))),
                                         each((Attempt, Name), lambda a, x: Not(s.held(n, x, a)))))
    return when(s.drains(d), unused).then(word=add(s.word, d), admission=add(s.admission, d, t))


@p.transition("src/protocol/admission_scripts.cpp: admit_text")
def is_admitted(s, d: Drain, t: Token):
    """Executed as late and as often as you like."""
    n = s.drained_node(d)
    base = larger(larger(s.base(n), s.hw(n)), t)
    same_loss = unless("late-admit", And(s.marked(n), s.mark(n) == s.drained_mark(d)))
    return when(s.admission(d, t), s.life(n) == s.drained_life(d), Not(admitted(s, n)), same_loss).then(
        recorded=add(s.recorded, n), record=set_at(s.record, n, s.life(n)), base=set_at(s.base, n, base), hw=set_at(s.hw, n, base),
        marked=set_at(s.marked, n, False))


# ---- invariants: nodes ----

@p.invariant
def the_id_of_a_server_is_one_that_it_had(s, n: Node):
    """By what is written down of its history."""
    return s.lived(n, s.life(n))


@p.invariant
def an_id_is_of_one_server(s, n: Node, m: Node, life: Life):
    """They are random. So whoever finds an id again is at the same server."""
    return Implies(And(s.lived(n, life), s.lived(m, life)), n == m)


@p.invariant
def ids_in_use_were_seen(s, a: Attempt, d: Drain, e: Extension, n: Node, x: Name, life: Life):
    """Clients learn ids from servers. So no message has the new id that a restart brings, and no drain was for it."""
    return And(Implies(s.bound(a, n), And(s.begun(a), s.lived(n, s.id(a, n)))),
               Implies(s.drains(d), s.lived(s.drained_node(d), s.drained_life(d))),
               Implies(s.renewal_said(e, n, x, life), s.lived(n, life)))


@p.invariant
def a_key_was_set_by_a_message(s, a: Attempt, n: Node, x: Name):
    """An attempt sends with an id, and a value gets into a key only by its own messages: acquires, or recreates once it is complete."""
    return And(Implies(s.key(n, x) == value(a), s.held(n, x, a)),
               Implies(s.held(n, x, a), And(wants(a, x), s.begun(a), Or(s.complete(a), s.bound(a, n)))))


# ---- invariants: attempts ----

@p.invariant
def an_attempt_is_complete_or_over_or_neither(s, a: Attempt, q: Quorum):
    """It completes with a decided token, while it is in flight, and with one majority."""
    return And(Implies(s.decided(a), s.begun(a)), Implies(s.over(a), s.begun(a)), Implies(s.complete(a), s.decided(a)),
               Not(And(s.complete(a), s.over(a))), Implies(s.done(a, q), s.complete(a)))


@p.invariant
def answers_are_of_attempts_that_began(s, a: Attempt, b: Attempt, n: Node, t: Token, life: Life):
    """Messages come after the beginning, and carry an id of the server."""
    return And(Implies(s.said(a, n, t, life), And(s.begun(a), s.bound(a, n), s.lived(n, life))),
               Implies(s.vote(a, n, t), And(s.begun(a), s.bound(a, n))), Implies(s.before(a, b), And(s.complete(a), s.begun(b))))


@p.invariant
def what_the_trailing_check_lets_through_are_votes(s, a: Attempt, n: Node, t: Token, life: Life):
    """If the server has the id of the message at the end, it had it when the script ran: no server returns to an id that it left."""
    return And(Implies(And(s.said(a, n, t, life), s.life(n) == life, s.id(a, n) == life), s.vote(a, n, t)),
               Implies(s.counted(a, n, t), s.vote(a, n, t)))


@p.invariant
def a_majority_voted_for_the_token(s, a: Attempt, q: Quorum, n: Node):
    """That is what it means to complete."""
    return Implies(And(s.done(a, q), member(n, q)), s.vote(a, n, s.token(a)))


# ---- invariants: what admitted nodes remember ----

@p.invariant
def admitted_nodes_remember(s, a: Attempt, n: Node, t: Token, x: Name, q: Quorum):
    """Without a loss, counters do not fall. After one, the node was admitted behind the drain, so that an attempt with a vote there was
    complete, or over; and if complete, one of the nodes that were read had its token (catch-up)."""
    return Implies(And(admitted(s, n), s.vote(a, n, t), may_matter(s, a, t, q)),
                   And(Implies(wants(a, x), le(t, top(s, n, x))), le(t, s.hw(n))))


@p.invariant
def a_key_was_set_above_all_earlier_votes(s, a: Attempt, b: Attempt, n: Node, t: Token, x: Name, q: Quorum):
    """B's value is in the key, and B's messages have the id of the server, so an acquire of B was executed since the admission. It came
    after the votes of others, which left other values, and stepped over what the node remembers of them."""
    return Implies(And(admitted(s, n), s.key(n, x) == value(b), s.bound(b, n), s.id(b, n) == s.life(n), in_flight(s, b),
                       a != b, both_want(a, b, x), s.vote(a, n, t), may_matter(s, a, t, q)),
                   below(b, t, counter(s, n, x)))


@p.invariant
def the_mark_is_above_the_counter_of_a_new_key(s, b: Attempt, n: Node, x: Name):
    """The acquire that set the key came after the admission, and raised the high-water mark as well. So when the counter expires, it does
    not fall. (A loss may leave a counter that is above the mark.)"""
    return Implies(And(admitted(s, n), s.key(n, x) == value(b), s.bound(b, n), s.id(b, n) == s.life(n), in_flight(s, b), s.kept(n, x)),
                   le(s.count(n, x), s.hw(n)))


@p.invariant
def votes_at_one_node_are_apart(s, a: Attempt, b: Attempt, n: Node, t: Token, u: Token, x: Name, q: Quorum, r: Quorum):
    """The claim of proof.md, for votes that matter. The later one came from an acquire that stepped over the earlier one's t, or found
    a key that was set above it, and a counter not above its token: the guard."""
    return Implies(And(s.vote(a, n, t), s.vote(b, n, u), a != b, both_want(a, b, x), may_matter(s, a, t, q), may_matter(s, b, u, r)),
                   Or(below(b, t, u), below(a, u, t)))


@p.invariant
def later_attempts_vote_above_complete_ones(s, a: Attempt, b: Attempt, q: Quorum, n: Node, t: Token, x: Name):
    """A's votes came before A was complete, so before B began: at these nodes B's votes are the later ones."""
    return Implies(And(s.before(a, b), s.done(a, q), member(n, q), s.vote(b, n, t), both_want(a, b, x)), below(b, s.token(a), t))


# ---- invariants: losses, drains, admissions ----

@p.invariant
def marked_nodes_are_not_admitted(s, n: Node):
    """An admission takes the mark away, and a node that is admitted gets none."""
    return Implies(s.marked(n), Not(admitted(s, n)))


@p.invariant
def marks_are_given_out_once(s, n: Node, d: Drain):
    """They are random, and end with the time of the server that writes them."""
    return And(Implies(s.marked(n), s.used(s.mark(n))), Implies(s.drains(d), s.used(s.drained_mark(d))))


@p.invariant
def drains_begin_first(s, d: Drain, m: Node, t: Token, a: Attempt, f: Founding):
    """A client reads marks, founds, and admits, behind its drain, or takes the operator's word."""
    return And(Implies(s.drained(d), s.drains(d)), Implies(s.flying(d, a), s.begun(a)), Implies(s.read(d, m, t), s.drained(d)),
               Implies(s.admission(d, t), Or(s.drained(d), s.word(d))), Implies(s.word(d), s.drains(d)),
               Implies(s.was_over(f, d), And(s.founding(f), s.drained(d))), Implies(s.found(f, m), s.founding(f)))


@p.invariant
def behind_a_drain_the_attempts_are_over(s, d: Drain, a: Attempt):
    """That is what it waits for; who is complete or over stays so."""
    return Implies(And(s.drained(d), s.flying(d, a)), Not(in_flight(s, a)))


@p.invariant
def a_drain_waits_for_all_who_have_a_vote_there(s, d: Drain, a: Attempt, t: Token):
    """Votes at the node came before the loss, so before the drain; while the node is not admitted, there are no votes."""
    return Implies(And(current(s, d), s.vote(a, s.drained_node(d), t), in_flight(s, a)), s.flying(d, a))


@p.invariant
def a_drain_waits_for_all_who_have_a_key_there(s, d: Drain, a: Attempt, x: Name):
    """Keys that messages with the present id have set: scripts with this id refuse until the node is admitted."""
    n = s.drained_node(d)
    return Implies(And(current(s, d), s.held(n, x, a), s.bound(a, n), s.id(a, n) == s.life(n), in_flight(s, a)), s.flying(d, a))


@p.invariant
def marks_that_were_read_cover_complete_attempts(s, d: Drain, a: Attempt, m: Node, t: Token, u: Token, q: Quorum):
    """A node that was read was admitted at that moment, and remembered. An attempt with a vote at the drained node does not complete
    behind the drain."""
    return Implies(And(current(s, d), s.read(d, m, u), s.done(a, q), member(m, q), s.vote(a, s.drained_node(d), t)),
                   le(s.token(a), u))


@p.invariant
def admissions_cover_complete_attempts(s, d: Drain, a: Attempt, t: Token, u: Token, q: Quorum):
    """Those of ceil(N/2) nodes that were read share one with every majority. A founding base is ahead of all that were complete when too few
    nodes remembered. Where nothing was ever locked, there is nobody."""
    return Implies(And(current(s, d), s.admission(d, t), s.done(a, q), s.vote(a, s.drained_node(d), u)), le(s.token(a), t))


# ---- invariants: the founding ----

@p.invariant
def what_is_found_forgotten_was_so_in_the_beginning(s, f: Founding, d: Drain, n: Node):
    """A mark is given out once, and a node that has one is not admitted: so who still has the mark of a drain that was over when the founding
    began had it then."""
    return And(Implies(And(s.was_over(f, d), current(s, d)), s.forgotten(f, s.drained_node(d))), Implies(s.found(f, n), s.forgotten(f, n)))


@p.invariant
def foundings_know_of_complete_attempts(s, f: Founding, d: Drain, a: Attempt, u: Token, q: Quorum):
    """An attempt with a vote at the drained node was in flight when the drain began, or complete. It does not complete behind the drain."""
    return Implies(And(s.was_over(f, d), current(s, d), s.done(a, q), s.vote(a, s.drained_node(d), u)), s.known(f, a))


@p.invariant
def where_nothing_was_locked_there_are_no_votes(s, d: Drain, a: Attempt, u: Token, x: Name):
    """Nor keys of messages that have the present id. None come before the node is admitted."""
    n = s.drained_node(d)
    return Implies(And(s.word(d), current(s, d)),
                   And(Not(s.vote(a, n, u)), Not(And(s.held(n, x, a), s.bound(a, n), s.id(a, n) == s.life(n), in_flight(s, a)))))


# ---- invariants: extensions ----

@p.invariant
def extensions_are_of_leases(s, e: Extension, b: Attempt, q: Quorum, n: Node, x: Name, life: Life):
    """Only the holder extends; who was complete stays so; a script runs after it was sent."""
    return And(Implies(s.asked(e), s.complete(s.lease(e))), Implies(s.renewal_said(e, n, x, life), s.asked(e)),
               Implies(s.extended(e, q), s.asked(e)),
               Implies(s.rival(e, b, q), And(s.asked(e), s.done(b, q), lt(s.token(s.lease(e)), s.token(b)))))


@p.invariant
def the_trailing_check_of_an_extension(s, e: Extension, n: Node, x: Name, life: Life):
    """As for attempts, but each message has the id that its client knew when it was sent."""
    return And(Implies(And(s.renewal_said(e, n, x, life), s.life(n) == life), s.renewal(e, n, x)),
               Implies(s.renewed(e, n, x), s.renewal(e, n, x)), Implies(s.renewal(e, n, x), s.asked(e)))


@p.invariant
def no_renewal_where_a_rival_was_complete(s, e: Extension, b: Attempt, q: Quorum, n: Node, x: Name):
    """An admitted node remembers the rival in its counter or its base, and extensions compare with both."""
    return Not(And(s.rival(e, b, q), member(n, q), wants(b, x), s.renewal(e, n, x)))


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
