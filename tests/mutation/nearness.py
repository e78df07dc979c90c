"""Which suites of tests are tried first for a source, where nothing was measured: those whose file includes its header, then those of its folder, then those
of the whole client, then the others that need no server.
"""
import re
from collections import defaultdict
from pathlib import Path

import builds

SIMULATED = ("base", "client", "core", "quorum")   # folders of which tests/simulation has all
CONNECTED = ("src/api/", "src/node/", "src/protocol/")      # what tests with servers are for
WHOLE_CLIENT = ("/world.hpp\"", "_world.hpp\"", "testing/memory_node.hpp\"", "<redlock/testing.hpp>")     # what tests include that run one
MOST = 5
WITHOUT_SERVERS = ("tests/unit", "tests/simulation", "tests/cli/cli_parts_tests")


class Near:
    """As mutate.Suites, for a build without gcov's counters."""

    def __init__(self, build: builds.Build, suites: list[builds.Suite], root: Path):
        self.build = build
        self.kept = build.folder / "mutation"
        self.reach = self
        self.all = [s for s in suites if (build.folder / s.program).exists()]
        self.seconds = {s.key(): 1.0 for s in self.all}
        self.files: dict[str, list[Path]] = defaultdict(list)       # of a suite, by its name
        self.texts: dict[Path, str] = {}
        self.objects: dict[str, str] = {}                           # by source
        for test in (root / "tests").rglob("*_test.cpp"):
            self.texts[test] = test.read_text()
            for name in re.findall(r"BOOST_(?:AUTO|FIXTURE)_TEST_SUITE\((\w+)", self.texts[test]):
                self.files[name].append(test)
        for made, words in build.compiled.items():
            source = Path(words[words.index("-c") + 1])
            for each in builds.included(source) if builds.is_several(source) else [str(source)]:
                if made.startswith(("CMakeFiles/redlock_", "src/cli/CMakeFiles/redlock_cli_parts")):
                    self.objects[str(Path(each).relative_to(root)) if Path(each).is_relative_to(root) else each] = made

    def distance(self, suite: builds.Suite, file: str) -> int:
        """Larger than MOST: it is not tried."""
        if suite.program.startswith("tests/cli") or file.startswith("src/cli/"):
            is_of_it = suite.program.startswith("tests/cli") and file.startswith("src/cli/")
            return (0 if "cli_parts" in suite.program else 1) if is_of_it else MOST + 1
        if not suite.program.startswith(WITHOUT_SERVERS):
            return 5 if file.startswith(CONNECTED) else MOST + 1
        folder, stem = str(Path(file).parent.relative_to("src")), Path(file).stem
        if not suite.name:
            return 1 if folder.split("/")[0] in SIMULATED else 4
        files = self.files[suite.name]
        if any(f'"{folder}/{stem}.hpp"' in self.texts[f] or f"<redlock/{stem}.hpp>" in self.texts[f] for f in files):
            return 0
        if any(f.parent.as_posix().endswith(f"/{folder}") for f in files):
            return 1
        if any(w in self.texts[f] for f in files for w in WHOLE_CLIENT):
            return 2
        return MOST + 1 if folder.split("/")[0] in SIMULATED else 3

    def of_files(self, files: set[str]) -> list[builds.Suite]:
        return [s for s in self.all if any(self.distance(s, f) <= MOST for f in files)]

    def use(self, passing: list[builds.Suite], seconds: dict[str, float]) -> None:
        self.all = passing
        self.seconds = seconds

    def of(self, file: str, _line: int) -> dict[str, set[str]]:
        return {s.key(): {self.objects[file]} for s in self.all}

    def in_order(self, file: str) -> list[builds.Suite]:
        return sorted((s for s in self.all if self.distance(s, file) <= MOST), key=lambda s: (self.distance(s, file), self.seconds[s.key()]))
