"""Runs that must be possible: step by step from the beginning, in a world of three nodes. A promise could hold because nothing ever
completes; these show that things do. Every transition is taken somewhere.

A state is a table here, and a step looks whether its condition holds of that. What a run does not say is chosen by z3, at each step for
itself.
"""
import dataclasses
import itertools
from dataclasses import dataclass

import z3
from z3 import And, Const, Distinct, Not

import climb
import exclusion
import memory
import prover
import ttl
import vocabulary
from prover import Or, each
from vocabulary import Attempt, Extension, Name, Node, Quorum, Token, Value, below, both_want, fate, free, le, lt, member, value, wants

SIZES = {Node: 3, Attempt: 2, Name: 2, Value: 4, Token: 5, Extension: 1, Quorum: 3, memory.Life: 4, memory.Mark: 3, memory.Drain: 3,
         memory.Half: 3, memory.Founding: 1, climb.Climb: 2, ttl.Ttl: 2, exclusion.Instant: 5}
ELEMENTS = {sort.name(): [Const(f"{sort.name()}.{i}", sort) for i in range(size)] for sort, size in SIZES.items()}

A, B = ELEMENTS["Attempt"]
X, Y = ELEMENTS["Name"]
N1, N2, N3 = ELEMENTS["Node"]
Q12, Q23, Q13 = ELEMENTS["Quorum"]
FREE, VALUE_A, VALUE_B, FOREIGN = ELEMENTS["Value"]
T = ELEMENTS["Token"]
E, = ELEMENTS["Extension"]
L1, L2, L3, L4 = ELEMENTS["Life"]
MARK1, MARK2, MARK3 = ELEMENTS["Mark"]
I = ELEMENTS["Instant"]     # noqa: E741
D, D2, D3 = ELEMENTS["Drain"]
H12, H23, H13 = ELEMENTS["Half"]
F, = ELEMENTS["Founding"]
C, C2 = ELEMENTS["Climb"]
SHORT, LONG = ELEMENTS["Ttl"]

NEVER_CHANGES = {"le": (Token, Token), "below": (Attempt, Token, Token), "value": (Attempt,), "wants": (Attempt, Name),
                 "member": (Node, Quorum), "fate": (Attempt,)}


def world():
    """Tokens in their order, blocks of one token, majorities of two nodes (and halves: of three nodes these are two as well). A wants both
    names, B one."""
    formulas = [Distinct(*elements) for elements in ELEMENTS.values() if len(elements) > 1]
    formulas += [le(s, t) == (i <= j) for (i, s), (j, t) in itertools.product(enumerate(T), repeat=2)]
    formulas += [exclusion.until(s, t) == (i <= j) for (i, s), (j, t) in itertools.product(enumerate(I), repeat=2)]
    formulas += [ttl.no_longer(s, t) == (i <= j) for (i, s), (j, t) in itertools.product(enumerate((SHORT, LONG)), repeat=2)]
    formulas += [ttl.ttl(A) == SHORT, ttl.ttl(B) == LONG]
    formulas += [below(a, s, t) == (i < j) for a in (A, B) for (i, s), (j, t) in itertools.product(enumerate(T), repeat=2)]
    formulas += [free == FREE, value(A) == VALUE_A, value(B) == VALUE_B, wants(A, X), wants(A, Y), wants(B, X), Not(wants(B, Y))]
    for inside, sets in ((member, (Q12, Q23, Q13)), (memory.read_from, (H12, H23, H13))):
        pairs = (N1, N2), (N2, N3), (N1, N3)
        formulas += [inside(n, s) == any(n is m for m in pair) for s, pair in zip(sets, pairs) for n in (N1, N2, N3)]
    return formulas


def points(sorts):
    return itertools.product(*[ELEMENTS[s.name()] for s in sorts])


def elements_of(sort):
    return [z3.BoolVal(True), z3.BoolVal(False)] if sort.eq(prover.Bool) else ELEMENTS[sort.name()]


