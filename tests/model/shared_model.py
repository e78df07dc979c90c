#!/usr/bin/env python3
"""Writes a Promela model of the read-write lock. docs/proof.md, "Readers and a writer".

    shared_model.py kinds=WRW > shared.pml       `shared_model.py --help` lists the options

  node       a key, which is a writer's value or a set of readers with an epoch; a counter; and the base of its last admission.
  attempt    a writer (W) or a reader (R), each with a value of its own. A request is executed at any later time or never, also when its
             attempt is over.
  reader     who finds no set makes one, and raises the counter; who finds a set joins it. The rest is as in fence_model.py.
  downgrade  a writer's lease becomes a reader's, from before the first message. Node after node its key becomes a set, or never.
  clock=0    tokens: whatever is on a node may be gone whenever somebody else asks. There is no clock.
  clock=1    exclusion: what a client counts on at a node stays there until the client does not count on it any more. Tokens do not matter.
  loss       the attempts in flight are over before the node is admitted (drain); the others' counters are read (catch-up). An attempt is bound to an
             id: after the admission a request of before is not executed. older=1: the node comes back with any older state, which may be a set of
             readers that are no attempts of the model.
"""
import itertools
import sys

OPTIONS = {  # name: (default, meaning)
    "kinds": ("WRW", "the attempts: W a writer, R a reader"),
    "nodes": (3, "number of nodes, N"),
    "clock": (0, "0: order of tokens; 1: exclusion"),
    "initial": (0, "a node's counter starts at 0..initial"),
    "votes": (0, "votes that a reader needs; 0: a majority; less: mutant"),
    "extensions": (0, "how many times each lease is extended"),
    "recreate": (0, "1: an extension sets again what is missing"),
    "downgrade": (0, "1: a writer's lease may become a reader's"),
    "repeats": (0, "how many times in all an acquire that was executed is executed again"),
    "losses": (0, "how many times a node loses its memory"),
    "older": (0, "1: and comes back with an older state"),
    "first_raises": (1, "0, mutant: the reader that makes the set does not raise the counter"),
    "stale_raises": (1, "0, mutant: who joins a set of before the admission answers the base"),
    "two_phase": (1, "0, mutant: a reader's token is the maximum of one round"),
    "epoch_below": (2, "a reader's confirm asks for: 2 epoch < token; 1, mutant: epoch <= token; 0, mutant: nothing"),
    "guard": (1, "0, mutant: a writer's confirm does not look at the counter"),
    "extend_epoch": (1, "0, mutant: a reader's extension does not look at the epoch"),
    "downgrade_raises": (1, "0, mutant: a downgrade does not raise the counter"),
    "recreate_raises": (1, "0, mutant: nor does a downgraded lease that is set again"),
    "wipes": (0, "1, mutant: a reader's release deletes the whole set"),
    "last_expiry": (0, "1, mutant: the set expires with the reader that came last, not with the one that ends last"),
    "drain": (1, "0, mutant: a node is admitted without drain"),
    "catch_up": (-1, "nodes that an admission reads; -1: ceil(N/2); less: mutant"),
    "reach": (0, "1: instead of the promises, claim that not all attempts complete"),
}

PREAMBLE = """\
#define MAX(a, b) ((a) > (b) -> (a) : (b))
#define IDLE       0
#define ASKING     1
#define CONFIRMING 2
#define HOLDING    3
#define EXTENDING  4
#define GIVEN_UP   5
#define ENDED      6
#define UNSEEN 0        /* vote[attempt,node]: acquire not executed yet */
#define SEEN 1          /* executed, no vote */
#define YES 2
#define COUNTER(x) ((x) + 3)
"""


