#!/usr/bin/env python3
"""The proof of the token protocol, for any number of nodes, attempts, names, losses: every obligation is a question to z3. Then the runs
that show that it is about something, and the mutants, each of which must leave an obligation unproven. docs/proof.md has it in words.

    run.py [--list] [--transitions] [--only WORD[,WORD]] [--jobs N] [--effort N] [--second-opinion]

--only: obligations, runs and mutants with one of these words in their names. --second-opinion: cvc5 is asked as well, and must not
disagree.
Exits with 1 if something is not proven, cannot happen, or if a mutant is proven; and if nothing was looked at.
"""
import argparse
import multiprocessing
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

sys.dont_write_bytecode = True      # leave no __pycache__ next to the sources
HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "model")]

try:
    import z3
except ImportError:
    sys.exit("z3 for Python is missing (Debian: apt-get install -y python3-z3, and use /usr/bin/python3)")

import agreement  # noqa: E402
import climb  # noqa: E402
import climb_memory  # noqa: E402
import clocks  # noqa: E402
import code_references  # noqa: E402
import counting  # noqa: E402
import exclusion  # noqa: E402
import fragment  # noqa: E402
import held  # noqa: E402
import memory  # noqa: E402
import prover  # noqa: E402
import runs  # noqa: E402
import tokens  # noqa: E402
import ttl  # noqa: E402
from mutants import MUTANTS  # noqa: E402

PROTOCOLS = {"tokens": tokens.p, "memory": memory.p, "climb": climb.p, "climb-memory": climb_memory.p, "ttl": ttl.p,
             "exclusion": exclusion.p}
ARITHMETIC = {"counting": counting, "clocks": clocks}
EFFORT_MAX = 40_000_000        # for one question, in z3's units; an answer that does not come is a failure


@dataclass
class Outcome:
    group: str
    name: str
    good: bool
    seconds: float          # of CPU, so that they do not depend on what else the machine does
    words: str = ""         # why not, or what a mutant broke
    story: tuple = ()


# ---- questions, by name: what a worker is asked, so that only names travel between processes ----

def obligations_of(protocol, mutant=None, cache={}):    # noqa: B006
    key = protocol, mutant
    if key not in cache:
        cache.clear()
        prover.MUTATION.active = mutant
        cache[key] = {o.name: o for o in PROTOCOLS[protocol].obligations()}
    return cache[key]


def prove(protocol, name, options):
    o = obligations_of(protocol)[name]
    begun = time.process_time()
    formulas = o.assumptions + [z3.Not(o.goal)]
    solver, verdict = prover.ask(formulas, options.effort)
    words, story = "", ()
    if verdict == z3.sat:
        words = "a step breaks it" if o.kind.startswith("kept") else "it does not follow"
        story = told(PROTOCOLS[protocol], o, formulas, options)
    elif verdict != z3.unsat:
        words = f"no answer: {solver.reason_unknown()}"
    elif options.second_opinion:
        second = ask_cvc5(solver)
        words = {"unsat": "cvc5 agrees", "sat": "cvc5 disagrees"}.get(second, "cvc5 gives up")
    return Outcome(protocol, name, verdict == z3.unsat and words != "cvc5 disagrees", time.process_time() - begun, words, story)


def told(protocol, obligation, formulas, options):
    model = prover.smallest_model(protocol, formulas, options.effort)
    return tuple(obligation.explain.tell(model)) if model is not None else ("no finite world was found",)


def ask_cvc5(solver):
    """First with its default way of choosing instances, which is quick; then with one that misses none."""
    with tempfile.NamedTemporaryFile("w", suffix=".smt2") as file:
        file.write("(set-logic ALL)\n" + solver.to_smt2())
        file.flush()
        for how in ("--tlimit=5000",), ("--tlimit=20000", "--enum-inst"):
            answer = subprocess.run(["cvc5", *how, file.name], capture_output=True, text=True)
            last = (answer.stdout.strip().splitlines() or ["nothing"])[-1]
            if last in ("sat", "unsat"):
                return last
    return "unknown"


def arithmetic(group):
    return clocks.FROM_RATES if group == "clocks" else counting.FOR_EVERY_N + counting.BY_HAND


