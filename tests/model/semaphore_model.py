#!/usr/bin/env python3
"""Writes a Promela model of semaphores: at no time do more than k clients hold a permit. docs/proof.md, "At most K".

    semaphore_model.py permits=2 attempts=3 > semaphore.pml       `semaphore_model.py --help` lists the options

What a client counts on at a node stays there until it does not count on it any more. Anything else may be gone at any time, so the model has
only what clients count on: to have been refused, or forgotten, is the same as not to have been executed. A request is executed at any later
time or never.

  slots      a node gives an attempt one slot that is free there, and later another instead. An attempt with one slot on a majority holds it.
  count      each node gives up to `capacity` permits. An attempt with a permit of `quorum` nodes is a holder. (Why slots, and not this.)
  change     two slots become one: each node keeps a record of the number, and grants only to clients that say the same. The tool writes the
             new record, waits until it stands on `established` nodes, and then empties the second slot: it acquires that as anybody would, on
             nodes that have the new record, and releases it. From then on nobody may hold the second slot. An attempt of the model wants the
             second slot, and says two. A record that is written may be written again, late, where there is none or an older one.
"""
import sys

OPTIONS = {  # name: (default, meaning)
    "design": ("slots", "slots, count or change"),
    "nodes": (3, "number of nodes, N"),
    "permits": (2, "k"),
    "attempts": (3, "number of attempts"),
    "quorum": (0, "nodes that a holder needs; 0: a majority"),
    "capacity": (0, "count: permits of a node; 0: k"),
    "mixed": (0, "1, mutant: slots: grants of different slots are added up"),
    "losses": (0, "how many times a node loses its memory"),
    "drain": (1, "0, mutant: a node that lost its memory votes at once"),
    "established": (0, "change: nodes that must have the new record; 0: a majority"),
    "compares": (1, "change: 0, mutant: nodes do not compare the number"),
    "empties": (1, "change: 0, mutant: the tool does not empty the second slot"),
    "on_record": (1, "change: 0, mutant: the tool acquires the second slot also on nodes that have not the new record"),
    "reach": (0, "1: instead of the promise, claim that k never hold at a time (change: that the change is never over)"),
}

PREAMBLE = """\
#define IDLE 0
#define ASKING 1
#define HOLDING 2
#define OVER 3
#define UNSEEN 0        /* vote[attempt,node] */
#define SEEN 1
#define ON(slot) ((slot) + 2)
"""


