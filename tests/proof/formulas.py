#!/usr/bin/env python3
"""The formulas that the proof is about are those of the code. Needs no z3, so that it is among the quick tests."""
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# What the code computes, and where.
FORMULAS = {
    "src/quorum/votes.hpp": "return nodes / 2 + 1;",
    "src/quorum/admission.hpp": "return (size_ + 1) / 2;",
}


def not_found():
    return [f"{file}: not found: {text}" for file, text in FORMULAS.items() if text not in (ROOT / file).read_text()]


if __name__ == "__main__":
    wrong = not_found()
    for line in wrong:
        print(line, "(tests/proof/counting.py has what the code computes)")
    print(f"{len(FORMULAS)} formulas looked for, {len(wrong)} not found")
    sys.exit(1 if wrong else 0)