def count(group, function, options):
    begun = time.process_time()
    name = f"{group}: {prover.name_of(function)}"
    if function in counting.BY_HAND:
        wrong = function()
        return Outcome(group, name, not wrong, time.process_time() - begun, "; ".join(wrong))
    question = [z3.Not(function())]
    _, verdict = prover.ask(question, options.effort)
    story = tuple(ARITHMETIC[group].story(prover.model_in_words(question, options.effort))) if verdict == z3.sat else ()
    return Outcome(group, name, verdict == z3.unsat, time.process_time() - begun, "" if verdict == z3.unsat else str(verdict), story)


def layered(protocol):
    """One circle among the sorts, and z3 may search for ever."""
    begun = time.process_time()
    questions = [o.assumptions + [z3.Not(o.goal)] for o in obligations_of(protocol).values()]
    found = fragment.edges(questions)
    layers = fragment.layers(found)
    words = " > ".join(", ".join(layer) for layer in layers) if layers else "the sorts go in a circle: " + str(sorted(found))
    return Outcome(protocol, f"{protocol}: the questions are decidable", layers is not None, time.process_time() - begun, words)


def happens(name):
    begun = time.process_time()
    prover.MUTATION.active = None
    run = runs.RUNS[name]
    stuck = run.follow(PROTOCOLS[run.protocol])
    return Outcome("runs", f"{run.protocol}: it can happen that {name}", stuck is None, time.process_time() - begun, stuck or "")


def agrees(name):
    """What replay.py makes of the transitions is what z3 makes of them."""
    begun = time.process_time()
    prover.MUTATION.active = None
    run = runs.RUNS[name]
    watcher = agreement.Agreement(PROTOCOLS[run.protocol], name)
    stuck = run.follow(PROTOCOLS[run.protocol], watcher)
    words = stuck or "; ".join(watcher.differences[:3]) or ("" if watcher.compared > watcher.allowed > 0 else "nothing was compared")
    return Outcome("agreement", f"{run.protocol}: programs and formulas agree while {name}", not words, time.process_time() - begun,
                   words or f"{watcher.allowed} of {watcher.compared} steps allowed")


def every_transition_happens():
    """Each transition is a step of some run, so none of them holds only because it is never taken."""
    missing = [f"{p}: {t.__name__}" for p, protocol in PROTOCOLS.items() for t in protocol.transitions
               if not protocol.is_proven_by_base(t) and not any(t.__name__ in run.transitions() for run in runs.RUNS.values() if run.protocol == p)]
    return Outcome("runs", "every transition is in one of them", not missing, 0.0, "not in any: " + ", ".join(missing) if missing else "")


def the_code_of_every_transition_is_there():
    """The files have the functions and scripts that the transitions name. (That these do what the transitions say is for a reader.)"""
    missing = []
    for name, protocol in PROTOCOLS.items():
        for transition, (code, world) in protocol.carried_out_by.items():
            missing += [] if code or world else [f"{name}: {transition}: who does it?"]
            missing += [f"{name}: {transition}: {what}" for entry in code for what in code_references.words_not_found(entry)]
    return Outcome("runs", "the code that carries out every transition is where the transition says", not missing, 0.0, "; ".join(missing))


def tests_of(protocol, transition):
    """tokens.py and climb.py have no code of their own: their steps are those of memory.py and climb_memory.py without losses. climb_memory.py has
    those of memory.py as well."""
    rows = {"tokens": ("memory",), "climb": ("climb-memory", "memory"), "climb-memory": ("climb-memory", "memory")}.get(protocol, (protocol,))
    return next((held.HELD_BY[row][transition] for row in rows if transition in held.HELD_BY.get(row, ())), ())


def a_test_holds_the_code_of_every_transition():
    """By name; and the file has a test of that name."""
    wrong = []
    for name, protocol in PROTOCOLS.items():
        rows = {t.__name__ for t in protocol.transitions}
        wrong += [f"{name}: no transition {t}" for t in held.HELD_BY.get(name, ()) if t not in rows]
        for transition in rows:
            tests = tests_of(name, transition)
            wrong += [] if tests else [f"{name}: {transition}: which test?"]
            wrong += [f"{name}: {transition}: {what}" for what in code_references.tests_not_found(tests)]
    unknown = set(held.HELD_BY) - set(PROTOCOLS)
    wrong += [f"no protocol {name}" for name in unknown]
    return Outcome("runs", "a test holds the code of every transition", not wrong, 0.0, "; ".join(wrong))


