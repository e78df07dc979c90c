#!/usr/bin/env python3
"""Finds words that the field does not use, or that readers have to guess, in the pages, and in the comments and messages of the public headers, the
library, the command and the examples; and says what to write.

    words.py                exits with 1 and the list of what it found
    words.py --self-test    that it finds what it is for
"""
import re
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "docs/site"))
from markdown import CODE, ROOT, lines, notes, pages  # noqa: E402

# what is found -> what to write
WORDS = {
    r"forgets?|forgot(ten)?|forgetting": "loses, lost (data); expires",
    r"remember(s|ed|ing)?": "keeps, has (its data)",
    r"(los[et]s?|lost|losing|without|loss of|losses of) (its|their|his|all|any|a|the)? ?memor(y|ies)|memory loss": "data: lost its data, loss of data",
    r"may not vote": "is quarantined, has no vote",
    r"g(ive|iven|ives|ave|iving) (it |them |up )?back|back behind": "release, roll back",
    r"und(o|one|oes|oing)": "roll back",
    r"heed(s|ed|ing)?": "cooperates with, observes",
    r"(is|are|was|were|be|been) tried": "is tested; is repeated",
    r"stands? in line|in (the )?line": "waits in the queue",
    r"crowds?|crowded": "high contention, many callers",
    r"naps?": "backs off, backoff",
    r"whoever|whomever": "the client, the caller: name the subject",
    r"who (asks|waits|comes|wants|reads|was refused|loses)": "the client that ..., the waiter: name the subject",
    r"peers?": "other libraries, alternatives",
    r"mixed fleets?|fleets?": "interoperability; clients, servers",
    r"fresh(ly)?": "new; the option bootstrap",
    r"bears": "tolerates",
    r"behind the caller": "in the background",
    r"floors?": "baseline; lower bound",
    r"replant(s|ed|ing)?": "recreate",
    r"standings?": "admission state",
    r"stranded": "needs an operator",
    r"voters?": "nodes; vote handler",
    r"piles?": "batch",
    r"guests?": "extra handle",
    r"keepers?": "registry",
    r"alarms?": "timer",
    r"patience": "wait schedule",
    r"doubt(s|ed|ing|ful)?": "suspect",
    r"beneath": "inner, below",
    r"fell through": "failed",
    r"dear(er|est)?": "expensive",
    r"(by|of) himself": "by itself; name the subject",
    r"self[_-]waits?": "self-deadlock",
}
FOUND = {re.compile(rf"\b({word})\b", re.I): instead for word, instead in WORDS.items()}

# Sentences that mean something else.
ALLOWED = ("who waits for whom", "who reads and who writes", "line by line")


def prose_of_page(text):
    """(line number, line) without code, comments and the targets of links."""
    for number, (line, fenced) in enumerate(lines(text), 1):
        if not fenced and not line.startswith("<!--"):
            yield number, re.sub(r"\]\([^()]*\)", "]", CODE.sub("", line))


def prose_of_comments(text):
    """(line number, line) of the comments of a source, without code."""
    for number, line in enumerate(text.splitlines(), 1):
        comment = re.search(r"//[/!]?<? ?(.*)", line)
        if comment:
            yield number, CODE.sub("", comment[1])


def messages(text):
    """(line number, text) of the string literals that are more than a word."""
    for number, line in enumerate(text.splitlines(), 1):
        for literal in re.findall(r'"((?:[^"\\]|\\.)*)"', line):
            if " " in literal:
                yield number, literal


def findings(prose):
    for number, line in prose:
        for pattern, instead in FOUND.items():
            for found in pattern.finditer(line):
                if not any(sentence in line.lower() for sentence in ALLOWED):
                    yield number, found[0], instead


def self_test():
    def words(page):
        return [word for _, word, _ in findings(prose_of_page(page))]
    assert words("A node that forgets is tried again.") == ["forgets", "is tried"], words("A node that forgets is tried again.")
    assert words("Whoever waits, undoes it.") == ["undoes", "Whoever"]
    assert words("A stranded voter is dearer than the floor; `floor_us` is not.") == ["floor", "stranded", "voter", "dearer"]
    assert words("It lost its memory, and `late_grants_undone` grows. See [x](interoperability.md).") == ["lost its memory"]
    assert words("```\nwhoever\n```\nan index in memory, its memory is full") == []
    assert [w for _, w, _ in findings(prose_of_comments("int fresh; ///< A fresh value."))] == ["fresh"]
    assert [w for _, w, _ in findings(messages('say("it forgets", fresh, "fresh");  // whoever'))] == ["forgets"]


if "--self-test" in sys.argv:
    self_test()
    sys.exit(0)

count, wrong = 0, []
sources = [file for folder in ("include/redlock", "src", "examples") for file in sorted((ROOT / folder).rglob("*.[hc]pp"))]
for file in [*pages(), *notes(), *sources]:
    text = file.read_text(encoding="utf-8")
    prose = list(prose_of_page(text)) if file.suffix == ".md" else [*prose_of_comments(text), *messages(text)]
    count += len(prose)
    wrong += [f"{file.relative_to(ROOT)}:{number}: \"{word}\": write {instead}" for number, word, instead in findings(prose)]
for what in wrong:
    print(what, file=sys.stderr)
if count < 10000:
    sys.exit(f"only {count} lines were found")
sys.exit(1 if wrong else 0)
