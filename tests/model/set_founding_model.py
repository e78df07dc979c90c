#!/usr/bin/env python3
"""Writes a Promela model of lists of nodes that share servers: at most one of them becomes a set, and clients of two lists never both hold a lock.
docs/proof.md, "Sets of nodes, and their changes".

    set_founding_model.py lists=012.234 > founding.pml       `set_founding_model.py --help` lists the options

The servers are numbered in the order of their ids. The clients of a list claim its servers, one after the other; when all are theirs, they write on one or
more of them that the set is complete; from then on its servers vote. A client may stop behind each step for ever, and another one of its list goes on: so
one process for each list is enough. A lock that is held is never given back.
"""
import sys

OPTIONS = {  # name: (default, meaning)
    "lists": ("012.234", "the servers of each list"),
    "claims": (0, "claims that make a set complete; 0: all; less: mutant"),
    "ordered": (1, "0, mutant: claims are written in any order"),
    "overwrites": (0, "1, mutant: a claim is written over that of another list"),
    "waits": (1, "0, mutant: servers that are claimed vote before the set is complete"),
    "asks": (1, "0, mutant: votes of servers of another set count"),
    "losses": (0, "how many times a server loses its memory while sets are founded"),
    "reach": (0, "1: instead of the promises, claim that no lock is held"),
}


class SetFounding:
    def __init__(self, **options):
        options.pop("founding", None)
        unknown = set(options) - set(OPTIONS)
        if unknown:
            raise ValueError("no such option: " + ", ".join(sorted(unknown)))
        for name, (default, _) in OPTIONS.items():
            setattr(self, name, options.get(name, default))
        self.described = ", ".join(f"{k}={v}" for k, v in options.items())
        self.of = [sorted(int(n) for n in text) for text in str(self.lists).split(".")]
        self.servers = 1 + max(max(servers) for servers in self.of)
        self.lines = []

    def step(self, condition, effect):
        self.lines.append(f"  :: d_step {{ ({condition}) -> {effect} }}")

    def text(self):
        lists, pairs = range(len(self.of)), len(self.of) * self.servers
        self.lines = [f"/* {self.described} */", "#define NONE 0",
                      f"byte claim[{self.servers}], key[{self.servers}];   /* of which list, from 1 on */",
                      f"bit written[{pairs}], vote[{pairs}], complete[{len(self.of)}], held[{len(self.of)}];",
                      f"byte losses = {self.losses};", "init {", "  do"]
        for a in lists:
            self.found(a)
            self.lock(a)
        if not self.overwrites and not self.losses:
            self.step(" && ".join(self.stuck(a) for a in lists), "assert(0)")
        for s in range(self.servers):
            if self.losses:
                self.step(f"losses > 0 && claim[{s}] != NONE", f"losses--; claim[{s}] = NONE; key[{s}] = NONE")
        self.lines.append("  od\n}")
        return "\n".join(self.lines) + "\n"

    def at(self, a, s):
        return a * self.servers + s

    def found(self, a):
        own = self.of[a]
        for i, s in enumerate(own):
            before = "".join(f" && written[{self.at(a, b)}]" for b in own[:i]) if self.ordered else ""
            free = "1" if self.overwrites else f"(claim[{s}] == NONE || claim[{s}] == {a + 1})"
            self.step(f"!written[{self.at(a, s)}] && {free}{before}", f"claim[{s}] = {a + 1}; written[{self.at(a, s)}] = 1")
        claims = " + ".join(f"written[{self.at(a, s)}]" for s in own)
        self.step(f"!complete[{a}] && {claims} >= {self.claims or len(own)}", f"complete[{a}] = 1")
        # A member that lost its memory comes back at its address.
        for s in own:
            if self.losses:
                self.step(f"complete[{a}] && claim[{s}] == NONE", f"claim[{s}] = {a + 1}")

    # Nothing that its clients can do brings the list nearer to being a set.
    def stuck(self, a):
        own = self.of[a]
        taken = [f"(claim[{s}] != NONE && claim[{s}] != {a + 1}" +
                 ("".join(f" && written[{self.at(a, b)}]" for b in own[:i]) if self.ordered else "") + ")" for i, s in enumerate(own)]
        return f"!complete[{a}] && (" + " || ".join(taken) + ")"

    def lock(self, a):
        own = self.of[a]
        for s in own:
            may = f"claim[{s}] == {a + 1}" if self.asks else f"claim[{s}] != NONE"
            ready = f" && complete[{a}]" if self.waits and self.asks else ""
            self.step(f"!vote[{self.at(a, s)}] && key[{s}] == NONE && {may}{ready}", f"vote[{self.at(a, s)}] = 1; key[{s}] = {a + 1}")
        others = "".join(f"assert(!held[{b}]); " for b in range(len(self.of)) if b != a)
        promise = "assert(0); " if self.reach else others
        votes = " + ".join(f"vote[{self.at(a, s)}]" for s in own)
        self.step(f"!held[{a}] && {votes} > {len(own) // 2}", f"{promise}held[{a}] = 1")


def value_of(name, text):
    return text if name == "lists" else int(text)


if __name__ == "__main__":
    if any(word in ("-h", "--help") for word in sys.argv[1:]):
        print(__doc__)
        for option, (default, meaning) in OPTIONS.items():
            print(f"    {option}={default:<8} {meaning}")
        sys.exit(0)
    print(SetFounding(**{k: value_of(k, v) for k, v in (word.split("=", 1) for word in sys.argv[1:])}).text(), end="")
