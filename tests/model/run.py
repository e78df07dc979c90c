#!/usr/bin/env python3
"""Checks the fencing-token protocol with the model checker spin: each row of TABLE is a model that must hold, or a mutant in which
spin must find a violation. Exits with 1 if any verdict is another one, or if a search did not look at everything.

    run.py [--list] [--only NAME[,NAME]] [--quick | --all] [--jobs N]        needs spin and gcc; work files are removed
"""
import argparse
import concurrent.futures
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

sys.dont_write_bytecode = True      # leave no __pycache__ next to the sources
from carried import Carried  # noqa: E402
from fence_model import Model  # noqa: E402
from several import Several  # noqa: E402

HOLDS, VIOLATION = "holds", "violation found"
DEPTH = 20000           # steps of one run; a model has a few dozen, and a search that gets there is reported as incomplete
SECONDS_MAX = 1200      # for one search


@dataclass(frozen=True)
class Row:
    name: str
    words: str
    expected: str
    options: dict
    large: bool = False         # worth an optimised search; for the others gcc -O2 would take longer than it saves
    optional: bool = False      # with --all only
    megabytes: int = 1000       # the search stops, and fails, beyond this


@dataclass(frozen=True)
class Outcome:
    verdict: str                # HOLDS, VIOLATION, or what went wrong
    states: int = 0
    seconds: float = 0.0        # of the search, without translating and compiling


def holds(name, words, large=False, optional=False, megabytes=1000, **options):
    return Row(name, words, HOLDS, options, large, optional, megabytes)


def mutant(name, words, large=False, optional=False, **options):
    return Row(name, words, VIOLATION, options, large, optional)


