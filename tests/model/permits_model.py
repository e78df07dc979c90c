#!/usr/bin/env python3
"""Writes a Promela model of the record that says how many permits a semaphore has: clients that say different numbers never hold permits at the same
time. docs/proof.md, "At most K".

    permits_model.py says=112 > permits.pml       `permits_model.py --help` lists the options

Each attempt says a number, and wants a slot that no other attempt wants: slots are locks, and semaphore_model.py is about those. A node gives its
slot only to an attempt that says the number of the record; where there is none, the request writes it, also one that arrives late. A record ends when its
retention is over, but not while a holder counts on the node: each extension begins the retention anew. What a client does not count on is left out, as
in semaphore_model.py. A holder may set its slot again on a node that does not have it, unless the record there says another number.
"""
import sys

OPTIONS = {  # name: (default, meaning)
    "says": ("112", "what each attempt says, a digit each"),
    "nodes": (3, "number of nodes, N"),
    "losses": (0, "how many times a node loses its data, one node at a time"),
    "ends": (3, "how many times the retention of a record is over"),
    "extends": (1, "0, mutant: only a grant begins the retention anew, so that records end under holders"),
    "carries": (1, "0, mutant: who sets its slot again does not write the record with it"),
    "looks": (1, "0, mutant: who sets its slot again does not look at the record"),
    "first_stays": (1, "0, mutant: of two records of clients, the smaller number stays"),
    "reach": (0, "1: instead of the promise, claim that those who say one never hold after those who say two"),
}


class Permits:
    def __init__(self, **options):
        options.pop("permits_record", None)
        unknown = set(options) - set(OPTIONS)
        if unknown:
            raise ValueError("no such option: " + ", ".join(sorted(unknown)))
        for name, (default, _) in OPTIONS.items():
            setattr(self, name, options.get(name, default))
        self.described = ", ".join(f"{k}={v}" for k, v in options.items())
        self.numbers = [int(digit) for digit in self.says]
        self.majority = self.nodes // 2 + 1
        self.lines = []

    def counts(self, a, n):
        return f"counts[{a * self.nodes + n}]"

    def sum_of(self, of_node):
        return "(" + " + ".join(f"({of_node(n)})" for n in range(self.nodes)) + ")"

    def step(self, condition, effect):
        self.lines.append(f"  :: d_step {{ {condition} -> {effect}tidy() }}")

    def text(self):
        attempts = len(self.numbers)
        self.lines = [f"/* {self.described or 'all defaults'} */", "#define IDLE 0", "#define ASKING 1", "#define HOLDING 2", "#define OVER 3",
                      f"byte stage[{attempts}], record[{self.nodes}], ends = {self.ends}, losses = {self.losses}, swap;",
                      f"bit counts[{attempts * self.nodes}], lost[{self.nodes}], two_held;"]
        self.write_tidy()
        self.lines += ["init {", "  do"]
        for a in range(attempts):
            self.attempt(a)
        for n in range(self.nodes):
            self.node(n)
        self.lines += ["  od", "}"]
        return "\n".join(self.lines) + "\n"

    # Nodes are alike, so states that differ in their order are one.
    def write_tidy(self):
        def column(n):
            return [f"lost[{n}]"] + [self.counts(a, n) for a in range(len(self.numbers))]

        for n in range(self.nodes):
            packed = f"record[{n}]"
            for bit in column(n):
                packed = f"(({packed} << 1) + {bit})"
            self.lines.append(f"#define CONTENT{n} {packed}")
        self.lines.append("inline tidy() {")
        for end in range(self.nodes - 1, 0, -1):
            for n in range(end):
                pairs = zip(column(n) + [f"record[{n}]"], column(n + 1) + [f"record[{n + 1}]"])
                swaps = "".join(f"swap = {x}; {x} = {y}; {y} = swap; " for x, y in pairs)
                self.lines.append(f"  if :: CONTENT{n} > CONTENT{n + 1} -> {swaps}:: else fi;")
        self.lines.append("  swap = 0\n}")

    def attempt(self, a):
        says = self.numbers[a]
        forget = "".join(f"{self.counts(a, n)} = 0; " for n in range(self.nodes))
        self.step(f"stage[{a}] == IDLE", f"stage[{a}] = ASKING; ")
        self.step(f"stage[{a}] == ASKING || stage[{a}] == HOLDING", f"stage[{a}] = OVER; {forget}")
        for n in range(self.nodes):
            replaced = f"record[{n}] == 0" if self.first_stays else f"(record[{n}] == 0 || record[{n}] > {says})"
            self.step(f"stage[{a}] != IDLE && !lost[{n}] && {replaced}", f"record[{n}] = {says}; ")       # also late, when the attempt is over
            self.step(f"stage[{a}] == ASKING && !lost[{n}] && record[{n}] == {says} && !{self.counts(a, n)}", f"{self.counts(a, n)} = 1; ")
            left = self.sum_of(lambda m: self.counts(a, m))
            self.step(f"{self.counts(a, n)}",
                      f"{self.counts(a, n)} = 0; if :: stage[{a}] == HOLDING && {left} < {self.majority} -> stage[{a}] = OVER; {forget}:: else fi; ")
            carried = f"if :: record[{n}] == 0 -> record[{n}] = {says} :: else fi; " if self.carries else ""
            fits = f" && (record[{n}] == 0 || record[{n}] == {says})" if self.looks else ""
            self.step(f"stage[{a}] == HOLDING && !lost[{n}] && !{self.counts(a, n)}{fits}", f"{self.counts(a, n)} = 1; {carried}")
        others = [b for b, number in enumerate(self.numbers) if number != says]
        if self.reach:
            promise = "assert(!two_held); " if says == 1 else "two_held = 1; "
        else:
            promise = "".join(f"assert(stage[{b}] != HOLDING); " for b in others)
        self.step(f"stage[{a}] == ASKING && {self.sum_of(lambda n: self.counts(a, n))} >= {self.majority}", f"{promise}stage[{a}] = HOLDING; ")

    def node(self, n):
        nobody = "".join(f" && !{self.counts(a, n)}" for a in range(len(self.numbers)))
        self.step(f"ends > 0 && record[{n}] != 0" + (nobody if self.extends else ""), f"ends--; record[{n}] = 0; ")
        if not self.losses:
            return
        others_are_up = "".join(f" && !lost[{m}]" for m in range(self.nodes))
        self.step(f"losses > 0{others_are_up}", f"losses--; lost[{n}] = 1; record[{n}] = 0; ")
        self.step(f"lost[{n}]{nobody}", f"lost[{n}] = 0; ")


if __name__ == "__main__":
    if any(word in ("-h", "--help") for word in sys.argv[1:]):
        print(__doc__)
        for option, (default, meaning) in OPTIONS.items():
            print(f"    {option}={default:<6} {meaning}")
        sys.exit(0)
    words = dict(word.split("=", 1) for word in sys.argv[1:])
    print(Permits(**{k: v if k == "says" else int(v) for k, v in words.items()}).text(), end="")
