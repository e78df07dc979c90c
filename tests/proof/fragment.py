"""Are the questions to z3 decidable? They are if the sorts can be put in layers: every function, and every "for each x there is a y",
leads from a sort to one further down. Then there are finitely many terms, and a solver's search ends: with a proof, or a finite world.
(Many-sorted effectively propositional logic, as in Ivy.)"""
import z3


def edges(lists):
    """From a sort to those that functions, and existential quantifiers inside universal ones, lead to. Lists of formulas, which share
    many of them."""
    found, seen = set(), set()
    for formulas in lists:
        for f in formulas:
            walk(f, True, frozenset(), found, seen)
    return found


def walk(f, positive, universals, found, seen):
    key = (f.get_id(), positive, universals)
    if key in seen:
        return
    seen.add(key)
    if z3.is_quantifier(f):
        sorts = frozenset(f.var_sort(i).name() for i in range(f.num_vars()))
        if f.is_forall() == positive:
            universals = universals | sorts
        else:
            found.update((u, s) for u in universals for s in sorts)
        return walk(f.body(), positive, universals, found, seen)
    if not z3.is_app(f):
        return None
    if f.decl().kind() == z3.Z3_OP_UNINTERPRETED and f.num_args() > 0 and not z3.is_bool(f):
        found.update((arg.sort().name(), f.sort().name()) for arg in f.children())
    children = f.children()
    for i, child in enumerate(children):
        if z3.is_not(f) or (z3.is_implies(f) and i == 0):
            polarities = (not positive,)
        elif z3.is_and(f) or z3.is_or(f) or z3.is_implies(f) or not z3.is_bool(child):
            polarities = (positive,)
        else:               # conditions, and equality of truth values
            polarities = (True, False)
        for polarity in polarities:
            walk(child, polarity, universals, found, seen)
    return None


def layers(found):
    """The sorts in layers, or None if there is a circle."""
    sorts = {s for edge in found for s in edge}
    placed, result = set(), []
    while sorts - placed:
        layer = {s for s in sorts - placed if all(t in placed for u, t in found if u == s)}
        if not layer:
            return None
        result.insert(0, sorted(layer))
        placed |= layer
    return result
