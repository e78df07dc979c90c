#!/usr/bin/env python3
"""Writes a Promela model of leases that travel: docs/proof.md, "Leases that travel".

    ticket_model.py adopters=2 > ticket.pml       `ticket_model.py --help` lists the options

To fence_model.py with extension and recreate it adds a ticket: the first attempt detaches its lease, and adopters go on with it. The others are its
rivals. An adoption with guard G asks each node: where the key has the value of the ticket and max(counter, base) is at most G, the key gets the
adopter's value, and the counter becomes G + 1. With votes of a majority the adopter has the lease, and its extensions carry G + 1. The token stays.
Messages of the one who detached go on arriving.

Promised: of those who have one ticket, one adopts at the most. No larger token was complete when an adoption that succeeds began, or an extension of
the adopter. No extension of the one who detached succeeds that began after an adoption. No release of the former value takes the adopter's key. No
token of a rival is above the lease's and not above its guard.
"""
import re
import sys

from fence_model import Model

OWN = {  # name: (default, meaning)
    "adopters": (2, "how many adopt"),
    "chain": (0, "1: the second adopter has its ticket from the first, which detaches again; 0: copies of one ticket"),
    "adopted_extensions": (1, "how many times an adopter extends"),
    "goes_on": (0, "1: who detached goes on extending all the same"),
    "keeps_value": (0, "1, mutant: an adoption leaves the value as it is"),
    "raises": (1, "0, mutant: an adoption leaves the counter as it is"),
    "old_guard": (1, "0, mutant: an adoption does not look at the counter"),
    "old_base": (1, "0, mutant: an adoption does not look at the base"),
    "again_by_counter": (0, "1, mutant: an adoption that comes again looks for its G + 1 in the counter, and not for its value in the key"),
    "adopt_votes": (0, "votes that an adoption needs; 0: a majority; less: mutant"),
    "adoption_drained": (1, "0, mutant: an admission does not wait for adoptions that were in flight at the loss"),
    "claims_one": (1, "0: do not claim that one adopts at the most"),
    "claims_between": (1, "0: do not claim that no token is between a lease's token and its guard"),
    "never": (0, "1: instead of the promises, claim that nobody adopts (2: nobody who has extended)"),
}


