#!/usr/bin/env python3
"""Writes a Promela model of a set of nodes whose members change: two leases are never valid at once, and a lease that is asked for later has the larger
token. docs/proof.md, "Sets of nodes, and their changes".

    node_set_model.py sets=012.013 lists=01 > node_set.pml       `node_set_model.py --help` lists the options

A set has generations, and each has its members. A node has a generation in its record, and grants only to attempts that were begun in that one. The
command that changes the set does these steps; it may stop behind each for ever, and another one goes on:

  move    members of generation g or older that stay get g + 1 into their record. Members that leave may be told, or not.
  look    a majority of the members of g were seen in g + 1. From then on the drain is counted.
  drain   until nothing is valid any more that a node which was looked at has granted in an older generation
  read    what ceil(N/2) of these nodes remember (N: of generation g + 1)
  admit   a node that joins gets g + 1 into its record, and what was read

A set shrinks by two changes where N is odd (`sizes`): first the member leaves, and N stays. From the moment that a majority of N is seen there at once,
among the others, a drain is counted. Then these get the next generation, with the smaller N, and together with it what ceil(N/2) of them remember (`spread`).

As in semaphore_model.py a node has what clients count on there, and nothing else; and a request is executed at any later time or never.
`knows` has the attempts whose token a node's counter has reached. An attempt gets a token above those of all attempts that a node of its votes knows.
"""
import itertools
import sys

OPTIONS = {  # name: (default, meaning)
    "sets": ("012.013", "the members of each generation"),
    "sizes": ("", "N of each generation, by which majorities are counted; empty: how many members it has"),
    "lists": ("01", "for each attempt, the generation whose members its client has in its configuration"),
    "losses": (0, "how many times a node loses its memory"),
    "moved": (0, "members that have moved before the drain; 0: a majority; less: mutant"),
    "leavers": (0, "1: a member that leaves gets the new generation, too, and counts among those that have moved"),
    "follows": (0, "1: a client follows into a generation, and a command makes the next one, only when a majority has moved"),
    "asks": (0, "1: with follows, a client asks in a generation when one node has it, and has a lock only when a majority has; 2, mutant: it has one at once"),
    "half": (0, "1: of an even N, half of it counts as moved when another member has lost its memory, and nobody can admit it"),
    "spread": (1, "0, mutant: a member gets the smaller N without what the others remember"),
    "brought": (0, "1: when a majority has the smaller N, clients bring others along, without that; 2, mutant: when one has it"),
    "hasty": (0, "1, mutant: the smaller N comes before the drain is over"),
    "at_once": (0, "1: members count as moved while they are; 0: once they were moved, whatever happened to them since"),
    "drain": (1, "0, mutant: nodes that join are admitted at once"),
    "early": (0, "1, mutant: the drain is counted from the first member that has moved"),
    "reads": (-1, "members of the older generation whose memory a joining node gets; -1: ceil(N/2), by the new N"),
    "read_anew": (0, "1: as many of the new generation's, those that have just joined as well"),
    "bound": (1, "0, mutant: nodes do not look at the generation"),
    "mixed": (0, "1, mutant: an attempt adds up votes of two generations"),
    "stale": (0, "1, mutant: votes of a node that has an older generation still count"),
    "forgets": (1, "0, mutant: a lease that goes on in a newer generation still counts on nodes that are not in it"),
    "rivals": (0, "1, mutant: two commands make one generation of different members"),
    "fork": (0, "1: two commands make the last two generations of the same one; a node of one goes into the other when a majority is there"),
    "loose": (0, "1, mutant: with fork, it goes there at any time"),
    "keeps": (0, "1: a lease that goes on in a newer generation still counts on its members that have not moved"),
    "cuts": (0, "1: and on members that left, and by the N of before, until the validity ends that the lease had; it has one change only"),
    "uncut": (0, "1, mutant: with cuts, it counts so for as long as it counts on others"),
    "returns": (0, "1, mutant: a member that left and joins again goes on where it was"),
    "any_set": (0, "1, mutant: a node that lost its memory is admitted to the set of whoever names it"),
    "reach": (0, "1: instead of the promises, claim that no lease is held with the vote of a node that joined"),
}

