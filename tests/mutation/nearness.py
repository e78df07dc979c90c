"""Which suites of tests are tried first for a source, where nothing was measured: those whose file includes its header, then those of its folder, then those
of the whole client, then the others that need no server.
"""
import re
from collections import defaultdict
from pathlib import Path

import builds

SIMULATED = ("base", "client", "core", "quorum")   # folders of which tests/simulation has all


class Near:
    """As mutate.Suites, for a build without gcov's counters."""

    def __init__(self, build: builds.Build, suites: list[builds.Suite], root: Path):
        self.build = build
        self.kept = build.folder / "mutation"
        self.reach = self
        self.all = [s for s in suites if s.program.startswith(("tests/unit", "tests/simulation")) and (build.folder / s.program).exists()]
        self.seconds = {s.key(): 1.0 for s in self.all}
        self.files: dict[str, list[Path]] = defaultdict(list)       # of a suite, by its name
        self.texts: dict[Path, str] = {}
        self.objects: dict[str, str] = {}                           # by source
        for test in (root / "tests" / "unit").rglob("*_test.cpp"):
            self.texts[test] = test.read_text()
            for name in re.findall(r"BOOST_(?:AUTO|FIXTURE)_TEST_SUITE\((\w+)", self.texts[test]):
                self.files[name].append(test)
        for made, words in build.compiled.items():
            source = Path(words[words.index("-c") + 1])
            for each in builds.included(source) if builds.is_several(source) else [str(source)]:
                if made.startswith("CMakeFiles/redlock_"):
                    self.objects[str(Path(each).relative_to(root)) if Path(each).is_relative_to(root) else each] = made

    def distance(self, suite: builds.Suite, file: str) -> int:
        folder, stem = str(Path(file).parent.relative_to("src")), Path(file).stem
        if not suite.name:
            return 1 if folder.split("/")[0] in SIMULATED else 4
        files = self.files[suite.name]
        if any(f'"{folder}/{stem}.hpp"' in self.texts[f] or f"<redlock/{stem}.hpp>" in self.texts[f] for f in files):
            return 0
        if any(f.parent.as_posix().endswith(f"/{folder}") for f in files):
            return 1
        return 2 if any(f.stem.endswith("_story_test") for f in files) else 3

    def of(self, file: str, _line: int) -> dict[str, set[str]]:
        return {s.key(): {self.objects[file]} for s in self.all}

    def in_order(self, file: str) -> list[builds.Suite]:
        return sorted(self.all, key=lambda s: self.distance(s, file))