class Semaphore:
    def __init__(self, **options):
        options.pop("semaphore", None)
        unknown = set(options) - set(OPTIONS)
        if unknown:
            raise ValueError("no such option: " + ", ".join(sorted(unknown)))
        for name, (default, _) in OPTIONS.items():
            setattr(self, name, options.get(name, default))
        self.described = ", ".join(f"{k}={v}" for k, v in options.items())
        majority = self.nodes // 2 + 1
        self.quorum = self.quorum or majority
        self.capacity = self.capacity or self.permits
        self.established = self.established or majority
        self.tool = self.attempts if self.design == "change" else None
        self.parties = self.attempts + (self.design == "change")
        self.lines = []

    def all_nodes(self):
        return range(self.nodes)

    def all_parties(self):
        return range(self.parties)

    def vote(self, a, n):
        return f"vote[{a * self.nodes + n}]"

    def sum_of(self, of_node):
        return "(" + " + ".join(f"({of_node(n)})" for n in self.all_nodes()) + ")"

    def runs(self, a, n):
        return f"(!lost[{n}] && (!was_lost[{n}] || (knows_new_id & {1 << a})))" if self.losses else "true"

    def forget(self, a):
        return "".join(f"{self.vote(a, n)} = SEEN; " for n in self.all_nodes())

    def holders(self, a):
        return "(" + " + ".join(f"(stage[{b}] == HOLDING)" for b in range(self.attempts) if b != a) + ")"

    def is_free(self, slot, n):
        return " && ".join(f"{self.vote(b, n)} != ON({slot})" for b in self.all_parties())

    def say(self, text):
        self.lines.append(text)

    def step(self, condition, effect):
        self.say(f"  :: d_step {{ {condition} -> {effect} tidy() }}")

    def text(self):
        self.say(f"/* {self.described or 'all defaults'} */")
        self.say(PREAMBLE)
        self.say(f"byte stage[{self.parties}], vote[{self.parties * self.nodes}];")
        if self.losses:
            self.say(f"byte losses = {self.losses}, knows_new_id; bit lost[{self.nodes}], was_lost[{self.nodes}];")
        if self.design == "change":
            self.say(f"byte record[{self.nodes}]; bit changing, changed, is_new[{self.attempts}]; /* record: 0 none, 1 two permits, 2 one */")
        self.write_tidy()
        self.say("init {")
        if self.design == "change":
            self.say("  d_step { " + "; ".join(f"record[{n}] = 1" for n in self.all_nodes()) + " }")
        self.say("  do")
        for a in range(self.attempts):
            self.attempt(a)
        if self.design == "change":
            self.change()
        if self.losses:
            self.memory_loss()
        self.say("  od\n}")
        return "\n".join(self.lines) + "\n"

    def column(self, n):
        variables = [(self.vote(a, n), 3) for a in self.all_parties()]
        if self.losses:
            variables += [(f"lost[{n}]", 1), (f"was_lost[{n}]", 1)]
        return variables + ([(f"record[{n}]", 2)] if self.design == "change" else [])

    def write_tidy(self):
        self.say("byte swap;")
        for n in self.all_nodes():
            packed = ""
            for name, bits in self.column(n):
                packed = f"(({packed} << {bits}) + {name})" if packed else name
            self.say(f"#define CONTENT{n} ({packed})")
        self.say("inline tidy() {")
        for end in range(self.nodes - 1, 0, -1):
            for n in range(end):
                swaps = "".join(f"swap = {x}; {x} = {y}; {y} = swap; " for (x, _), (y, _) in zip(self.column(n), self.column(n + 1)))
                self.say(f"  if :: CONTENT{n} > CONTENT{n + 1} -> {swaps}:: else fi;")
        self.say("  swap = 0\n}")

    # ---- clients ----

    def attempt(self, a):
        begins = f"stage[{a}] = ASKING; " + (f"knows_new_id = knows_new_id | {1 << a}; " if self.losses else "")
        if self.design == "change":
            begins += f"is_new[{a}] = {self.sum_of(lambda n: f'record[{n}] == 2')} >= {self.established}; "
        self.step(f"stage[{a}] == IDLE" + (f" && stage[{a - 1}] != IDLE" if a else ""), begins)
        self.step(f"stage[{a}] == ASKING || stage[{a}] == HOLDING", f"stage[{a}] = OVER; {self.forget(a)}")
        self.deadlines_pass(a, "OVER")
        for n in self.all_nodes():
            self.is_granted(a, n)
        if self.design == "count":
            self.step(f"stage[{a}] == ASKING && {self.sum_of(lambda n: f'{self.vote(a, n)} >= ON(0)')} >= {self.quorum}", self.completed(a))
            return
        for slot in self.slots():
            def counts(n, slot=slot):       # what the node forgot, and nobody waited for, still counts
                return f"{self.vote(a, n)} >= ON(0)" if self.mixed else (
                    f"{self.vote(a, n)} == ON({slot}) || {self.vote(a, n)} == ON({slot + self.permits})")
            lets_go = "" if self.mixed else "".join(f"{self.vote(a, n)} = ({counts(n)} -> {self.vote(a, n)} : SEEN); " for n in self.all_nodes())
            self.step(f"stage[{a}] == ASKING && {self.sum_of(counts)} >= {self.quorum}", self.completed(a) + lets_go)

    def slots(self):
        return [1] if self.design == "change" else range(self.permits)

    def deadlines_pass(self, a, over):
        for n in self.all_nodes():
            left = self.sum_of(lambda m: f"{self.vote(a, m)} >= ON(0)")
            self.step(f"{self.vote(a, n)} >= ON(0)",
                      f"{self.vote(a, n)} = SEEN; if :: stage[{a}] == HOLDING && {left} < {self.quorum} -> stage[{a}] = {over}; {self.forget(a)}"
                      ":: else fi; ")

    def is_granted(self, a, n):
        asks = f"stage[{a}] == ASKING && {self.runs(a, n)}"
        if self.design == "count":
            given = "(" + " + ".join(f"({self.vote(b, n)} == ON(0))" for b in self.all_parties()) + ")"
            self.step(f"{asks} && {self.vote(a, n)} == UNSEEN && {given} < {self.capacity}", f"{self.vote(a, n)} = ON(0); ")
            return
        if self.design == "change" and self.compares:
            asks += f" && record[{n}] == 1"
        for slot in self.slots():
            self.step(f"{asks} && {self.vote(a, n)} == UNSEEN && {self.is_free(slot, n)}", f"{self.vote(a, n)} = ON({slot}); ")
            if self.design == "slots":
                self.step(f"{asks} && {self.vote(a, n)} >= ON(0) && {self.is_free(slot, n)}", f"{self.vote(a, n)} = ON({slot}); ")

    def completed(self, a):
        if self.design == "change":
            return ("" if self.reach else f"assert(!changed && !is_new[{a}]); ") + f"stage[{a}] = HOLDING; "
        limit = self.permits - 1 if self.reach else self.permits
        return f"assert({self.holders(a)} < {limit}); stage[{a}] = HOLDING; "

    # ---- the tool that changes k from two to one ----

    def change(self):
        t = self.tool
        self.step("!changing", "changing = 1; ")
        for n in self.all_nodes():
            up = f" && !lost[{n}]" if self.losses else ""
            self.step(f"changing && record[{n}] < 2{up}", f"record[{n}] = 2; ")
            if self.losses:
                self.step(f"record[{n}] == 0{up}", f"record[{n}] = 1; ")
            new = f"record[{n}] == 2" if self.on_record else "true"
            self.step(f"stage[{t}] == ASKING && {self.vote(t, n)} == UNSEEN && {self.runs(t, n)} && {new} && {self.is_free(1, n)}",
                      f"{self.vote(t, n)} = ON(1); ")
        stands = self.sum_of(lambda n: f"record[{n}] == 2")
        has = self.sum_of(lambda n: f"{self.vote(t, n)} == ON(1)")
        begins = f"stage[{t}] = ASKING; " + (f"knows_new_id = knows_new_id | {1 << t}; " if self.losses else "")
        self.step(f"changing && stage[{t}] == IDLE && {stands} >= {self.established}", begins)
        self.deadlines_pass(t, "IDLE")
        promise = "assert(!changing); " if self.reach else "".join(f"assert(stage[{a}] != HOLDING); " for a in range(self.attempts))
        over = f"{promise}changed = 1; stage[{t}] = OVER; {self.forget(t)}"
        self.step(f"stage[{t}] == ASKING" + (f" && {has} >= {self.quorum}" if self.empties else ""), over)

    # ---- memory loss ----

    def memory_loss(self):
        nobody = " && ".join(f"!lost[{m}]" for m in self.all_nodes())
        for n in self.all_nodes():
            forgotten = f"record[{n}] = 0; " if self.design == "change" else ""
            if not self.drain:      # it still counts for its client, and is no slot of the node's any more
                forgotten += "".join(f"{self.vote(a, n)} = ({self.vote(a, n)} >= ON(0) && {self.vote(a, n)} < ON({self.permits}) -> "
                                     f"{self.vote(a, n)} + {self.permits} : {self.vote(a, n)}); " for a in self.all_parties())
            self.step(f"losses > 0 && {nobody}", f"losses--; lost[{n}] = 1; was_lost[{n}] = 1; knows_new_id = 0; {forgotten}")
            drained = "".join(f" && {self.vote(a, n)} < ON(0)" for a in self.all_parties()) if self.drain else ""
            self.step(f"lost[{n}]{drained}", f"lost[{n}] = 0; ")


def value_of(name, text):
    return text if name == "design" else int(text)


if __name__ == "__main__":
    if any(word in ("-h", "--help") for word in sys.argv[1:]):
        print(__doc__)
        for option, (default, meaning) in OPTIONS.items():
            print(f"    {option}={default:<6} {meaning}")
        sys.exit(0)
    print(Semaphore(**{k: value_of(k, v) for k, v in (word.split("=", 1) for word in sys.argv[1:])}).text(), end="")
