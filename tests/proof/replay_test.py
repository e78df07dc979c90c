#!/usr/bin/env python3
"""Can the replay fail? Traces by hand, and what a mutant of the code would have written instead: each must be refused, at the line that is
wrong, with these words. Then traces of the real code, if files are given, from which one line is missing: of each kind of line that
matters there must be some whose absence is noticed.

    replay_test.py [FILE...]
"""
import itertools
import random
import sys
from collections import Counter
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))

import replay  # noqa: E402

BEGINNING = """schedule 1 3
node 0 ; life=A1 record=A1 hw=0 max=60
node 1 ; life=B1 record=B1 hw=1 max=60
node 2 ; life=C1 record=C1 hw=1 max=60
"""

# The story of proof.md, as far as the guard refuses: B asks nodes 1 and 2, A completes on 0 and 1, and B's late acquire arrives at 0.
GUARD = BEGINNING + """begin B 1 60 a
bind B 0 A1
bind B 1 B1
bind B 2 C1
begin A 1 60 a
bind A 0 A1
bind A 1 B1
acquire 1 B 2 B1 ; hw=2 key:a=B count:a=2
check 1 B B1
acquire 2 B 2 C1 ; hw=2 key:a=B count:a=2
check 2 B C1
decide B 2 1:2 2:2
key_vanishes 1 a
acquire 0 A 1 A1 ; hw=1 key:a=A count:a=1
check 0 A A1
acquire 1 A 3 B1 ; hw=3 key:a=A count:a=3
check 1 A B1
decide A 3 0:1 1:3
confirm 0 A 3 A1 ; hw=3 count:a=3
check 0 A A1
completes A 0 1
holds A 3 3
key_vanishes 0 a
acquire 0 B 4 A1 ; hw=4 key:a=B count:a=4
"""

# A node loses its memory, and B's vote with it; it waits until B is over, is admitted, and a lease is extended there.
LOSS = BEGINNING + """begin A 2 60 a,b
bind A 0 A1
bind A 1 B1
bind A 2 C1
acquire 0 A 3 A1 ; hw=3 key:a=A count:a=3 key:b=A count:b=3
check 0 A A1
acquire 1 A 3 B1 ; hw=3 key:a=A count:a=3 key:b=A count:b=3
check 1 A B1
acquire 2 A 3 C1 ; hw=3 key:a=A count:a=3 key:b=A count:b=3
begin B 1 60 a
bind B 2 C1
key_vanishes 2 a
acquire 2 B 4 C1 ; hw=4 key:a=B count:a=4
restarts 2 ; life=C2 record=- hw=0 max=0 key:a=- count:a=- key:b=- count:b=-
completes_later
marks 2 m1 C2 0 7 - ; mark=m1
gives_up B
reads 0 7 A1 A1 - 3 60
reads 1 7 B1 B1 - 3 60
sends_an_admission 2 7 C2 m1 3 60 0:3 1:3
is_admitted 2 C2 m1 3 60 ; record=C2 mark=- base=3 hw=3 max=60
asks_to_extend 0 A 3
extend 0 A a 3 A1 0
extend 0 A b 3 A1 0
check_extension 0 A a A1 0
check_extension 0 A b A1 0
extend 2 A a 3 C2 0 ; key:a=A count:a=3
extend 2 A b 3 C2 0 ; key:b=A count:b=3
check_extension 2 A a C2 0
check_extension 2 A b C2 0
is_extended 0 A 0 2
key_vanishes 1 a
counter_vanishes 1 a
somebody_else_sets_a_key 1 a operator
""".replace("completes_later", "decide A 3 0:3 1:3\ncompletes A 0 1\nholds A 2 3")

# Nobody remembers anything: all wait, all are looked at once more, and the base is a clock.
FOUNDING = """schedule 2 3
node 0 ; life=A1
node 1 ; life=B1
node 2 ; life=C1
marks 0 m0 A1 0 7 - ; mark=m0
marks 1 m1 B1 1 7 - ; mark=m1
marks 2 m2 C1 2 7 - ; mark=m2
reads 0 7 A1 - m0 0 0
reads 1 7 B1 - m1 0 0
reads 2 7 C1 - m2 0 0
sends_an_admission 0 7 A1 m0 100 60
sends_an_admission 1 7 B1 m1 100 60
sends_an_admission 2 7 C1 m2 100 60
is_admitted 0 A1 m0 100 60 ; record=A1 mark=- base=100 hw=100 max=60
is_admitted 1 B1 m1 100 60 ; record=B1 mark=- base=100 hw=100 max=60
begin A 1 60 a
bind A 0 A1
bind A 1 B1
acquire 0 A 101 A1 ; hw=101 key:a=A count:a=101
check 0 A A1
acquire 1 A 101 B1 ; hw=101 key:a=A count:a=101
check 1 A B1
decide A 101 0:101 1:101
completes A 0 1
"""