class Shared:
    def __init__(self, **options):
        options.pop("shared", None)
        unknown = set(options) - set(OPTIONS)
        if unknown:
            raise ValueError("no such option: " + ", ".join(sorted(unknown)))
        for name, (default, _) in OPTIONS.items():
            setattr(self, name, options.get(name, default))
        if self.clock and self.older or self.clock and self.repeats:
            raise ValueError("clock=1 goes without these options")
        self.described = ", ".join(f"{k}={v}" for k, v in options.items())
        self.majority = self.nodes // 2 + 1
        self.votes = self.votes or self.majority
        if self.catch_up < 0:
            self.catch_up = (self.nodes + 1) // 2
        self.lines = []

    # ---- vocabulary ----

    def all_nodes(self):
        return range(self.nodes)

    def all_attempts(self):
        return range(len(self.kinds))

    def others(self, a):
        return [b for b in self.all_attempts() if b != a]

    def begins_as_writer(self, a):
        return self.kinds[a] == "W"

    def vote(self, a, n):
        return f"vote[{a * self.nodes + n}]"

    @staticmethod
    def reads(a):
        return f"(reader & {1 << a})"

    @staticmethod
    def is_lease(a):
        return f"(stage[{a}] == HOLDING || stage[{a}] == EXTENDING || stage[{a}] == ENDED)"

    @staticmethod
    def is_valid(a):
        return f"(stage[{a}] == HOLDING || stage[{a}] == EXTENDING)"

    @staticmethod
    def in_flight(a):
        return f"(stage[{a}] == ASKING || stage[{a}] == CONFIRMING)"

    def needed(self, a):
        return self.majority if self.votes == self.majority else f"({self.reads(a)} -> {self.votes} : {self.majority})"

    def count(self, a, wanted):
        return "(" + " + ".join(f"({self.vote(a, n)} {wanted})" for n in self.all_nodes()) + ")"

    def largest(self, attempts):
        text = "0"
        for a in attempts:
            text = f"MAX({text}, ({self.is_lease(a)} -> token[{a}] : 0))"
        return text

    def base(self, n):
        return f"base[{n}]" if self.older else "0"

    def counter_or_base(self, n):
        return f"MAX(counter[{n}], base[{n}])" if self.older else f"counter[{n}]"

    def is_up(self, n):
        return f"!lost[{n}]" if self.losses else "true"

    def runs(self, a, n):
        """The attempt's id is the one in the node's record."""
        return f"(!lost[{n}] && (!was_lost[{n}] || (knows_new_id & {1 << a})))" if self.losses else "true"

    def forget_votes(self, a):
        return "".join(f"{self.vote(a, n)} = ({self.vote(a, n)} == UNSEEN -> UNSEEN : SEEN); " for n in self.all_nodes())

    def not_counted(self, a, n):
        return f"{self.vote(a, n)} < YES"

    def may_be_gone(self, n):
        """Is there nothing at the node, or nothing that anybody counts on?"""
        if not self.clock:
            return "true"
        key = " || ".join([f"key[{n}] == 0"] + [f"(key[{n}] == {a + 1} && {self.not_counted(a, n)})" for a in self.all_attempts()])
        if self.last_expiry:
            members = " || ".join([f"readers[{n}] == 0"]
                                  + [f"(epoch[{n}] == {a + 1} && {self.not_counted(a, n)})" for a in self.all_attempts()])
        else:
            members = " && ".join(f"(!(readers[{n}] & {1 << a}) || {self.not_counted(a, n)})" for a in self.all_attempts())
        return f"({key}) && ({members})"

    def there_is_a_set(self, n):
        return f"key[{n}] == 0 && readers[{n}] != 0"

    # ---- writing ----

    def say(self, text=""):
        self.lines.append(text)

    def step(self, condition, effect):
        self.say(f"  :: d_step {{ {condition} -> {effect} tidy() }}")

    def text(self):
        self.say(f"/* {self.described or 'all defaults'} */")
        self.say(PREAMBLE)
        self.declare()
        self.write_tidy()
        self.say("init {")
        starts = itertools.combinations_with_replacement(range(self.initial + 1), self.nodes)
        self.say("  if " + " ".join(":: d_step { " + "; ".join(f"counter[{n}] = {c}" for n, c in enumerate(start)) + " }" for start in starts)
                 + " fi;")
        self.say("  do")
        for a in self.all_attempts():
            self.say(f"  /* ---- attempt {a}: {self.kinds[a]} ---- */")
            self.begin(a)
            self.decide(a)
            self.ends(a)
            if self.extensions and not self.clock:
                self.extend(a)
            if self.downgrade and self.begins_as_writer(a):
                self.step(f"stage[{a}] == HOLDING && !{self.reads(a)}", f"reader = reader | {1 << a}; ")
            for n in self.all_nodes():
                (self.write_acquire if self.begins_as_writer(a) else self.read_acquire)(a, n)
                if not self.clock:
                    (self.write_confirm if self.begins_as_writer(a) else self.read_confirm)(a, n)
                if self.extensions or self.downgrade:
                    self.execute_extension(a, n)
        if self.losses:
            self.memory_loss()
        self.say("  od")
        self.say("}")
        return "\n".join(self.lines) + "\n"

    def declare(self):
        count = len(self.kinds)
        self.say(f"byte key[{self.nodes}], readers[{self.nodes}], epoch[{self.nodes}], counter[{self.nodes}];")
        self.say(f"byte stage[{count}], token[{count}], vote[{count * self.nodes}];")
        self.say(f"byte before_reader[{count}], before_writer[{count}]; /* for the check: largest tokens that were complete at the beginning */")
        self.say(f"byte reader = {sum(1 << a for a in self.all_attempts() if not self.begins_as_writer(a))}; /* attempts that read, or do now */")
        if self.extensions:
            self.say(f"byte extended[{count}], before_extension[{count}]; bit renewed[{count * self.nodes}];")
        if self.repeats:
            self.say(f"byte repeats = {self.repeats};")
        if self.wipes:
            self.say("bit wiped;")
        if self.losses:
            self.say(f"byte losses = {self.losses}, draining, floor_read, knows_new_id;")
            self.say(f"bit lost[{self.nodes}], was_lost[{self.nodes}], read[{self.nodes}];")
        if self.older:
            self.say(f"byte base[{self.nodes}];")
        self.say("byte swap;")

    def column(self, n):
        variables = [(f"key[{n}]", 2), (f"readers[{n}]", 3), (f"counter[{n}]", 4), (f"epoch[{n}]", 4)]
        for a in self.all_attempts():
            variables.append((self.vote(a, n), 4))
            if self.extensions:
                variables.append((f"renewed[{a * self.nodes + n}]", 1))
        if self.losses:
            variables += [(f"lost[{n}]", 1), (f"was_lost[{n}]", 1), (f"read[{n}]", 1)]
        if self.older:
            variables.append((f"base[{n}]", 4))
        return variables

    def write_tidy(self):
        """Nodes are interchangeable: they are put in order by content, or by a part of it, which is still sound."""
        for n in self.all_nodes():
            packed, width = "", 0
            for name, bits in self.column(n):
                if width + bits > 31:
                    break
                packed, width = (f"(({packed} << {bits}) + {name})" if width else name), width + bits
            self.say(f"#define CONTENT{n} ({packed})")
        self.say("inline tidy() {")
        for end in range(self.nodes - 1, 0, -1):
            for n in range(end):
                swaps = "".join(f"swap = {x}; {x} = {y}; {y} = swap; " for (x, _), (y, _) in zip(self.column(n), self.column(n + 1)))
                self.say(f"  if :: CONTENT{n} > CONTENT{n + 1} -> {swaps}:: else fi;")
        self.say("  swap = 0\n}")

    # ---- the client ----

    def begin(self, a):
        earlier = "".join(f" && stage[{b}] != IDLE" for b in range(a) if self.kinds[b] == self.kinds[a])
        effect = f"stage[{a}] = ASKING; " + (f"knows_new_id = knows_new_id | {1 << a}; " if self.losses else "")
        if not self.clock:
            effect += f"before_reader[{a}] = {self.largest([b for b in self.all_attempts() if self.begins_as_writer(b)])}; "
            effect += f"before_writer[{a}] = {self.largest(self.all_attempts())}; "
        self.step(f"stage[{a}] == IDLE{earlier}", effect)

    def decide(self, a):
        """The token is the largest counter among at least a majority of answers. Exclusion needs no token."""
        one_round = not self.begins_as_writer(a) and not self.two_phase
        votes = self.majority if self.begins_as_writer(a) else self.votes
        if self.clock:
            self.step(f"stage[{a}] == ASKING && {self.count(a, '>= YES')} >= {self.needed(a)}", self.completed(a))
            return
        for size in range(votes, self.nodes + 1):
            for heard in itertools.combinations(self.all_nodes(), size):
                effect = "".join(f"token[{a}] = MAX(token[{a}], {self.vote(a, n)} - COUNTER(0)); " for n in heard)
                for n in self.all_nodes():
                    v = self.vote(a, n)
                    if n in heard:
                        effect += f"{v} = ({v} == COUNTER(token[{a}]) -> YES : SEEN); "
                    else:
                        effect += f"{v} = ({v} == UNSEEN -> UNSEEN : SEEN); "
                effect += self.completed(a) if one_round else (
                    f"stage[{a}] = CONFIRMING; "
                    f"if :: {self.count(a, '== YES')} >= {self.needed(a)} -> {self.completed(a)} :: else fi; ")
                self.step(" && ".join([f"stage[{a}] == ASKING"] + [f"{self.vote(a, n)} >= COUNTER(0)" for n in heard]), effect)
        if not one_round:
            self.step(f"stage[{a}] == CONFIRMING && {self.count(a, '== YES')} >= {self.needed(a)}", self.completed(a))

    def completed(self, a):
        if self.reach:
            return f"stage[{a}] = HOLDING; assert(!({' && '.join(self.is_lease(b) for b in self.all_attempts())})); "
        text = ""
        if self.clock:
            for b in self.others(a):
                text += f"assert(!({self.is_valid(b)} && (!{self.reads(b)} || !{self.reads(a)}))); "
            return text + f"stage[{a}] = HOLDING; "
        before = "before_writer" if self.begins_as_writer(a) else "before_reader"
        text += f"assert(token[{a}] > {before}[{a}]); "
        for b in self.others(a):
            if self.begins_as_writer(a) or self.begins_as_writer(b):
                text += f"assert(!({self.is_lease(b)} && token[{b}] == token[{a}])); "
        return text + f"stage[{a}] = HOLDING; before_reader[{a}] = 0; before_writer[{a}] = 0; " + self.forget_votes(a)

    def ends(self, a):
        if not self.clock:
            return
        self.step(f"stage[{a}] == ASKING", f"stage[{a}] = GIVEN_UP; {self.forget_votes(a)}")
        self.step(self.is_valid(a), f"stage[{a}] = ENDED; {self.forget_votes(a)}")
        for n in self.all_nodes():      # a deadline at one node passes
            self.step(f"{self.vote(a, n)} >= YES && stage[{a}] == HOLDING",
                      f"{self.vote(a, n)} = SEEN; "
                      f"if :: {self.count(a, '>= YES')} < {self.needed(a)} -> stage[{a}] = ENDED; {self.forget_votes(a)} :: else fi; ")

    def extend(self, a):
        clear = "".join(f"renewed[{a * self.nodes + n}] = 0; " for n in self.all_nodes())
        writers = [b for b in self.others(a) if self.begins_as_writer(b)]
        self.step(f"stage[{a}] == HOLDING && extended[{a}] < {self.extensions}",
                  f"stage[{a}] = EXTENDING; extended[{a}]++; {clear}"
                  f"before_extension[{a}] = ({self.reads(a)} -> {self.largest(writers)} : {self.largest(self.others(a))}); ")
        renewed = " + ".join(f"renewed[{a * self.nodes + n}]" for n in self.all_nodes())
        self.step(f"stage[{a}] == EXTENDING && ({renewed}) >= {self.needed(a)}",
                  f"assert(before_extension[{a}] <= token[{a}]); stage[{a}] = HOLDING; before_extension[{a}] = 0; {clear}")

    # ---- the nodes ----

    def asked(self, a, n):
        return f"stage[{a}] != IDLE && {self.runs(a, n)}"

    def answer(self, a, n, counter):
        if self.clock:
            return f"{self.vote(a, n)} = (stage[{a}] == ASKING -> YES : SEEN); "
        return f"{self.vote(a, n)} = (stage[{a}] == ASKING -> COUNTER({counter}) : SEEN); "

    def twice(self, condition, effect, a, n, counter):
        """A request that is executed for the first time is answered. One that is executed again is not heard."""
        self.step(f"{self.vote(a, n)} == UNSEEN && {condition}", effect + self.answer(a, n, counter))
        if self.repeats:
            self.step(f"repeats > 0 && {self.vote(a, n)} != UNSEEN && {condition}", f"repeats--; {effect}")

    def write_acquire(self, a, n):
        effect = f"key[{n}] = {a + 1}; readers[{n}] = 0; epoch[{n}] = 0; "
        if not self.clock:
            effect += f"counter[{n}] = {self.counter_or_base(n)} + 1; "
        self.twice(f"{self.asked(a, n)} && {self.may_be_gone(n)}", effect, a, n, f"counter[{n}]")

    def make_set(self, a, n, raised=True, epoch=None):
        """With clock=1 and last_expiry, `epoch` has another use: who came last."""
        if self.clock:
            return f"key[{n}] = 0; readers[{n}] = {1 << a}; epoch[{n}] = {a + 1 if self.last_expiry else 0}; "
        text = f"key[{n}] = 0; readers[{n}] = {1 << a}; epoch[{n}] = {epoch or self.counter_or_base(n)}; "
        if raised and self.first_raises:
            return text + f"counter[{n}] = epoch[{n}] + 1; "
        return text + (f"counter[{n}] = epoch[{n}]; " if raised else "")

    def join_set(self, a, n):
        return f"readers[{n}] = readers[{n}] | {1 << a}; " + (f"epoch[{n}] = {a + 1}; " if self.clock and self.last_expiry else "")

    def read_acquire(self, a, n):
        asked, counter = self.asked(a, n), f"counter[{n}]"
        self.twice(f"{asked} && {self.may_be_gone(n)}", self.make_set(a, n), a, n, counter)
        joins = f"{asked} && {self.there_is_a_set(n)}"
        if not self.older:
            return self.twice(joins, self.join_set(a, n), a, n, counter)
        self.twice(f"{joins} && counter[{n}] > base[{n}]", self.join_set(a, n), a, n, counter)
        if self.stale_raises:
            raised = f"epoch[{n}] = base[{n}]; counter[{n}] = base[{n}] + 1; "
        else:
            raised = f"counter[{n}] = base[{n}]; "
        self.twice(f"{joins} && counter[{n}] <= base[{n}]", self.join_set(a, n) + raised, a, n, counter)

    def write_confirm(self, a, n):
        guard = f" && {self.counter_or_base(n)} <= token[{a}]" if self.guard else ""
        self.step(f"stage[{a}] == CONFIRMING && {self.vote(a, n)} < YES && {self.runs(a, n)} && key[{n}] == {a + 1}{guard}",
                  f"counter[{n}] = MAX(counter[{n}], token[{a}]); {self.vote(a, n)} = YES; ")

    def read_confirm(self, a, n):
        guard = ["", f" && epoch[{n}] <= token[{a}]", f" && epoch[{n}] < token[{a}]"][self.epoch_below]
        if self.older:
            guard += f" && base[{n}] <= token[{a}]"
        self.step(f"stage[{a}] == CONFIRMING && {self.vote(a, n)} < YES && {self.runs(a, n)} && key[{n}] == 0 && (readers[{n}] & {1 << a}){guard}",
                  f"counter[{n}] = MAX(counter[{n}], token[{a}]); {self.vote(a, n)} = YES; ")

    def execute_extension(self, a, n):
        """Those of writers, and those of readers, which also make a reader of a writer. Late ones are executed as well, and count for nothing."""
        i, is_reader, mine = a * self.nodes + n, self.reads(a), f"key[{n}] == {a + 1}"
        if self.clock:
            lives = f"{self.is_valid(a)} && {self.is_up(n)}"
            when, counts = f"{lives} && {self.vote(a, n)} < YES", f"{self.vote(a, n)} = YES; "
            not_above = token_or_base = epoch_is_low = ""
        else:
            lives = f"{self.is_lease(a)} && {self.is_up(n)}"
            when = f"stage[{a}] == EXTENDING && !renewed[{i}] && {self.is_up(n)}" if self.extensions else "false"
            counts = f"renewed[{i}] = (stage[{a}] == EXTENDING); " if self.extensions else ""
            not_above = f" && {self.counter_or_base(n)} <= token[{a}]"
            token_or_base = f" && base[{n}] <= token[{a}]" if self.older else ""
            epoch_is_low = (f" && epoch[{n}] <= token[{a}]" if self.extend_epoch else "") + token_or_base
        raised = f"token[{a}] + 1" if self.begins_as_writer(a) and self.recreate_raises else f"token[{a}]"
        up_to = "" if self.clock else f"counter[{n}] = MAX(counter[{n}], {raised}); "
        if self.begins_as_writer(a):
            self.writer_is_extended(a, n, when, counts, not_above)
            if self.downgrade:
                becomes = self.make_set(a, n, raised=False, epoch=f"token[{a}]")
                becomes += "" if self.clock else (
                    f"counter[{n}] = token[{a}] + 1; " if self.downgrade_raises else f"counter[{n}] = MAX(counter[{n}], token[{a}]); ")
                self.step(f"{is_reader} && {lives} && {mine}{not_above}", becomes + (counts if self.extensions else ""))
        if not self.extensions or not (self.downgrade or not self.begins_as_writer(a)):
            return
        member = f"key[{n}] == 0 && (readers[{n}] & {1 << a})"
        self.step(f"{is_reader} && {when} && {member}{epoch_is_low}", up_to + counts)
        if self.recreate:
            made = self.make_set(a, n, raised=False)
            self.step(f"{is_reader} && {when} && {self.may_be_gone(n)}{not_above}", made + up_to + counts)
            self.step(f"{is_reader} && {when} && {self.there_is_a_set(n)} && !({member}){epoch_is_low}", self.join_set(a, n) + up_to + counts)
        if self.wipes and not self.begins_as_writer(a):
            self.step(f"!wiped && stage[{a}] >= GIVEN_UP && (readers[{n}] & {1 << a})", f"wiped = 1; readers[{n}] = 0; epoch[{n}] = 0; ")

    def writer_is_extended(self, a, n, when, counts, not_above):
        if not self.extensions:
            return
        up_to = "" if self.clock else f"counter[{n}] = MAX(counter[{n}], token[{a}]); "
        as_writer = f"!{self.reads(a)} && {when}"
        self.step(f"{as_writer} && key[{n}] == {a + 1}{not_above}", up_to + counts)
        if self.recreate:
            again = f"key[{n}] = {a + 1}; readers[{n}] = 0; epoch[{n}] = 0; {up_to}"
            self.step(f"{as_writer} && key[{n}] != {a + 1} && {self.may_be_gone(n)}{not_above}", again + counts)
            if self.downgrade and not self.clock:     # sent before the downgrade, executed after it
                self.step(f"{self.reads(a)} && extended[{a}] > 0 && {self.is_up(n)} && key[{n}] != {a + 1}{not_above}", again)

    # ---- memory loss ----

    def memory_loss(self):
        nobody = " && ".join(f"!lost[{m}]" for m in self.all_nodes())
        flying = " + ".join(f"({self.in_flight(a)} -> {1 << a} : 0)" for a in self.all_attempts())
        for n in self.all_nodes():
            self.step(f"losses > 0 && {nobody}",
                      f"losses--; lost[{n}] = 1; was_lost[{n}] = 1; knows_new_id = 0; draining = {flying}; "
                      f"key[{n}] = 0; readers[{n}] = 0; epoch[{n}] = 0; counter[{n}] = 0; ")
            drained = "draining == 0" if self.drain and not self.clock else "true"
            someone = " || ".join(f"lost[{m}]" for m in self.all_nodes() if m != n)
            self.step(f"({someone}) && !lost[{n}] && !read[{n}] && {drained}",
                      f"read[{n}] = 1; floor_read = MAX(floor_read, {self.counter_or_base(n)}); ")
            self.is_admitted(n)
        if self.drain and not self.clock:
            for a in self.all_attempts():
                over = f"draining = draining & {255 - (1 << a)}; "
                self.step(f"(draining & {1 << a}) && {self.in_flight(a)}",
                          f"stage[{a}] = GIVEN_UP; token[{a}] = 0; before_reader[{a}] = 0; before_writer[{a}] = 0; {over}{self.forget_votes(a)}")
                self.step(f"(draining & {1 << a}) && !{self.in_flight(a)}", over)

    def is_admitted(self, n):
        enough = "(" + " + ".join(f"read[{m}]" for m in self.all_nodes()) + f") >= {self.catch_up}"
        # With a clock, the drain is over when nobody counts on what was there before.
        drained = " && " + " && ".join(self.not_counted(a, n) for a in self.all_attempts()) if self.clock and self.drain else ""
        condition = f"lost[{n}] && draining == 0 && {enough}{drained}" if self.drain else f"lost[{n}] && {enough}{drained}"
        done = f"lost[{n}] = 0; " + "".join(f"read[{m}] = 0; " for m in self.all_nodes())
        if not self.older:
            self.step(condition, f"counter[{n}] = floor_read; floor_read = 0; {done}")
            return
        done = f"base[{n}] = floor_read; floor_read = 0; {done}"
        self.step(condition, done)
        largest, somebody_else = self.initial + len(self.kinds), 1 << len(self.kinds)
        for counter in range(largest + 1):
            for a in self.all_attempts():
                left = f"{condition} && floor_read >= {counter} && {self.vote(a, n)} != UNSEEN"
                if self.begins_as_writer(a):
                    self.step(left, f"key[{n}] = {a + 1}; counter[{n}] = {counter}; {done}")
                else:
                    self.step(left, f"readers[{n}] = {somebody_else | 1 << a}; epoch[{n}] = 0; counter[{n}] = {counter}; {done}")
            for epoch in range(counter + 1):
                self.step(f"{condition} && floor_read >= {counter}",
                          f"readers[{n}] = {somebody_else}; epoch[{n}] = {epoch}; counter[{n}] = {counter}; {done}")


def value_of(name, text):
    return text if name == "kinds" else int(text)


if __name__ == "__main__":
    if any(word in ("-h", "--help") for word in sys.argv[1:]):
        print(__doc__)
        for option, (default, meaning) in OPTIONS.items():
            print(f"    {option}={default:<3} {meaning}")
        sys.exit(0)
    print(Shared(**{k: value_of(k, v) for k, v in (word.split("=", 1) for word in sys.argv[1:])}).text(), end="")
