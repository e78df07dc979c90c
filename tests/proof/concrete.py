"""The transitions of a protocol as programs: what z3 is asked about for states of any size, carried out on one state.

Nothing is written twice. A transition is built as for a proof; its conditions, and what it makes of each variable, are formulas, and these
are translated to Python, term by term. A state has a set for each relation and a dictionary for each function. Which points of a variable
can change is read off the formula (`If(m == n, ..., old(m))`); where it has another shape, all points of the world are looked at.

tests/proof/replay_test.py lets z3 and these programs carry out the same steps, and compares.
"""
import itertools
import re

import z3

import prover

DEFAULTS = {"Token": 0}     # what a function is where nobody has set it


def flat(formula):
    """What has to hold, one by one."""
    if z3.is_and(formula):
        return [part for child in formula.children() for part in flat(child)]
    return [formula]


class Translation:
    """One function in Python, from formulas."""

    def __init__(self, protocol, background):
        self.protocol, self.background = protocol, background
        self.variables, self.names = set(), itertools.count()

    def fresh(self):
        return f"v{next(self.names)}"

    def term(self, e, local, bound=()):
        """`local`: Python's names of constants. `bound`: of quantified variables, the innermost last."""
        if z3.is_var(e):
            return bound[-1 - z3.get_var_index(e)]
        if z3.is_quantifier(e):
            return self.quantified(e, local, bound)
        kind, children = e.decl().kind(), e.children()
        if kind == z3.Z3_OP_UNINTERPRETED:
            return self.application(e, [self.term(c, local, bound) for c in children], local)
        if kind == z3.Z3_OP_TRUE:
            return "True"
        if kind == z3.Z3_OP_FALSE:
            return "False"
        parts = [f"({self.term(c, local, bound)})" for c in children]
        if kind == z3.Z3_OP_AND:
            return " and ".join(parts) or "True"
        if kind == z3.Z3_OP_OR:
            return " or ".join(parts) or "False"
        if kind == z3.Z3_OP_NOT:
            return f"not {parts[0]}"
        if kind == z3.Z3_OP_IMPLIES:
            return f"(not {parts[0]}) or {parts[1]}"
        if kind == z3.Z3_OP_ITE:
            return f"({parts[1]} if {parts[0]} else {parts[2]})"
        if kind in (z3.Z3_OP_EQ, z3.Z3_OP_IFF):
            return f"{parts[0]} == {parts[1]}"
        if kind == z3.Z3_OP_DISTINCT and len(parts) == 2:
            return f"{parts[0]} != {parts[1]}"
        raise NotImplementedError(f"{e.decl()} in {e}")

    def application(self, e, arguments, local):
        name = e.decl().name()
        if name in local:       # a parameter: an element, or a whole function
            if not arguments:
                return local[name]
            point = self.point(arguments)
            return f"({point} in {local[name]})" if z3.is_bool(e) else f"{local[name]}.get({point})"
        if name in self.protocol.variables:
            self.variables.add(name)
            point = self.point(arguments)
            return f"({point} in S_{name})" if z3.is_bool(e) else f"S_{name}.get({point}, {DEFAULTS.get(e.sort().name())!r})"
        return self.background[name](*arguments)

    @staticmethod
    def point(arguments):
        return arguments[0] if len(arguments) == 1 else f"({', '.join(arguments)})"

    def quantified(self, e, local, bound):
        names = [self.fresh() for _ in range(e.num_vars())]
        inner = (*bound, *names)
        body = e.body()
        if e.is_forall():
            guards = flat(body.arg(0)) if z3.is_implies(body) else []
        else:
            guards = flat(body)
        conclusion = body.arg(1) if guards and e.is_forall() else body
        texts = [self.term(g, local, inner) for g in guards]
        loops, done = [], set()
        for i, name in enumerate(names):
            loops.append(f"for {name} in {self.domain(name, e.var_sort(i), guards, local, inner, set(names[i:]))}")
            for k, text in enumerate(texts):    # as soon as all that it speaks of is known
                if k not in done and not any(re.search(rf"\b{later}\b", text) for later in names[i + 1:]):
                    done.add(k)
                    loops.append(f"if ({text})")
        return f"{'all' if e.is_forall() else 'any'}(({self.term(conclusion, local, inner)}) {' '.join(loops)})"

    def domain(self, name, sort, guards, local, bound, unknown):
        """All elements of the sort; or those of a set that the guards say it is in, where that set is known by then."""
        for g in guards:
            if not z3.is_app(g) or g.decl().name() not in self.background.get("sets", {}):
                continue
            owner, element = self.background["sets"][g.decl().name()]
            parts = [self.term(c, local, bound) for c in g.children()]
            if parts[element] == name and not any(u in parts[owner].replace("(", " ").replace(")", " ").split() for u in unknown):
                return self.background["elements"](g.decl().name(), parts[owner])
        return f"W['{sort.name()}']"


