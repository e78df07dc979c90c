#!/usr/bin/env python3
"""Writes a Promela model of the state that goes with a lock: docs/proof.md, "State that goes with a lock".

    state_model.py publishers=3 > state.pml       `state_model.py --help` lists the options

To fence_model.py it adds what holders publish. A node keeps one published value, which the model knows by the token of the lease that published it.

  publish   where the key has the lease's value and the counter is at most its token: the node keeps the value, unless it has one with a larger token.
            Published means: on a majority.
  inherit   where the key has the lease's value and the counter is at most its token: the counter becomes the token, and the node answers what it
            keeps. Of a majority of answers the one with the largest token counts. If not all of them are that, it is written back, as a publication is,
            and counts when a majority has it.

Promised: a value that was published by a lease is inherited by every lease with a larger token, or a newer one is, whichever ended first; and what
was inherited once is not followed by an older one. After a loss of memory: the same of what was published on all nodes.
"""
import itertools
import sys

from fence_model import Model

OWN = {  # name: (default, meaning)
    "publishers": (1, "which attempts publish: the sum of 1, 2, 4, ..."),
    "heirs": (2, "which attempts inherit: the same"),
    "publish_votes": (0, "nodes that a publication needs; 0: a majority; less: mutant"),
    "inherit_votes": (0, "answers that are read; 0: a majority; less: mutant"),
    "publish_guard": (1, "0, mutant: a publication does not look at the counter"),
    "inherit_guard": (1, "0, mutant: to inherit, neither looks at the counter nor raises it"),
    "compares": (1, "0, mutant: the last writer wins, whatever the node keeps"),
    "writes_back": (1, "0, mutant: what is on a minority is inherited as it is"),
    "hears_late": (0, "1, mutant: an answer that comes during the write-back changes what the heir is told"),
    "claims_order": (1, "0: claim nothing of what was inherited and not published"),
    "never": (0, "1: instead of the promises, claim that nothing is inherited"),
}


