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

OPTIONS = {  # name: (default, meaning)
    "nodes": (3, "number of nodes, N"),
    "majority": (0, "votes needed; 0: N/2+1"),
    "attempts": (2, "number of attempts"),
    "block": (1, "largest number of tokens an attempt may reserve; each attempt chooses 1..block"),
    "initial": (1, "a node's counter starts at 0..initial"),
    "floor": (0, "a grant may raise the counter to this floor (a client's wall clock, or a mark read for an expired counter)"),
    "duplicates": (0, "how many times in all an acquire that was executed is executed again"),
    "two_phase": (1, "0, mutant: no confirm round, the token is the maximum of one round"),
    "guard": (1, "0, mutant: confirm without 'counter <= token'"),
    "fresh_values": (1, "0, mutant: the last attempt uses the value of the first one, which is over, again"),
    "extensions": (0, "how many times each lease is extended"),
    "replant": (0, "1: an extension sets a missing key again"),
    "extend_guard": (1, "0, mutant: extend a present key without looking at the counter"),
    "replant_guard": (1, "0, mutant: replant a missing key without looking at the counter"),
    "base_guard": (1, "0, mutant: extend a present key without looking at the base written at admission"),
    "losses": (0, "how many times a node loses its memory (one node at a time)"),
    "rollback": (0, "1: a loss may also bring back an older state: any earlier holder's key, any smaller counter"),
    "drain": (1, "0, mutant: admit without waiting for the attempts that were in flight when the memory was lost"),
    "catch_up": (-1, "intact nodes that an admission reads; -1: ceil(N/2); less: mutant"),
    "late_admit": (0, "1, mutant: an admission may be executed again after the next loss (FLUSHALL does not change the server's id)"),
    "trailing": (0, "1: scripts compare the record with the id the client knows; the server's own id is read at the message's end"),
    "trailing_wait": (1, "0, mutant: votes count before that last reply is seen"),
    "bound_id": (1, "0, mutant: an attempt goes on with a new id when it learns of one between its messages"),
    "sorted": (1, "0: no symmetry reduction between nodes (larger, but a trail is easier to read)"),
    "reach": (0, "1: instead of the promises, claim that not all attempts complete (with losses: never using the admitted node)"),
}

PREAMBLE = """\
#define MAX(a, b) ((a) > (b) -> (a) : (b))

/* The stages of an attempt. */
#define IDLE       0
#define ASKING     1   /* acquire is on its way to all nodes */
#define CONFIRMING 2   /* the token is chosen; confirm is on its way to all nodes */
#define HOLDING    3   /* complete: there is a lease with token[] */
#define EXTENDING  4   /* a lease, and one of its extensions is on its way */
#define GIVEN_UP   5   /* never completed; its messages may still arrive */
#define ENDED      6   /* a lease that is over; its messages may still arrive */

/* vote[attempt,node]: what became of the request to that node.
   UNSEEN: acquire not executed (yet). SEEN: executed, no vote. Else the vote: COUNTER(x) while asking, YES later. */
#define UNSEEN 0
#define SEEN 1
#define YES 2
#define COUNTER(x) ((x) + 2)
"""


