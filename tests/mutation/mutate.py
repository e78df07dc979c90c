#!/usr/bin/env python3
"""What the tests notice: mistakes that nobody chose (candidates.py), drawn at random, each tried against the test programs that reach its function.

    mutate.py [--sample N] [--seed N] [--only PREFIX...] [--at FILE:LINE...] [--given FILE] [--near [--servers]]
              [--jobs N] [--budget SECONDS] [--seconds SECONDS] [--list] [--verbose]
    mutate.py --changed SECONDS

--only: files whose names begin so. --at: all mistakes in these lines. --budget: of the suites that reach a mistake, cheapest first, so many seconds at the
most. --seconds: as many mistakes as go into so many. Prints the survivors, and last the score: how many of those that compile were noticed. Those of
equivalent.txt count for neither side.
The build of the preset `mutate` has to be there (make mutate).

--near: with the build of the preset `debug`, as far as it was made, and its suites in the order of nearness.py: nothing has to be instrumented. Only in
sources, since its objects have what headers define compiled into them. Without --servers, suites that start some are not tried.

--given: none by rule, but those of a file, a JSON array of {"file", "from", "to"}: "from" is in the file once.

--changed: as many as go into so many seconds, in sources of the library that were changed in the day before the last commit, with the build of the preset
`debug`, and suites that need no server, in the order of nearness.py. Fails where fewer than a quarter is noticed:
with so few mistakes, a higher limit would fail by chance.
"""
import argparse
import json
import os
import pickle
import random
import shutil
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

sys.dont_write_bytecode = True      # leave no __pycache__ next to the sources
HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE))

try:
    import candidates
except ImportError:
    sys.exit("libclang for Python is missing (Debian: apt-get install -y python3-clang-19, and use /usr/bin/python3)")

import builds  # noqa: E402
import nearness  # noqa: E402
import reach  # noqa: E402

SCHEDULES = 300
# Neither kinds of test that only look at other programs, nor those that take minutes.
NO_SUITES = ("fuzz", "faults", "browser", "/load_tests", "interop")
COMMAND = "src/cli/redlock"
COMMAND_PARTS = ("src/cli/", "src/observers/", "include/redlock/observers/")
OBJECTS_MAX = 4
FILES_OF_A_CHANGE = 6     # to find what can go wrong in one takes seconds
SUITES_NEARBY = 60


@dataclass
class Tried:
    of: candidates.Candidate
    outcome: str = ""           # noticed, survived, or why it was not tried
    ran: list[str] = field(default_factory=list)


def git(*words: str) -> str:
    return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True).stdout


def sources() -> list[str]:
    return [f for f in git("ls-files", "src", "include").splitlines() if f.endswith((".cpp", ".hpp"))]


def changed_sources() -> list[str]:
    """All, if none was."""
    last = int(git("log", "-1", "--format=%ct"))
    names = set(git("log", f"--since={last - 86400}", "--format=", "--name-only").splitlines())
    mine = [f for f in sources() if f.startswith("src/") and f.endswith(".cpp") and not f.startswith(COMMAND_PARTS)]
    return [f for f in mine if f in names] or mine


def all_candidates(build: builds.Build, only: list[str], jobs: int) -> list[candidates.Candidate]:
    boost = next(word for made in build.compiled.values() for word in made if "boost" in word and word.startswith("/"))
    arguments = ["-std=c++20", f"-I{ROOT / 'include'}", f"-I{ROOT / 'src'}", "-isystem", boost, "-DBOOST_ALL_NO_LIB", "-DBOOST_ERROR_CODE_HEADER_ONLY"]
    kept = build.folder / "mutation"
    look(["--prepare", str(kept / "others.pch"), *arguments])
    arguments += ["-include-pch", str(kept / "others.pch")]
    wanted = [f for f in sources() if not only or f.startswith(tuple(only))]
    if not wanted:
        sys.exit(f"mutate: no source begins with {' or '.join(only)}")
    with ThreadPoolExecutor(jobs) as pool:
        found = list(pool.map(lambda f: json.loads(look([f, str(kept / "candidates"), *arguments])), wanted))
    return [candidates.Candidate(**c) for each in found for c in each]


def those_given(file: Path) -> list[candidates.Candidate]:
    found = []
    for each in json.loads(file.read_text()):
        text = (ROOT / each["file"]).read_bytes()
        before = each["from"].encode()
        if text.count(before) != 1:
            sys.exit(f"mutate: {each['file']} has {text.count(before)} times and not once: {each['from']}")
        first = text.index(before)
        at = first + len(before) - len(before.lstrip())
        found.append(candidates.Candidate(each["file"], "given", text.count(b"\n", 0, at) + 1, first, first + len(before), each["to"]))
    return found


