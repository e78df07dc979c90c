#!/usr/bin/env python3
"""Checks the fencing-token protocol with the model checker spin: each row of TABLE is a model that must hold, or a mutant in which
spin must find a violation. Exits with 1 if any verdict is another one, or if a search did not look at everything.

    run.py [--list] [--only NAME[,NAME]] [--quick | --all] [--jobs N] [--renew]      needs spin and gcc; work files are removed
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
from row import HOLDS, VIOLATION  # noqa: E402
from rows import QUICK, ROWS, TABLE, has_proof, model_of  # noqa: E402, F401
import states  # noqa: E402

DEPTH = 20000           # steps of one run; a model has a few dozen, and a search that gets there is reported as incomplete
SECONDS_MAX = 1200      # for one search


@dataclass(frozen=True)
class Outcome:
    verdict: str                # HOLDS, VIOLATION, or what went wrong
    states: int = 0
    seconds: float = 0.0        # of the search, without translating and compiling


def run(command, folder, **more):
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, errors="replace", **more)


def check(row):
    """Writes, translates, compiles and searches one model, in a folder of its own."""
    with tempfile.TemporaryDirectory(prefix="fence_model_") as folder:
        Path(folder, "fence.pml").write_text(model_of(row)(**row.options).text())
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
    parser.add_argument("--renew", action="store_true", help="write the numbers of states into states.txt")
    return parser.parse_args()


def chosen(options):
    names = [name for name in options.only.split(",") if name]
    unknown = set(names) - {row.name for row in ROWS}
    if unknown:
        sys.exit("no such row: " + ", ".join(sorted(unknown)))
    if options.quick and options.all:
        sys.exit("--quick and --all: one of them")
    def is_quick(row):
        return row.expected == VIOLATION or not (row.large or row.full) or row.name in QUICK
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
    begun, wrong, searched = time.monotonic(), [], {}
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
                else:
                    searched[entry.name] = outcome.states
                if title:
                    print(title)
                    title = None
                print(line(entry, outcome), flush=True)
    if options.renew:
        states.renew(searched)
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
