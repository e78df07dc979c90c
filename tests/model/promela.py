"""What fence_model.py writes its steps with: options, the state variables, names of conditions, and the symmetry reduction."""
import itertools

OPTIONS = {  # name: (default, meaning)
    "nodes": (3, "number of nodes, N"),
    "majority": (0, "votes needed; 0: N/2+1"),
    "attempts": (2, "number of attempts"),
    "clients": (0, "at most this many attempts at a time: a later one begins when its client has ended an earlier one; 0: no limit"),
    "block": (1, "largest number of tokens an attempt may reserve; each attempt chooses 1..block"),
    "initial": (1, "a node's counter starts at 0..initial"),
    "floor": (0, "a grant may raise the counter to this floor (a client's wall clock, or a mark read for an expired counter)"),
    "duplicates": (0, "how many times in all an acquire that was executed is executed again"),
    "two_phase": (1, "0, mutant: no confirm round, the token is the maximum of one round"),
    "guard": (1, "0, mutant: confirm without 'counter <= token'"),
    "fresh_values": (1, "0, mutant: the last attempt uses the value of the first one, which is over, again"),
    "extensions": (0, "how many times each lease is extended"),
    "recreate": (0, "1: an extension sets a missing key again"),
    "extend_guard": (1, "0, mutant: extend a present key without looking at the counter"),
    "recreate_guard": (1, "0, mutant: recreate a missing key without looking at the counter"),
    "base_guard": (1, "0, mutant: extend a present key without looking at the base written at admission"),
    "losses": (0, "how many times a node loses its memory (one node at a time)"),
    "rollback": (0, "1: a loss may also bring back an older state: any earlier holder's key, any smaller counter"),
    "drain": (1, "0, mutant: admit without waiting for the attempts that were in flight when the memory was lost"),
    "catch_up": (-1, "intact nodes that an admission reads; -1: ceil(N/2); less: mutant"),
    "late_admit": (0, "1, mutant: an admission may be executed again after the next loss (FLUSHALL does not change the server's id)"),
    "trailing": (0, "1: scripts compare the record with the id the client knows; the server's own id is read at the message's end"),
    "at_once": (0, "1: the trailing check in the same step as the script: fewer states, same verdicts (see vote_arrives)"),
    "trailing_wait": (1, "0, mutant: votes count before that last reply is seen"),
    "bound_id": (1, "0, mutant: an attempt goes on with a new id when it learns of one between its messages"),
    "resources": (1, "2: attempts want one of two resources, or both: several.py; the options below are for it"),
    "wants": (0, "what the attempts want, a digit each: 1, 2, or 3 for both; 0: anything"),
    "repeats": (0, "1: an acquire that finds its value everywhere answers again"),
    "even": (1, "0, mutant: also when its counters differ, with the larger one"),
    "forgets": (0, "a counter may be gone, and reads as the high-water mark: the other one, or this, which other names have reached"),
    "token_of_first": (0, "1, mutant: the token is a step above the first resource's counter"),
    "key_of_first": (0, "1, mutant: confirm compares the first resource's value only"),
    "part_counts": (0, "1, mutant: an extension that renewed one of two keys is a vote"),
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


class Writer:
    def __init__(self, **options):
        unknown = set(options) - set(OPTIONS)
        if unknown:
            raise ValueError("no such option: " + ", ".join(sorted(unknown)))
        for name, (default, _) in OPTIONS.items():
            setattr(self, name, options.get(name, default))
        self.majority = self.majority or self.nodes // 2 + 1
        if self.catch_up < 0:
            self.catch_up = (self.nodes + 1) // 2
        if not self.fresh_values and not 0 < self.clients < self.attempts:
            raise ValueError("fresh_values=0 needs fewer clients than attempts")
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
        """A check that comes later than its script can only drop more votes (a server never gets an old id back), and a vote can be
        lost anyway. So it may as well come in the same step."""
        text = f"{self.vote(a, n)} = {what}; "
        if self.trailing and self.at_once:
            text += f"if :: {self.vote(a, n)} >= YES && !{self.same_id_at_the_end(a, n)} -> {self.vote(a, n)} = SEEN :: else fi; "
        elif self.trailing:
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

    def declare(self):
        pairs = self.attempts * self.nodes
        self.say(f"byte key[{self.nodes * self.resources}];            /* whose value the key has; 0: nobody's */")
        self.say(f"byte counter[{self.nodes * self.resources}];")
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
            self.say(f"bit knows_new_id[{self.attempts}];  /* the id it is bound to, at the node that lost its memory */")
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
            packed, width = "", 0
            for name, bits in self.column(n):
                if width + bits > 31:
                    break
                packed, width = (f"(({packed} << {bits}) + {name})" if width else name), width + bits
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
