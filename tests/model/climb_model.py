#!/usr/bin/env python3
"""Writes a Promela model of leases that outlive restarts: docs/proof.md, "Leases that outlive restarts".

    climb_model.py losses=1 > climb.pml       `climb_model.py --help` lists the options

To fence_model.py with extension and recreate it adds the climb. A lease has a guard, at first its token. To climb from guard G to G' is a
second confirm: where the key has the lease's value and max(counter, base) is at most G, the counter becomes G'. With votes of a majority the
guard is G', and from then on extensions compare with G' and write G'. The token stays. Climbs may fail, and their messages come late. So a climb
leaves a mark in the key (own[]): nobody has changed key or counter since, and the node can be asked again.
"""
import re
import sys

from fence_model import Model

OWN = {  # name: (default, meaning)
    "climbs": (1, "how many times each lease tries to climb"),
    "climber": (0, "which of the attempts extends and climbs, from 1; 0: all of them"),
    "distance": (1, "how far, at most"),
    "again": (1, "1: a climb that comes again, and finds its mark in the key, is a vote; and so is an extension that finds it"),
    "marked": (1, "0, mutant: a climb that comes again looks for its G' in the counter, and not for its mark in the key"),
    "in_counter": (0, "1: the mark is in the counter, so that whoever writes the counter takes it away, and whoever only takes away the key does not"),
    "farther": (0, "1: a climb to a higher G' is a vote where a mark of an earlier climb is"),
    "old_guard": (1, "0, mutant: a climb does not look at the counter"),
    "old_base": (1, "0, mutant: a climb does not look at the base"),
    "climb_votes": (0, "votes that a climb needs; 0: a majority; less: mutant"),
    "base_seen": (1, "0, mutant: a key is set again under the guard of before, without looking at the base"),
    "climb_drained": (1, "0, mutant: an admission does not wait for climbs that were in flight at the loss"),
    "between": (1, "0: claim the promises only, and not that no token is between a lease's token and its guard"),
    "kept_low": (0, "1: an extension after a climb compares with G', and writes the token as before"),
    "returns": (0, "1: instead of the promises, claim that no lease gets back onto a node whose counter or base is above its token"),
}


