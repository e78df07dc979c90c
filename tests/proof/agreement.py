"""Do the programs of concrete.py do what z3 is asked about? z3 follows the runs of runs.py, and gives in each of their states what a
transition's conditions are worth and what it would change, for parameters that are drawn; the program has to find the same."""
import itertools
import random

import z3

import concrete
import prover
import runs
from vocabulary import fate

ELEMENTS_PER_STATE = 8      # transitions with parameters that are tried in each state

# As in replay.py, in the world of runs.py: elements by name, tokens as numbers.
NUMBERED = {"Token", "Instant", "Ttl"}
BACKGROUND = {
    "le": lambda s, t: f"({s} <= {t})",
    "until": lambda s, t: f"({s} <= {t})",
    "no_longer": lambda s, t: f"({s} <= {t})",
    "ttl": lambda a: f"W['ttl'][{a}]",
    "below": lambda a, c, t: f"({c} < {t})",
    "value": lambda a: f"({a}).replace('Attempt', 'value of')",
    "free": lambda: "'free'",
    "fate": lambda a: f"W['fate'].get({a})",
    "wants": lambda a, x: f"({x} in W['wants'].get({a}, ()))",
    "member": lambda n, q: f"({n} in W['member'].get({q}, ()))",
    "read_from": lambda n, h: f"({n} in W['read_from'].get({h}, ()))",
    "sets": {"wants": (0, 1), "member": (1, 0), "read_from": (1, 0)},
    "elements": lambda name, owner: f"W['{name}'].get({owner}, ())",
}
NAMES = {str(runs.FREE): "free", str(runs.VALUE_A): "value of.0", str(runs.VALUE_B): "value of.1"}


def plain(element):
    name = str(element)
    return int(name.rpartition(".")[2]) if name.partition(".")[0] in NUMBERED else NAMES.get(name, name)


WORLD = {sort: [plain(e) for e in elements] for sort, elements in runs.ELEMENTS.items()}
PAIRS = tuple(itertools.combinations(map(plain, (runs.N1, runs.N2, runs.N3)), 2))
SETS = {0: PAIRS[0], 1: PAIRS[2], 2: PAIRS[1]}      # {1, 2}, {2, 3}, {1, 3}
WORLD |= {"member": {plain(q): SETS[i] for i, q in enumerate((runs.Q12, runs.Q23, runs.Q13))},
          "read_from": {plain(h): SETS[i] for i, h in enumerate((runs.H12, runs.H23, runs.H13))},
          "ttl": {plain(runs.A): plain(runs.SHORT), plain(runs.B): plain(runs.LONG)},
          "wants": {plain(runs.A): (plain(runs.X), plain(runs.Y)), plain(runs.B): (plain(runs.X),)}}


class Agreement:
    """Looks at every state of a run; `differences` says where program and z3 do not agree."""

    def __init__(self, protocol, seed):
        self.protocol, self.chance, self.compared, self.allowed, self.differences = protocol, random.Random(seed), 0, 0, []
        kept = dict(prover.WORLD)
        prover.WORLD.clear()    # the programs are of formulas for worlds of any size
        self.programs = {t.__name__: concrete.Program(protocol, t, BACKGROUND) for t in protocol.transitions}
        prover.WORLD.update(kept)

    def value(self, model, term):
        now = model.eval(term, model_completion=True)
        if z3.is_bool(now):
            return z3.is_true(now)
        return next(plain(e) for e in runs.ELEMENTS[now.sort().name()] if z3.is_true(model.eval(e == now, model_completion=True)))

    def state(self, model, s):
        WORLD["fate"] = {plain(a): self.value(model, fate(a)) for a in (runs.A, runs.B)}
        state = concrete.empty_state(self.protocol)
        for name, (*domain, result) in self.protocol.variables.items():
            for point in runs.points(domain):
                value = self.value(model, s._functions[name](*point))
                key = plain(point[0]) if len(point) == 1 else tuple(plain(e) for e in point)
                if isinstance(state[name], set):
                    if value:
                        state[name].add(key)
                else:
                    state[name][key] = value
        return state

    def look(self, model, s):
        state = self.state(model, s)
        for _ in range(ELEMENTS_PER_STATE):
            transition = self.chance.choice(self.protocol.transitions)
            if any(isinstance(t, tuple) for _, t in prover.parameters(transition, 1)):
                continue        # whole functions are seen where a run chooses them
            given = [self.chance.choice(runs.elements_of(t)) for _, t in prover.parameters(transition, 1)]
            self.compare(model, s, state, transition, given, [plain(e) if not z3.is_bool(e) else z3.is_true(e) for e in given])

    def take(self, model, s, transition, chosen):
        """The step that the run takes."""
        parameters = []
        for c in chosen:
            if not z3.is_func_decl(c):
                parameters.append(self.value(model, c))
                continue
            table = {}
            for point in runs.points([c.domain(i) for i in range(c.arity())]):
                table[plain(point[0]) if len(point) == 1 else tuple(map(plain, point))] = self.value(model, c(*point))
            parameters.append({k for k, v in table.items() if v} if c.range().eq(prover.Bool) else table)
        self.compare(model, s, self.state(model, s), transition, chosen, parameters)

    def compare(self, model, s, state, transition, given, parameters):
        step = transition(s, *given)
        right = all(z3.is_true(model.eval(z3.And(condition, True), model_completion=True)) for condition in step.when)
        program = self.programs[transition.__name__]
        result = program.run(state, WORLD, *parameters)
        self.compared += 1
        if isinstance(result, list) != right:
            return self.differences.append(f"{transition.__name__}{tuple(map(str, parameters))}: z3 says {right}")
        if not right:
            return None
        self.allowed += 1
        after = s.after(step.changes)
        changed = dict(result)
        for name in step.changes:
            *domain, _ = self.protocol.variables[name]
            for point in runs.points(domain):
                key = plain(point[0]) if len(point) == 1 else tuple(map(plain, point))
                old = key in state[name] if isinstance(state[name], set) else state[name].get(key)
                new = changed[name].get(key, old)
                now = after._functions[name](*point)
                if new != self.value(model, z3.BoolVal(now) if isinstance(now, bool) else now):
                    return self.differences.append(f"{transition.__name__}{tuple(map(str, parameters))}: {name}{key} is {new}")
        return None
