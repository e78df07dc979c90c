"""What the proofs speak of: sorts, the order of tokens, blocks of tokens, majorities. counting.py proves the axioms from arithmetic."""
from z3 import And, Const, Function, If, Implies, Not, Or

from prover import Bool as Boolean
from prover import each, some, sort, unless

Node = sort("Node")
Attempt = sort("Attempt")       # one acquire, from its first byte; a client that tries again is another attempt
Name = sort("Name")             # what is locked
Value = sort("Value")           # what stands in a key
Token = sort("Token")           # tokens, counters, high-water marks, bases
Extension = sort("Extension")   # one round that extends a lease
Quorum = sort("Quorum")         # a set of M = N/2 + 1 nodes, or more

# ---- tokens are in a row ----

le = Function("le", Token, Token, Boolean)


def lt(s, t):
    return Not(le(t, s))


def larger(s, t):
    return If(le(s, t), t, s)


# ---- each attempt wants a block of k tokens, k >= 1: T - k + 1 .. T ----

below = Function("below", Attempt, Token, Token, Boolean)   # below(a, c, t): c is below the whole block that ends at t: c + k <= t


def owns(a, s, t):
    """s is one of the block of a that ends at t."""
    return And(le(s, t), Not(below(a, s, t)))


fate = Function("fate", Attempt, Token)                     # the token that it will decide on, if it does: only climb.py speaks of it


# ---- values, names, majorities ----

value = Function("value", Attempt, Value)
free = Const("free", Value)                                 # there is no key
wants = Function("wants", Attempt, Name, Boolean)           # the names of its lock
member = Function("member", Node, Quorum, Boolean)


def all_names(a, condition):
    """So for all names that the attempt wants."""
    return each(Name, lambda x: Implies(wants(a, x), condition(x)))


def some_name(a, condition):
    return some(Name, lambda x: And(wants(a, x), condition(x)))


def both_want(a, b, x):
    return And(wants(a, x), wants(b, x))


def axioms(protocol):
    """The background of a protocol."""

    @protocol.axiom
    def tokens_are_in_a_row(r: Token, s: Token, t: Token):
        return And(Or(le(r, s), le(s, r)), Implies(And(le(r, s), le(s, r)), r == s), Implies(And(le(r, s), le(s, t)), le(r, t)))

    @protocol.axiom
    def blocks(a: Attempt, c: Token, d: Token, t: Token, u: Token):
        return And(Implies(below(a, c, t), lt(c, t)),
                   Implies(And(below(a, c, t), le(d, c), le(t, u)), below(a, d, u)))

    value_axiom(protocol)
    member_axiom(protocol)


def value_axiom(protocol):
    @protocol.axiom
    def values_are_fresh(a: Attempt, b: Attempt):
        return And(value(a) != free, unless("value-again", Implies(value(a) == value(b), a == b)))

    @protocol.axiom
    def locks_have_names(a: Attempt):
        return some(Name, lambda x: wants(a, x))


def member_axiom(protocol):
    @protocol.axiom
    def majorities_share_a_node(p: Quorum, q: Quorum):
        return unless("two-of-four", some(Node, lambda n: And(member(n, p), member(n, q))))
