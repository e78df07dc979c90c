#!/usr/bin/env python3
"""What the proof names is in the code: formulas, the functions and scripts that carry out a transition, and the tests of these. Needs no z3, so that
a name that changed is found by the quick tests."""
import ast
import re
import sys
from functools import cache
from pathlib import Path

sys.dont_write_bytecode = True
import held  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]

# What the code computes, and where.
FORMULAS = {
    "src/quorum/votes.hpp": "return nodes / 2 + 1;",
    "src/quorum/admission.hpp": "return (size_ + 1) / 2;",
}


@cache
def text_of(file):
    return (ROOT / file).read_text(encoding="utf-8") if (ROOT / file).is_file() else ""


def formulas_not_found():
    return [f"not found in {file}: {text}" for file, text in FORMULAS.items() if text not in text_of(file)]


def words_not_found(entry):
    """Of "FILE: WORD, WORD", as a transition is declared with. A word is found as a whole."""
    file, words = entry.split(": ")
    return [f"no {word} in {file}" for word in words.split(", ") if not re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text_of(file))]


def tests_not_found(tests):
    return [f"no test {test} in {file}" for file, test in tests if not re.search(rf"_TEST_CASE\({test}\b", text_of(file))]


def entries_of(source):
    """The code that the transitions of a protocol's file are declared with."""
    for function in ast.walk(ast.parse(source)):
        for decorator in getattr(function, "decorator_list", ()):
            if isinstance(decorator, ast.Call) and ast.unparse(decorator.func) == "p.transition":
                for entry in decorator.args:
                    yield function.name, entry.value


def self_test():
    source = '@p.transition("src/core/lease/climb.cpp: climb::end", world="a crash")\ndef ends(s): pass\n@p.axiom\ndef other(s): pass\n'
    assert list(entries_of(source)) == [("ends", "src/core/lease/climb.cpp: climb::end")]
    assert words_not_found("src/core/lease/climb.cpp: climb::end, climb::en, clim") == ["no climb::en in src/core/lease/climb.cpp", "no clim in src/core/lease/climb.cpp"]
    assert words_not_found("src/lease/no_such_file.cpp: climb::end") and tests_not_found([(held.CLIMBS, "no_such_test")])


def main():
    self_test()
    looked_for, wrong = len(FORMULAS), formulas_not_found()
    for file in sorted((ROOT / "tests/proof").glob("*.py")):
        for transition, entry in entries_of(file.read_text(encoding="utf-8")):
            looked_for += 1
            wrong += [f"{file.name}: {transition}: {what}" for what in words_not_found(entry)]
    for protocol, transitions in held.HELD_BY.items():
        for transition, tests in transitions.items():
            looked_for += len(tests)
            wrong += [f"held.py: {protocol}: {transition}: {what}" for what in tests_not_found(tests)]
    for line in wrong:
        print(line)
    print(f"{looked_for} looked for, {len(wrong)} not found")
    return 1 if wrong or looked_for < 100 else 0


if __name__ == "__main__":
    sys.exit(main())