class Ticket(Model):
    def __init__(self, **options):
        options.pop("ticket", None)
        for name, (default, _) in OWN.items():
            setattr(self, name, options.pop(name, default))
        super().__init__(**{"extensions": 1, "recreate": 1, **options})
        if self.trailing or self.block > 1 or self.clients or self.late_admit or not self.extensions:
            raise ValueError("tickets go without these options")
        self.adopt_votes = self.adopt_votes or self.majority

    # ---- vocabulary ----

    def all_adopters(self):
        return range(self.adopters)

    def from_adopter(self, b):
        return b - 1 if self.chain and b > 0 else None

    def former(self, b):
        source = self.from_adopter(b)
        return self.value(0) if source is None else self.own(source)

    def own(self, b):
        return self.former(b) if self.keeps_value else self.attempts + 1 + b

    def guard_before(self, b):
        return f"(token[0] + {b})" if self.chain else "token[0]"

    def guard_after(self, b):
        return f"({self.guard_before(b)} + {self.raises})"

    def got(self, b, n):
        return f"got[{b * self.nodes + n}]"

    def again(self, b, n):
        return f"again[{b * self.nodes + n}]"

    def same_ticket(self, b):
        return [c for c in self.all_adopters() if c != b and self.from_adopter(c) == self.from_adopter(b)]

    def not_above(self, n, guard, base=True):
        return f"counter[{n}] <= {guard}" + (f" && base[{n}] <= {guard}" if self.rollback and base else "")

    def forget(self, of, b):
        return "".join(f"{of(b, n)} = 0; " for n in self.all_nodes())

    def nobody_between(self):
        if not self.claims_between or self.never:
            return ""
        text = ""
        for a in self.all_attempts():
            if a:
                for b in self.all_adopters():
                    text += f"assert(!(had[{b}] && {self.is_lease(a)} && token[{a}] > token[0] && token[{a}] <= {self.guard_after(b)})); "
        return text

    # ---- the clients ----

    def completed(self, a):
        return super().completed(a) + (self.nobody_between() if a else "")

    def extend(self, a):
        if a:
            return      # rivals do not extend: others have looked at that
        begin = len(self.lines)
        super().extend(a)
        if self.goes_on:    # promise: who detached does not extend what somebody has adopted
            had = " || ".join(f"had[{b}]" for b in self.all_adopters())
            self.lines[begin] = self.lines[begin].replace("extended[0]++;", f"extended[0]++; had_before = ({had});")
            self.lines[begin + 1] = self.lines[begin + 1].replace("assert(", "assert(!had_before); assert(", 1)
        ends = "" if self.goes_on else "stage[0] = ENDED; before_extension[0] = 0; " + "".join(f"renewed[{n}] = 0; " for n in self.all_nodes())
        self.step("(stage[0] == HOLDING || stage[0] == EXTENDING) && !ticket", f"ticket = 1; {ends}")
        for b in self.all_adopters():
            self.adopt(b)

    def adopt(self, b):
        source = self.from_adopter(b)
        if source is None:
            self.step(f"ticket && at[{b}] == NOT_YET", f"at[{b}] = ADOPTING; before_adopted[{b}] = {self.largest_completed()}; ")
        else:
            self.step(f"at[{source}] == HAS && at[{b}] == NOT_YET",
                      f"at[{source}] = GONE; at[{b}] = ADOPTING; before_adopted[{b}] = {self.largest_completed()}; ")
        votes = " + ".join(self.got(b, n) for n in self.all_nodes())
        promises = f"assert(before_adopted[{b}] <= token[0]); "
        if self.claims_one:
            promises += "".join(f"assert(!had[{c}]); " for c in self.same_ticket(b))
        if self.never == 1:
            promises = "assert(0); "
        self.step(f"at[{b}] == ADOPTING && ({votes}) >= {self.adopt_votes}",
                  f"{promises if self.never < 2 else ''}at[{b}] = HAS; had[{b}] = 1; before_adopted[{b}] = 0; "
                  f"{self.forget(self.got, b)}{self.nobody_between()}")
        if not self.adopted_extensions:
            return
        self.step(f"at[{b}] == HAS && adopted_extended[{b}] < {self.adopted_extensions}",
                  f"at[{b}] = RENEWING; adopted_extended[{b}]++; before_adopted[{b}] = {self.largest_completed()}; {self.forget(self.again, b)}")
        votes = " + ".join(self.again(b, n) for n in self.all_nodes())
        promise = "assert(0); " if self.never == 2 else f"assert(before_adopted[{b}] <= token[0]); "
        self.step(f"at[{b}] == RENEWING && ({votes}) >= {self.majority}",
                  f"{promise}at[{b}] = HAS; before_adopted[{b}] = 0; {self.forget(self.again, b)}")

    # ---- the nodes ----

    def execute_extension(self, a, n):
        if a:
            return
        super().execute_extension(a, n)
        for b in self.all_adopters():
            self.execute_adoption(b, n)
            self.execute_adopted_extension(b, n)
        if self.keeps_value:    # else the release of a former value finds no key that an adopter has
            self.step(f"ticket && key[{n}] == {self.value(0)} && {self.runs_extension(n)}", f"assert(!took[{n}]); key[{n}] = 0; ")

    def execute_adoption(self, b, n):
        sent = f"at[{b}] != NOT_YET && {self.runs_extension(n)}"
        condition = f"{sent} && key[{n}] == {self.former(b)}"
        if self.old_guard:
            condition += f" && counter[{n}] <= {self.guard_before(b)}"
        base = f" && base[{n}] <= {self.guard_before(b)}" if self.rollback and self.old_base else ""
        effect = f"counter[{n}] = MAX(counter[{n}], {self.guard_after(b)}); {self.got(b, n)} = (at[{b}] == ADOPTING); "
        changes = f"(key[{n}] != {self.own(b)} || counter[{n}] < {self.guard_after(b)} || (at[{b}] == ADOPTING && !{self.got(b, n)}))"
        self.step(f"{condition}{base} && {changes}", f"key[{n}] = {self.own(b)}; {effect}", took="1")
        mine = f"counter[{n}] == {self.guard_after(b)}" if self.again_by_counter else f"key[{n}] == {self.own(b)}"
        self.step(f"{sent} && at[{b}] == ADOPTING && !{self.got(b, n)} && {mine}{base}", effect)

    def execute_adopted_extension(self, b, n):
        if not self.adopted_extensions:
            return
        mine, guard, seen = self.own(b), self.guard_after(b), self.again(b, n)
        sent = f"adopted_extended[{b}] > 0 && {self.runs_extension(n)} && {self.not_above(n, guard)}"
        renewed = f"counter[{n}] = MAX(counter[{n}], {guard}); {seen} = (at[{b}] == RENEWING); "
        self.step(f"{sent} && at[{b}] == RENEWING && !{seen} && key[{n}] == {mine}", renewed)
        self.step(f"{sent} && key[{n}] != {mine}", f"key[{n}] = {mine}; {renewed}", took="1")

    # ---- memory loss ----

    def lose(self, n):
        begin = len(self.lines)
        super().lose(n)
        if not self.adoption_drained or not self.drain:
            return
        flying = " + ".join(f"(at[{b}] == ADOPTING -> {1 << (self.attempts + b)} : 0)" for b in self.all_adopters())
        self.lines[begin:] = [line.replace("draining = ", f"draining = {flying} + ", 1) for line in self.lines[begin:]]

    def drained(self):
        effect = ""
        for a in self.all_attempts():
            effect += f"if :: (draining & {1 << a}) && {self.in_flight(a)} -> {self.given_up(a)}:: else fi; "
        for b in self.all_adopters():
            over = f"at[{b}] = GONE; before_adopted[{b}] = 0; {self.forget(self.got, b)}"
            effect += f"if :: (draining & {1 << (self.attempts + b)}) && at[{b}] == ADOPTING -> {over}:: else fi; "
        self.step("draining", effect + "draining = 0;")

    # ---- writing ----

    def step(self, condition, effect, took="0"):
        if self.keeps_value:
            effect = re.sub(r"key\[(\d)\] = ", lambda found: f"took[{found[1]}] = {took}; {found[0]}", effect)
        super().step(condition, effect)

    def declare(self):
        super().declare()
        self.say("/* The stages of an adopter. */")
        for number, name in enumerate(("NOT_YET", "ADOPTING", "HAS", "RENEWING", "GONE")):
            self.say(f"#define {name} {number}")
        self.say("bit ticket;            /* the first attempt has detached its lease */")
        self.say(f"byte at[{self.adopters}];")
        self.say(f"bit had[{self.adopters}];            /* it has adopted, once */")
        self.say(f"byte before_adopted[{self.adopters}];    /* for the check: the largest token complete when it began */")
        self.say(f"bit got[{self.adopters * self.nodes}];")
        if self.adopted_extensions:
            self.say(f"byte adopted_extended[{self.adopters}];")
            self.say(f"bit again[{self.adopters * self.nodes}];")
        if self.goes_on:
            self.say("bit had_before;")
        if self.keeps_value:
            self.say(f"bit took[{self.nodes}];           /* the key is an adopter's */")

    def column(self, n):
        more = [(self.got(b, n), 1) for b in self.all_adopters()]
        if self.adopted_extensions:
            more += [(self.again(b, n), 1) for b in self.all_adopters()]
        if self.keeps_value:
            more.append((f"took[{n}]", 1))
        return super().column(n) + more


if __name__ == "__main__":
    if any(word in ("-h", "--help") for word in sys.argv[1:]):
        print(__doc__)
        for option, (default, meaning) in OWN.items():
            print(f"    {option}={default:<3} {meaning}")
        sys.exit(0)
    print(Ticket(**{k: int(v) for k, v in (argument.split("=", 1) for argument in sys.argv[1:])}).text(), end="")
