#!/usr/bin/env python3
"""Writes a Promela model of how long a node waits that lost its data, when clients are configured with different values of max_ttl: two leases on one
lock are never valid at once. docs/proof.md, "The wait".

    wait_model.py nodes=1 losses=2 > wait.pml       `wait_model.py --help` lists the options

  node       a record with the longest ttl that it allows (0: there is no record), whether it is admitted, and a key. What a loss leaves of the record
             is all of it, or nothing.
  client     one of two, with max_ttl 1 and 3. Each may admit nodes and found the set; its leases are as long as its max_ttl and the records allow.
  lease      on a majority of admitted nodes whose record allows its ttl
  admission  a node that is not admitted waits, from the moment of its mark, for the largest of: the max_ttl of the client that admits it, and the records
             that this client reads. ceil(N/2) admitted nodes are read, and the node itself. Where fewer have their data, all are read, and those that
             are not admitted wait: then the set is founded, or recovers.
  evidence   a server knows for how long it has run, and since its start whether it may have lost something (a flush, a promotion). Both are lost when it
             restarts. In a founding and a recovery, the wait of a node that has its mark counts from the start of a server that lost nothing since.
  time       ticks, the same for all
"""
import itertools
import sys

OPTIONS = {  # name: (default, meaning)
    "nodes": (1, "N"),
    "losses": (2, "how many times a node loses its data"),
    "records_lost": (0, "how many times it loses its record as well"),
    "own": (1, "0, mutant: records of nodes that are not admitted do not count"),
    "others": (1, "0, mutant: records of admitted nodes do not count"),
    "drain": (0, "ticks that each wait is too short: a mutant"),
    "evidence": (0, "1: a founding counts from the start of a server that lost nothing since"),
    "flushes": (0, "how many of the losses may be of a server that goes on running"),
    "flush_shows": (1, "0, mutant: a server does not say that it lost something since its start"),
    "resets": (0, "1, mutant: what a server says of that can be set back"),
    "after_mark": (1, "0, mutant: evidence from before the mark counts"),
    "rounding": (0, "ticks by which a server overstates for how long it has run: a mutant"),
    "joins": (0, "1, mutant: evidence counts also for a node that joins others"),
    "recovery": (0, "1: a set goes on by itself where too few nodes have their data, but not none"),
    "survivors_wait": (1, "0, mutant: in a recovery, nodes that lost their data do not wait"),
    "reach": (0, "1: instead of the promise, claim that no lease is granted after a loss; 2: claim that a set without data is never founded before its nodes have waited since the mark"),
}
MAX_TTL = (1, 3)  # of the clients