def look(words: list[str]) -> str:
    """In a process of its own: libclang is used by several at once, and takes a gigabyte."""
    done = subprocess.run([sys.executable, str(HERE / "candidates.py"), str(ROOT), *words], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"mutate: {words[0]}: {done.stderr[-400:]}")
    return done.stdout


def all_suites(folder: Path) -> list[builds.Suite]:
    shown = subprocess.run(["ctest", "--test-dir", str(folder), "--show-only=json-v1"], capture_output=True, text=True, check=True).stdout
    calls: dict[tuple[str, str], list[tuple[str, ...]]] = {}
    for test in json.loads(shown)["tests"]:
        command = test.get("command", [])
        if len(command) > 1 and command[1].startswith("--run_test=") and " " not in command[1] and command[0].startswith(str(folder)):
            name = command[1][len("--run_test="):].split("/")[0]
            calls.setdefault((str(Path(command[0]).relative_to(folder)), name), []).append(tuple(command[1:]))
    found = [builds.Suite("tests/simulation/simulate", "", (("--seeds", str(SCHEDULES), "--no-counters", "--jobs", "1"),))]
    for (program, name), each in calls.items():
        if any(word in program for word in NO_SUITES):
            continue
        servers = not program.startswith(("tests/unit", "tests/simulation")) and "cli_parts" not in program
        found.append(builds.Suite(program, name, tuple(each) if servers else ((f"--run_test={name}", "--color_output=no"),)))
    return found


class Suites:
    """What each costs, and what it reaches: measured once for a program."""

    def __init__(self, build: builds.Build, some: list[builds.Suite]):
        self.build = build
        self.kept = build.folder / "mutation"
        self.seconds: dict[str, float] = {}
        self.reach = reach.Reach(build.folder, str(ROOT))
        passing = []
        for suite in some:
            program = build.folder / suite.program
            kept = self.kept / "suites" / (suite.key().replace("/", ".") + ".pickle")
            state = (program.stat().st_mtime_ns, suite.calls)
            known = pickle.loads(kept.read_bytes()) if kept.exists() else {}
            if known.get("state") != state:
                counts = self.kept / "scratch" / "counts"
                shutil.rmtree(counts, ignore_errors=True)
                began = time.monotonic()
                failed = builds.run_suite(suite, program, self.kept / "scratch" / "measured", 900, {"GCOV_PREFIX": str(counts)}, to_the_end=True)
                known = {"state": state, "seconds": time.monotonic() - began, "failed": failed, "reach": self.reach.read(counts)}
                kept.parent.mkdir(parents=True, exist_ok=True)
                kept.write_bytes(pickle.dumps(known))
            for arguments, how in known["failed"]:
                print(f"left out, since it fails without a mistake: {suite.program} {' '.join(arguments)} ({how})", flush=True)
            bad = {arguments for arguments, _ in known["failed"]}
            calls = tuple(c for c in suite.calls if c not in bad)
            if not calls:
                continue
            passing.append(builds.Suite(suite.program, suite.name, calls))
            self.seconds[suite.key()] = known["seconds"]
            self.reach.add(suite.key(), known["reach"])
        if not passing:
            sys.exit("mutate: no suite passes")
        self.all = sorted(passing, key=lambda s: self.seconds[s.key()])

    def in_order(self, _file: str) -> list[builds.Suite]:
        return self.all


