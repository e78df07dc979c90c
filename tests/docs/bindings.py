#!/usr/bin/env python3
"""No structured binding of a co_await in what users get or copy: g++ 15 and 16 are reported not to destroy its parts, and a lease that is not destroyed is
held until its ttl is over. Use asio::redirect_error or std::tie.

    bindings.py    exits with 1 and the list of places
"""
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BINDING = re.compile(r"\bauto\b[\s\w&]*\[[^\]]*\]\s*[={(]\s*co_await\b")
files = [ROOT / "README.md"]
for folder, endings in (("include", "hpp"), ("src", "[ch]pp"), ("examples", "[ch]pp"), ("docs", "md"), ("tests/consumer", "[ch]pp")):
    files += (ROOT / folder).rglob("*." + endings)
wrong = []
for file in files:
    text = file.read_text(encoding="utf-8")
    wrong += [f"{file.relative_to(ROOT)}:{text.count(chr(10), 0, found.start()) + 1}: {found.group()}" for found in BINDING.finditer(text)]
print("\n".join(sorted(wrong)), end="\n" if wrong else "")
assert BINDING.search("auto const [a, b] = co_await x") and BINDING.search("auto [ec] = co_await x")
sys.exit(1 if wrong or len(files) < 100 else 0)