PREAMBLE = """\
#define IDLE 0
#define ASKING 1
#define HOLDING 2
#define OVER 3
#define UNSEEN 0        /* vote[attempt,node] */
#define SEEN 1
#define IN(generation) ((generation) + 2)
#define NONE 7          /* generation[node]: the node is in no set */
"""


class NodeSet:
    def __init__(self, **options):
        options.pop("node_set", None)
        unknown = set(options) - set(OPTIONS)
        if unknown:
            raise ValueError("no such option: " + ", ".join(sorted(unknown)))
        for name, (default, _) in OPTIONS.items():
            setattr(self, name, options.get(name, default))
        self.described = ", ".join(f"{k}={v}" for k, v in options.items())
        self.members = [sorted(int(n) for n in text) for text in str(self.sets).split(".")]
        self.size_of = [int(n) for n in str(self.sizes)] or [len(m) for m in self.members]
        self.nodes = 1 + max(max(m) for m in self.members)
        self.list_of = [self.members[int(g)] for g in str(self.lists)]
        if self.any_set:        # somebody names another node instead of the last one
            self.list_of[-1] = self.members[0][:-1] + [self.nodes]
            self.nodes += 1
        self.rival = self.nodes if self.rivals else None
        if self.rivals:
            self.list_of[-1] = self.members[1][:-1] + [self.rival]
            self.nodes += 1
        self.attempts = len(self.list_of)
        self.lines = []

    # ---- small vocabulary ----

    def all_nodes(self):
        return range(self.nodes)

    def all_attempts(self):
        return range(self.attempts)

    def generations(self):
        return range(len(self.members))

    def changes(self):
        return range(1, len(self.members))

    def rival_of(self, g):
        """The other generation that is made of the same one; None: there is none."""
        last = len(self.members) - 1
        return {last: last - 1, last - 1: last}.get(g) if self.fork else None

    def made_of(self, g):
        return g - 2 if self.fork and g == len(self.members) - 1 else g - 1

    def is_behind(self, n, g):
        """Whether node n may go into generation g."""
        rival = self.rival_of(g)
        if rival is None:
            turn = f" && looked[{self.made_of(g)}]" if self.follows and self.made_of(g) > 0 else ""
            return f"generation[{n}] < {g}{turn}"
        settled = "" if self.loose else f" && looked[{g}]"
        return f"(generation[{n}] <= {self.made_of(g)} || generation[{n}] == {rival}{settled})"

    def majority(self, g):
        return self.size_of[g] // 2 + 1

    def intact(self, g):
        return (self.size_of[g] + 1) // 2

    def vote(self, a, n):
        return f"vote[{a * self.nodes + n}]"

    def owed(self, a, n):
        return f"owed[{a * self.nodes + n}]"

    def votes(self, a):
        return "(" + " + ".join(f"({self.vote(a, n)} >= IN(0))" for n in self.list_of[a]) + ")"

    def has_majority(self, a):
        if self.mixed:
            return f"{self.votes(a)} >= {min(self.majority(g) for g in self.generations())}"
        if self.cuts:
            owed = " + ".join(self.owed(a, n) for n in self.list_of[a])
            return "(" + " || ".join([f"bound[{a}] == {g} && {self.votes(a)} >= {self.majority(g)}" for g in self.generations()] +
                                     [f"{owed} >= {self.majority(0)}"]) + ")"
        return "(" + " || ".join(f"bound[{a}] == {g} && {self.votes(a)} >= {self.majority(g)}" for g in self.generations()) + ")"

    def is_free(self, n, but):
        others = [f"{self.vote(b, n)} < IN(0)" for b in self.all_attempts() if b != but]
        others += [f"!{self.owed(b, n)}" for b in self.all_attempts() if b != but and self.cuts]
        return " && ".join([f"!lost[{n}]", *others])

    def runs(self, a, n):
        """Whether node n executes what attempt a asks."""
        if not self.bound or self.mixed:
            return f"generation[{n}] != NONE"
        left = "".join(f" && bound[{a}] != {g}" for g in self.generations() if self.leavers and n not in self.members[g])
        return f"generation[{n}] {'<=' if self.stale else '=='} bound[{a}]{left}"

    def grants(self, a, n):
        return f"{self.vote(a, n)} = IN(generation[{n}]); above[{a}] = above[{a}] | knows[{n}]; knows[{n}] = knows[{n}] | {1 << a}; "

    def over(self, a):
        owed = "".join(f"{self.owed(a, n)} = 0; " for n in self.all_nodes()) if self.cuts else ""
        return f"stage[{a}] = OVER; " + "".join(f"{self.vote(a, n)} = SEEN; " for n in self.all_nodes()) + owed

    def over_without_majority(self, a):
        return f"if :: stage[{a}] == HOLDING && !{self.has_majority(a)} -> {self.over(a)}:: else fi; "

    def step(self, condition, effect):
        self.lines.append(f"  :: d_step {{ {condition} -> {effect}}}")

    def text(self):
        pairs, pairs_of_nodes = self.attempts * self.nodes, self.nodes * len(self.members)
        self.lines += [f"/* {self.described or 'all defaults'} */", PREAMBLE,
                       f"byte stage[{self.attempts}], bound[{self.attempts}], vote[{pairs}];",
                       f"byte generation[{self.nodes}], knows[{self.nodes}], above[{self.attempts}], before[{self.attempts}], completed;",
                       f"bit looked[{len(self.members)}], seen[{len(self.members)}], lost[{self.nodes}], moved[{pairs_of_nodes}], drains[{pairs_of_nodes}];",
                       *([f"bit owed[{pairs}];   /* what was granted before the client heard of the change is not over yet */"] if self.cuts else []),
                       f"byte losses = {self.losses}, base[{self.nodes}]; bit has_base[{self.nodes}];",
                       "init {",
                       "  d_step { " + "; ".join(f"generation[{n}] = {0 if n in self.members[0] else 'NONE'}" for n in self.all_nodes()) + " }",
                       "  do"]
        for a in self.all_attempts():
            self.attempt(a)
        for g in self.changes():
            self.change(g)
        if self.losses:
            self.memory_loss()
        if self.any_set:
            self.admitted_by_anybody()
        self.lines.append("  od\n}")
        return "\n".join(self.lines) + "\n"

    # ---- clients ----

    def attempt(self, a):
        for g in self.generations():
            known = " || ".join(f"generation[{n}] == {g}" for n in self.list_of[a])
            early = "" if self.asks else self.is_followed(g)
            self.step(f"stage[{a}] == IDLE && ({known}){early}", f"stage[{a}] = ASKING; bound[{a}] = {g}; before[{a}] = completed; ")
        for n in self.list_of[a]:
            self.step(f"stage[{a}] == ASKING && {self.vote(a, n)} == UNSEEN && {self.runs(a, n)} && {self.is_free(n, a)}", self.grants(a, n))
            # An extension also sets a missing key again.
            self.step(f"stage[{a}] == HOLDING && {self.runs(a, n)} && {self.vote(a, n)} != IN(generation[{n}]) && {self.is_free(n, a)}",
                      self.grants(a, n))
            gone = f"{self.owed(a, n)} = 0; " if self.cuts else ""
            self.step(f"{self.vote(a, n)} >= IN(0)", f"{self.vote(a, n)} = SEEN; {gone}{self.over_without_majority(a)}")    # its deadline has passed
            if self.cuts and not self.uncut:
                self.step(self.owed(a, n), f"{gone}{self.over_without_majority(a)}")        # and the one that it had before
        followed = "".join(f" && (bound[{a}] != {g} || looked[{g}])" for g in self.changes()) if self.asks == 1 else ""
        self.step(f"stage[{a}] == ASKING && {self.has_majority(a)}{followed}", self.complete(a))
        self.step(f"stage[{a}] == ASKING || stage[{a}] == HOLDING", self.over(a))
        for g in self.changes():
            self.learns(a, g)

    def complete(self, a):
        joined = [n for n in self.all_nodes() if n not in self.members[0]]
        if self.reach:
            promise = "".join(f"assert({self.vote(a, n)} < IN(0)); " for n in joined)
        else:
            promise = "".join(f"assert(stage[{b}] != HOLDING); " for b in self.all_attempts() if b != a) + f"assert((before[{a}] & ~above[{a}]) == 0); "
        return f"{promise}stage[{a}] = HOLDING; completed = completed | {1 << a}; "

    def is_followed(self, g):
        return f" && looked[{g}]" if self.follows and g > 0 else ""

    def learns(self, a, g):
        """The client of a lease hears of a newer generation."""
        known = " || ".join(f"generation[{n}] == {g}" for n in self.list_of[a])
        left = [n for n in self.list_of[a] if not (self.keeps and n in self.members[g])]
        stays = {n: f"generation[{n}] == {g}" if n in self.members[g] or not self.leavers else "0" for n in left}
        gone = "".join(f"{self.vote(a, n)} = ({stays[n]} -> {self.vote(a, n)} : SEEN); " for n in left) if self.forgets else ""
        if self.cuts:
            gone = "".join(f"{self.owed(a, n)} = {self.vote(a, n)} >= IN(0); " for n in self.list_of[a]) + gone
        rival = self.rival_of(g)
        older = f"bound[{a}] < {g}" if rival is None else f"(bound[{a}] <= {self.made_of(g)} || bound[{a}] == {rival})"
        self.step(f"stage[{a}] == HOLDING && {older} && ({known}){self.is_followed(g)}", f"bound[{a}] = {g}; {gone}{self.over_without_majority(a)}")

    # ---- the command ----

    def change(self, g):
        older = self.made_of(g)
        before, after = self.members[older], self.members[g]
        needed = self.moved or self.majority(older)

        def of(bits, n):
            return f"{bits}[{g * self.nodes + n}]"

        def has_moved(n):
            return f"(generation[{n}] == {g} && !lost[{n}])" if self.at_once else of("moved", n)
        stay = [n for n in before if n in after]
        counted = before if self.leavers else stay
        if before == after and self.is_smaller(g):
            is_there = {n: f"(generation[{n}] == {older} && !lost[{n}])" for n in stay}
            who = "(" + " + ".join(is_there.values()) + ")"
            self.step(f"!seen[{older}] && {who} >= {self.majority(older)}",
                      f"seen[{older}] = 1; " + "".join(f"drains[{older * self.nodes + n}] = {is_there[n]}; " for n in stay))
        for n in counted:
            rival = self.rival_of(g)
            left = "" if rival is None else f"moved[{rival * self.nodes + n}] = 0; "
            effect = f"generation[{n}] = {g}; {of('moved', n)} = 1; {left}"
            ready = f"{self.is_behind(n, g)} && !lost[{n}]"
            if before != after or not self.is_smaller(g):
                self.step(ready, effect)
                continue
            one_has = " || ".join(f"generation[{m}] == {g}" for m in stay)
            drained = "" if self.hasty else f" && ({one_has} || seen[{older}]{self.drained(older, stay)})"
            for some in itertools.combinations(stay, self.intact(older)):
                there = "".join(f" && (generation[{m}] == {older} || generation[{m}] == {g}) && !lost[{m}]" for m in some)
                told = " | ".join([f"knows[{n}]", *(f"knows[{m}]" for m in some if self.spread)])
                self.step(f"{ready}{drained}{there}", f"{effect}knows[{n}] = {told}; ")
            if self.brought:
                self.step(f"{ready} && {f'looked[{g}]' if self.brought == 1 else f'({one_has})'}", effect)
        for n in before:
            if n not in after and not self.leavers:
                self.step(f"generation[{n}] == {older} && looked[{g}]", f"generation[{n}] = NONE; ")
        moved = "(" + " + ".join(has_moved(n) for n in counted) + ")"
        enough = f"{moved} >= {1 if self.early else needed}"
        if self.half and self.size_of[older] % 2 == 0:
            lost = " || ".join(f"lost[{n}] && generation[{n}] == {older}" for n in before)
            intact = " + ".join(f"(generation[{n}] == {older} && !lost[{n}])" for n in before)
            enough = f"({enough} || {moved} >= {self.size_of[older] // 2} && ({lost}) && {intact} < {self.intact(older)})"
        self.step(f"!looked[{g}] && {enough}",
                  f"looked[{g}] = 1; " + "".join(f"{of('drains', n)} = {has_moved(n)}; " for n in counted))
        drained = self.drained(g, counted) if self.drain else ""
        if self.cuts and self.drain and not self.uncut:
            drained += "".join(f" && (!{of('drains', n)} || !{self.owed(a, n)})" for a in self.all_attempts() for n in stay)
        if self.early:
            drained += f" && {moved} >= {needed}"
        for n in after:
            if self.returns and n not in before and n in self.members[0]:
                self.step(f"generation[{n}] < {g} && looked[{g}]", f"generation[{n}] = {g}; ")
        for n in after + ([self.rival] if self.rivals else []):
            if n not in before:
                self.join(g, n, drained)

    def is_smaller(self, g):
        return self.size_of[g] < self.size_of[self.made_of(g)]

    def drained(self, g, among):
        """Whether nothing is valid any more that one of these granted before it had moved into g, if it was seen to have moved."""
        return "".join(f" && (!drains[{g * self.nodes + n}] || {self.vote(a, n)} < IN(0) || {self.vote(a, n)} >= IN({g}))"
                       for a in self.all_attempts() for n in among)

    def join(self, g, n, drained):
        reads = self.intact(g) if self.reads < 0 else self.reads
        of = self.members[g] if self.read_anew else [m for m in self.members[self.made_of(g)] if m in self.members[g]]
        for some in itertools.combinations([m for m in of if m != n], reads):
            there = "".join(f" && generation[{m}] == {g} && !lost[{m}]" for m in some)
            remembered = " | ".join(["0", *(f"knows[{m}]" for m in some)])
            self.step(f"generation[{n}] != {g} && !has_base[{n}] && looked[{g}]{drained}{there}", f"has_base[{n}] = 1; base[{n}] = {remembered}; ")
        newer = f"(generation[{n}] == NONE || {self.is_behind(n, g)})"
        self.step(f"has_base[{n}] && {newer}", f"generation[{n}] = {g}; knows[{n}] = knows[{n}] | base[{n}]; base[{n}] = 0; has_base[{n}] = 0; ")

    # ---- memory loss ----

    def memory_loss(self):
        for n in self.all_nodes():
            self.step(f"losses > 0 && generation[{n}] != NONE", f"losses--; lost[{n}] = 1; knows[{n}] = 0; ")
            for g in self.generations():
                if n not in self.members[g]:
                    continue
                drained = "".join(f" && {self.vote(a, n)} < IN(0)" for a in self.all_attempts())
                for some in itertools.combinations([m for m in self.members[g] if m != n], self.intact(g)):
                    there = "".join(f" && generation[{m}] == {g} && !lost[{m}]" for m in some)
                    remembered = " | ".join(f"knows[{m}]" for m in some)
                    self.step(f"lost[{n}]{drained}{there}", f"lost[{n}] = 0; generation[{n}] = {g}; knows[{n}] = {remembered}; ")

    def admitted_by_anybody(self):
        n, others = self.nodes - 1, self.members[0][:-1]
        there = "".join(f" && generation[{m}] == 0" for m in others)
        self.step(f"generation[{n}] == NONE{there}", f"generation[{n}] = 0; knows[{n}] = {' | '.join(f'knows[{m}]' for m in others)}; ")


def value_of(name, text):
    return text if name in ("sets", "sizes", "lists") else int(text)


if __name__ == "__main__":
    if any(word in ("-h", "--help") for word in sys.argv[1:]):
        print(__doc__)
        for option, (default, meaning) in OPTIONS.items():
            print(f"    {option}={default:<8} {meaning}")
        sys.exit(0)
    print(NodeSet(**{k: value_of(k, v) for k, v in (word.split("=", 1) for word in sys.argv[1:])}).text(), end="")
