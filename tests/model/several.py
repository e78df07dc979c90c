#!/usr/bin/env python3
"""fence_model.py for locks on two resources: each attempt wants one of them, or both, with one token.

    several.py attempts=2 > several.pml

A node has a key and a counter for each resource; an attempt has one vote for each node, and one token. Each key may expire alone, before
any request of another attempt.
"""
import itertools
import sys

from fence_model import Model, main
from promela import OPTIONS

RESOURCES = range(2)
NOT_MODELLED = ("losses", "duplicates", "floor", "clients", "trailing", "block", "two_phase", "extend_guard", "recreate_guard", "base_guard")


class Several(Model):
    def __init__(self, **options):
        super().__init__(**{"resources": 2, **options})
        not_modelled = [name for name in NOT_MODELLED if getattr(self, name) != OPTIONS[name][0]]
        if not_modelled:
            raise ValueError("resources=2 goes without " + ", ".join(not_modelled))
        digits = str(self.wants) if self.wants else ""
        self.sets = [[int(digits[a])] if digits else [1, 2, 3] for a in self.all_attempts()]

    # ---- vocabulary ----

    def key(self, r, n):
        return f"key[{r * self.nodes + n}]"

    def counter(self, r, n):
        return f"counter[{r * self.nodes + n}]"

    def all_of(self, wanted, text):
        return " && ".join(text(r) for r in self.in_set(wanted))

    @staticmethod
    def in_set(wanted):
        return [r for r in RESOURCES if wanted & (1 << r)]

    def largest_counter(self, wanted, n):
        counters = [self.counter(r, n) for r in self.in_set(wanted)]
        return counters[0] if len(counters) == 1 else f"MAX({counters[0]}, {counters[1]})"

    def largest_completed_of(self, wanted):
        text = "0"
        for a in self.all_attempts():
            text = f"MAX({text}, ({self.is_lease(a)} && (wants[{a}] & {wanted}) -> token[{a}] : 0))"
        return text

    # ---- the client ----

    def begin(self, a):
        condition = f"stage[{a}] == IDLE"
        if a:
            condition += f" && stage[{a - 1}] != IDLE"
        for wanted in self.sets[a]:
            self.step(condition, f"wants[{a}] = {wanted}; before[{a}] = {self.largest_completed_of(wanted)}; stage[{a}] = ASKING; ")

    def completed(self, a):
        """The promises, for attempts that share a resource."""
        if self.reach:
            return super().completed(a)
        text = f"assert(token[{a}] > before[{a}]); "
        for b in self.all_attempts():
            if b != a:
                text += f"assert(!{self.is_lease(b)} || !(wants[{a}] & wants[{b}]) || token[{a}] != token[{b}]); "
        return text + f"stage[{a}] = HOLDING; before[{a}] = 0; " + self.forget_votes(a)

    def extend(self, a):
        clear = "".join(f"renewed[{a * self.nodes + n}] = 0; " for n in self.all_nodes())
        for wanted in self.sets[a]:
            self.step(f"stage[{a}] == HOLDING && wants[{a}] == {wanted} && extended[{a}] < {self.extensions}",
                      f"stage[{a}] = EXTENDING; extended[{a}]++; before_extension[{a}] = {self.largest_completed_of(wanted)}; {clear}")
        renewed = " + ".join(f"renewed[{a * self.nodes + n}]" for n in self.all_nodes())
        self.step(f"stage[{a}] == EXTENDING && ({renewed}) >= {self.majority}",
                  f"assert(before_extension[{a}] <= token[{a}]); stage[{a}] = HOLDING; before_extension[{a}] = 0; {clear}")

    # ---- the nodes ----

    def grant(self, a, n):
        """acquire: all keys are free (they may always be); all counters and all keys are set together."""
        v, mine = self.vote(a, n), self.value(a)
        for wanted in self.sets[a]:
            resources = self.in_set(wanted)
            asked = f"stage[{a}] != IDLE && wants[{a}] == {wanted}"
            step_from = self.counter(resources[0], n) if self.token_of_first else self.largest_counter(wanted, n)
            effect = f"{self.counter(resources[0], n)} = {step_from} + 1; "
            for r in resources[1:]:   # only with token_of_first can a counter be larger than the token: it stays then
                effect += f"{self.counter(r, n)} = MAX({self.counter(r, n)}, {self.counter(resources[0], n)}); "
            effect += "".join(f"{self.key(r, n)} = {mine}; " for r in resources)
            answer = f"(stage[{a}] == ASKING -> COUNTER({self.counter(resources[0], n)}) : SEEN)"
            self.step(f"{asked} && {v} == UNSEEN", effect + f"{v} = {answer}; ")
            if self.repeats and len(resources) > 1:   # executed again, and finds its value everywhere
                again = f"stage[{a}] == ASKING && wants[{a}] == {wanted} && {v} >= COUNTER(0) && "
                again += self.all_of(wanted, lambda r: f"{self.key(r, n)} == {mine}")
                if self.even:
                    again += f" && {self.counter(0, n)} == {self.counter(1, n)}"
                answer = f"COUNTER({self.largest_counter(wanted, n)})"
                self.step(f"{again} && {v} != {answer}", f"{v} = {answer}; ")
        if self.forgets and a == 0:   # does not depend on the attempt, so it is written with the first only
            for r in RESOURCES:
                mark = f"MAX({self.counter(1 - r, n)}, {self.forgets})"
                self.step(f"{self.counter(r, n)} < {mark}", f"{self.counter(r, n)} = {mark}; ")

    def confirm(self, a, n):
        v, mine = self.vote(a, n), self.value(a)
        for wanted in self.sets[a]:
            resources = self.in_set(wanted)
            condition = f"token[{a}] > 0 && stage[{a}] != ASKING && wants[{a}] == {wanted}"
            keys = resources[:1] if self.key_of_first else resources
            condition += "".join(f" && {self.key(r, n)} == {mine}" for r in keys)
            if self.guard:
                condition += "".join(f" && {self.counter(r, n)} <= token[{a}]" for r in resources)
            lower = " || ".join(f"{self.counter(r, n)} < token[{a}]" for r in resources)
            changes = f"({lower} || (stage[{a}] == CONFIRMING && {v} != YES))"
            raised = "".join(f"{self.counter(r, n)} = MAX({self.counter(r, n)}, token[{a}]); " for r in resources)
            self.step(f"{condition} && {changes}", raised + f"{v} = (stage[{a}] == CONFIRMING -> YES : {v}); ")

    def execute_extension(self, a, n):
        """Each key for itself: renewed or recreated again under its own guard, or refused, as it may always be. A vote if none was."""
        mine, i = self.value(a), a * self.nodes + n
        for wanted in self.sets[a]:
            resources = self.in_set(wanted)
            for size in range(1, len(resources) + 1):
                for done in itertools.combinations(resources, size):
                    all_done = len(done) == len(resources) or self.part_counts
                    condition = f"extended[{a}] > 0 && wants[{a}] == {wanted}"
                    condition += "".join(f" && {self.counter(r, n)} <= token[{a}]" for r in done)
                    if not self.recreate:
                        condition += "".join(f" && {self.key(r, n)} == {mine}" for r in done)
                    different = " || ".join(f"{self.key(r, n)} != {mine} || {self.counter(r, n)} != token[{a}]" for r in done)
                    changes = f"({different} || (stage[{a}] == EXTENDING && !renewed[{i}]))" if all_done else f"({different})"
                    effect = "".join(f"{self.key(r, n)} = {mine}; {self.counter(r, n)} = token[{a}]; " for r in done)
                    if all_done:
                        effect += f"renewed[{i}] = (stage[{a}] == EXTENDING); "
                    self.step(f"{condition} && {changes}", effect)

    # ---- writing ----

    def declare(self):
        self.say(f"byte wants[{self.attempts}];       /* the set of resources: 1, 2, or 3 for both */")
        super().declare()

    def column(self, n):
        variables = []
        for r in RESOURCES:
            variables += [(self.key(r, n), 3), (self.counter(r, n), 4)]
        for a in self.all_attempts():
            variables.append((self.vote(a, n), 4))
            if self.extensions:
                variables.append((f"renewed[{a * self.nodes + n}]", 1))
        return variables

    def initial_counters(self):
        pairs = list(itertools.product(range(self.initial + 1), repeat=len(RESOURCES)))
        self.say("  if /* nodes that have seen different histories */")
        for start in itertools.combinations_with_replacement(pairs, self.nodes):
            values = [f"{self.counter(r, n)} = {start[n][r]}" for n in self.all_nodes() for r in RESOURCES]
            self.say("  :: d_step { " + "; ".join(values) + " }")
        self.say("  fi;")


if __name__ == "__main__":
    main(sys.argv[1:], Several, __doc__)