class Trial:
    """`ends`: what is not tried to its end by then counts for nothing."""

    def __init__(self, suites: Suites | nearness.Near, budget: float, ends: float = float("inf")):
        self.suites = suites
        self.budget = budget
        self.ends = ends

    def __call__(self, what: candidates.Candidate) -> Tried:
        scratch = self.suites.kept / "scratch" / f"{os.getpid()}_{threading.current_thread().name}"
        shutil.rmtree(scratch, ignore_errors=True)
        scratch.mkdir(parents=True)
        tried = Tried(what)
        source = (ROOT / what.file).read_bytes()
        text = source[:what.first] + what.text.encode() + source[what.last:]
        reached = self.suites.reach.of(what.file, what.line)
        made: dict[str, Path] = {}
        linked: dict[tuple[str, frozenset[str]], Path] = {}

        def link(program: str, objects: list[str]) -> Path:
            key = (program, frozenset(objects))
            if key not in linked:
                linked[key] = self.suites.build.link(program, {o: made[o] for o in objects}, scratch)
            return linked[key]

        spent = 0.0
        try:
            if not reached:
                self.compile_anyhow(what, text, scratch)
            for suite in self.suites.in_order(what.file):
                if suite.key() not in reached:
                    continue
                cost = self.suites.seconds[suite.key()]
                if tried.ran and spent + cost > self.budget:
                    break
                spent += cost
                objects = sorted(reached[suite.key()], key=lambda o: o.startswith("tests/"))[:OBJECTS_MAX]
                for each in objects:
                    if each not in made:
                        made[each] = self.suites.build.compile(each, what.file, text, scratch)
                more = {"GCOV_PREFIX": str(scratch / "counts"), "REDLOCK_STOP_AT_FIRST_FAILURE": "1"}
                if suite.program.startswith("tests/cli"):
                    more["REDLOCK_PROGRAM"] = str(link(COMMAND, objects))
                program = link(suite.program, objects)
                tried.ran.append(suite.key())
                left = self.ends - time.monotonic()
                failed = left > 0 and builds.run_suite(suite, program, scratch / "run", min(6 * cost + 20, left), more)
                if time.monotonic() >= self.ends:
                    tried.outcome = "not tried to the end"
                    return tried
                if failed:
                    tried.outcome = "noticed"
                    return tried
            tried.outcome = "survived"
        except builds.NotCompiled:
            tried.outcome = "not compiled"
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
        return tried

    def compile_anyhow(self, what: candidates.Candidate, text: bytes, scratch: Path) -> None:
        """Nothing reaches it; it may still be none."""
        for each, words in self.suites.build.compiled.items():
            if words[words.index("-c") + 1] == str(ROOT / what.file):
                self.suites.build.compile(each, what.file, text, scratch)
                return


def line_of(what: candidates.Candidate) -> str:
    return (ROOT / what.file).read_text().splitlines()[what.line - 1].strip()


def shown(what: candidates.Candidate) -> str:
    before = (ROOT / what.file).read_bytes()[what.first:what.last].decode()
    def short(t: str) -> str:
        t = " ".join(t.split())
        return t if len(t) <= 110 else t[:107] + "..."
    return f"{what.key()}: {short(before) or '(nothing)'}  =>  {short(what.text) or '(nothing)'}\n        {line_of(what)}"


def some(suites: list[str]) -> str:
    more = f" and {len(suites) - 12} more" if len(suites) > 12 else ""
    return ", ".join(suites[:12]) + more if suites else "nothing reaches it"


def equivalents() -> set[tuple[str, str, str, str]]:
    """file | rule | the line | what stands there instead | the reason"""
    found = set()
    for number, row in enumerate((HERE / "equivalent.txt").read_text().splitlines(), 1):
        if not row.strip() or row.startswith("#"):
            continue
        parts = [p.strip() for p in row.split(" | ")]
        if len(parts) != 5 or not parts[4]:
            sys.exit(f"mutate: equivalent.txt:{number}: file | rule | line | replacement | reason")
        found.add(tuple(parts[:4]))
    return found


def folder_of(file: str) -> str:
    return "/".join(file.split("/")[:2])


def score(title: str, tried: list[Tried], equivalent: int) -> str:
    noticed = sum(t.outcome == "noticed" for t in tried)
    return f"{title}: {100 * noticed / len(tried):.1f} % ({noticed} of {len(tried)}, {equivalent} equivalent)" if tried else f"{title}: nothing was tried"


class Sample:
    """Tries mistakes in the order in which they come, until so many compiled."""

    def __init__(self, trial: Trial, every: list[candidates.Candidate], number: int):
        self.trial = trial
        self.queue = iter(every)
        self.number = number
        self.known = equivalents()
        self.told = False
        self.lock = threading.Lock()
        self.running = 0
        self.not_compiled = 0
        self.ignored: list[candidates.Candidate] = []
        self.tried: list[Tried] = []

    def run(self, jobs: int) -> None:
        with ThreadPoolExecutor(jobs, "worker") as pool:
            for each in [pool.submit(self.work) for _ in range(jobs)]:
                each.result()

    def take(self) -> candidates.Candidate | None:
        with self.lock:
            while len(self.tried) + self.running < self.number:
                what = next(self.queue, None)
                if what is None or (what.file, what.rule, line_of(what), " ".join(what.text.split()) or "-") not in self.known:
                    self.running += what is not None
                    return what
                self.ignored.append(what)
        return None

    def work(self) -> None:
        while what := self.take():
            done = self.trial(what)
            with self.lock:
                self.running -= 1
                if done.outcome == "not tried to the end":
                    return
                if done.outcome == "not compiled":
                    self.not_compiled += 1
                    continue
                self.tried.append(done)
                if self.told and done.outcome == "noticed":
                    print(f"noticed  {what.key()}: by {done.ran[-1]}, the {len(done.ran)}th", flush=True)
                if done.outcome == "survived":
                    print(f"survived  {shown(what)}\n        ran: {some(done.ran)}", flush=True)
                if len(self.tried) % 25 == 0:
                    print(score(f"after {len(self.tried)}", self.tried, len(self.ignored)), flush=True)

    def score(self, title: str, counts: Callable[[candidates.Candidate], bool] = lambda c: True) -> str:
        return score(title, [t for t in self.tried if counts(t.of)], sum(counts(c) for c in self.ignored))


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sample", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--at", nargs="*", default=[])
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--budget", type=float, default=60)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--near", action="store_true")
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--servers", action="store_true")
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("--given", type=Path)
    parser.add_argument("--changed", type=float, metavar="SECONDS")
    given = parser.parse_args()
    if given.sample < 1 or given.jobs < 1:
        parser.error("--sample and --jobs are numbers from 1 on")
    return given