class Climb(Model):
    def __init__(self, **options):
        options.pop("climb", None)
        for name, (default, _) in OWN.items():
            setattr(self, name, options.pop(name, default))
        super().__init__(**{"extensions": 1, "recreate": 1, **options})
        if self.trailing or self.block > 1 or self.clients or self.late_admit or not self.extensions:
            raise ValueError("climbs go without these options")
        self.climb_votes = self.climb_votes or self.majority
        self.with_climbs = False

    # ---- vocabulary ----

    @staticmethod
    def is_lease(a):
        return f"(stage[{a}] == HOLDING || stage[{a}] == EXTENDING || stage[{a}] == ENDED || stage[{a}] == CLIMBING)"

    def in_flight(self, a):
        also = f" || stage[{a}] == CLIMBING" if self.with_climbs else ""
        return f"(stage[{a}] == ASKING || stage[{a}] == CONFIRMING{also})"

    def climb_ends(self, a):
        text = f"stage[{a}] = HOLDING; " + "".join(f"higher[{a * self.nodes + n}] = 0; " for n in self.all_nodes())
        return text + (f"draining = draining & {255 - (1 << a)}; " if self.losses else "")

    def nobody_between(self, a, b):
        """No token of somebody else is above a's token and not above its guard."""
        if not self.between or self.returns:
            return ""
        return f"assert(!({self.is_lease(a)} && {self.is_lease(b)} && token[{b}] > token[{a}] && token[{b}] <= guard[{a}])); "

    def others(self, a):
        return [b for b in self.all_attempts() if b != a]

    # ---- the client ----

    def completed(self, a):
        if self.returns:
            text = f"stage[{a}] = HOLDING; before[{a}] = 0; " + self.forget_votes(a)
        else:
            text = super().completed(a)
        text += f"guard[{a}] = token[{a}]; "
        return text + "".join(self.nobody_between(b, a) for b in self.others(a))

    def extend(self, a):
        if self.climber in (0, a + 1):
            super().extend(a)
            self.climb(a)

    def climb(self, a):
        for i in range(self.climbs):
            for far in range(1, self.distance + 1):
                self.step(f"stage[{a}] == HOLDING && climbed[{a}] == {i}",
                           f"stage[{a}] = CLIMBING; climbed[{a}]++; "
                           f"below[{a * self.climbs + i}] = guard[{a}]; above[{a * self.climbs + i}] = guard[{a}] + {far}; ")
            votes = " + ".join(f"higher[{a * self.nodes + n}]" for n in self.all_nodes())
            checks = "".join(self.nobody_between(a, b) for b in self.others(a))
            self.step(f"stage[{a}] == CLIMBING && climbed[{a}] == {i + 1} && ({votes}) >= {self.climb_votes}",
                       f"guard[{a}] = above[{a * self.climbs + i}]; {self.climb_ends(a)}{checks}")
        self.step(f"stage[{a}] == CLIMBING", self.climb_ends(a))    # fails, and its messages are still on their way

    # ---- the nodes ----

    def execute_extension(self, a, n):
        """Those that were sent after the climb, and late ones of before, which carry the token as their guard and are no votes any more."""
        if self.climber not in (0, a + 1):
            return
        mine, i = self.value(a), a * self.nodes + n
        awake = f"!lost[{n}]" if self.losses else "true"
        base = self.rollback and self.base_seen
        def not_above(guard):
            return f"counter[{n}] <= {guard}" + (f" && base[{n}] <= {guard}" if base else "")
        written = f"token[{a}]" if self.kept_low else f"guard[{a}]"
        claim = f"assert({self.counter_or_base(n)} <= token[{a}]); " if self.returns else ""
        mark = f"own[{n}] = own[{n}] && counter[{n}] > {written}; " if self.in_counter else ""
        renewed = f"{mark}counter[{n}] = MAX(counter[{n}], {written}); renewed[{i}] = (stage[{a}] == EXTENDING); "
        sent = f"extended[{a}] > 0 && {awake}"
        present = f"{sent} && stage[{a}] == EXTENDING && !renewed[{i}] && key[{n}] == {mine}"
        self.step(f"{present} && {not_above(f'guard[{a}]')}", renewed)
        if self.again and self.marked:
            self.step(f"{present} && own[{n}]" + f" && base[{n}] <= guard[{a}]" * base, renewed)
        self.step(f"{sent} && key[{n}] != {mine} && {not_above(f'guard[{a}]')}", f"{claim}key[{n}] = {mine}; own[{n}] = 0; {renewed}")
        self.step(f"guard[{a}] > token[{a}] && {awake} && key[{n}] != {mine} && {not_above(f'token[{a}]')}",
                  f"key[{n}] = {mine}; own[{n}] = 0; counter[{n}] = MAX(counter[{n}], token[{a}]); ")
        for c in range(self.climbs):
            self.execute_climb(a, n, c, awake)

    def execute_climb(self, a, n, c, awake):
        below, above = f"below[{a * self.climbs + c}]", f"above[{a * self.climbs + c}]"
        vote = f"higher[{a * self.nodes + n}]"
        current = f"(stage[{a}] == CLIMBING && climbed[{a}] == {c + 1})"
        condition = f"{above} > 0 && {awake} && key[{n}] == {self.value(a)}"
        if self.rollback and self.old_base:
            condition += f" && base[{n}] <= {below}"
        effect = f"counter[{n}] = MAX(counter[{n}], {above}); own[{n}] = 1; {vote} = {vote} || {current}; "
        first = f" && counter[{n}] <= {below}" if self.old_guard else f" && (counter[{n}] < {above} || ({current} && !{vote}))"
        self.step(condition + first, effect)
        if self.farther:
            self.step(f"{condition} && own[{n}] && counter[{n}] > {below} && counter[{n}] < {above}", effect)
        if self.again:
            self.step(f"{condition} && counter[{n}] == {above} && {current} && !{vote}" + f" && own[{n}]" * self.marked, effect)

    def grant(self, a, n):
        self.key_changes(n, lambda: super(Climb, self).grant(a, n), "own[{n}] = 0; ")

    def confirm(self, a, n):
        begin = len(self.lines)
        super().confirm(a, n)
        if self.in_counter:
            self.lines[begin:] = [re.sub(rf"counter\[{n}\] =", rf"own[{n}] = 0; counter[{n}] =", line, count=1) for line in self.lines[begin:]]

    def key_changes(self, n, write, also):
        """The steps that are written now set key n, and do something before."""
        begin = len(self.lines)
        write()
        pattern, text = re.compile(rf"key\[{n}\] = (\d)"), also.format(n=n)
        self.lines[begin:] = [pattern.sub(lambda found: text.replace("HOLDER", found[1]) + found[0], line) for line in self.lines[begin:]]

    # ---- memory loss ----

    def lose(self, n):
        self.with_climbs = self.climb_drained
        self.key_changes(n, lambda: super(Climb, self).lose(n), "own[{n}] = own[{n}] && key[{n}] == HOLDER; ")
        self.with_climbs = False

    def drained(self):
        effect = ""
        for a in self.all_attempts():
            effect += (f"if :: (draining & {1 << a}) && {self.in_flight(a)} -> {self.given_up(a)}"
                       f":: (draining & {1 << a}) && stage[{a}] == CLIMBING -> {self.climb_ends(a)}:: else fi; ")
        self.step("draining", effect + "draining = 0;")

    # ---- writing ----

    def declare(self):
        super().declare()
        self.say("#define CLIMBING 7")
        self.say(f"byte guard[{self.attempts}], climbed[{self.attempts}];")
        self.say(f"byte below[{self.attempts * self.climbs}], above[{self.attempts * self.climbs}];   /* G and G' of each climb */")
        self.say(f"bit own[{self.nodes}];           /* the last to change key and counter was the climb of the key's lease */")
        self.say(f"bit higher[{self.attempts * self.nodes}];   /* votes of the present climb */")

    def column(self, n):
        return super().column(n) + [(f"own[{n}]", 1)] + [(f"higher[{a * self.nodes + n}]", 1) for a in self.all_attempts()]


if __name__ == "__main__":
    if any(word in ("-h", "--help") for word in sys.argv[1:]):
        print(__doc__)
        for option, (default, meaning) in OWN.items():
            print(f"    {option}={default:<3} {meaning}")
        sys.exit(0)
    print(Climb(**{k: int(v) for k, v in (argument.split("=", 1) for argument in sys.argv[1:])}).text(), end="")
