#!/usr/bin/env python3
"""Holds sentences against what is there: redlock/redlock.hpp names each header that it leaves out, and no page says that something is missing for
which the configuration has a key.

    claims.py               exits with 1 and the list of what is wrong
    claims.py --self-test   that the checks find what they are for
"""
import re
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "docs/site"))
from markdown import ROOT, pages  # noqa: E402

# What keys are called in sentences. A key that is not here is called by its own words: `unix_socket` is a unix socket.
WORDS = {"tls": ("TLS", "rediss://"), "fsync": ("fsync", "WAITAOF"), "password_file": ("password files",), "auto_extend": ("automatic extension", "watchdog"),
         "owner": ("reentrance", "reentrant locks"), "token_block": ("token blocks", "blocks of tokens"), "fencing": ("fencing", "fencing tokens")}
# Keys whose words are in many sentences that are not about the key.
EVERYWHERE = {"host", "port", "value", "verify", "nodes", "bootstrap", "label", "identity", "lock_delay", "clock_drift", "ttl", "acquire_timeout", "database", "password", "username"}
MISSING = re.compile(r"\b(not in this version|in a later version|not supported|unsupported|not implemented|not offered|open issues?|does not have|"
                     r"is not there yet|not yet (there|possible|done))", re.I)


def features():
    """word -> key of the configuration."""
    found = {}
    for header in ("config.hpp", "options.hpp"):
        for key in re.findall(r"^    [\w:<>]+ (\w+)(?:\{.*\})?;", (ROOT / "include/redlock" / header).read_text(encoding="utf-8"), re.M):
            if key in WORDS:
                found.update({word: key for word in WORDS[key]})
            elif key not in EVERYWHERE:
                found.update({key: key, key.replace("_", " "): key})
    return found


def sentences(text):
    """(line, sentence) of Markdown without its code; a row of a table or a list's item is none beyond itself."""
    text = re.sub(r"^```.*?^```", lambda code: "\n" * code[0].count("\n"), text, flags=re.S | re.M)
    begin = 0
    for end in [m.end() for m in re.finditer(r"[.!?](?=\s)|\n\s*\n|\n(?=\s*[-|#*] ?)|\Z", text)]:
        yield text.count("\n", 0, begin + len(text[begin:end]) - len(text[begin:end].lstrip())) + 1, " ".join(text[begin:end].split())
        begin = end


def false_claims(text, words):
    """(line, key, sentence) of each sentence that says that something is missing which has a key."""
    for line, sentence in sentences(text):
        for word, key in words.items():
            here = rf"(?<![\w/])`?{re.escape(word)}`?s?(?!\w)"
            no = rf"\b(there is no|has no|offers no|without (any )?support for|no support for|does not support|(supports|has|knows|does) neither) (\w+ )?{here}"
            if re.search(no, sentence, re.I) or re.match(rf"no {here}\.$", sentence, re.I) or (MISSING.search(sentence) and re.search(here, sentence, re.I)):
                yield line, key, sentence
                break


def left_out_headers(text, headers):
    """What is wrong with the first sentence of redlock.hpp, where these headers exist."""
    included = set(re.findall(r"^#include <redlock/(\w+\.hpp)>", text, re.M))
    said = re.match(r"// All of redlock, except (.*)\.\n", text)
    named = set(re.findall(r"redlock/(\w+\.hpp)", said[1])) if said else set()
    wrong = [] if said else ["redlock.hpp does not say what it leaves out"]
    wrong += [f"redlock.hpp neither includes {name} nor says that it leaves it out" for name in sorted(headers - included - named)]
    wrong += [f"redlock.hpp says that it leaves {name} out, and includes it" for name in sorted(named & included)]
    wrong += [f"redlock.hpp leaves {name} out, which is not there" for name in sorted(named - headers)]
    return wrong


def self_test():
    words = features()
    for text in ("- **TLS** is not in this version: `rediss://` is refused.", "- **Open issues:** TLS. Not offered at all: queues.", "There is no TLS.",
                 "Nodes: redlock has no unix socket support.", "It does not support `fsync`.", "So far `max_hold` is\nnot implemented."):
        assert list(false_claims(text, words)), text
    for text in ("Without TLS, passwords are readable.", "Not offered: read-write locks.", "A unix socket is there. Not supported: queues.", "```\nTLS: not supported\n```"):
        assert not list(false_claims(text, words)), text
    headers = {"lock.hpp", "json.hpp"}
    includes = "#include <redlock/lock.hpp>\n"
    assert not left_out_headers("// All of redlock, except redlock/json.hpp.\n" + includes, headers)
    assert left_out_headers("// All of redlock.\n" + includes, headers)
    assert left_out_headers("// All of redlock, except redlock/json.hpp.\n" + includes, headers | {"new.hpp"})
    assert left_out_headers("// All of redlock, except redlock/json.hpp and redlock/lock.hpp.\n" + includes, headers)
    assert left_out_headers("// All of redlock, except redlock/json.hpp and redlock/old.hpp.\n" + includes, headers)


self_test()
if "--self-test" in sys.argv:
    sys.exit(0)
there = {header.name for header in (ROOT / "include/redlock").glob("*.hpp")} - {"redlock.hpp"}
wrong = left_out_headers((ROOT / "include/redlock/redlock.hpp").read_text(encoding="utf-8"), there)
count, known = 0, features()
# Of others it may be true.
THEIRS = re.compile(r"^## (?!redlock$).*?(?=^## |\Z)", re.S | re.M)
for page in pages():
    text = page.read_text(encoding="utf-8")
    if page.name == "comparison.md":
        text = THEIRS.sub(lambda part: "\n" * part[0].count("\n"), text)
    count += sum(1 for _ in sentences(text))
    wrong += [f"{page.relative_to(ROOT)}:{line}: config or options have `{key}`: {sentence}" for line, key, sentence in false_claims(text, known)]

for what in wrong:
    print(what, file=sys.stderr)
if count < 1000 or len(known) < 30:
    sys.exit(f"only {count} sentences and {len(known)} words were found")
sys.exit(1 if wrong else 0)