class Model:
    def __init__(self, **options):
        unknown = set(options) - set(OPTIONS)
        if unknown:
            raise ValueError("no such option: " + ", ".join(sorted(unknown)))
        for name, (default, _) in OPTIONS.items():
            setattr(self, name, options.get(name, default))
        self.majority = self.majority or self.nodes // 2 + 1
        if self.catch_up < 0:
            self.catch_up = (self.nodes + 1) // 2
        if self.trailing and self.losses > 1:
            raise ValueError("trailing=1 tells two ids apart, so it goes with one loss")
        self.described = ", ".join(f"{k}={v}" for k, v in options.items())
        self.lines = []

    # ---- small vocabulary: names of variables and conditions, as Promela text ----

    def all_nodes(self):
        return range(self.nodes)

    def all_attempts(self):
        return range(self.attempts)

    def vote(self, a, n):
        return f"vote[{a * self.nodes + n}]"

    def value(self, a):
        """What the attempt writes into the key. 0 is nobody's."""
        return 1 if a == self.attempts - 1 and not self.fresh_values else a + 1

    def block_of(self, a):
        return f"block[{a}]" if self.block > 1 else "1"

    @staticmethod
    def is_lease(a):
        return f"(stage[{a}] == HOLDING || stage[{a}] == EXTENDING || stage[{a}] == ENDED)"

    @staticmethod
    def in_flight(a):
        return f"(stage[{a}] == ASKING || stage[{a}] == CONFIRMING)"

    def largest_completed(self):
        text = "0"
        for a in self.all_attempts():
            text = f"MAX({text}, ({self.is_lease(a)} -> token[{a}] : 0))" if a else f"({self.is_lease(a)} -> token[{a}] : 0)"
        return text

    def counter_or_base(self, n):
        return f"MAX(counter[{n}], base[{n}])" if self.rollback else f"counter[{n}]"

    def runs(self, a, n):
        """The identity test at the top of each script: does it let a message of attempt a through at node n?"""
        if not self.losses:
            return "true"
        if not self.trailing:
            return f"!lost[{n}]"      # the record's id is the server's id, looked up inside the script
        # The record has the old id until the admission, and the server a new one from the loss on.
        return f"(lost[{n}] -> !knows_new_id[{a}] : (readmitted[{n}] -> knows_new_id[{a}] : true))"

    def same_id_at_the_end(self, a, n):
        """Trailing check: the server's id is the one that attempt a's message was sent for."""
        return f"(!lost[{n}] && (!readmitted[{n}] || knows_new_id[{a}]))"

    def counts(self, a, n, wanted):
        """A vote that the attempt may count."""
        text = f"{self.vote(a, n)} {wanted}"
        if self.trailing and self.trailing_wait:
            text += f" && !unchecked[{a * self.nodes + n}]"
        return f"({text})"

    def vote_arrives(self, a, n, what):
        text = f"{self.vote(a, n)} = {what}; "
        if self.trailing:
            text += f"unchecked[{a * self.nodes + n}] = ({self.vote(a, n)} >= YES); "
        return text

    def majority_of(self, a, wanted):
        return "(" + " + ".join(self.counts(a, n, wanted) for n in self.all_nodes()) + f") >= {self.majority}"

    def forget_votes(self, a):
        text = ""
        for n in self.all_nodes():
            v = self.vote(a, n)
            text += f"{v} = ({v} == UNSEEN -> UNSEEN : SEEN); "
            if self.trailing:
                text += f"unchecked[{a * self.nodes + n}] = 0; "
        return text

    # ---- writing ----

    def say(self, text=""):
        self.lines.append(text)

    def step(self, condition, effect):
        """One atomic step. It is deterministic: choices are written as several steps with the same condition."""
        tidy = " tidy()" if self.sorted else ""
        self.say(f"  :: d_step {{ {condition} -> {effect}{tidy} }}")

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
            if not self.fresh_values:
                self.end(a)
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

    def declare(self):
        pairs = self.attempts * self.nodes
        self.say(f"byte key[{self.nodes}];            /* whose value the key has; 0: nobody's */")
        self.say(f"byte counter[{self.nodes}];")
        self.say(f"byte stage[{self.attempts}];")
        self.say(f"byte token[{self.attempts}];")
        self.say(f"byte before[{self.attempts}];      /* for the check: the largest token complete when the attempt began */")
        self.say(f"byte vote[{pairs}];           /* [attempt * {self.nodes} + node] */")
        if self.block > 1:
            self.say(f"byte block[{self.attempts}];      /* tokens to reserve */")
        if self.duplicates:
            self.say(f"byte duplicates = {self.duplicates};")
        if self.extensions:
            self.say(f"byte extended[{self.attempts}];")
            self.say(f"byte before_extension[{self.attempts}];")
            self.say(f"bit renewed[{pairs}];")
        if self.losses:
            self.say(f"byte losses = {self.losses};")
            self.say(f"bit lost[{self.nodes}];       /* lost its memory, and is not admitted again */")
            self.say("byte draining;          /* attempts (bits) that were in flight at that moment */")
            self.say(f"bit read[{self.nodes}];       /* intact nodes that the admission has read */")
            self.say("byte floor_read;        /* and the largest mark among them */")
        if self.late_admit:
            self.say(f"byte admitted_with[{self.nodes}]; /* the floor of an admission whose message may arrive again; 0: none */")
        if self.rollback:
            self.say(f"byte base[{self.nodes}];")
        if self.trailing or (self.reach and self.losses):
            self.say(f"bit readmitted[{self.nodes}];")
        if self.trailing:
            self.say(f"bit knows_new_id[{self.attempts}];")
            self.say(f"bit unchecked[{pairs}];       /* the reply with the server's id has not been seen */")
        self.say("byte swap;              /* used inside tidy() only */")
        self.say()

    def column(self, n):
        """The variables that belong to a node, with their widths in bits: what tidy() sorts by and moves."""
        variables = [(f"key[{n}]", 3), (f"counter[{n}]", 4)]
        for a in self.all_attempts():
            variables.append((self.vote(a, n), 4))
            if self.extensions:
                variables.append((f"renewed[{a * self.nodes + n}]", 1))
            if self.trailing:
                variables.append((f"unchecked[{a * self.nodes + n}]", 1))
        if self.losses:
            variables += [(f"lost[{n}]", 1), (f"read[{n}]", 1)]
        if self.late_admit:
            variables.append((f"admitted_with[{n}]", 4))
        if self.rollback:
            variables.append((f"base[{n}]", 4))
        if self.trailing or (self.reach and self.losses):
            variables.append((f"readmitted[{n}]", 1))
        return variables

    def write_tidy(self):
        """Symmetry: sort the nodes by content. Sorting by a part of the content only would still be sound, so 31 bits do."""
        if not self.sorted:
            return
        for n in self.all_nodes():
            packed, width = "0", 0
            for name, bits in self.column(n):
                if width + bits > 31:
                    break
                packed, width = (f"({packed} << {bits}) + {name}" if width else name), width + bits
            self.say(f"#define CONTENT{n} ({packed})")
        self.say("inline tidy() {")
        for end in range(self.nodes - 1, 0, -1):
            for n in range(end):
                swaps = "".join(f"swap = {x}; {x} = {y}; {y} = swap; "
                                for (x, _), (y, _) in zip(self.column(n), self.column(n + 1)))
                self.say(f"  if :: CONTENT{n} > CONTENT{n + 1} -> {swaps}:: else fi;")
        self.say("  swap = 0")
        self.say("}")
        self.say()

    def initial_counters(self):
        starts = itertools.combinations_with_replacement(range(self.initial + 1), self.nodes)
        self.say("  if /* nodes that have seen different histories */")
        for values in starts:
            self.say("  :: d_step { " + "; ".join(f"counter[{n}] = {v}" for n, v in enumerate(values)) + " }")
        self.say("  fi;")

    # ---- the client ----

    def begin(self, a):
        """A fresh value; acquire goes to all nodes."""
        condition = f"stage[{a}] == IDLE"
        if a:
            condition += f" && stage[{a - 1}] != IDLE"
        if not self.fresh_values and a == self.attempts - 1:
            condition += " && (stage[0] == GIVEN_UP || stage[0] == ENDED)"       # one client, one attempt after the other
        effect = f"before[{a}] = {self.largest_completed()}; stage[{a}] = ASKING;"
        for size in range(1, self.block + 1):
            reserve = f" block[{a}] = {size};" if self.block > 1 else ""
            self.step(condition, effect + reserve)
            if self.trailing:   # a client may have noticed that a node has a new id, or not yet
                someone = " || ".join(f"lost[{n}] || readmitted[{n}]" for n in self.all_nodes())
                self.step(f"{condition} && ({someone})", effect + reserve + f" knows_new_id[{a}] = 1;")
        if self.trailing and not self.bound_id:
            someone = " || ".join(f"lost[{n}] || readmitted[{n}]" for n in self.all_nodes())
            settled = " && ".join(f"!unchecked[{a * self.nodes + n}]" for n in self.all_nodes())     # between messages, not inside one
            self.step(f"{self.in_flight(a)} && !knows_new_id[{a}] && ({someone}) && {settled}", f"knows_new_id[{a}] = 1;")

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

    def end(self, a):
        """The attempt is given up, or its lease is over: said in so many words only where the same value is used again."""
        self.step(self.in_flight(a), self.given_up(a))
        self.step(f"stage[{a}] == HOLDING", f"stage[{a}] = ENDED;")

    def given_up(self, a):
        return f"stage[{a}] = GIVEN_UP; before[{a}] = 0; " + self.forget_votes(a)

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
        for new in raised:
            answer = f"(stage[{a}] == ASKING -> COUNTER(counter[{n}]) : SEEN)"
            self.step(arrives, f"counter[{n}] = {new}; key[{n}] = {mine}; " + self.vote_arrives(a, n, answer))
            if self.duplicates:     # executed again, after the key has gone: one of the two answers is the one that is heard
                again = f"duplicates > 0 && {v} != UNSEEN && key[{n}] != {mine} && {self.runs(a, n)}"
                effect = f"duplicates--; counter[{n}] = {new}; key[{n}] = {mine}; "
                self.step(again, effect)
                self.step(again + f" && stage[{a}] == ASKING", effect + self.vote_arrives(a, n, answer))
        if not self.fresh_values:   # the key is there and has my value: this is a repetition, answer the counter as it is
            self.step(arrives + f" && key[{n}] == {mine}", self.vote_arrives(a, n, f"(stage[{a}] == ASKING -> COUNTER(counter[{n}]) : SEEN)"))

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
        if self.replant:
            missing = f"{sent} && key[{n}] != {mine}" + (guard + base if self.replant_guard else "")
            self.step(missing, f"key[{n}] = {mine}; counter[{n}] = MAX(counter[{n}], token[{a}]); " + renew)

    def runs_extension(self, n):
        """A lease is extended under the id that its client knows now: after an admission, the new one."""
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
        """The memory is gone. Attempts in flight at this moment are remembered for the drain."""
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


def main(arguments):
    if not arguments or "--help" in arguments:
        print(__doc__)
        for name, (default, meaning) in OPTIONS.items():
            print(f"  {name}={default:<4} {meaning}")
        return
    print(Model(**{k: int(v) for k, v in (argument.split("=", 1) for argument in arguments)}).text(), end="")


if __name__ == "__main__":
    main(sys.argv[1:])