# Two of three restart without their data while B is under way, so that nobody can catch up: both wait, are looked at once more, and the base is a clock.
RECOVERY = BEGINNING + """begin B 1 60 a
bind B 2 C1
acquire 2 B 2 C1 ; hw=2 key:a=B count:a=2
restarts 1 ; life=B2 record=- hw=0 max=0
restarts 2 ; life=C2 record=- hw=0 max=0 key:a=- count:a=-
marks 2 m2 C2 2 7 - ; mark=m2
marks 1 m1 B2 1 7 - ; mark=m1
gives_up B
reads 0 7 A1 A1 - 0 60
reads 1 7 B2 - m1 0 0
reads 2 7 C2 - m2 0 0
sends_an_admission 2 7 C2 m2 100 60
sends_an_admission 1 7 B2 m1 100 60
is_admitted 2 C2 m2 100 60 ; record=C2 mark=- base=100 hw=100 max=60
begin A 1 60 a
bind A 0 A1
bind A 2 C2
acquire 0 A 1 A1 ; hw=1 key:a=A count:a=1
check 0 A A1
acquire 2 A 101 C2 ; hw=101 key:a=A count:a=101
check 2 A C2
decide A 101 0:1 2:101
"""

# A rival's attempt fails at node 2. A climbs, which nobody but node 0 hears; is extended at the mark of that; and climbs again, farther.
CLIMB = BEGINNING + """begin A 1 60 a
bind A 0 A1
bind A 1 B1
acquire 0 A 2 A1 ; hw=2 key:a=A count:a=2
check 0 A A1
acquire 1 A 2 B1 ; hw=2 key:a=A count:a=2
check 1 A B1
decide A 2 0:2 1:2
completes A 0 1
begin B 1 60 a
bind B 2 C1
acquire 2 B 5 C1 ; hw=5 key:a=B count:a=5
key_vanishes 2 a
gives_up B
asks_to_extend 0 A 2
begins_to_climb 0 A 2 5
climb 0 A a 2 A1 0 ; hw=5 count:a=5.0
check_climb 0 A a A1 0
climb_ends 0
extend 0 A a 2 A1 0
check_extension 0 A a A1 0
begins_to_climb 1 A 2 6
climb 0 A a 2 A1 1 ; hw=6 count:a=6.0
check_climb 0 A a A1 1
climb 1 A a 2 B1 1 ; hw=6 count:a=6.0
check_climb 1 A a B1 1
has_climbed 1 A 0 1
asks_to_extend 1 A 6
extend 0 A a 6 A1 1 ; count:a=6
check_extension 0 A a A1 1
extend 2 A a 6 C1 1 ; hw=6 key:a=A count:a=6
check_extension 2 A a C1 1
is_extended 1 A 0 2
holds A 2 2
"""


def without(trace, *lines):
    for line in lines:
        assert line in trace, line
        trace = trace.replace(line + "\n", "", 1)
    return trace


def instead(trace, old, new):
    assert old in trace, old
    return trace.replace(old, new, 1)