class Wait:
    def __init__(self, **options):
        options.pop("wait", None)
        unknown = set(options) - set(OPTIONS)
        if unknown:
            raise ValueError("no such option: " + ", ".join(sorted(unknown)))
        for name, (default, _) in OPTIONS.items():
            setattr(self, name, options.get(name, default))
        self.all_nodes = range(self.nodes)
        self.majority = self.nodes // 2 + 1
        self.intact_needed = (self.nodes + 1) // 2
        self.lines = []

    def step(self, guard, effect):
        self.lines.append(f"  :: d_step {{ {guard} -> {effect} }}")

    def text(self):
        n = self.nodes
        self.lines = ["#define MAX(a, b) ((a) > (b) -> (a) : (b))",
                      f"byte allows[{n}]; bool admitted[{n}]; bool marked[{n}]; bool founds[{n}];",
                      f"byte key[{n}];       /* what is left of its ttl */",
                      f"byte waited[{n}];    /* since the mark */",
                      *([f"byte runs[{n}];      /* since its start */", f"bool lost[{n}];      /* something since its start, as it says */",
                         f"byte outlived[{n}];  /* since the start of a server that had its mark, and had lost nothing */"] if self.evidence else []),
                      f"byte lease;          /* what is left of the longest lease that is valid */",
                      f"byte losses = {self.losses}, records_lost = {self.records_lost}, flushes = {self.flushes};",
                      "active proctype world() {"]
        self.lines += [f"  allows[{i}] = {MAX_TTL[0]}; admitted[{i}] = 1;" for i in self.all_nodes]
        self.lines.append("  do")
        self.tick()
        for i in self.all_nodes:
            self.loses(i)
            self.is_marked(i)
            if self.evidence:
                self.shows_evidence(i)
            for max_ttl in MAX_TTL:
                self.is_admitted(i, max_ttl)
            self.is_admitted_by_founder(i)
        for max_ttl in MAX_TTL:
            self.is_founded(max_ttl)
        for voters in itertools.combinations(self.all_nodes, self.majority):
            self.grants(voters)
        return "\n".join([*self.lines, "  od", "}"]) + "\n"

    def tick(self):
        longest = MAX_TTL[-1]
        effect = "lease = lease - (lease > 0); "
        for i in self.all_nodes:
            if self.evidence:
                effect += f"runs[{i}] = runs[{i}] + (runs[{i}] < {longest}); "
                effect += f"outlived[{i}] = outlived[{i}] + (outlived[{i}] > 0 && outlived[{i}] < {longest + 1}); "
            effect += f"key[{i}] = key[{i}] - (key[{i}] > 0); waited[{i}] = waited[{i}] + (marked[{i}] && waited[{i}] < {longest}); "
        self.step("true", effect)

    def loses(self, i):
        gone = f"losses--; admitted[{i}] = 0; marked[{i}] = 0; founds[{i}] = 0; waited[{i}] = 0; key[{i}] = 0; "
        forgotten = f"outlived[{i}] = 0; " if self.evidence and self.after_mark else ""
        restart = forgotten + (f"runs[{i}] = 0; lost[{i}] = 0; " if self.evidence else "")
        self.step("losses > 0", gone + restart)
        self.step("losses > 0 && records_lost > 0", gone + restart + f"records_lost--; allows[{i}] = 0; ")
        if self.flushes:
            self.step("losses > 0 && flushes > 0", gone + forgotten + "flushes--; " + (f"lost[{i}] = 1; " if self.flush_shows else ""))
        if self.resets:
            self.step(f"lost[{i}]", f"lost[{i}] = 0; ")

    # `outlived` is one more than the ticks, so that 0 is none.
    def shows_evidence(self, i):
        marked = f"marked[{i}] && " if self.after_mark else ""
        self.step(f"{marked}!lost[{i}] && outlived[{i}] < runs[{i}] + {self.rounding + 1}", f"outlived[{i}] = runs[{i}] + {self.rounding + 1}; ")

    def is_marked(self, i):
        self.step(f"!admitted[{i}] && !marked[{i}]", f"marked[{i}] = 1; waited[{i}] = 0; ")

    def has_waited(self, i, max_ttl, read, outlived):
        """For the largest ttl that the client knows of."""
        known = [str(max_ttl)] + [f"allows[{r}]" for r in read]
        waits = " && ".join(f"waited[{i}] + {self.drain} >= {each}" for each in known)
        if not outlived or not self.evidence:
            return waits
        return f"(({waits}) || (" + " && ".join(f"outlived[{i}] > {each}" for each in known) + "))"

    def is_admitted(self, i, max_ttl):
        others = [o for o in self.all_nodes if o != i]
        for read in itertools.combinations(others, self.intact_needed):
            ready = " && ".join(f"admitted[{r}]" for r in read)
            counts = (list(read) if self.others else []) + ([i] if self.own else [])
            largest = "".join(f"allows[{i}] = MAX(allows[{i}], allows[{r}]); " for r in read)
            self.step(f"!admitted[{i}] && marked[{i}] && {ready} && {self.has_waited(i, max_ttl, counts, self.joins)}",
                      f"allows[{i}] = MAX(allows[{i}], {max_ttl}); {largest}admitted[{i}] = 1; marked[{i}] = 0; founds[{i}] = 0; ")

    def is_founded(self, max_ttl):
        """Too few nodes are admitted, and all others have waited. Each of these is admitted later, unless it loses its data once more."""
        counts = list(self.all_nodes) if self.own else []
        for size in range(self.intact_needed if self.recovery else 1):
            for intact in itertools.combinations(self.all_nodes, size):
                others = [i for i in self.all_nodes if i not in intact]
                waits = [f"!admitted[{i}] && marked[{i}]" + (f" && {self.has_waited(i, max_ttl, counts, True)}" if not intact or self.survivors_wait
                                                               else "") for i in others]
                claim = "assert(" + " && ".join(self.has_waited(i, max_ttl, counts, False) for i in others) + "); " if self.reach == 2 else ""
                self.step(" && ".join([f"admitted[{i}]" for i in intact] + waits),
                          claim + "".join(f"founds[{i}] = 1; allows[{i}] = MAX(allows[{i}], {max_ttl}); " for i in others))

    def is_admitted_by_founder(self, i):
        self.step(f"founds[{i}] && marked[{i}] && !admitted[{i}]", f"admitted[{i}] = 1; marked[{i}] = 0; founds[{i}] = 0; ")

    def grants(self, voters):
        for ttl in MAX_TTL:
            free = " && ".join(f"admitted[{v}] && key[{v}] == 0 && allows[{v}] >= {ttl}" for v in voters)
            claim = f"assert(losses == {self.losses}); " if self.reach == 1 else "assert(lease == 0); "
            self.step(free, claim + "".join(f"key[{v}] = {ttl}; " for v in voters) + f"lease = {ttl}; ")


if __name__ == "__main__":
    if "--help" in sys.argv:
        print(__doc__)
        for option, (default, meaning) in OPTIONS.items():
            print(f"  {option:14} {default:>3}   {meaning}")
        sys.exit(0)
    print(Wait(**{k: int(v) for k, v in (a.split("=") for a in sys.argv[1:])}).text(), end="")
