#!/usr/bin/env python3
"""Writes a Promela model of the fencing-token protocol, for the model checker spin. docs/proof.md is the argument in words.

    fence_model.py nodes=3 attempts=2 losses=1 > fence.pml       `fence_model.py --help` lists the options

What the model is made of:

  attempt    one acquire with its own fresh value, from its first byte on. A client that tries again is another attempt. An attempt
             that no step is taken for any more has been given up: no step is needed to say so, except where the protocol waits for it.
  node       the key of one lock, its counter, and (with memory loss) whether the node is admitted.
  message    is never stored. A request that was sent may be executed at any later moment, or never: loss, delay, reordering and
             requests that arrive after their attempt has ended are all of them the freedom to choose the next step.
  expiry     is the freedom of the next grant: it may find the key gone, whatever the key was. There is no clock in the model.

Nodes are interchangeable, so after each step they are put in order by content ("sorted"): one state stands for up to N! of them.
Attempts are interchangeable too: they begin in the order of their numbers.
"""
import itertools
import sys

from promela import OPTIONS, PREAMBLE, Writer


class Model(Writer):
    def text(self):
        self.say(f"/* {self.described or 'all defaults'} */")
        self.say(PREAMBLE)
        self.declare()
        self.write_tidy()
        self.say("init {")
        self.initial_counters()
        self.say("  do")
        for a in self.all_attempts():
            self.say(f"  /* ---- attempt {a}: its client ---- */")
            self.begin(a)
            self.decide(a)
            self.complete(a)
            if self.extensions:
                self.extend(a)
            self.say(f"  /* ---- attempt {a}: its messages, executed at the nodes ---- */")
            for n in self.all_nodes():
                self.grant(a, n)
                if self.two_phase:
                    self.confirm(a, n)
                if self.extensions:
                    self.execute_extension(a, n)
                if self.trailing:
                    self.check_id(a, n)
        if self.losses:
            self.say("  /* ---- memory loss and admission ---- */")
            if self.drain:
                self.drained()
            for n in self.all_nodes():
                self.lose(n)
                self.catch_up_from(n)
                self.admit(n)
        self.say("  od")
        self.say("}")
        return "\n".join(self.lines) + "\n"

    # ---- the client ----

    def begin(self, a):
        """A fresh value; acquire goes to all nodes. With a limited number of clients, one of them ends an earlier attempt for it."""
        condition = f"stage[{a}] == IDLE"
        if a:
            condition += f" && stage[{a - 1}] != IDLE"
        effect = f"before[{a}] = {self.largest_completed()}; stage[{a}] = ASKING; "
        predecessors = [None]
        if self.clients and a >= self.clients:
            predecessors = range(a) if self.fresh_values or a < self.attempts - 1 else [0]
        for earlier, size in itertools.product(predecessors, range(1, self.block + 1)):
            if earlier is None:
                can, ends = condition, ""
            else:
                can = f"{condition} && ({self.in_flight(earlier)} || stage[{earlier}] == HOLDING)"
                ends = f"if :: stage[{earlier}] == HOLDING -> stage[{earlier}] = ENDED :: else -> {self.given_up(earlier)}fi; "
            if self.block > 1:
                ends += f"block[{a}] = {size}; "
            self.step(can, effect + ends)
            if self.trailing:   # a client may have noticed that a node has a new id, or not yet
                self.step(f"{can} && ({self.someone_lost()})", effect + ends + f"knows_new_id[{a}] = 1; ")
        if self.trailing and not self.bound_id:   # between messages, not inside one
            settled = " && ".join(f"!unchecked[{a * self.nodes + n}]" for n in self.all_nodes())
            self.step(f"{self.in_flight(a)} && !knows_new_id[{a}] && ({self.someone_lost()}) && {settled}", f"knows_new_id[{a}] = 1; ")

    def given_up(self, a):
        return f"stage[{a}] = GIVEN_UP; before[{a}] = 0; " + self.forget_votes(a)

    def someone_lost(self):
        return " || ".join(f"lost[{n}] || readmitted[{n}]" for n in self.all_nodes())

    def decide(self, a):
        """token = the largest counter among the granting nodes that are heard in time (any majority of those that granted).
        Nodes that answered exactly the token are confirmed. If they are a majority: done, in one round trip."""
        for size in range(self.majority, self.nodes + 1):
            for heard in itertools.combinations(self.all_nodes(), size):
                condition = " && ".join([f"stage[{a}] == ASKING"] + [self.counts(a, n, ">= COUNTER(0)") for n in heard])
                effect = "".join(f"token[{a}] = MAX(token[{a}], {self.vote(a, n)} - COUNTER(0)); " for n in heard)
                for n in self.all_nodes():
                    v = self.vote(a, n)
                    if n in heard:
                        effect += f"{v} = ({v} == COUNTER(token[{a}]) -> YES : SEEN); "
                    else:
                        effect += f"{v} = ({v} == UNSEEN -> UNSEEN : SEEN); "
                    if self.trailing:
                        effect += f"unchecked[{a * self.nodes + n}] = 0; "
                if self.two_phase:
                    effect += f"stage[{a}] = CONFIRMING; "
                    effect += f"if :: {self.majority_of(a, '== YES')} -> {self.completed(a)} :: else fi;"
                else:
                    effect += self.completed(a)
                self.step(condition, effect)

    def complete(self, a):
        """The lease exists when confirmations come from a majority."""
        if self.two_phase:
            self.step(f"stage[{a}] == CONFIRMING && {self.majority_of(a, '== YES')}", self.completed(a))

    def completed(self, a):
        """Completion, and the promises: all tokens of the block are new, and larger than any that was complete at the beginning."""
        first, last = f"token[{a}] - {self.block_of(a)} + 1", f"token[{a}]"
        if self.reach:
            text = f"stage[{a}] = HOLDING; "
            everyone = " && ".join(f"token[{b}] > 0 && stage[{b}] >= HOLDING && stage[{b}] != GIVEN_UP" for b in self.all_attempts())
            if self.losses:   # the admitted node is one of the majority
                used = " || ".join(f"(readmitted[{n}] && {self.vote(a, n)} == YES)" for n in self.all_nodes())
                everyone += f" && ({used})"
            text += f"assert(!({everyone})); "
        else:
            text = f"assert({first} > before[{a}]); "
            for b in self.all_attempts():
                if b != a:
                    other_first = f"token[{b}] - {self.block_of(b)} + 1"
                    text += f"assert(!{self.is_lease(b)} || {first} > token[{b}] || {last} < {other_first}); "
            text += f"stage[{a}] = HOLDING; "
        return text + f"before[{a}] = 0; " + self.forget_votes(a)

    def extend(self, a):
        """The holder extends its lease, and a majority renews it.
        Promise: no larger token was complete when a successful extension began."""
        clear = "".join(f"renewed[{a * self.nodes + n}] = 0; " for n in self.all_nodes())
        self.step(f"stage[{a}] == HOLDING && extended[{a}] < {self.extensions}",
                  f"stage[{a}] = EXTENDING; extended[{a}]++; before_extension[{a}] = {self.largest_completed()}; {clear}")
        renewed = " + ".join(f"renewed[{a * self.nodes + n}]" for n in self.all_nodes())
        self.step(f"stage[{a}] == EXTENDING && ({renewed}) >= {self.majority}",
                  f"assert(before_extension[{a}] <= token[{a}]); stage[{a}] = HOLDING; before_extension[{a}] = 0; {clear}")

    # ---- the nodes ----

    def grant(self, a, n):
        """acquire: if the key is free, raise the counter, set key and counter, answer the counter.
        'If the key is free' is always possible: whatever was there may have expired. If it is not free, the request is refused,
        which is the same as being lost."""
        v, mine = self.vote(a, n), self.value(a)
        arrives = f"stage[{a}] != IDLE && {v} == UNSEEN && {self.runs(a, n)}"
        raised = [f"{self.counter_or_base(n)} + {self.block_of(a)}"]
        if self.floor:
            raised.append(f"MAX({raised[0]}, {self.floor})")
        answer = f"(stage[{a}] == ASKING -> COUNTER(counter[{n}]) : SEEN)"
        for new in raised:
            self.step(arrives, f"counter[{n}] = {new}; key[{n}] = {mine}; " + self.vote_arrives(a, n, answer))
            if self.duplicates:     # executed again, after the key has gone: one of the two answers is the one that is heard
                again = f"duplicates > 0 && {v} != UNSEEN && key[{n}] != {mine} && {self.runs(a, n)}"
                effect = f"duplicates--; counter[{n}] = {new}; key[{n}] = {mine}; "
                self.step(again, effect)
                self.step(again + f" && stage[{a}] == ASKING", effect + self.vote_arrives(a, n, answer))
        if not self.fresh_values:   # the key is there and has my value: this is a repetition, answer the counter as it is
            self.step(arrives + f" && key[{n}] == {mine}", self.vote_arrives(a, n, answer))

    def confirm(self, a, n):
        """confirm: iff the key still holds my value and counter <= token, counter = token. Late and repeated ones included."""
        v, unchecked = self.vote(a, n), f" && !unchecked[{a * self.nodes + n}]" if self.trailing else ""
        condition = f"token[{a}] > 0 && stage[{a}] != ASKING && key[{n}] == {self.value(a)} && {self.runs(a, n)}"
        if self.guard:
            condition += f" && {self.counter_or_base(n)} <= token[{a}]"
        changes = f"(counter[{n}] < token[{a}] || (stage[{a}] == CONFIRMING && {v} != YES))"
        self.step(f"{condition} && {changes}{unchecked}",
                  f"counter[{n}] = MAX(counter[{n}], token[{a}]); "
                  + self.vote_arrives(a, n, f"(stage[{a}] == CONFIRMING -> YES : {v})"))

    def execute_extension(self, a, n):
        """extend: iff the key holds my value and counter <= token. Replant: iff it is missing and counter <= token, set both again.
        Executed at any time after the first extension was sent, by leases that are over as well."""
        mine, i = self.value(a), a * self.nodes + n
        sent = f"extended[{a}] > 0 && {self.runs_extension(n)}"
        guard = f" && counter[{n}] <= token[{a}]"
        base = f" && base[{n}] <= token[{a}]" if self.rollback else ""
        renew = f"renewed[{i}] = (stage[{a}] == EXTENDING && {self.extension_counts(n)}); "
        present = f"{sent} && stage[{a}] == EXTENDING && !renewed[{i}] && key[{n}] == {mine}"
        present += guard if self.extend_guard else ""
        present += base if self.base_guard else ""
        self.step(present, f"counter[{n}] = MAX(counter[{n}], token[{a}]); " + renew)
        if self.recreate:
            missing = f"{sent} && key[{n}] != {mine}" + (guard + base if self.recreate_guard else "")
            self.step(missing, f"key[{n}] = {mine}; counter[{n}] = MAX(counter[{n}], token[{a}]); " + renew)

    def runs_extension(self, n):
        """A lease is extended under whatever id its client knows by then: before an admission the old one, after it the new one."""
        return "true" if not self.losses or self.trailing else f"!lost[{n}]"

    def extension_counts(self, n):
        """Trailing check and script in one step: a check that comes later can only lose votes, and losing is always possible."""
        return f"!lost[{n}]" if self.losses else "true"

    def check_id(self, a, n):
        """The last reply of the message: the server's current id. Another one than expected: none of the message's votes counts."""
        i = a * self.nodes + n
        self.step(f"unchecked[{i}]", f"unchecked[{i}] = 0; if :: {self.same_id_at_the_end(a, n)} -> skip "
                                     f":: else -> {self.vote(a, n)} = SEEN; fi;")

    # ---- memory loss and admission ----

    def lose(self, n):
        """The memory is gone. Attempts in flight at this moment are remembered for the drain. With trailing=1 the record stays, with
        the old id: the worst case, as then scripts go on changing the node. rollback: any key and any smaller counter, even pairs
        that were never there together: more than can happen."""
        nobody = " && ".join(f"!lost[{m}]" for m in self.all_nodes())
        flying = " + ".join(f"({self.in_flight(a)} -> {1 << a} : 0)" for a in self.all_attempts())
        effect = f"losses--; lost[{n}] = 1; draining = {flying if self.drain else '0'}; "
        self.step(f"losses > 0 && {nobody}", effect + f"key[{n}] = 0; counter[{n}] = 0; ")
        if self.rollback:
            largest = self.initial + self.attempts * self.block
            holders = [0] + [self.value(a) for a in self.all_attempts()]
            for holder, smaller in itertools.product(holders, range(largest + 1)):
                if holder == 0 and smaller == 0:
                    continue
                known = f"losses > 0 && {nobody} && counter[{n}] >= {smaller}"
                if holder:
                    known += f" && {self.vote(holder - 1, n)} != UNSEEN"
                self.step(known, effect + f"key[{n}] = {holder}; counter[{n}] = {smaller}; ")

    def drained(self):
        """Admission (a): wait until every attempt that was in flight is over. Those that are not complete by now never will be.
        (An attempt that took no more steps before looks just like one that is given up here. So no other step gives up.)"""
        effect = ""
        for a in self.all_attempts():
            effect += f"if :: (draining & {1 << a}) && {self.in_flight(a)} -> {self.given_up(a)}:: else fi; "
        self.step("draining", effect + "draining = 0;")

    def catch_up_from(self, n):
        """Admission (b): read intact nodes, one after the other,"""
        someone = " || ".join(f"lost[{m}]" for m in self.all_nodes())
        self.step(f"({someone}) && !draining && !lost[{n}] && !read[{n}]",
                  f"read[{n}] = 1; floor_read = MAX(floor_read, {self.counter_or_base(n)});")

    def admit(self, n):
        """and admits the node with their maximum. A counter that is missing reads as that mark."""
        enough = "(" + " + ".join(f"read[{m}]" for m in self.all_nodes()) + f") >= {self.catch_up}"
        done = f"lost[{n}] = 0; floor_read = 0; " + "".join(f"read[{m}] = 0; " for m in self.all_nodes())
        if self.trailing or (self.reach and self.losses):
            done = f"readmitted[{n}] = 1; " + done
        if self.late_admit:
            self.step(f"lost[{n}] && admitted_with[{n}] > 0",
                      f"counter[{n}] = MAX(counter[{n}], admitted_with[{n}]); admitted_with[{n}] = 0; draining = 0; {done}")
            done = f"admitted_with[{n}] = floor_read; {done}"
        condition = f"lost[{n}] && !draining && {enough}"
        if self.rollback:
            self.step(condition, f"base[{n}] = MAX(MAX(base[{n}], counter[{n}]), floor_read); {done}")
        else:
            self.step(condition, f"counter[{n}] = MAX(counter[{n}], floor_read); {done}")


def main(arguments, model=Model, what=__doc__):
    if not arguments or "--help" in arguments:
        print(what)
        for name, (default, meaning) in OPTIONS.items():
            print(f"  {name}={default:<4} {meaning}")
        return
    print(model(**{k: int(v) for k, v in (argument.split("=", 1) for argument in arguments)}).text(), end="")


if __name__ == "__main__":
    main(sys.argv[1:])
