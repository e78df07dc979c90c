"""The axioms of vocabulary.py, from arithmetic: for every N, as a question to z3 about the sizes of two sets and of what they share; and
number by number for every N that the code allows. The formulas are those of the code, which is looked at to make sure.
"""
import re
from pathlib import Path

import z3
from z3 import And, Implies, Ints, Not

import code_references
from prover import MUTATION

ROOT = Path(__file__).resolve().parents[2]


def half(n):
    return n / 2 if isinstance(n, z3.ArithRef) else n // 2      # of integers, in both cases


def majority(n):
    return half(n) + (0 if MUTATION.is_on("two-of-four-counted") else 1)


def intact_needed(n):
    return half(n + 1) - (1 if MUTATION.is_on("one-too-few-counted") else 0)


def max_nodes():
    text = (ROOT / "include/redlock/config.hpp").read_text()
    return int(re.search(r"max_nodes = (\d+);", text).group(1))


# ---- two sets among N nodes: only in the first, only in the second, in both, in neither ----

N, FIRST, SECOND, BOTH, NEITHER = Ints("N only_first only_second both neither")
SETS = And(N >= 1, FIRST >= 0, SECOND >= 0, BOTH >= 0, NEITHER >= 0, FIRST + SECOND + BOTH + NEITHER == N)


def two_majorities_share_a_node():
    """M + M > N."""
    return Implies(And(SETS, FIRST + BOTH >= majority(N), SECOND + BOTH >= majority(N)), BOTH >= 1)


def a_majority_and_the_nodes_read_share_one():
    """M + ceil(N/2) > N."""
    return Implies(And(SETS, FIRST + BOTH >= majority(N), SECOND + BOTH >= intact_needed(N)), BOTH >= 1)


def the_rest_of_a_majority_and_the_nodes_read_share_one():
    """The same as proof.md counts it: among the N - 1 other nodes, M - 1 and ceil(N/2)."""
    others = And(N >= 1, FIRST >= 0, SECOND >= 0, BOTH >= 0, NEITHER >= 0, FIRST + SECOND + BOTH + NEITHER == N - 1)
    return Implies(And(others, FIRST + BOTH >= majority(N) - 1, SECOND + BOTH >= intact_needed(N)), BOTH >= 1)


def there_are_majorities():
    """M <= N: so the promises are about something."""
    return Implies(N >= 1, majority(N) <= N)


def no_smaller_majority_would_do():
    """M - 1 and M - 1 need not share a node."""
    return Implies(N >= 1, majority(N) - 1 + majority(N) - 1 <= N)


def no_fewer_nodes_read_would_do():
    """A majority and ceil(N/2) - 1 others need not."""
    return Implies(N >= 1, majority(N) + intact_needed(N) - 1 <= N)


# ---- blocks of k tokens that end at t; the axioms of `below` ----

K, C, D, T, U, V = Ints("k c d t u v")


def below(c, t):
    return c + K <= t


def a_block_is_above_what_it_stepped_over():
    """What is below the block is below its last token, as it has one at least."""
    return Implies(And(K >= 1, below(C, T)), C < T)


def below_goes_down_and_up():
    """What is below a block is so after the counter has fallen short or the block has moved up."""
    return Implies(And(K >= 1, below(C, T), D <= C, T <= U), below(D, U))


def the_tokens_of_a_block_are_those_not_below_it():
    """t - k + 1 .. t."""
    return Implies(K >= 1, And(V <= T, Not(below(V, T))) == And(T - K + 1 <= V, V <= T))


FOR_EVERY_N = (two_majorities_share_a_node, a_majority_and_the_nodes_read_share_one, the_rest_of_a_majority_and_the_nodes_read_share_one,
               there_are_majorities, no_smaller_majority_would_do, no_fewer_nodes_read_would_do,
               a_block_is_above_what_it_stepped_over, below_goes_down_and_up, the_tokens_of_a_block_are_those_not_below_it)


def the_code_computes_these_formulas():
    """The text of the two functions."""
    return code_references.formulas_not_found()


def number_by_number():
    """For N = 1 .. max_nodes: sets of M, and of M and ceil(N/2), cannot be laid side by side into N nodes."""
    return [f"N = {n}: {words}" for n in range(1, max_nodes() + 1) for words, so in (
        ("two majorities fit side by side", 2 * majority(n) > n),
        ("a majority and the nodes read fit side by side", majority(n) + intact_needed(n) > n),
        ("there is no majority", majority(n) <= n)) if not so]


def set_by_set():
    """For N = 1 .. 6, all pairs of sets."""
    wrong = []
    for n in range(1, 7):
        sets = [bits for bits in range(1 << n)]
        majorities = [a for a in sets if bin(a).count("1") >= majority(n)]
        read = [a for a in sets if bin(a).count("1") >= intact_needed(n)]
        wrong += [f"N = {n}: {a:0{n}b} and {b:0{n}b} share no node" for a in majorities for b in majorities + read if not a & b][:1]
    return wrong


BY_HAND = (the_code_computes_these_formulas, number_by_number, set_by_set)


def story(model):
    values = ", ".join(f"{v} = {model[v]}" for v in (N, FIRST, SECOND, BOTH, NEITHER) if model[v] is not None)
    return [f"sets of nodes with {values}"]