def transitions_as_table():
    """What README.md refers to: the code that carries out each transition, and the tests of that code."""
    lines = []
    for title, protocol in ("transition", memory.p), ("transition, for the climb", climb_memory.p), ("transition, for the longest ttl", ttl.p), \
            ("transition, for mutual exclusion", exclusion.p):
        lines += [f"| {title} | carried out by | held by |", "|---|---|---|"]
        for transition, (code, world) in protocol.carried_out_by.items():
            if protocol is climb_memory.p and transition not in held.HELD_BY["climb-memory"]:
                continue        # as in memory.py
            where = [f"`{words.replace(', ', '`, `')}` in {file}" for file, words in (entry.split(": ") for entry in code)]
            tests = {}
            for file, test in tests_of(protocol.name, transition):
                tests.setdefault(file.removeprefix("tests/"), []).append(f"`{test}`")
            held_by = "; ".join(f"{', '.join(of_file)} in {file}" for file, of_file in tests.items())
            lines.append(f"| {transition.replace('_', ' ')} | {'; '.join(where + [world] * bool(world))} | {held_by} |")
        lines.append("")
    return "\n".join(lines).strip()


def kill(mutant, options):
    """Some obligation must fail, with a counterexample. Only those that the mutant changes are looked at."""
    begun = time.process_time()
    group, name = "mutants", f"{mutant.protocol}: mutant {mutant.name}: {mutant.words}"
    looked_at = unanswered = 0
    if mutant.protocol in ARITHMETIC:
        prover.MUTATION.active = mutant.name
        for function in arithmetic(mutant.protocol):
            if function is counting.the_code_computes_these_formulas:
                continue
            looked_at += 1
            outcome = count(mutant.protocol, function, options)
            if not outcome.good:
                story = outcome.story or tuple(outcome.words.split("; ")[:3])
                return Outcome(group, name, True, time.process_time() - begun, outcome.name, story)
    else:
        all_of_them = obligations_of(mutant.protocol, mutant.name)
        affected = [o for o in all_of_them.values() if mutant.name in o.mutants]
        affected.sort(key=lambda o: not (mutant.first and mutant.first in o.name))
        for o in affected:
            looked_at += 1
            formulas = o.assumptions + [z3.Not(o.goal)]
            _, verdict = prover.ask(formulas, options.mutant_effort)
            if verdict == z3.sat:
                story = told(PROTOCOLS[mutant.protocol], o, formulas, options)
                return Outcome(group, name, True, time.process_time() - begun, f"{o.kind}: {o.what}", story)
            unanswered += verdict != z3.unsat
    words = f"no counterexample in {looked_at} obligations ({unanswered} without an answer)"
    if not looked_at:
        words = "no transition and no axiom has it"
    return Outcome(group, name, False, time.process_time() - begun, words)


def every_mutant_of_the_model_has_a_counterpart():
    from run_of_model import mutant_rows
    covered = {row for m in MUTANTS for row in m.rows} | {row for run in runs.RUNS.values() for row in run.rows}
    missing = sorted(set(mutant_rows()) - covered)
    unknown = sorted(covered - set(mutant_rows()))
    words = "; ".join([f"no counterpart: {row}" for row in missing] + [f"no such row: {row}" for row in unknown])
    return Outcome("mutants", "every row of tests/model that must fail has its counterpart", not words, 0.0, words)


# ---- the table ----

def tasks(options):
    """(function, arguments, name), in the order of the table."""
    result = [(count, (group, f, options), f"{group}: {prover.name_of(f)}") for group in ARITHMETIC for f in arithmetic(group)]
    for protocol in PROTOCOLS:
        result.append((layered, (protocol,), f"{protocol}: the questions are decidable"))
        result += [(prove, (protocol, name, options), name) for name in obligations_of(protocol)]
    result += [(happens, (name,), f"{run.protocol}: it can happen that {name}") for name, run in runs.RUNS.items()]
    result += [(agrees, (name,), f"{run.protocol}: programs and formulas agree while {name}") for name, run in runs.RUNS.items()
               if run.protocol != "climb"]      # traces are of climb_memory.py
    result.append((every_transition_happens, (), "every transition is in one of them"))
    result.append((the_code_of_every_transition_is_there, (), "the code that carries out every transition is where the transition says"))
    result.append((a_test_holds_the_code_of_every_transition, (), "a test holds the code of every transition"))
    result += [(kill, (m, options), f"{m.protocol}: mutant {m.name}: {m.words}") for m in MUTANTS]
    result.append((every_mutant_of_the_model_has_a_counterpart, (), "every row of tests/model that must fail has its counterpart"))
    words = [w for w in options.only.split(",") if w]
    return [t for t in result if not words or any(w in t[2] for w in words)]