def look_at_the_change(seconds: float, jobs: int) -> None:
    ends = time.monotonic() + seconds
    build = builds.Build(ROOT, ROOT / "build" / "debug")
    near = nearness.Near(build, [s for s in all_suites(build.folder) if s.program.startswith(nearness.WITHOUT_SERVERS)], ROOT)
    commit = git("rev-parse", "HEAD").strip()
    chance = random.Random(commit)
    files = [f for f in changed_sources() if f in near.objects]
    chance.shuffle(files)
    files = files[:FILES_OF_A_CHANGE]
    every = all_candidates(build, files, jobs)
    chance.shuffle(every)
    print(f"{len(every)} mistakes can be made in {', '.join(files)}", flush=True)
    sample = Sample(Trial(near, SUITES_NEARBY, ends), every, len(every))
    sample.run(jobs)
    print(sample.score(f"of the change, in {seconds:.0f} s"))
    if 4 * sum(t.outcome == "noticed" for t in sample.tried) < max(1, len(sample.tried)):
        sys.exit("mutate: fewer than a quarter was noticed, or none was tried")


def main() -> None:
    given = arguments()
    if given.changed:
        look_at_the_change(given.changed, given.jobs)
        return
    build = builds.Build(ROOT, ROOT / "build" / ("debug" if given.near else "mutate"))
    if given.given:
        given.sample = 1_000_000
    if given.at:
        given.only = [place.rsplit(":", 1)[0] for place in given.at]
    every = those_given(given.given) if given.given else all_candidates(build, given.only, given.jobs)
    if given.at:
        every = [c for c in every if f"{c.file}:{c.line}" in given.at]
    print(f"{len(every)} mistakes can be made in {len({c.file for c in every})} files: {dict(Counter(c.rule for c in every).most_common())}", flush=True)
    random.Random(given.seed).shuffle(every)
    if given.list:
        for c in every[:given.sample]:
            print(shown(c))
        return
    wanted = all_suites(build.folder)
    if given.near:
        wanted = [s for s in wanted if given.servers or s.program.startswith(nearness.WITHOUT_SERVERS)]
        near = nearness.Near(build, wanted, ROOT)
        every = [c for c in every if c.file in near.objects]
        wanted = near.of_files({c.file for c in every})
    suites = Suites(build, wanted)
    print(f"{len(suites.all)} suites of tests take {sum(suites.seconds.values()):.0f} s", flush=True)
    if given.near:
        near.use(suites.all, suites.seconds)
        suites = near

    sample = Sample(Trial(suites, given.budget, time.monotonic() + given.seconds), every, given.sample)
    sample.told = given.verbose
    sample.run(given.jobs)
    results = [{"at": t.of.key(), "text": t.of.text, "outcome": t.outcome, "ran": t.ran} for t in sample.tried]
    (suites.kept / "results.json").write_text(json.dumps(results, indent=1))
    print(f"{sample.not_compiled} more do not compile")
    for folder in sorted({folder_of(c.file) for c in every}):
        print(sample.score(folder, lambda c, folder=folder: folder_of(c.file) == folder))
    print(sample.score("the library", lambda c: not c.file.startswith(COMMAND_PARTS)))
    print(sample.score("the command and the observers", lambda c: c.file.startswith(COMMAND_PARTS)))
    print(sample.score("mutation score"))
    if not sample.tried:
        sys.exit(1)


if __name__ == "__main__":
    main()
