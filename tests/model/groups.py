#!/usr/bin/env python3
"""Writes a Promela model of several groups as nodes of Redlock. docs/proof.md, "Failover of a replicated group".

    groups.py losses=2 > groups.pml

A reduced form: group.py is about the inside of a group, and here a group is one node of fence_model.py. A failover is the moment at which the
promoted server's mark is acknowledged: the group loses its memory then, and has whatever older state the promoted server had. What
fence_model.py does not have is that the old primary goes on without its group: it has the old id in its record, and answers.
"""
import sys

from fence_model import Model

OWN = {  # name: (default, meaning)
    "acked_reads": (1, "0, mutant: an admission reads the marks of other groups without acknowledgement, so from old primaries as well"),
    "old_votes": (0, "1, mutant: votes of an old primary count without acknowledgement"),
}


class Groups(Model):
    def __init__(self, **options):
        options.pop("groups", None)
        for name, (default, _) in OWN.items():
            setattr(self, name, options.pop(name, default))
        super().__init__(**{"losses": 1, "rollback": 1, **options})
        if self.trailing or self.block > 1 or self.late_admit:
            raise ValueError("groups go without these options")

    def lose(self, n):
        """The old primary keeps what it had: old[] is its mark, and one more."""
        begin = len(self.lines)
        super().lose(n)
        kept = f"-> old[{n}] = {self.counter_or_base(n)} + 1; losses--;"
        self.lines[begin:] = [line.replace("-> losses--;", kept) for line in self.lines[begin:]]

    def catch_up_from(self, n):
        super().catch_up_from(n)
        if not self.acked_reads:
            someone = " || ".join(f"lost[{m}]" for m in self.all_nodes())
            self.step(f"({someone}) && !draining && !lost[{n}] && !read[{n}] && old[{n}] > 0",
                      f"read[{n}] = 1; floor_read = MAX(floor_read, old[{n}] - 1);")

    def grant(self, a, n):
        super().grant(a, n)
        if self.old_votes:
            self.step(f"stage[{a}] == ASKING && {self.vote(a, n)} == UNSEEN && old[{n}] > 0",
                      f"old[{n}]++; {self.vote(a, n)} = COUNTER(old[{n}] - 1); ")

    def declare(self):
        super().declare()
        self.say(f"byte old[{self.nodes}];")

    def column(self, n):
        return super().column(n) + [(f"old[{n}]", 4)]


if __name__ == "__main__":
    print(Groups(**{k: int(v) for k, v in (argument.split("=", 1) for argument in sys.argv[1:])}).text(), end="")