def carry_out(task):
    function, arguments, name = task
    try:
        return function(*arguments)
    except Exception as e:      # noqa: BLE001  (a worker that dies silently would hide what it was asked)
        return Outcome("errors", name, False, 0.0, f"{type(e).__name__}: {e}")


TITLES = {"counting": "Counting: majorities, halves, blocks", "clocks": "Clocks with bounded rates", "tokens": tokens.p.title,
          "memory": memory.p.title, "climb": climb.p.title, "climb-memory": climb_memory.p.title, "ttl": ttl.p.title, "exclusion": exclusion.p.title,
          "agreement": "Agreement: the replay's programs do what z3 is asked about",
          "runs": "Runs: what the promises are about can happen", "mutants": "Mutants: each breaks an obligation"}


def table(outcomes):
    print(f"\n{'part':90} {'proven':>8} {'of':>5} {'s CPU':>7}")
    for group in dict.fromkeys(o.group for o in outcomes):
        of_group = [o for o in outcomes if o.group == group]
        good, seconds = sum(o.good for o in of_group), sum(o.seconds for o in of_group)
        print(f"{TITLES.get(group, group):90} {good:>8} {len(of_group):>5} {seconds:>7.1f}")
        if group in PROTOCOLS:
            kinds = Counter(o.name.split(": ")[1] for o in of_group)
            for kind, number in kinds.items():
                good = sum(o.good for o in of_group if o.name.split(": ")[1] == kind)
                print(f"  {kind:88} {good:>8} {number:>5}")


def parsed():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", action="store_true", help="print the names and stop")
    parser.add_argument("--transitions", action="store_true", help="print which code carries out which transition, and stop")
    parser.add_argument("--only", metavar="WORD", default="", help="only what has one of these words in its name")
    parser.add_argument("--jobs", type=int, default=min(2, os.cpu_count() or 1), help="processes (default: 2)")
    parser.add_argument("--effort", type=int, default=EFFORT_MAX, help=f"for one question, in z3's units (default: {EFFORT_MAX})")
    parser.add_argument("--second-opinion", action="store_true", help="ask cvc5 as well, which must not disagree")
    options = parser.parse_args()
    options.mutant_effort = options.effort // 2
    return options


def main():
    options = parsed()
    if options.second_opinion and not shutil.which("cvc5"):
        sys.exit("cvc5 is missing (Debian: apt-get install -y cvc5)")
    if options.transitions:
        print(transitions_as_table())
        return 0
    begun = time.monotonic()
    todo = tasks(options)
    if options.list:
        print("\n".join(name for _, _, name in todo))
        return 0
    outcomes = []
    with multiprocessing.Pool(max(1, options.jobs)) as pool:
        for outcome in pool.imap(carry_out, todo, chunksize=1):
            outcomes.append(outcome)
            words = f"  ({outcome.words})" if outcome.words else ""
            print(f"{'ok ' if outcome.good else 'NOT'} {outcome.seconds:6.2f} s  {outcome.name}{words}", flush=True)
            for line in outcome.story:
                print("                " + line)
    table(outcomes)
    bad = [o for o in outcomes if not o.good]
    used = sum(resource.getrusage(who).ru_utime + resource.getrusage(who).ru_stime
               for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    if not outcomes:
        print("nothing was checked")
        return 1
    print(f"\n{len(outcomes)} obligations in {time.monotonic() - begun:.0f} s ({used:.0f} s of CPU), z3 {z3.get_version_string()}"
          f"{' and cvc5' if options.second_opinion else ''}: " + (f"{len(bad)} NOT as they must be" if bad else "all as they must be"))
    for o in bad:
        print(f"  {o.name}: {o.words}")
    if options.second_opinion:
        agrees = Counter(o.words for o in outcomes if o.words.startswith("cvc5"))
        print("; ".join(f"{words}: {number}" for words, number in agrees.items()))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