def inside_the_world(function, domain, result):
    return [Or(*[function(*p) == e for e in ELEMENTS[result.name()]]) for p in points(domain)] if not result.eq(prover.Bool) else []


@dataclass(frozen=True)
class Run:
    protocol: str
    begins: object          # what is so in the beginning: (state) -> formula
    steps: tuple            # (transition, parameters)
    ends: object            # what is so in the end
    rows: tuple = ()        # in tests/model/run.py

    def transitions(self):
        return {name for name, _ in self.steps}

    def follow(self, protocol, watcher=None):
        """None, or where it is stuck. A watcher looks at each state, and at each step (agreement.py)."""
        prover.WORLD.update(ELEMENTS)
        try:
            return self.follow_in_the_world(protocol, watcher)
        finally:
            prover.WORLD.clear()

    def follow_in_the_world(self, protocol, watcher):
        s = protocol.state()
        constant = world() + protocol.background()
        formulas = constant + [protocol.for_all(b, s) for b in protocol.beginnings] + [self.begins(s)]
        for name, (*domain, result) in protocol.variables.items():
            formulas += inside_the_world(s._functions[name], domain, result)
        model = satisfied(formulas)
        if model is None:
            return "it cannot begin"
        tables = {name: self.table(model, s._functions[name], sorts) for name, sorts in protocol.variables.items()}
        fixed = constant + [self.fact(model, getattr(vocabulary, name), p) for name, sorts in NEVER_CHANGES.items() for p in points(sorts)]
        by_name = {t.__name__: t for t in protocol.transitions}
        for number, (name, given) in enumerate(self.steps, 1):
            chosen, step, after = protocol.step(by_name[name], s)
            names = [p for p, _ in prover.parameters(by_name[name], 1)]
            unknown = set(given) - set(names)
            assert not unknown, f"{name} has no {unknown}"
            formulas = fixed + [f for table in tables.values() for f in table] + list(step.when)
            for parameter, choice in zip(names, chosen):
                if z3.is_func_decl(choice):
                    domain = [choice.domain(i) for i in range(choice.arity())]
                    formulas += inside_the_world(choice, domain, choice.range())
                else:
                    formulas.append(Or(*[choice == e for e in elements_of(choice.sort())]))
                if parameter in given:
                    formulas.append(given[parameter](choice) if callable(given[parameter]) else choice == given[parameter])
            model = satisfied(formulas)
            if model is None:
                return f"step {number}, {name}, is not possible"
            if watcher:
                watcher.look(model, s)
                watcher.take(model, s, by_name[name], chosen)
            for variable in step.changes:
                tables[variable] = self.table(model, after._functions[variable], protocol.variables[variable], s._functions[variable])
        ends = satisfied(fixed + [f for table in tables.values() for f in table] + [self.ends(s)])
        return None if ends is not None else "it ends otherwise"

    @staticmethod
    def fact(model, function, point, symbol=None):
        is_now = model.eval(function(*point), model_completion=True)
        symbol = function if symbol is None else symbol
        if z3.is_bool(is_now):
            return symbol(*point) if z3.is_true(is_now) else Not(symbol(*point))
        element = next(e for e in ELEMENTS[is_now.sort().name()] if z3.is_true(model.eval(e == is_now, model_completion=True)))
        return symbol(*point) == element

    @classmethod
    def table(cls, model, function, sorts, symbol=None):
        return [cls.fact(model, function, p, symbol) for p in points(sorts[:-1])]


def satisfied(formulas):
    solver = z3.Solver()
    solver.add(*formulas)
    return solver.model() if solver.check() == z3.sat else None


# ---- the runs ----

def counters_are(*of_nodes):
    """Keys are free, the marks of the nodes are these, and nothing else is known of the names."""
    return lambda s: And(each((Node, Name), lambda n, x: And(s.key(n, x) == FREE, Not(s.kept(n, x)))),
                         *[s.hw(n) == t for n, t in zip((N1, N2, N3), of_nodes)])