class Program(Translation):
    """A transition. `self(state, world, parameters)` is a list of changes, or the number of the condition that does not hold."""

    def __init__(self, protocol, transition, background):
        super().__init__(protocol, background)
        s = protocol.state()
        chosen, step, after = protocol.step(transition, s)
        self.transition, self.parameters = transition, [n for n, _ in prover.parameters(transition, 1)]
        local = {(c.name() if z3.is_func_decl(c) else c.decl().name()): f"p_{n}" for n, c in zip(self.parameters, chosen)}
        self.conditions = [part for formula in step.when for part in flat(z3.BoolVal(formula) if isinstance(formula, bool) else formula)]
        lines = []
        for number, condition in enumerate(self.conditions):
            lines.append(f"if not ({self.term(condition, local)}): return {number}")
        lines.append("changes = []")
        for name in step.changes:
            lines += self.change(name, s, after, local)
        lines.append("return changes")
        used = [f"S_{v} = S['{v}']" for v in sorted(self.variables)]
        header = f"def program(S, W, {', '.join('p_' + n for n in self.parameters)}):"
        self.text = "\n    ".join([header, *used, *lines])
        scope = {}
        exec(self.text, scope)      # noqa: S102  (the text is from formulas of this folder)
        self.run = scope["program"]

    def change(self, name, s, after, local):
        *domain, result = self.protocol.variables[name]
        points = [z3.Const(f"point.{i}", sort) for i, sort in enumerate(domain)]
        now = after._functions[name](*points)
        now = z3.BoolVal(now) if isinstance(now, bool) else now
        old = s._functions[name](*points)
        lines = ["pending = {}"]
        for guards, value in self.cases(now, old):
            lines += self.case(guards, value, points, domain, local)
        lines.append(f"changes.append(('{name}', pending))")
        return lines

    def cases(self, now, old):
        """(guards, value): what it becomes where these hold, the first that do; elsewhere it stays."""
        if now.eq(old):
            return []
        if z3.is_app(now) and now.decl().kind() == z3.Z3_OP_ITE:
            guard, value, rest = now.children()
            return [(flat(guard), value), *self.cases(rest, old)]
        if z3.is_or(now) and any(c.eq(old) for c in now.children()):
            return [(flat(c), z3.BoolVal(True)) for c in now.children() if not c.eq(old)]
        if z3.is_and(now) and now.num_args() == 2 and now.arg(0).eq(old) and z3.is_not(now.arg(1)):
            return [(flat(now.arg(1).arg(0)), z3.BoolVal(False))]
        return [([], now)]

    def case(self, guards, value, points, domain, local):
        local = dict(local)
        names = {p.decl().name(): f"c{i}" for i, p in enumerate(points)}
        known, lines, indent, left = set(), [], "", list(guards)

        def mentions(e):
            if z3.is_app(e) and e.num_args() == 0:
                return {e.decl().name()} & set(names)
            return set().union(*[mentions(c) for c in e.children()]) if z3.is_app(e) else set(names)

        for g in guards:        # a coordinate that is said
            if z3.is_app(g) and g.decl().kind() in (z3.Z3_OP_EQ, z3.Z3_OP_IFF):
                for this, that in (g.children(), reversed(g.children())):
                    name = this.decl().name() if z3.is_app(this) and this.num_args() == 0 else None
                    if name in names and name not in known and mentions(that) <= known:
                        local[name] = names[name]
                        lines.append(f"{indent}{names[name]} = {self.term(that, local)}")
                        known.add(name)
                        left = [x for x in left if not x.eq(g)]
                        break
        for p, sort in zip(points, domain):
            name = p.decl().name()
            if name in known:
                continue
            local[name] = names[name]
            ready = [g for g in left if mentions(g) <= known | {name}]
            elements = self.domain(names[name], sort, ready, local, (), {names[q.decl().name()] for q in points if q.decl().name() not in known})
            lines.append(f"{indent}for {names[name]} in {elements}:")
            indent += "    "
            known.add(name)
        condition = " and ".join(f"({self.term(g, local)})" for g in left) or "True"
        point = self.point([names[p.decl().name()] for p in points])
        lines.append(f"{indent}if {point} not in pending and ({condition}): pending[{point}] = {self.term(value, local)}")
        return lines

    def apply(self, state, changes):
        for name, pending in changes:
            table = state[name]
            if isinstance(table, set):
                for point, value in pending.items():
                    (table.add if value else table.discard)(point)
            else:
                table.update(pending)


class Sentence(Translation):
    """An invariant, a promise, or a condition of the beginning: `self(state, world)` is whether it holds for all elements."""

    def __init__(self, protocol, function, background):
        super().__init__(protocol, background)
        formula = protocol.for_all(function, protocol.state())
        text = self.term(formula, {})
        used = "; ".join(f"S_{v} = S['{v}']" for v in sorted(self.variables))
        scope = {}
        exec(f"def sentence(S, W):\n    {used}\n    return {text}", scope)      # noqa: S102
        self.holds, self.function = scope["sentence"], function


def empty_state(protocol):
    return {name: set() if sorts[-1].eq(prover.Bool) else {} for name, sorts in protocol.variables.items()}
