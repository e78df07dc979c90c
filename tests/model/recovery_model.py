#!/usr/bin/env python3
"""fence_model.py where several nodes may have lost their data at a time. Where fewer than ceil(N/2) have theirs, a client lets those that lost it vote
again, with a base that is ahead of all tokens: a wall clock. docs/proof.md, "Loss of data".

    recovery_model.py losses=2 > recovery.pml

  recovery   a client decides it when all nodes have said whether they have their data, and each loss is drained. Each node that lost its data is
             admitted later, unless it loses it once more.
  clock      at the decision it is ahead of all tokens. With clock=0 it says nothing, and the promises hold while ceil(N/2) nodes have had their data.
"""
from fence_model import Model, main
from promela import OPTIONS

OWN = {  # name: (default, meaning)
    "clock": (1, "0: the base of a recovery is 0, and the promises hold until fewer than ceil(N/2) nodes had their data"),
    "clock_read": (1, "0, mutant: the base is the largest mark that is left"),
    "silent": (0, "1, mutant: a node that does not answer is taken for one that lost its data"),
    "survivors": (-1, "at most so many nodes have their data in a recovery; -1: ceil(N/2) - 1; more: mutant"),
    "reads_again": (1, "0, mutant: what a node said before the last wait was over counts"),
}


class Recovery(Model):
    def __init__(self, **options):
        options.pop("recovery", None)
        for name, (default, _) in OWN.items():
            setattr(self, name, options.pop(name, default))
        super().__init__(**options)
        self.intact_needed = (self.nodes + 1) // 2
        if self.survivors < 0:
            self.survivors = self.intact_needed - 1

    def declare(self):
        self.say(f"bit recovers[{self.nodes}], said_lost[{self.nodes}];")
        self.say("bit too_few;            /* once, fewer than ceil(N/2) nodes had their data */")
        self.say("byte clock_base;")
        super().declare()

    def column(self, n):
        return super().column(n) + [(f"recovers[{n}]", 1), (f"said_lost[{n}]", 1)]

    def completed(self, a):
        text = super().completed(a)
        return text if self.clock else text.replace("assert(", "assert(too_few || ")

    def lose(self, n):
        """As there, but of any number of nodes. What was read before does not count for this one."""
        flying = " + ".join(f"({self.in_flight(a)} -> {1 << a} : 0)" for a in self.all_attempts())
        lost = " + ".join(f"lost[{m}]" for m in self.all_nodes())
        unread = "floor_read = 0; " + "".join(f"read[{m}] = 0; " for m in self.all_nodes())
        self.step("losses > 0",
                  f"losses--; lost[{n}] = 1; draining = draining | ({flying if self.drain else '0'}); key[{n}] = 0; counter[{n}] = 0; "
                  f"recovers[{n}] = 0; {unread}too_few = too_few || {self.nodes} - ({lost}) < {self.intact_needed}; ")
        if not self.reads_again:
            self.step(f"lost[{n}] && !said_lost[{n}]", f"said_lost[{n}] = 1; ")

    def admit(self, n):
        super().admit(n)
        if n == 0:
            self.decide_recovery()
        self.step(f"recovers[{n}] && lost[{n}]",
                  f"lost[{n}] = 0; recovers[{n}] = 0; counter[{n}] = MAX(counter[{n}], clock_base); "
                  + (f"readmitted[{n}] = 1; " if self.reach else ""))

    def decide_recovery(self):
        intact = " + ".join("!" + self.counts_as_lost(m) for m in self.all_nodes())
        few = "1" if self.silent else f"({intact}) <= {self.survivors}"
        someone = " || ".join(f"(lost[{m}] && !recovers[{m}])" for m in self.all_nodes())
        base = "0"
        if self.clock:
            known = [f"counter[{m}]" for m in self.all_nodes()] + ([f"token[{a}]" for a in self.all_attempts()] if self.clock_read else [])
            for each in known:
                base = f"MAX({base}, {each})"
        self.step(f"({someone}) && !draining && {few}",
                  f"clock_base = {base}; " + "".join(f"recovers[{m}] = lost[{m}]; " for m in self.all_nodes()))

    def counts_as_lost(self, n):
        return f"(lost[{n}] || said_lost[{n}])" if not self.reads_again else f"lost[{n}]"


if __name__ == "__main__":
    OPTIONS.update(OWN)
    import sys
    main(sys.argv[1:], Recovery, __doc__)