def all_admitted(*of_nodes):
    """The same, with three servers that have voted all the time."""
    of_node = lambda s, n, life: And(s.life(n) == life, s.base(n) == T[0], s.recorded(n), s.record(n) == life)  # noqa: E731
    return lambda s: And(counters_are(*of_nodes)(s), *[of_node(s, n, life) for n, life in zip((N1, N2, N3), (L1, L2, L3))])


def on(nodes, name, **parameters):
    return tuple((name, {"n": n, **parameters}) for n in nodes)


def vanish(*nodes):
    return tuple(("key_vanishes", dict(n=n, x=x)) for n in nodes for x in (X, Y))


def acquired(a, nodes, t, with_id):
    """Everybody answers t, and that is enough."""
    lives = dict(zip((N1, N2, N3), (L1, L2, L3))) | with_id
    steps = [("begin", dict(b=a))]
    steps += [("bind", dict(a=a, n=n, life=lives[n])) for n in nodes]
    steps += [("acquire", dict(a=a, n=n, t=t)) for n in nodes]
    steps += [("check", dict(a=a, n=n, t=t, life=lives[n])) for n in nodes]
    return (*steps, ("decide", dict(a=a, t=t)), ("completes", dict(a=a)))


def nothing(keys):
    return each(Name, lambda x: keys(x) == FREE)


def restarted(n, new, **more):
    """A node comes back with nothing, and another id."""
    return (("restarts", dict(n=n, life=new, keys=nothing, hw=T[0], base=T[0], recorded=False, marked=False, **more)),)


def admitted(n, others, half, base):
    """It waits, the marks of the other two are read, and it is admitted."""
    return (("marks", dict(d=D, n=n, fresh=MARK1)), *admitted_by(D, others, half, base))


def admitted_by(d, others, half, base):
    return (("ends_to_drain", dict(d=d)), *[("reads_a_mark", dict(d=d, m=m)) for m in others],
            ("sends_an_admission", dict(d=d, h=half, t=base)), ("is_admitted", dict(d=d)))


def foresees(begins, **fates):
    """A beginning, and what A and B will decide on."""
    return lambda s: And(begins(s), *[fate({"a": A, "b": B}[who]) == t for who, t in fates.items()])


def of_climb_memory(run, **fates):
    """A run of memory.py, in which nobody climbs."""
    return dataclasses.replace(run, protocol="climb-memory", begins=foresees(run.begins, **fates), rows=())


def in_order(s):
    return And(s.complete(A), s.complete(B), both_want(A, B, X), s.before(A, B), lt(s.token(A), s.token(B)))


def step_on(nodes, a, until):
    return tuple(("step_of_a_lease", dict(a=a, n=n, t=until, part=lambda f: each(Name, lambda x: f(x) == wants(a, x)))) for n in nodes)


