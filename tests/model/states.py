#!/usr/bin/env python3
"""states.txt: the rows of `make model` with the states that were searched. `run.py --renew` writes into it what it has run; `states.py` says whether all rows
are there, and no others.
"""
import re
import sys
from pathlib import Path

sys.dont_write_bytecode = True
from row import HOLDS, VIOLATION  # noqa: E402
from rows import TABLE  # noqa: E402

FILE = Path(__file__).with_name("states.txt")
ROW = re.compile(r"        (?P<words>.*?)(?: \((?P<states>[\d,]+)\))?$")


def by_section():
    """Each section's title and rows."""
    sections = []
    for entry in TABLE:
        if isinstance(entry, str):
            sections.append((entry, []))
        else:
            sections[-1][1].append(entry)
    return sections


def words_of(row):
    return row.words.removeprefix("mutant: ") + (" *" if row.optional and row.expected == HOLDS else "")


def head(text):
    """What comes before the first section."""
    return text[:text.index("\n\n\n")]


def known(text):
    """The states of each row of the file: {(section, words): number}."""
    states, section = {}, None
    for line in text[len(head(text)):].splitlines():
        if line and not line.startswith(" "):
            section = line
        elif (row := ROW.fullmatch(line)) and row["states"]:
            states[section, row["words"]] = int(row["states"].replace(",", ""))
    return states


def written(text, states):
    """The file anew, with these states; of a row without any it says nothing else than its words."""
    lines = [head(text), "", ""]
    for title, rows in by_section():
        lines.append(title)
        for verdict in (HOLDS, VIOLATION):
            of_verdict = [row for row in rows if row.expected == verdict]
            if of_verdict:
                lines.append(f"    {verdict}")
            for row in of_verdict:
                number = states.get((title, words_of(row)))
                lines.append(f"        {words_of(row)}" + (f" ({number:,})" if number and verdict == HOLDS else ""))
        lines.append("")
    return "\n".join(lines[:-1]) + "\n"


def renew(outcomes):
    """`outcomes`: of rows by their names, the states of those that were searched to the end, as expected."""
    text = FILE.read_text()
    states = known(text)
    for title, rows in by_section():
        states.update({(title, words_of(row)): outcomes[row.name] for row in rows if row.name in outcomes})
    FILE.write_text(written(text, states))


def faults():
    text = FILE.read_text()
    states = known(text)
    for title, rows in by_section():
        twice = {words_of(row) for row in rows if sum(words_of(row) == words_of(other) for other in rows) > 1}
        yield from (f"{title}: two rows are called {words!r}" for words in sorted(twice))
        yield from (f"{title}: {words_of(row)}: nobody has written how many states it has" for row in rows
                    if row.expected == HOLDS and (title, words_of(row)) not in states)
    if text != written(text, states):
        yield "its rows are not those of rows.py"


if __name__ == "__main__":
    found = list(faults())
    for fault in found:
        print(f"{FILE.name}: {fault}")
    if found:
        print("tests/model/run.py --renew --only NAME,NAME writes what it has run")
    sys.exit(1 if found else 0)