TABLE = [
    "Tokens: two phases and the guard",
    holds("two", "guard, N = 3, 2 attempts", attempts=2),
    holds("three", "guard, N = 3, 3 attempts", attempts=3, large=True),
    holds("three-unsorted", "the same without symmetry reduction (checks the reduction)", attempts=3, sorted=0, large=True),
    holds("two-by-two", "guard, N = 3, 2 clients x 2 attempts", attempts=4, clients=2, large=True, optional=True, megabytes=8000),
    holds("floor", "3 attempts, grants may jump to a floor", attempts=3, floor=3, large=True),
    holds("repeated", "2 attempts, up to 2 acquires executed again", attempts=2, duplicates=2),
    holds("n4", "N = 4 (M = 3), 2 attempts", nodes=4),
    holds("n5", "N = 5, 2 attempts", nodes=5),
    mutant("reach", "sanity: both attempts can complete", reach=1),
    mutant("one-round", "mutant: token = max of one round", two_phase=0),
    mutant("no-guard", "mutant: no guard", guard=0),
    mutant("no-guard-three", "mutant: no guard, 3 attempts", attempts=3, guard=0),
    mutant("value-again", "mutant: value reused across attempts", attempts=3, clients=2, fresh_values=0),
    mutant("two-of-four", "mutant: 2 of 4 as majority", nodes=4, majority=2),

    "Token blocks: each attempt reserves 1 or 2 tokens",
    holds("block-two", "blocks, 2 attempts", block=2),
    holds("block-three", "blocks, 3 attempts", block=2, attempts=3, large=True),
    mutant("block-no-guard", "mutant: blocks, no guard", block=2, guard=0),
    mutant("block-no-guard-three", "mutant: blocks, no guard, 3 attempts", block=2, attempts=3, guard=0),

    "Extension and recreate",
    holds("extend", "two extensions a lease", extensions=2),
    holds("recreate", "two extensions a lease, with recreate", extensions=2, recreate=1),
    mutant("extend-no-guard", "mutant: extension without guard", extensions=1, extend_guard=0),
    mutant("recreate-no-guard", "mutant: recreate without guard", extensions=1, recreate=1, recreate_guard=0),

    "Several resources: two of them; attempts want one, the other or both",
    holds("both-two", "2 attempts that want anything; counters gone, acquires again", resources=2, forgets=3, repeats=1, large=True),
    holds("both-333", "3 attempts that want both", resources=2, attempts=3, wants=333, large=True),
    holds("both-313", "3 attempts: both, the first, both", resources=2, attempts=3, wants=313, large=True),
    holds("both-132", "3 attempts: the first, both, the second", resources=2, attempts=3, wants=132, large=True),
    holds("both-123", "3 attempts: the first, the second, both", resources=2, attempts=3, wants=123, large=True),
    holds("both-recreate", "2 attempts, extension and recreate, each key for itself", resources=2, extensions=1, recreate=1, large=True),
    mutant("both-reach", "sanity: both attempts can complete", resources=2, wants=33, reach=1),
    mutant("both-no-guard", "mutant: no guard", resources=2, guard=0),
    mutant("token-of-first", "mutant: token above the first resource's counter only", resources=2, token_of_first=1),
    mutant("key-of-first", "mutant: confirm compares the first value only", resources=2, key_of_first=1, attempts=3, large=True),
    mutant("uneven", "mutant: repeated acquire answers the larger of two counters", resources=2, forgets=3, repeats=1, even=0),
    mutant("part-counts", "mutant: an extension of one of two keys is a vote", resources=2, extensions=1, recreate=1, part_counts=1),

    "Memory loss and admission (drain, catch-up from ceil(N/2) intact nodes)",
    holds("loss", "a node loses its memory, 2 attempts", losses=1),
    holds("loss-three", "the same, 3 attempts", losses=1, attempts=3, large=True),
    holds("loss-twice", "two losses, one after the other", losses=2),
    holds("loss-rollback", "a loss may bring back an older state", losses=1, rollback=1),
    holds("loss-block", "a loss, and token blocks", losses=1, block=2),
    holds("loss-n4", "a loss, N = 4", losses=1, nodes=4),
    holds("loss-n5", "a loss, N = 5", losses=1, nodes=5, large=True),
    holds("loss-recreate", "a loss, extension and recreate", losses=1, extensions=1, recreate=1),
    holds("rollback-recreate", "a loss with an older state, extension and recreate",
          losses=1, rollback=1, extensions=1, recreate=1, large=True),
    mutant("loss-reach", "sanity: an admitted node's vote is used", losses=1, reach=1),
    mutant("no-catch-up", "mutant: admitted without catch-up", losses=1, catch_up=0),
    mutant("one-too-few", "mutant: catch-up from one node too few", losses=1, catch_up=1),
    mutant("one-too-few-n5", "mutant: the same, N = 5", losses=1, nodes=5, catch_up=2),
    mutant("no-drain", "mutant: admitted without drain", losses=1, drain=0),
    mutant("late-admit", "mutant: admission executed again after a second FLUSHALL", losses=2, late_admit=1),
    mutant("no-base", "mutant: extension looks at the counter, not at the base",
           losses=1, rollback=1, extensions=1, recreate=1, base_guard=0),

    "Carried wait: a node is marked, and processes that come and go share a file",
    holds("carried", "two losses of any kind, a restart of the host", carried=1, large=True),
    holds("carried-three", "three losses", carried=1, losses=3, large=True, optional=True),
    mutant("carried-reach", "sanity: a process admits with another one's entry", carried=1, reach=1),
    mutant("carried-no-mark", "mutant: an entry is compared by the server's id only", carried=1, compares_mark=0),
    mutant("carried-no-id", "mutant: an entry is compared by its mark only", carried=1, compares_id=0),
    mutant("carried-any-boot", "mutant: an entry of another boot counts", carried=1, compares_boot=0),
    mutant("carried-mark-again", "mutant: a mark that is written again is the same mark", carried=1, stamped=0),

    "Trailing identity check: one per message, after its scripts",
    holds("trailing", "a loss, 2 attempts", losses=1, trailing=1),
    holds("trailing-at-once", "the same, check and script in one step", losses=1, trailing=1, at_once=1),
    holds("trailing-rollback", "a loss with an older state", losses=1, trailing=1, rollback=1, large=True),
    holds("trailing-recreate", "the same, extension and recreate (in one step)",
          losses=1, trailing=1, at_once=1, rollback=1, extensions=1, recreate=1, large=True),
    holds("trailing-three", "a loss, 3 attempts (in one step)", losses=1, trailing=1, at_once=1, attempts=3, large=True, optional=True,
          megabytes=8000),
    mutant("trailing-reach", "sanity: an admitted node's vote is used", losses=1, trailing=1, reach=1),
    mutant("trailing-no-wait", "mutant: votes counted before the check", losses=1, trailing=1, trailing_wait=0),
    mutant("trailing-new-id", "mutant: an attempt changes to the new id", losses=1, trailing=1, bound_id=0),
]
ROWS = [row for row in TABLE if isinstance(row, Row)]
# Of the large models that must hold, those that --quick has, too: of each group with such, one.
QUICK = {"three", "both-333", "both-recreate", "trailing-rollback"}


def run(command, folder, **more):
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, errors="replace", **more)


