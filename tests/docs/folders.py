#!/usr/bin/env python3
"""Includes between the folders of src go one way. Each folder may include those that stand before it here, and the public headers. And each test is of a
program: what nothing builds fails nowhere.

    folders.py                exits with 1 and the list of includes that go the other way, or from a folder that is not listed, and of such tests
    folders.py --self-test    that it finds what it is for
"""
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ["base",
           "quorum", "quorum/clocks", "quorum/sets", "quorum/waiting",
           "protocol",
           "node/connection", "node", "node/sentinel", "node/cluster",
           "core/events", "core", "core/lease", "core/admission", "core/acquire", "core/kinds", "client",
           "api", "observers", "testing",
           "cli/output", "cli/options", "cli/servers", "cli/doctor", "cli/locks", "cli/nodes", "cli/run", "cli/dashboard", "cli"]
INCLUDE = re.compile(r'^#include "([a-z0-9_/]+)\.hpp"', re.M)


def folder_of(file: str) -> str:
    return file.rpartition("/")[0]


def wrong(files: dict[str, str]) -> list[str]:
    """What is wrong with sources, by their names from src on."""
    found = []
    for file, text in sorted(files.items()):
        here = folder_of(file)
        if here not in FOLDERS:
            found.append(f"src/{file}: this folder is not listed")
            continue
        for included in INCLUDE.findall(text):
            there = folder_of(included)
            if there not in FOLDERS or FOLDERS.index(there) > FOLDERS.index(here):
                found.append(f"src/{file}: {included}.hpp is above it")
    return found


def not_built() -> list[str]:
    built = {name for f in (ROOT / "tests").rglob("CMakeLists.txt") for name in re.findall(r"\w+\.cpp", f.read_text())}
    return [f"{f.relative_to(ROOT)}: no CMakeLists.txt has it" for f in sorted((ROOT / "tests").rglob("*_test.cpp")) if f.name not in built]


def self_test() -> None:
    assert not wrong({"quorum/a.cpp": '#include "base/b.hpp"\n#include "quorum/c.hpp"\n#include <redlock/client.hpp>\n'})
    assert len(wrong({"base/a.cpp": '#include "quorum/b.hpp"\n', "other/a.cpp": ""})) == 2
    assert len(wrong({"core/events/a.hpp": '#include "core/lease/b2.hpp"\n#include "nowhere/c.hpp"\n'})) == 2


def main() -> None:
    if sys.argv[1:] == ["--self-test"]:
        self_test()
        return
    sources = {str(f.relative_to(ROOT / "src")): f.read_text() for f in (ROOT / "src").rglob("*.?pp")}
    found = wrong(sources) + not_built()
    if len(sources) < 100:
        found.append(f"only {len(sources)} sources were found")
    print("\n".join(found) or f"{len(sources)} sources in {len(FOLDERS)} folders: all includes go down")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
