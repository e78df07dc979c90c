"""Protocols as first-order transition systems, and what has to be proven of them. z3 does the proving.

    sort        an uninterpreted set: nodes, attempts, tokens, ...: any number of each
    variable    a function or relation of the state
    axiom       what never changes: majorities share a node, tokens are in a row
    transition  one step: `when` it may be taken, and what it changes; everything else stays
    invariant   holds initially, and is kept by every transition that starts where all invariants hold
    promise     follows from the invariants

An obligation is one question to z3: is there a state (and a step from it) that breaks this? "unsat" is the proof that there is none,
whatever the number of nodes. An answer of "sat" comes with a state: a counterexample to induction. It is allowed by the invariants, but
nobody says that it can be reached; tests/model looks for runs that can.

Parameters are typed by annotations: `def confirm(s, a: Attempt, n: Node)`. An annotation may also be a tuple, for a step that chooses a
whole function: `keys: (Name, Value)`.
"""
import inspect
import itertools
from dataclasses import dataclass, field

import z3
from z3 import And, BoolSort, Const, Exists, ForAll, Function, If, Or

Bool = BoolSort()


def sort(name):
    return z3.DeclareSort(name)


def each(sorts, body):
    """For each x (and y, ...) of these sorts. each(Node, lambda n: ...), each((Node, Name), lambda n, x: ...)"""
    return quantified(ForAll, sorts, body)


def some(sorts, body):
    return quantified(Exists, sorts, body)


WORLD = {}      # in a finite world: the elements of each sort, so that nothing is quantified


def quantified(kind, sorts, body):
    sorts = sorts if isinstance(sorts, tuple) else (sorts,)
    if WORLD:
        together = And if kind is ForAll else Or
        return together(*[body(*point) for point in itertools.product(*[WORLD[s.name()] for s in sorts])])
    names = list(inspect.signature(body).parameters)
    bound = [z3.FreshConst(s, "any." + n) for s, n in zip(sorts, names)]
    return kind(bound, body(*bound))


class Mutation:
    """The mutant that is switched on, if any, and which of them were asked for."""

    def __init__(self):
        self.active = None
        self.consulted = set()

    def is_on(self, name):
        self.consulted.add(name)
        return self.active == name


MUTATION = Mutation()


def unless(mutant, right):
    """A condition that this mutant lacks."""
    return z3.BoolVal(True) if MUTATION.is_on(mutant) else right


def mutated(mutant, wrong, right):
    return wrong if MUTATION.is_on(mutant) else right


class State:
    """What each variable is. A state before a step has symbols; the one behind it has what they are changed to."""

    def __init__(self, functions):
        self.__dict__.update(functions)
        self._functions = functions

    def after(self, changes):
        unknown = set(changes) - set(self._functions)
        assert not unknown, f"no such variable: {unknown}"
        return State({**self._functions, **changes})


@dataclass
class Step:
    when: tuple
    changes: dict = field(default_factory=dict)


def when(*conditions):
    return Step(conditions)


def _then(self, **changes):
    self.changes = changes
    return self


Step.then = _then


def set_at(old, *point_and_value):
    """A function that is as it was, except at one point: set_at(s.token, a, t). The last argument is the new value."""
    *point, value = point_and_value
    return lambda *args: If(And(*[x == y for x, y in zip(args, point)]), value, old(*args))


def add(relation, *point):
    """A relation that has one more element."""
    return lambda *args: Or(And(*[x == y for x, y in zip(args, point)]), relation(*args))


def parameters(function, skip):
    """The typed parameters of a transition or an invariant."""
    return [(p.name, p.annotation) for p in list(inspect.signature(function).parameters.values())[skip:]]


def constants(function, skip, prefix):
    made = []
    for name, annotation in parameters(function, skip):
        if isinstance(annotation, tuple):
            made.append(Function(prefix + name, *annotation))
        else:
            made.append(Const(prefix + name, annotation))
    return made


def sentence(function):
    return " ".join((function.__doc__ or "").split())


def name_of(function):
    return function.__name__.replace("_", " ")


@dataclass
class Obligation:
    protocol: str
    kind: str           # "initially", "kept by ...", "promise", ...
    what: str           # the invariant, the promise
    assumptions: list   # what z3 may use
    goal: object        # what has to follow
    explain: object = None      # (model) -> lines of a story
    mutants: frozenset = frozenset()    # those that change this one

    @property
    def name(self):
        return f"{self.protocol}: {self.kind}: {self.what}"