def check(row):
    """Writes, translates, compiles and searches one model, in a folder of its own."""
    with tempfile.TemporaryDirectory(prefix="fence_model_") as folder:
        model = Carried if "carried" in row.options else Several if row.options.get("resources") == 2 else Model
        Path(folder, "fence.pml").write_text(model(**row.options).text())
        translated = run(["spin", "-a", "fence.pml"], folder)
        if translated.returncode != 0 or not Path(folder, "pan.c").exists():
            return Outcome("spin: " + last_line(translated))
        optimise = "-O2" if row.large else "-O0"
        # One process: partial-order reduction finds nothing to reduce (NOREDUCE).
        compiled = run(["gcc", optimise, "-w", "-DSAFETY", "-DCOLLAPSE", "-DNOREDUCE", f"-DMEMLIM={row.megabytes}",
                        "-o", "pan", "pan.c"], folder)
        if compiled.returncode != 0:
            return Outcome("gcc: " + last_line(compiled))
        begun = time.monotonic()
        try:
            searched = run(["./pan", "-E", f"-m{DEPTH}", "-w20"], folder, timeout=SECONDS_MAX)
        except subprocess.TimeoutExpired:
            return Outcome(f"incomplete: {SECONDS_MAX} s are over", 0, time.monotonic() - begun)
        return judge(searched, time.monotonic() - begun)


def judge(searched, seconds):
    """What pan's output says. Only a search that looked at everything may say 'holds'; only a broken promise is a 'violation'."""
    text = searched.stdout + searched.stderr
    counted = re.search(r"(\S+) states, stored", text)
    errors = re.search(r"errors: (\d+)", text)
    states = int(float(counted.group(1))) if counted else 0
    trouble = re.search(r"max search depth too small|out of memory|reached -DMEMLIM|VECTORSZ|hash table full|aborting", text)
    if trouble:
        return Outcome("incomplete: " + trouble.group(0), states, seconds)
    if not counted or not errors:
        return Outcome("no result: " + last_line(searched), states, seconds)
    if errors.group(1) == "0":
        if searched.returncode != 0 or "Search not completed" in text or states == 0:
            return Outcome("incomplete: " + last_line(searched), states, seconds)
        return Outcome(HOLDS, states, seconds)
    if "assertion violated" not in text:
        return Outcome("another error: " + next((line for line in text.splitlines() if line.startswith("pan:")), "?"), states, seconds)
    return Outcome(VIOLATION, states, seconds)


def last_line(finished):
    lines = (finished.stdout + finished.stderr).strip().splitlines()
    return f"exit {finished.returncode}: {lines[-1] if lines else 'silent'}"


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", action="store_true", help="print the rows and stop")
    parser.add_argument("--only", metavar="NAME", default="", help="these rows only (names from --list, commas between them)")
    parser.add_argument("--quick", action="store_true", help="every mutant, and what holds of the small models and a few of the large")
    parser.add_argument("--all", action="store_true", help="the optional rows too: minutes, and up to 8 GB each")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="rows at a time (default: number of CPUs)")
    return parser.parse_args()


def chosen(options):
    names = [name for name in options.only.split(",") if name]
    unknown = set(names) - {row.name for row in ROWS}
    if unknown:
        sys.exit("no such row: " + ", ".join(sorted(unknown)))
    if options.quick and options.all:
        sys.exit("--quick and --all: one of them")
    def is_quick(row):
        return row.expected == VIOLATION or not row.large or row.name in QUICK
    return [row for row in ROWS
            if (row.name in names if names else (options.all or not row.optional) and (is_quick(row) or not options.quick))]


def line(row, outcome):
    mark = " " if outcome.verdict == row.expected else "!"
    return f"{mark} {row.words:58} {outcome.states:>10,} {outcome.seconds:>6.1f}  {outcome.verdict:16} {row.expected}"


def main():
    options = arguments()
    rows = ROWS if options.list else chosen(options)
    if options.list:
        for row in rows:
            print(f"{row.name:21} {row.expected:16} {'optional  ' if row.optional else '          '}{row.words}")
        return 0
    for tool in ("spin", "gcc"):
        if not shutil.which(tool):
            sys.exit(f"{tool} is missing (Debian: apt-get install -y {tool})")
    begun, wrong = time.monotonic(), []
    print(f"{'':1} {'model':58} {'states':>10} {'s':>6}  {'verdict':16} expected")
    with concurrent.futures.ThreadPoolExecutor(max(1, options.jobs)) as pool:
        pending = {row.name: pool.submit(check, row) for row in rows}
        title = None
        for entry in TABLE:
            if isinstance(entry, str):
                title = f"  -- {entry}"
            elif entry.name in pending:
                outcome = pending.pop(entry.name).result()
                if outcome.verdict != entry.expected:
                    wrong.append(entry.name)
                if title:
                    print(title)
                    title = None
                print(line(entry, outcome), flush=True)
    ran = len(rows) - len(pending)
    left_out = [] if options.only else [row.name for row in ROWS if row not in rows]
    print(f"{ran} models in {time.monotonic() - begun:.0f} s, {len(wrong)} with another verdict than expected"
          + (f": {', '.join(wrong)}" if wrong else ""))
    if left_out:
        print(f"left out, as they take {'long' if options.quick else 'minutes and gigabytes (--all)'}: {', '.join(left_out)}")
    if ran == 0:
        print("nothing was run")
    return 1 if wrong or ran == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
