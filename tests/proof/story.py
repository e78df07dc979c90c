"""A counterexample to induction, told as a story: the state before, the step, what it changed, and the sentence that it breaks."""
import itertools

import z3
from z3 import is_true

LETTERS = {"Attempt": "ABCDEFGH", "Name": "xyzuvw"}


class Story:
    def __init__(self, protocol, before, transition, chosen, after, property_, at, step=None):
        self.protocol, self.before, self.transition, self.chosen = protocol, before, transition, chosen
        self.after, self.property, self.at, self.step = after, property_, at, step

    def tell(self, model):
        from prover import name_of, parameters, sentence
        self.model = model
        self.name_elements()
        lines = ["the state:"]
        shown = self.variables_that_matter()
        lines += ["  " + line for line in self.background(shown)]
        lines += ["  " + line for name in self.protocol.variables if name in shown for line in self.table(name, self.before)]
        if self.transition is not None:
            names = parameters(self.transition, 1)
            chosen = [f"{p} = {self.word(c)}" for (p, t), c in zip(names, self.chosen) if not isinstance(t, tuple)]
            lines.append("the step: " + ", ".join([name_of(self.transition), *chosen]))
            lines += ["  " + line for name in self.step.changes for line in self.differences(name)] or ["  changes nothing"]
        at = ", ".join(f"{p} = {self.word(c)}" for (p, _), c in zip(parameters(self.property, 1), self.at))
        lines.append(f"now this is not so any more, for {at}:" if self.transition is not None else f"this is not so, for {at}:")
        lines.append(f"  {name_of(self.property)}: {sentence(self.property)}")
        return lines

    # ---- names for the elements ----

    def name_elements(self):
        self.universe, self.names = {}, {}
        for sort in self.protocol.sorts:
            elements = list(self.model.get_universe(sort) or [])
            if sort.eq(self.protocol.order):
                elements = sorted(elements, key=lambda e, all_=elements: sum(self.true(self.protocol.not_after(x, e)) for x in all_))
            self.universe[sort.name()] = elements
            for i, e in enumerate(elements):
                letters = LETTERS.get(sort.name())
                self.names[str(e)] = str(i) if sort.eq(self.protocol.order) else letters[i] if letters else f"{sort.name().lower()} {i + 1}"
        self.name_values()
        self.spoken_of = {"Node": [], "Quorum": [], "Half": []}
        for term in (*(self.chosen or ()), *self.at):
            if not z3.is_func_decl(term) and term.sort().name() in self.spoken_of:
                self.spoken_of[term.sort().name()].append(self.evaluate(term))
        for sort, elements in self.spoken_of.items():
            self.spoken_of[sort] = [e for e in self.universe.get(sort, []) if any(e.eq(x) for x in elements)]

    def name_values(self):
        """A value is called after its attempt."""
        from vocabulary import free, value
        for e in self.universe.get("Value", []):
            owners = [a for a in self.universe.get("Attempt", []) if self.true(value(a) == e)]
            if self.true(free == e):
                self.names[str(e)] = "free"
            elif owners:
                self.names[str(e)] = "value of " + " and ".join(self.names[str(a)] for a in owners)

    def evaluate(self, term):
        return self.model.eval(term, model_completion=True)

    def true(self, formula):
        return is_true(self.evaluate(formula))

    def word(self, term):
        if z3.is_func_decl(term):
            return str(term)
        e = self.evaluate(term)
        return self.names.get(str(e), str(e))

    # ---- tables ----

    def points(self, name):
        """Only of the nodes and majorities that the step or the sentence speaks of."""
        *domain, _ = self.protocol.variables[name]
        return itertools.product(*[self.spoken_of.get(sort.name()) or self.universe.get(sort.name(), []) for sort in domain])

    def line(self, name, point, result):
        words = ", ".join(self.names[str(e)] for e in point)
        if z3.is_bool(result):
            return f"{name}({words})" if is_true(result) else f"not {name}({words})"
        return f"{name}({words}) = {self.names.get(str(result), str(result))}"

    def table(self, name, state):
        lines = []
        condition = self.protocol.only_if.get(name)
        for point in self.points(name):
            if condition and not self.true(state._functions[condition](*point)):
                continue
            result = self.evaluate(state._functions[name](*point))
            if not z3.is_false(result):
                lines.append(self.line(name, point, result))
        return [", ".join(lines)] if lines else []

    def differences(self, name):
        lines = []
        condition = self.protocol.only_if.get(name)
        for point in self.points(name):
            if condition and not self.true(self.after._functions[condition](*point)):
                continue
            old, new = self.evaluate(self.before._functions[name](*point)), self.evaluate(self.after._functions[name](*point))
            if not old.eq(new):
                lines.append("now " + self.line(name, point, new))
        return lines

    def background(self, shown):
        from vocabulary import member, wants
        lines = []
        quorums = self.spoken_of["Quorum"] or self.universe.get("Quorum", [])
        for q in quorums if shown & {"done", "rival", "extended"} else []:
            members = [self.names[str(n)] for n in self.universe.get("Node", []) if self.true(member(n, q))]
            lines.append(f"{self.names[str(q)]} is {{{', '.join(members)}}}")
        for a in self.universe.get("Attempt", []):
            wanted = [self.names[str(x)] for x in self.universe.get("Name", []) if self.true(wants(a, x))]
            if wanted:
                lines.append(f"{self.names[str(a)]} wants {' and '.join(wanted)}")
        return lines

    def variables_that_matter(self):
        """Those that the step or the broken sentence speaks of."""
        terms, shown = [self.property(self.before, *self.at)], set()
        if self.step is not None:
            terms += list(self.step.when)
            shown |= set(self.step.changes)
            if self.after is not None:
                terms.append(self.property(self.after, *self.at))
        seen, todo = set(), [t for t in terms if z3.is_ast(t)]
        while todo:
            term = todo.pop()
            if term.get_id() in seen:
                continue
            seen.add(term.get_id())
            if z3.is_quantifier(term):
                todo.append(term.body())
                continue
            if z3.is_app(term) and term.decl().name() in self.protocol.variables:
                shown.add(term.decl().name())
            todo += term.children()
        return shown | {condition for name, condition in self.protocol.only_if.items() if name in shown}