class Protocol:
    def __init__(self, name, title, sorts, order, not_after):
        """`order`: the sort whose elements are in a row, by the relation `not_after`."""
        self.name, self.title, self.sorts, self.order, self.not_after = name, title, sorts, order, not_after
        self.variables, self.axioms, self.transitions, self.invariants, self.promises, self.beginnings = {}, [], [], [], [], []
        self.carried_out_by, self.only_if, self.proven_by_base = {}, {}, set()

    def extend(self, base, without=()):
        """Everything of another protocol, but for the transitions `without`, in place of which this one has its own of the same name.

        Of what is the same in both, nothing is asked again: an obligation of `base` has fewer assumptions, as the invariants and the
        conditions at the beginning of this protocol are those of `base` and more. So where it is proven, it holds here."""
        self.variables |= base.variables
        self.only_if |= base.only_if
        self.axioms += base.axioms
        self.beginnings += base.beginnings
        self.transitions += [t for t in base.transitions if t.__name__ not in without]
        self.carried_out_by |= {name: where for name, where in base.carried_out_by.items() if name not in without}
        self.invariants += base.invariants
        self.promises += base.promises
        unknown = set(without) - {t.__name__ for t in base.transitions}
        assert not unknown, f"{base.name} has no {unknown}"
        self.proven_by_base = {*self.transitions, *base.invariants, *base.promises}

    def is_proven_by_base(self, *functions):
        return all(f in self.proven_by_base for f in functions)

    def relation(self, name, *sorts):
        self.variable(name, *sorts, Bool)

    def variable(self, name, *sorts, only_if=None):
        """A function; the last sort is that of its values. Stories show it only where the relation `only_if` holds."""
        self.variables[name] = sorts
        if only_if:
            self.only_if[name] = only_if

    def axiom(self, function):
        """Holds of everything that never changes."""
        self.axioms.append(function)
        return function

    def initially(self, function):
        self.beginnings.append(function)
        return function

    def transition(self, *code, world=""):
        """`code`: "FILE: WORD, WORD" for each file that carries it out. `world`: what else does."""
        def declare(function):
            self.transitions.append(function)
            self.carried_out_by[function.__name__] = code, world
            return function
        return declare

    def invariant(self, function):
        assert function.__doc__, f"{function.__name__}: why does it hold?"
        self.invariants.append(function)
        return function

    def promise(self, function):
        self.promises.append(function)
        return function

    # ---- obligations ----

    def state(self, suffix=""):
        return State({name: Function(name + suffix, *sorts) for name, sorts in self.variables.items()})

    @staticmethod
    def for_all(function, s):
        sorts = tuple(t for _, t in parameters(function, 0 if s is None else 1))
        if WORLD:
            return each(sorts, lambda *point: function(*([] if s is None else [s]), *point))
        bound = [Const("any." + n, t) for n, t in parameters(function, 0 if s is None else 1)]
        return ForAll(bound, function(*([] if s is None else [s]), *bound))

    def background(self):
        return [self.for_all(axiom, None) for axiom in self.axioms]

    def step(self, transition, s):
        chosen = constants(transition, 1, "step.")
        step = transition(s, *chosen)
        return chosen, step, s.after(step.changes)

    def looked_at(self, build):
        """Runs `build`; its result, and the mutants that it asked for."""
        MUTATION.consulted = set()
        result = build()
        return result, frozenset(MUTATION.consulted)

    def whole_step(self, transition, s):
        """The step, with every change worked out, so that no mutant is asked for later."""
        chosen, step, after = self.step(transition, s)
        for name in step.changes:
            after._functions[name](*[Const("any", domain) for domain in self.variables[name][:-1]])
        return chosen, step, after

    def obligations(self):
        from story import Story
        s = self.state()
        axioms, by_axioms = self.looked_at(self.background)
        known, by_invariants = self.looked_at(lambda: [self.for_all(i, s) for i in self.invariants])
        start = [self.for_all(b, s) for b in self.beginnings]
        assert not by_invariants, "mutants are switches on transitions and axioms"
        for invariant in self.invariants:
            if self.is_proven_by_base(invariant):
                continue
            at = constants(invariant, 1, "at.")
            yield Obligation(self.name, "initially", name_of(invariant), axioms + start, invariant(s, *at),
                             Story(self, s, None, None, None, invariant, at), by_axioms)
        for transition in self.transitions:
            (chosen, step, after), mutants = self.looked_at(lambda t=transition: self.whole_step(t, s))
            for invariant in self.invariants:
                if self.is_proven_by_base(transition, invariant):
                    continue
                at = constants(invariant, 1, "at.")
                yield Obligation(self.name, f"kept by {name_of(transition)}", name_of(invariant),
                                 axioms + known + list(step.when), invariant(after, *at),
                                 Story(self, s, transition, chosen, after, invariant, at, step), mutants | by_axioms)
        for promise in self.promises:
            if self.is_proven_by_base(promise):
                continue
            at = constants(promise, 1, "at.")
            yield Obligation(self.name, "promise", name_of(promise), axioms + known, promise(s, *at),
                             Story(self, s, None, None, None, promise, at), by_axioms)

    def at_most(self, sizes):
        formulas = []
        for each_sort, size in sizes.items():
            x = Const("x", each_sort)
            formulas.append(ForAll([x], Or(*[x == Const(f"{each_sort.name()}.{i}", each_sort) for i in range(size)])))
        return formulas


def ask(formulas, effort):
    """`effort` is counted in what z3 does, not in time. Its way depends on all that its context has seen, so each question gets a context of its
    own; and one without an answer is asked again, which begins with other random numbers."""
    question = z3.Solver()
    question.add(*formulas)
    text = question.to_smt2()
    for seed in range(3):
        solver = z3.Solver(ctx=z3.Context())
        solver.set("rlimit", effort)
        solver.set("random_seed", seed)
        solver.from_string(text)
        verdict = solver.check()
        if verdict != z3.unknown:
            break
    return solver, verdict


def model_in_words(formulas, effort):
    """A model, or None, in the words of the formulas: the context in which these were made."""
    solver = z3.Solver()
    solver.set("rlimit", effort)
    solver.add(*formulas)
    return solver.model() if solver.check() == z3.sat else None


def smallest_model(protocol, formulas, effort):
    """A counterexample in as small a world as there is one."""
    for size in range(1, 6):
        bounds = {s: size + (1 if s.eq(protocol.order) else 0) for s in protocol.sorts}
        model = model_in_words(formulas + protocol.at_most(bounds), effort)
        if model is not None:
            return model
    return model_in_words(formulas, effort)