RUNS = {
    "one attempt completes after another, and has to confirm": Run(
        "tokens", counters_are(T[0], T[0], T[2]),
        (("begin", dict(b=A)), *on((N1, N2), "acquire", a=A, t=T[1]), ("decide", dict(a=A)), ("completes", dict(a=A)), *vanish(N1, N2),
         ("begin", dict(b=B)), ("acquire", dict(a=B, n=N2, t=T[2])), ("acquire", dict(a=B, n=N3, t=T[3])), ("decide", dict(a=B, t=T[3])),
         ("confirm", dict(a=B, n=N2)), ("completes", dict(a=B, q=Q23))),
        in_order, ("reach", "both-reach")),
    "a lease is extended, and set again where it is missing": Run(
        "tokens", counters_are(T[0], T[0], T[0]),
        (("begin", dict(b=A)), *on((N1, N2), "acquire", a=A, t=T[1]), ("acquire_again", dict(a=A, n=N2, t=T[1])),
         ("decide", dict(a=A)), ("completes", dict(a=A)), ("counter_vanishes", dict(n=N1, x=X)),
         ("somebody_else_sets_a_key", dict(n=N2, x=X)), ("asks_to_extend", dict(e=E, a=A)),
         *[("extend", dict(e=E, n=N1, x=x)) for x in (X, Y)], *[("recreate", dict(e=E, n=N3, x=x)) for x in (X, Y)],
         ("is_extended", dict(e=E, q=Q13))),
        lambda s: s.extended(E, Q13)),
    "a node loses its memory, is admitted again, and its vote is used": Run(
        "memory", all_admitted(T[0], T[0], T[0]),
        (*acquired(A, (N1, N2), T[1], {}), *restarted(N2, L4), *admitted(N2, (N1, N3), H13, T[1]), *vanish(N1),
         *acquired(B, (N2, N3), T[2], {N2: L4})),
        lambda s: And(in_order(s), s.done(B, Q23), s.life(N2) == L4), ("loss-reach", "trailing-reach")),
    "a lease is extended with the new id of a node": Run(
        "memory", all_admitted(T[0], T[0], T[0]),
        (*acquired(A, (N1, N3), T[1], {}), *restarted(N2, L4), *admitted(N2, (N1, N3), H13, T[1]),
         ("asks_to_extend", dict(e=E, a=A)), ("counter_vanishes", dict(n=N1, x=X)),
         *[("extend", dict(e=E, n=N1, x=x, life=L1)) for x in (X, Y)], *[("recreate", dict(e=E, n=N2, x=x, life=L4)) for x in (X, Y)],
         *[("check_extension", dict(e=E, n=n, x=x, life=life)) for n, life in ((N1, L1), (N2, L4)) for x in (X, Y)],
         ("is_extended", dict(e=E, q=Q12))),
        lambda s: s.extended(E, Q12)),
    "a wiped node is admitted by another process, which found a note": Run(
        "memory", all_admitted(T[0], T[0], T[2]),
        (("begin", dict(b=A)), *[("bind", dict(a=A, n=n, life=life)) for n, life in ((N1, L1), (N2, L2), (N3, L3))],
         ("acquire", dict(a=A, n=N1, t=T[1])), ("acquire_again", dict(a=A, n=N1, t=T[1])), ("somebody_else_sets_a_key", dict(n=N3, x=X)),
         ("high_water_vanishes", dict(n=N3, t=T[0])), ("is_wiped", dict(n=N3, hw=T[0], base=T[0])), ("marks", dict(d=D, n=N3, fresh=MARK1)), ("gives_up", dict(a=A)),
         ("goes_on_with_a_note", dict(d=D2, n=N3, earlier=D)), *admitted_by(D2, (N1, N2), H12, T[1]),
         ("begin", dict(b=B)), *vanish(N1, N3), *[("bind", dict(a=B, n=n, life=life)) for n, life in ((N1, L1), (N3, L3))],
         ("acquire", dict(a=B, n=N1, t=T[2])), ("check", dict(a=B, n=N1, t=T[2], life=L1)),
         ("acquire", dict(a=B, n=N3, t=T[3])), ("check", dict(a=B, n=N3, t=T[3], life=L3)), ("decide", dict(a=B, t=T[3])),
         ("confirm", dict(a=B, n=N1, life=L1)), ("check", dict(a=B, n=N1, t=T[3], life=L1)), ("completes", dict(a=B))),
        lambda s: And(s.over(A), s.complete(B)), ("carried-reach",)),
    "a cluster is founded by one client's clock, and for one node by its operator's word": Run(
        "memory", lambda s: And(counters_are(T[0], T[0], T[0])(s), *[And(Not(s.recorded(n)), s.base(n) == T[0], s.life(n) == life)
                                                                     for n, life in ((N1, L1), (N2, L2), (N3, L3))]),
        (*[("marks", dict(d=d, n=n, fresh=m)) for d, n, m in ((D, N1, MARK1), (D2, N2, MARK2), (D3, N3, MARK3))],
         *[("ends_to_drain", dict(d=d)) for d in (D, D2, D3)], ("begins_to_found", dict(f=F)),
         *[("finds_that_it_forgot", dict(f=F, d=d)) for d in (D, D2, D3)], *[("founds", dict(f=F, d=d, t=T[1])) for d in (D, D2)],
         ("takes_the_operators_word", dict(d=D3, t=T[2])), *[("is_admitted", dict(d=d)) for d in (D, D2, D3)],
         *acquired(B, (N1, N2), T[2], {})),
        lambda s: And(s.complete(B), s.base(N3) == T[2])),
    "two of three nodes restart, and both get the base of one client's clock": Run(
        "memory", all_admitted(T[0], T[0], T[0]),
        (*acquired(A, (N1, N2), T[1], {}), *restarted(N1, L4), ("is_wiped", dict(n=N2, keys=nothing, hw=T[0], base=T[0])),
         *[("marks", dict(d=d, n=n, fresh=m)) for d, n, m in ((D, N1, MARK1), (D2, N2, MARK2))],
         *[("ends_to_drain", dict(d=d)) for d in (D, D2)], ("begins_to_found", dict(f=F)),
         *[("finds_that_it_forgot", dict(f=F, d=d)) for d in (D, D2)], *[("founds", dict(f=F, d=d, t=T[1])) for d in (D, D2)],
         *[("is_admitted", dict(d=d)) for d in (D, D2)], *acquired(B, (N2, N3), T[2], {})),
        lambda s: And(in_order(s), s.done(B, Q23), s.life(N1) == L4)),
    "a node is admitted while an attempt that it would not have granted is in flight": Run(
        "ttl", lambda s: each(Node, lambda n: And(s.admitted(n), s.allows(n) == SHORT)),
        (*[("begin", dict(a=a)) for a in (A, B)], ("acquire", dict(a=A, n=N3)), ("loses_its_memory", dict(n=N3, t=SHORT)),
         ("acquire", dict(a=A, n=N1)), ("drain", dict(d=D, n=N3, t=SHORT)), ("completes", dict(a=A, q=Q13)),
         *[("reads", dict(d=D, m=m)) for m in (N1, N2)], ("is_admitted", dict(d=D, h=H12, t=SHORT))),
        lambda s: And(s.complete(A), s.outwaited(B), s.admitted(N3))),
    "a lease ends, and another one is valid then": Run(
        "exclusion", lambda s: And(each((Node, Name), lambda n, x: And(s.key(n, x) == FREE, s.admitted(n))), s.now() == I[0]),
        (("sends", dict(a=A, t=I[1])), *step_on((N1, N2), A, I[2]), ("somebody_else_sets_or_deletes_a_key", dict(n=N3, x=X, v=FOREIGN)),
         ("loses_its_memory", dict(n=N3, keys=lambda f: each(Name, lambda x: f(x) == FREE))), ("is_admitted", dict(n=N3)),
         ("time_passes", dict(t=I[2])), *[("key_expires", dict(n=N1, x=x)) for x in (X, Y)],
         ("is_released", dict(a=A)), *[("deletes", dict(a=A, n=N2, x=x)) for x in (X, Y)],
         ("sends", dict(a=B, t=I[3])), *step_on((N2, N3), B, I[4])),
        lambda s: And(exclusion.valid(s, B, Q23), Not(exclusion.valid(s, A, Q12)))),
}