# (what the mutant of the code does, trace, a word of the story)
WRONG = [
    ("confirms without the guard", GUARD + "confirm 0 B 2 A1\n", "not allowed: confirm, a = B"),
    ("confirms without the guard, and lowers the counter", GUARD + "confirm 0 B 2 A1 ; count:a=2\n", "not allowed: confirm, a = B"),
    ("gives a token twice", instead(GUARD, "acquire 1 A 3 B1 ; hw=3 key:a=A count:a=3", "acquire 1 A 2 B1 ; key:a=A"), "not allowed: acquire, a = A"),
    ("answers more than it has counted", instead(GUARD, "acquire 1 A 3 B1 ; hw=3 key:a=A count:a=3", "acquire 1 A 3 B1 ; key:a=A"),
     "server 1 shows hw = 2; by the transition it is 3"),
    ("takes a key that is there", without(GUARD, "key_vanishes 1 a"), "acquire, a = A, n = 1"),
    ("uses a value again", instead(GUARD, "begin A 1 60 a", "begin B 1 60 a"), "not allowed: begin, b = B"),
    ("completes with one round", without(GUARD, "confirm 0 A 3 A1 ; hw=3 count:a=3"), "not allowed: completes, a = A"),
    ("completes on a minority", instead(GUARD, "completes A 0 1", "completes A 1"), "which is no majority"),
    ("counts an answer before the trailing check", without(GUARD, "check 1 A B1"), "not allowed: decide"),
    ("decides on a token that nobody answered", instead(GUARD, "decide A 3 0:1 1:3", "decide A 9 0:1 1:3"), "not allowed: decide"),
    ("hands out a token that it does not own", instead(GUARD, "holds A 3 3", "holds A 2 3"), "has the tokens 2 to 3"),
    ("steps up by one for a block of two", instead(LOSS, "acquire 0 A 3 A1 ; hw=3 key:a=A count:a=3 key:b=A count:b=3",
                                                   "acquire 0 A 1 A1 ; hw=1 key:a=A count:a=1 key:b=A count:b=1"), "not allowed: acquire"),
    ("sets one key of two", instead(LOSS, "acquire 0 A 3 A1 ; hw=3 key:a=A count:a=3 key:b=A count:b=3",
                                    "acquire 0 A 3 A1 ; hw=3 key:a=A count:a=3 count:b=3"), "server 0 shows key:b = nothing"),
    ("votes before it is admitted", instead(LOSS, "marks 2 m1 C2 0 7 - ; mark=m1", "acquire 2 B 1 C2 ; key:a=B count:a=1"), "it is bound to C1 there"),
    ("admits without a drain", without(LOSS, "gives_up B"), "its wait is not over"),
    ("admits without a mark", without(LOSS, "marks 2 m1 C2 0 7 - ; mark=m1"), "no wait of this client"),
    ("admits with another mark", instead(LOSS, "sends_an_admission 2 7 C2 m1", "sends_an_admission 2 7 C2 m2"), "no wait of this client"),
    ("admits without catch-up", instead(LOSS, "sends_an_admission 2 7 C2 m1 3 60 0:3 1:3", "sends_an_admission 2 7 C2 m1 3 60"), "it has read nobody"),
    ("reads one node too few", instead(LOSS, "60 0:3 1:3", "60 0:3"), "it has read 0:3, and needs 2"),
    ("reads marks before the drain is over", instead(without(LOSS, "gives_up B"), "sends_an_admission", "gives_up B\nsends_an_admission"), "it has read"),
    ("admits below what it read", instead(LOSS, "m1 3 60 0:3 1:3", "m1 2 60 0:3 1:3"), "whose marks are not above the base"),
    ("a node is admitted that nobody admits", without(LOSS, "sends_an_admission 2 7 C2 m1 3 60 0:3 1:3"), "nobody has sent this admission"),
    ("a base that is not the one that was sent", instead(LOSS, "base=3 hw=3 max=60\nasks", "base=2 hw=3 max=60\nasks"), "server 2 shows base = 2"),
    ("an old id is used again", instead(LOSS, "restarts 2 ; life=C2", "restarts 2 ; life=B1"), "not allowed: restarts"),
    ("memory goes, and the id and the record stay", instead(LOSS, "restarts 2 ; life=C2 record=- hw=0 max=0 key:a=- count:a=- key:b=- count:b=-",
                                                          "unexplained 2 ; hw=0"), "no transition does that"),
    ("an extension of one name of two counts", without(LOSS, "extend 2 A b 3 C2 0 ; key:b=A count:b=3", "check_extension 2 A b C2 0"), "not allowed: is extended"),
    ("an extension without an answer of the server", without(LOSS, "check_extension 0 A b A1 0"), "not allowed: is extended"),
    ("an extension that nobody sent", without(LOSS, "asks_to_extend 0 A 3"), "not allowed: extend, e = 0"),
    ("an extension with another token", instead(LOSS, "asks_to_extend 0 A 3", "asks_to_extend 0 A 4"), "not allowed: asks to extend, e = 0"),
    ("is extended by a minority", instead(LOSS, "is_extended 0 A 0 2", "is_extended 0 A 2"), "which is no majority"),
    ("sets a key again under the old guard", instead(CLIMB, "climb_ends 0", "extend 2 A a 2 C1 0 ; key:a=A count:a=2"), "not allowed: recreate, e = 0"),
    ("climbs where a larger token was given", instead(CLIMB, "asks_to_extend 0 A 2", "asks_to_extend 0 A 2\nkey_vanishes 1 a\nbind B 1 B1\n"
     "acquire 1 B 5 B1 ; hw=5 key:a=B count:a=5\nkey_vanishes 1 a\nacquire 1 A 6 B1 ; hw=6 key:a=A count:a=6"), "not allowed: climb, c = 1"),
    ("climbs on a minority", instead(CLIMB, "has_climbed 1 A 0 1", "has_climbed 1 A 0"), "which is no majority"),
    ("climbs with votes of another climb", instead(CLIMB, "check_climb 1 A a B1 1", "check_climb 1 A a B1 0"), "not allowed: check climb"),
    ("is extended under a guard that is only asked for", without(CLIMB, "has_climbed 1 A 0 1"), "not allowed: asks to extend, e = 1"),
    ("climbs less far than before", instead(CLIMB, "begins_to_climb 1 A 2 6", "begins_to_climb 1 A 2 4"), "not allowed: begins to climb"),
    ("begins to climb while it climbs", without(CLIMB, "climb_ends 0"), "not allowed: begins to climb, c = 1"),
    ("a climb leaves no mark", instead(CLIMB, "hw=5 count:a=5.0", "hw=5 count:a=5"), "server 0 shows count:a = 5; by the transition it is 5.0"),
    ("an extension takes the mark of a climb away and leaves the counter", instead(CLIMB, "extend 0 A a 2 A1 0\n", "extend 0 A a 2 A1 0 ; count:a=5\n"),
     "server 0 shows count:a = 5; by the transition it is 5.0"),
    ("an extension lowers the counter of a climb", instead(CLIMB, "extend 0 A a 2 A1 0\n", "extend 0 A a 2 A1 0 ; count:a=2\n"), "server 0 shows count:a = 2"),
    ("a cluster is founded although two of three may have their data", without(FOUNDING, "reads 1 7 B1 - m1 0 0", "reads 2 7 C1 - m2 0 0"), "client 7 admits server 0"),
    ("a cluster is founded by one of three", without(FOUNDING, "marks 1 m1 B1 1 7 - ; mark=m1", "marks 2 m2 C1 2 7 - ; mark=m2", "reads 1 7 B1 - m1 0 0",
     "reads 2 7 C1 - m2 0 0", "sends_an_admission 1 7 B1 m1 100 60", "sends_an_admission 2 7 C1 m2 100 60"), "client 7 admits server 0"),
    ("a cluster recovers although two of three have their data", without(RECOVERY, "restarts 1 ; life=B2 record=- hw=0 max=0", "marks 1 m1 B2 1 7 - ; mark=m1",
     "reads 1 7 B2 - m1 0 0", "sends_an_admission 1 7 B2 m1 100 60"), "client 7 admits server 2"),
    ("a cluster recovers with what was read before the loss", without(RECOVERY, "reads 1 7 B2 - m1 0 0"), "client 7 admits server 2"),
    ("a cluster recovers without a drain", without(RECOVERY, "gives_up B"), "its wait is not over"),
]