class State(Model):
    def __init__(self, **options):
        options.pop("state", None)
        for name, (default, _) in OWN.items():
            setattr(self, name, options.pop(name, default))
        super().__init__(**options)
        if self.trailing or self.block > 1 or self.clients or self.rollback or self.late_admit:
            raise ValueError("states go without these options")
        self.publish_votes = self.publish_votes or self.majority
        self.inherit_votes = self.inherit_votes or self.majority

    # ---- vocabulary ----

    def publishes(self, a):
        return self.publishers & (1 << a)

    def inherits(self, a):
        return self.heirs & (1 << a)

    def all_publishers(self):
        return [a for a in self.all_attempts() if self.publishes(a)]

    def all_heirs(self):
        return [a for a in self.all_attempts() if self.inherits(a)]

    def at(self, of, a, n):
        return f"{of}[{a * self.nodes + n}]"

    def forget(self, of, a):
        return "".join(f"{self.at(of, a, n)} = 0; " for n in self.all_nodes())

    def admitted(self, n):
        return f"!lost[{n}]" if self.losses else "true"

    # ---- the client ----

    def decide(self, a):
        super().decide(a)
        if self.publishes(a):
            self.publish(a)
        if self.inherits(a):
            self.inherit(a)

    def publish(self, a):
        self.step(f"{self.is_lease(a)} && told[{a}] == 0", f"told[{a}] = 1; ")
        votes = " + ".join(self.at("kept", a, n) for n in self.all_nodes())
        promise = "" if self.never else "".join(
            f"assert(!(heir[{b}] == 3 && token[{b}] > token[{a}] && result[{b}] < token[{a}])); " for b in self.all_heirs() if b != a)
        self.step(f"told[{a}] == 1 && ({votes}) >= {self.publish_votes}", f"{promise}told[{a}] = 2; {self.forget('kept', a)}")

    def inherited(self, a):
        text = ""
        for b in self.all_publishers():
            if b != a:
                text += f"assert(!(told[{b}] == 2 && token[{b}] < token[{a}] && result[{a}] < token[{b}])); "
        for b in self.all_heirs():
            if b != a and self.claims_order:
                text += f"assert(!(heir[{b}] == 3 && token[{b}] < token[{a}] && result[{b}] > result[{a}])); "
                text += f"assert(!(heir[{b}] == 3 && token[{b}] > token[{a}] && result[{b}] < result[{a}])); "
        if self.never:
            text = f"assert(result[{a}] == 0); "
        return f"{text}heir[{a}] = 3; {self.forget('given', a)}"

    def inherit(self, a):
        self.step(f"{self.is_lease(a)} && heir[{a}] == 0", f"heir[{a}] = 1; ")
        for answers in itertools.combinations(self.all_nodes(), self.inherit_votes):
            heard = " && ".join(f"{self.at('heard', a, n)} > 0" for n in answers)
            effect = "".join(f"result[{a}] = MAX(result[{a}], {self.at('heard', a, n)} - 1); " for n in answers)
            for n in answers:
                effect += f"{self.at('given', a, n)} = ({self.at('heard', a, n)} - 1 == result[{a}]); "
            effect += self.forget("heard", a)
            if self.writes_back:
                votes = " + ".join(self.at("given", a, n) for n in self.all_nodes())
                effect += f"if :: result[{a}] == 0 || ({votes}) >= {self.majority} -> {self.inherited(a)} :: else -> heir[{a}] = 2; fi; "
            else:
                effect += self.inherited(a)
            self.step(f"heir[{a}] == 1 && {heard}", effect)
        if self.writes_back:
            votes = " + ".join(self.at("given", a, n) for n in self.all_nodes())
            late = "".join(f"result[{a}] = MAX(result[{a}], {self.at('heard', a, n)} - ({self.at('heard', a, n)} > 0)); " for n in self.all_nodes())
            effect = late + self.forget("heard", a) if self.hears_late else ""
            self.step(f"heir[{a}] == 2 && ({votes}) >= {self.majority}", effect + self.inherited(a))

    # ---- the nodes ----

    def confirm(self, a, n):
        super().confirm(a, n)
        mine = f"{self.admitted(n)} && key[{n}] == {self.value(a)}"
        guard = f" && counter[{n}] <= token[{a}]"
        if self.publishes(a):
            newer = f" && stored[{n}] <= token[{a}]" if self.compares else ""
            changes = f"(stored[{n}] != token[{a}] || (told[{a}] == 1 && !{self.at('kept', a, n)}))"
            self.step(f"told[{a}] > 0 && {mine}{guard if self.publish_guard else ''}{newer} && {changes}",
                      f"stored[{n}] = token[{a}]; {self.at('kept', a, n)} = (told[{a}] == 1); ")
        if self.inherits(a):
            promise = f"counter[{n}] = token[{a}]; " if self.inherit_guard else ""
            asks = f"(heir[{a}] == 1 || heir[{a}] == 2)" if self.hears_late else f"heir[{a}] == 1"
            self.step(f"{asks} && {mine}{guard if self.inherit_guard else ''} && !{self.at('heard', a, n)}",
                      f"{promise}{self.at('heard', a, n)} = stored[{n}] + 1; ")
            if self.writes_back:    # executed also when it comes late
                changes = f"(stored[{n}] != result[{a}] || (heir[{a}] == 2 && !{self.at('given', a, n)}))"
                kept = f"stored[{n}] = MAX(stored[{n}], result[{a}]); " if self.compares else f"stored[{n}] = result[{a}]; "
                self.step(f"heir[{a}] >= 2 && result[{a}] > 0 && {mine}{guard} && {changes}",
                          f"{kept}{self.at('given', a, n)} = (heir[{a}] == 2); ")

    def lose(self, n):
        begin = len(self.lines)
        super().lose(n)
        self.lines[begin:] = [line.replace(f"lost[{n}] = 1; ", f"lost[{n}] = 1; stored[{n}] = 0; ", 1) for line in self.lines[begin:]]

    # ---- writing ----

    def declare(self):
        super().declare()
        pairs = self.attempts * self.nodes
        self.say(f"byte stored[{self.nodes}];         /* the token of what the node keeps; 0: nothing */")
        self.say(f"byte told[{self.attempts}];           /* 1: is publishing; 2: has published */")
        self.say(f"bit kept[{pairs}];")
        self.say(f"byte heir[{self.attempts}];           /* 1: asks; 2: writes back; 3: has inherited */")
        self.say(f"byte heard[{pairs}];         /* what a node answered, and one */")
        self.say(f"bit given[{pairs}];           /* the node has the result */")
        self.say(f"byte result[{self.attempts}];")
        self.say()

    def column(self, n):
        more = [(f"stored[{n}]", 3)]
        for a in self.all_publishers():
            more.append((self.at("kept", a, n), 1))
        for a in self.all_heirs():
            more += [(self.at("heard", a, n), 3), (self.at("given", a, n), 1)]
        return super().column(n) + more


if __name__ == "__main__":
    if any(word in ("-h", "--help") for word in sys.argv[1:]):
        print(__doc__)
        for option, (default, meaning) in OWN.items():
            print(f"    {option}={default:<3} {meaning}")
        sys.exit(0)
    print(State(**{k: int(v) for k, v in (argument.split("=", 1) for argument in sys.argv[1:])}).text(), end="")
