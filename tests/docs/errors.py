#!/usr/bin/env python3
"""Holds docs/errors.md against the library: each code of redlock/error.hpp is explained once, with its text, and each condition with its
codes. What the README says of this library in its table of other libraries is a row of the table in docs/comparison.md.

    errors.py    exits with 1 and the list of what differs
"""
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def text(path):
    return (ROOT / path).read_text(encoding="utf-8")


def names_of(enumeration):
    body = re.search(rf"enum class {enumeration}(?: : [\w:]+)? {{(.*?)}};", text("include/redlock/error.hpp"), re.S)[1]
    return re.findall(r"^\s+(\w+)(?: = 1)?,", body, re.M)


def codes_of_conditions():
    """condition -> its codes, from the switch in error.cpp."""
    body = re.search(r"bool belongs_to\(.*?\n}", text("src/api/error.cpp"), re.S)[0]
    codes, result = [], {}
    for line in body.splitlines():
        codes += re.findall(r"case errc::(\w+):", line)
        if "return" in line:
            for condition in re.findall(r"condition::(\w+)", line):
                result.setdefault(condition, []).extend(codes)
            codes = []
    return result


wrong = []
page = text("docs/errors.md")
says = dict(re.findall(r'case errc::(\w+): return "([^"]*)";', text("src/api/error.cpp")))
rows = re.findall(r"^\| `(\w+)` \| ([^|]*) \| [^|]* \| [^|]* \|$", page, re.M)
named = [name for name, _ in rows]
for name in names_of("errc"):
    if named.count(name) != 1:
        wrong.append(f"errc::{name} is explained {named.count(name)} times")
for name, words in rows:
    if name == "errc":
        continue
    if name not in says:
        wrong.append(f"errc::{name} is explained, and is not there")
    elif words != says[name]:
        wrong.append(f'errc::{name} says "{says[name]}", and the page has "{words}"')

conditions = dict(re.findall(r"^\| `(\w+)` \| ([^|]*) \| [^|]* \|$", page, re.M))
for name in names_of("condition"):
    expected, shown = codes_of_conditions().get(name, []), re.findall(r"`(\w+)`", conditions.get(name, ""))
    if not expected or sorted(expected) != sorted(shown):
        wrong.append(f"condition::{name} is true of {sorted(expected)}, and the page has {sorted(shown)}")


def beginnings(path):
    """The first two cells of each row of the table of other libraries: what is compared, and this library."""
    table = re.search(r"^\| \| redlock \| Redisson.*?\n\n", text(path) + "\n\n", re.S | re.M)
    return [tuple(row.split(" | ")[:2]) for row in table[0].strip().splitlines()[2:]] if table else []


all_rows = beginnings("docs/comparison.md")
wrong += [f"the README compares with other libraries what docs/comparison.md does not: {row[0]}" for row in beginnings("README.md") if row not in all_rows]
if len(beginnings("README.md")) < 5 or len(all_rows) < 8:
    wrong.append("the README or docs/comparison.md has no table of other libraries")

for what in wrong:
    print(what, file=sys.stderr)
if len(rows) < 20:
    sys.exit(f"only {len(rows)} codes were found")
sys.exit(1 if wrong else 0)