def by_hand():
    wrong = []
    for name, trace in ("guard", GUARD), ("loss", LOSS), ("founding", FOUNDING), ("recovery", RECOVERY), ("climb", CLIMB):
        story = replay.replay(trace)[2]
        if story:
            wrong.append(f"the trace by hand ({name}) is refused: " + " / ".join(story[:2]))
    for name, trace, expected in WRONG:
        story = replay.replay(trace)[2]
        found = len(story) > 1 and expected in story[1]
        print(f"{'ok ' if found else 'NOT'} {name}: {' / '.join(line.strip() for line in story[:2]) or 'is allowed'}")
        if not found:
            wrong.append(f"{name}: not refused with: {expected}")
    return wrong


# Without a line of such a kind, something that comes later cannot be.
MATTER = ("begin", "bind", "acquire", "check", "decide", "completes", "confirm", "asks_to_extend", "extend", "key_vanishes", "restarts", "is_wiped",
          "marks", "reads", "sends_an_admission", "is_admitted", "begins_to_climb", "climb", "check_climb", "has_climbed")
TRIES = 40      # of each kind


def one_line_missing(files):
    """Some lines may be missing: an answer that was not needed, a key that vanished and was not missed."""
    chance, tried, noticed = random.Random(1), Counter(), Counter()
    for trace in itertools.islice(replay.traces(files), 1500):
        lines = trace.splitlines()
        kinds = {}
        for i, line in enumerate(lines):
            kinds.setdefault(line.split()[0], []).append(i)
        for kind in [k for k in MATTER if k in kinds and tried[k] < TRIES]:
            gone = chance.choice(kinds[kind])
            tried[kind] += 1
            noticed[kind] += bool(replay.replay("\n".join(lines[:gone] + lines[gone + 1:]) + "\n")[2])
    wrong = [f"no {kind} is ever missed" for kind in MATTER if not noticed[kind]]
    for kind in MATTER:
        print(f"    without one {kind}: refused {noticed[kind]} of {tried[kind]}")
    return wrong


def main():
    wrong = by_hand()
    if len(sys.argv) > 1:
        wrong += one_line_missing(sys.argv[1:])
    print(f"{len(WRONG)} wrong traces by hand: " + ("; ".join(wrong) if wrong else "all are refused, the right ones are not"))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