RUNS |= {
    "a lease climbs above a node's counter, and is set again there": Run(
        "climb", foresees(counters_are(T[0], T[0], T[2]), a=T[1]),
        (("begin", dict(b=A)), *on((N1, N2), "acquire", a=A, t=T[1]), ("decide", dict(a=A)), ("completes", dict(a=A)),
         ("begins_to_climb", dict(c=C, a=A, t=T[2])), *[("climb", dict(c=C, n=n, x=x)) for n in (N1, N2) for x in (X, Y)],
         ("has_climbed", dict(c=C, q=Q12)), ("asks_to_extend", dict(e=E, a=A, g=T[2])),
         *[("extend", dict(e=E, n=N1, x=x)) for x in (X, Y)],
         *[("recreate", dict(e=E, n=N3, x=x)) for x in (X, Y)], ("is_extended", dict(e=E, q=Q13))),
        lambda s: And(s.extended(E, Q13), s.token(A) == T[1], s.guard(A) == T[2])),
    "a lease climbs above the base of a node that forgot, and is set again there": Run(
        "climb-memory", foresees(all_admitted(T[0], T[0], T[0]), a=T[1]),
        (*acquired(A, (N1, N2), T[1], {}), *restarted(N3, L4), *admitted(N3, (N1, N2), H12, T[2]),
         ("begins_to_climb", dict(c=C, a=A, t=T[2])),
         *[(name, dict(c=C, n=n, x=x, life=life)) for n, life in ((N1, L1), (N2, L2)) for x in (X, Y) for name in ("climb", "check_climb")],
         ("has_climbed", dict(c=C, q=Q12)), ("climb_ends", dict(c=C)), ("counter_vanishes", dict(n=N1, x=X)),
         ("asks_to_extend", dict(e=E, a=A, g=T[2])),
         *[("extend", dict(e=E, n=N1, x=x, life=L1)) for x in (X, Y)], *[("recreate", dict(e=E, n=N3, x=x, life=L4)) for x in (X, Y)],
         *[("check_extension", dict(e=E, n=n, x=x, life=life)) for n, life in ((N1, L1), (N3, L4)) for x in (X, Y)],
         ("is_extended", dict(e=E, q=Q13))),
        lambda s: And(s.extended(E, Q13), s.base(N3) == T[2], s.token(A) == T[1])),
    "a climb fails, and leaves marks, from which it is repeated, and at which the lease is extended": Run(
        "climb-memory", foresees(all_admitted(T[0], T[0], T[2]), a=T[1]),
        (*acquired(A, (N1, N2), T[1], {}), ("asks_to_extend", dict(e=E, a=A, g=T[1])), ("begins_to_climb", dict(c=C, a=A, t=T[2])),
         *[(name, dict(c=C, n=N1, x=x, life=L1)) for x in (X, Y) for name in ("climb", "check_climb")], ("climb_ends", dict(c=C)),
         *[("extend_at_a_mark", dict(e=E, n=N1, x=x, life=L1, g=T[1])) for x in (X, Y)], ("begins_to_climb", dict(c=C2, a=A, t=T[3])),
         *[(name, dict(c=C2, n=N1, x=x, life=L1)) for x in (X, Y) for name in ("climb_from_a_mark", "check_climb")],
         *[(name, dict(c=C2, n=N2, x=x, life=L2)) for x in (X, Y) for name in ("climb", "check_climb")],
         ("has_climbed", dict(c=C2, q=Q12)), ("goes_on_to_extend", dict(e=E, g=T[3])),
         *[("recreate", dict(e=E, n=N3, x=x, life=L3, g=T[3])) for x in (X, Y)],
         *[("check_extension", dict(e=E, n=n, x=x, life=life)) for n, life in ((N1, L1), (N3, L3)) for x in (X, Y)],
         ("is_extended", dict(e=E, q=Q13))),
        lambda s: And(s.extended(E, Q13), s.token(A) == T[1], s.guard(A) == T[3])),
    "a node is admitted with a note, where leases could climb": of_climb_memory(
        RUNS["a wiped node is admitted by another process, which found a note"], b=T[3]),
    "a cluster is founded, where leases could climb": of_climb_memory(
        RUNS["a cluster is founded by one client's clock, and for one node by its operator's word"], b=T[2]),
}
