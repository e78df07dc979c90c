#!/usr/bin/env python3
"""Replays what the real code did: every step of a trace must be one that the proof's transition relation (climb_memory.py) allows, in the state
that the steps before it have led to, and must change its server as the transition says.

    replay.py [--jobs N] [--at-least N] [--expect-red] FILE...

FILE: from `simulate --transitions FILE`, or from the schedules of scripts on real servers (`schedules --transitions FILE`). In a line, what
stands behind `;` is what the server shows differently after the step. The first step that is not allowed is told as a story.
"""
import argparse
import itertools
import multiprocessing
import os
import resource
import sys
import time
from collections import Counter
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))

import climb_memory # noqa: E402
import concrete     # noqa: E402
import counting     # noqa: E402
import prover       # noqa: E402

# What is not a part of the state. A value is called as its attempt; a majority, or a half, is the set of its nodes.
BACKGROUND = {
    "le": lambda s, t: f"({s} <= {t})",
    "below": lambda a, c, t: f"({c} + W['block'].get({a}, 1) <= {t})",
    "value": lambda a: a,
    "free": lambda: "None",
    "fate": lambda a: f"W['fate'].get({a})",
    "wants": lambda a, x: f"({x} in W['wants'].get({a}, ()))",
    "member": lambda n, q: f"({n} in {q})",
    "read_from": lambda n, h: f"({n} in {h})",
    "sets": {"wants": (0, 1), "member": (1, 0), "read_from": (1, 0)},      # (owner, element)
    "elements": lambda name, owner: f"W['wants'].get({owner}, ())" if name == "wants" else owner,
}
P = climb_memory.p
PROGRAMS = {t.__name__: concrete.Program(P, t, BACKGROUND) for t in P.transitions}
BEGINNINGS = [concrete.Sentence(P, b, BACKGROUND) for b in P.beginnings]
PROMISES = [concrete.Sentence(P, promise, BACKGROUND) for promise in P.promises]

RECORD = ("life", "record", "mark", "base", "hw")   # what a server shows besides keys and counters


class NotAllowed(Exception):
    pass


class Trace:
    """One schedule."""

    def __init__(self, header, taken):
        _, self.seed, nodes, *more = header.split()
        self.nodes, self.bootstrap, self.taken = range(int(nodes)), "bootstrap" in more, taken
        self.state = concrete.empty_state(P)
        self.world = {"Node": list(self.nodes), "Attempt": [], "Name": [], "Value": [], "Token": [0], "Extension": [], "Quorum": [],
                      "Life": [], "Mark": [], "Drain": [], "Founding": [], "Climb": [], "wants": {}, "block": {}, "fate": {}}
        self.shown = [{"base": 0, "hw": 0} for _ in self.nodes]      # what the servers show
        self.majorities = subsets(len(self.nodes), counting.majority(len(self.nodes)))
        self.halves = self.world["Half"] = subsets(len(self.nodes), counting.intact_needed(len(self.nodes)))
        self.drains = []            # (drain, node, client or machine)
        self.machines = {}          # of each client, where processes leave notes
        self.foundings = {}         # by client
        self.open_extensions = {}   # of each lease
        self.again = {}             # climbs that are an earlier one asked for again
        self.begun = False
        self.number, self.last = 0, []

    # ---- steps ----

    def element(self, sort, e):
        if e not in self.world[sort]:
            self.world[sort].append(e)
        return e

    def try_step(self, name, *parameters):
        """None if it was taken; else the number of a condition that does not hold."""
        program = PROGRAMS[name]
        result = program.run(self.state, self.world, *parameters)
        if isinstance(result, int):
            return result
        program.apply(self.state, result)
        self.taken[name] += 1
        return None

    def step(self, name, *parameters):
        failed = self.try_step(name, *parameters)
        if failed is not None:
            self.refuse(name, parameters, failed)

    def refuse(self, name, parameters, failed):
        program = PROGRAMS[name]
        said = ", ".join(f"{p} = {words(v)}" for p, v in zip(program.parameters, parameters) if not isinstance(v, (dict, set)))
        condition = " ".join(str(program.conditions[failed]).replace("step.", "").replace("any.", "").split())
        raise NotAllowed(f"{prover.name_of(program.transition)}, {said}: it may be taken only if {condition}")

    # ---- what a server shows, and what it is in the proof ----

    def is_shown(self, node, changes):
        """The server shows this now."""
        shown = self.shown[node]
        for change in changes:
            what, _, value = change.partition("=")
            if ":" in what:
                self.element("Name", what.partition(":")[2])
            shown[what] = None if value == "-" else int(value) if what in ("base", "hw", "max") else value
        return shown

    def compare(self, node):
        s, shown = self.state, self.shown[node]
        recorded = node in s["recorded"]
        proof = {"life": s["life"].get(node), "record": s["record"].get(node) if recorded else None,
                 "mark": s["mark"].get(node) if node in s["marked"] else None, "base": s["base"].get(node, 0), "hw": s["hw"].get(node, 0)}
        for x in self.world["Name"]:
            proof["key:" + x] = s["key"].get((node, x))
            mark = ".0" if (node, x) in s["own"] else ""
            proof["count:" + x] = f"{s['count'].get((node, x), 0)}{mark}" if (node, x) in s["kept"] else None
        for what, value in proof.items():
            if shown.get(what) != value:
                raise NotAllowed(f"behind it, server {node} shows {what} = {words(shown.get(what))}; by the transition it is {words(value)}")
        for what in shown:
            if what != "max" and what not in proof and shown[what] is not None:
                raise NotAllowed(f"server {node} shows {what} = {shown[what]}, of which the proof knows nothing")

    def older_state(self, node):
        shown = self.shown[node]
        keys = {x: shown.get("key:" + x) for x in self.world["Name"]}
        texts = {x: shown["count:" + x] for x in self.world["Name"] if shown.get("count:" + x) is not None}
        counts = {x: self.element("Token", int(text.removesuffix(".0"))) for x, text in texts.items()}
        return keys, set(counts), counts, self.element("Token", shown.get("hw", 0)), self.element("Token", shown.get("base", 0))

    # ---- lines ----

    def take(self, line):
        self.number += 1
        self.last = [*self.last[-11:], line]
        said, _, changed = line.partition(" ;")
        what, *arguments = said.split()
        changes = changed.split()
        if what == "node":
            return self.begins(int(arguments[0]), changes)
        if not self.begun:
            self.check_beginning()
        method = getattr(self, "line_" + what, None)
        if method is None:
            raise NotAllowed(f"{what} is no step of the proof")
        node = method(changes, *arguments)
        if node is not None:
            self.compare(node)
        elif changes:
            raise NotAllowed("a step of a client has changed a server")

    def begins(self, node, changes):
        s = self.state
        shown = self.is_shown(node, changes)
        s["life"][node] = self.element("Life", shown["life"])
        s["lived"].add((node, shown["life"]))
        s["hw"][node], s["base"][node] = self.element("Token", shown.get("hw", 0)), self.element("Token", shown.get("base", 0))
        if shown.get("record"):
            s["recorded"].add(node)
            s["record"][node] = self.element("Life", shown["record"])
        if shown.get("mark"):
            raise NotAllowed(f"server {node} begins with a mark")

    def check_beginning(self):
        self.begun = True
        for sentence in BEGINNINGS:
            if not sentence.holds(self.state, self.world):
                raise NotAllowed(f"it does not begin so: {prover.name_of(sentence.function)}")

    def line_unexplained(self, changes, node, *said):
        raise NotAllowed(f"server {node} has changed, and no transition does that: {' '.join(changes)}")

    def older_marks(self, node):
        return {x for x in self.world["Name"] if (self.shown[node].get("count:" + x) or "").endswith(".0")}

    def line_begin(self, _, value, block, ttl, names):
        names = tuple(names.split(","))
        for x in names:
            self.element("Name", x)
        if value not in self.world["Attempt"]:
            if value in self.state["key"].values():
                raise NotAllowed(f"the value {value} is not a fresh one")
            self.world["wants"][value], self.world["block"][value] = names, int(block)
        self.step("begin", self.element("Attempt", value))

    def line_bind(self, _, value, node, life):
        self.step("bind", value, int(node), life)

    def line_decide(self, _, value, token, *grants):
        told = {int(g.partition(":")[0]) for g in grants}
        self.world["fate"][value] = int(token)
        self.with_majority("decide", told, lambda q: (value, q, self.element("Token", int(token))),
                           f"{value} has decided {token}; it had the answers {' '.join(grants) or 'of nobody'}")

    def line_completes(self, _, value, *nodes):
        self.with_majority("completes", {int(n) for n in nodes}, lambda q: (value, q), f"only the nodes {{{', '.join(nodes)}}} have told {value} that they "
                           "confirm its token")

    def line_is_extended(self, _, e, value, *nodes):
        if e == "-":
            raise NotAllowed(f"the end of {value} has moved on, and it was not extended")
        self.with_majority("is_extended", {int(n) for n in nodes}, lambda q: (int(e), q), f"only the nodes {{{', '.join(nodes)}}} have told {value} "
                           f"that they renewed it since extension {e} began")
        self.open_extensions[value] = [f for f in self.open_extensions.get(value, []) if f >= int(e)]

    def with_majority(self, name, told, parameters, why_not):
        """Any majority of those that have answered."""
        candidates = [q for q in self.majorities if q <= told]
        if not candidates:
            raise NotAllowed(f"{name}: {why_not}, which is no majority")
        known = set(self.world["Quorum"])
        for q in sorted(candidates, key=lambda q: q not in known):
            if q not in known:
                self.world["Quorum"].append(q)
            failed = self.try_step(name, *parameters(q))
            if failed is None:
                return
            if q not in known:
                self.world["Quorum"].pop()
        self.refuse(name, parameters(candidates[0]), failed)

    def line_gives_up(self, _, value):
        self.step("gives_up", value)

    def line_holds(self, _, value, first, last):
        s = self.state
        if value not in s["complete"]:
            raise NotAllowed(f"there is a lease of {value}, which is not complete")
        token, block = s["token"][value], self.world["block"][value]
        if not token - block < int(first) <= int(last) <= token:
            raise NotAllowed(f"the holder of {value} has the tokens {first} to {last}; the block ends at {token} and has {block}")

    # ---- scripts ----

    def line_acquire(self, changes, node, value, token, life):
        n, t = int(node), self.element("Token", int(token))
        self.is_shown(n, changes)
        self.has_its_own_id(value, n, life)
        names = self.world["wants"][value]
        if all(self.state["key"].get((n, x)) == value for x in names):
            self.step("acquire_again", value, n, t)
        else:
            self.step("acquire", value, n, t)
        return n

    def has_its_own_id(self, value, node, life):
        if self.state["id"].get((value, node)) != life:
            raise NotAllowed(f"an acquire of {value} has the id {life}; it is bound to {words(self.state['id'].get((value, node)))} there")

    def line_confirm(self, changes, node, value, token, life):
        n = int(node)
        self.is_shown(n, changes)
        self.is_the_token(value, token)
        self.step("confirm", value, n, life)
        return n

    def is_the_token(self, value, token):
        if self.state["token"].get(value) != int(token):
            raise NotAllowed(f"a message of {value} has the token {token}; it has decided {words(self.state['token'].get(value))}")

    def line_check(self, _, node, value, life):
        """Of all that was said in this message, or in one like it."""
        n = int(node)
        said = [t for a, m, t, other in self.state["said"] if a == value and m == n and other == life and (a, m, t) not in self.state["counted"]]
        for t in said:
            self.step("check", value, n, t, life)

    def line_asks_to_extend(self, _, e, value, guard):
        g = self.element("Token", int(guard))
        self.step("asks_to_extend", self.element("Extension", int(e)), value, g)
        for f in self.open_extensions.get(value, []):
            if (f, g) not in self.state["under"]:
                self.step("goes_on_to_extend", f, g)
        self.open_extensions.setdefault(value, []).append(int(e))

    def of_extensions(self, value, e):
        """A message that was sent after an extension began counts for it, too."""
        return [f for f in self.open_extensions.get(value, []) if f < int(e)]

    def line_extend(self, changes, node, value, name, guard, life, e):
        n, g = int(node), int(guard)
        if e == "-":
            raise NotAllowed(f"{value} was not asked to be extended at server {node}")
        self.is_shown(n, changes)
        present = "extend_at_a_mark" if self.is_marked_above(n, name, g) else "extend"
        self.step("recreate" if self.state["key"].get((n, name)) is None else present, int(e), n, name, life, g)
        for f in self.of_extensions(value, e):
            self.step(present, f, n, name, life, g)
        return n

    def is_marked_above(self, node, name, guard):
        s = self.state
        return (node, name) in s["own"] and s["count"][node, name] > guard

    def line_check_extension(self, _, node, value, name, life, e):
        for f in (int(e), *self.of_extensions(value, e)):
            self.step("check_extension", f, int(node), name, life)

    # ---- climbs ----

    def line_begins_to_climb(self, _, c, value, low, high):
        guard = self.state["guard"].get(value)
        if guard is None or int(low) > guard:
            raise NotAllowed(f"{value} climbs from {low}; its guard is {words(guard)}")
        s = self.state
        same = [d for d, a in s["of"] if a == value and s["high"][d] == int(high)]
        if int(high) <= guard and same:     # it had succeeded as far as one could know, and is asked for again: these are late messages of it
            self.again[int(c)] = same[0]
            return
        self.step("begins_to_climb", self.element("Climb", int(c)), value, self.element("Token", int(high)))

    def climb_of(self, c):
        return self.again.get(int(c), int(c))

    def line_climb(self, changes, node, value, name, low, life, c):
        n = int(node)
        if c == "-":
            raise NotAllowed(f"{value} was not asked to climb at server {node}")
        self.is_shown(n, changes)
        self.step("climb_from_a_mark" if self.is_marked_above(n, name, int(low)) else "climb", self.climb_of(c), value, n, name, life)
        return n

    def line_check_climb(self, _, node, value, name, life, c):
        self.step("check_climb", self.climb_of(c), int(node), name, life)

    def line_has_climbed(self, _, c, value, *nodes):
        if int(c) in self.again:
            return
        self.with_majority("has_climbed", {int(n) for n in nodes}, lambda q: (int(c), value, q),
                           f"only the nodes {{{', '.join(nodes)}}} have told {value} that they climbed")

    def line_climb_ends(self, _, c):
        self.step("climb_ends", self.climb_of(c))

    # ---- what happens by itself ----

    def line_key_vanishes(self, changes, node, name):
        self.shown[int(node)]["key:" + name] = None
        self.step("key_vanishes", int(node), self.element("Name", name))
        return int(node)

    def line_counter_vanishes(self, changes, node, name):
        self.shown[int(node)]["count:" + name] = None
        self.step("counter_vanishes", int(node), name)
        return int(node)

    def line_somebody_else_sets_a_key(self, changes, node, name, value):
        self.shown[int(node)]["key:" + name] = value
        self.step("somebody_else_sets_a_key", int(node), self.element("Name", name), value)
        return int(node)

    def line_restarts(self, changes, node):
        n = int(node)
        shown = self.is_shown(n, changes)
        for what, sort in ("life", "Life"), ("record", "Life"), ("mark", "Mark"):
            if shown.get(what):
                self.element(sort, shown[what])
        self.step("restarts", n, shown["life"], *self.older_state(n), shown.get("record") is not None, shown.get("record"),
                  shown.get("mark") is not None, shown.get("mark"), self.older_marks(n))
        return n

    def line_is_wiped(self, changes, node):
        n = int(node)
        shown = self.is_shown(n, changes)
        if shown.get("mark") is not None and {change.partition("=")[0] for change in changes} <= {"hw", "record"}:
            self.step("high_water_vanishes", n, self.element("Token", shown["hw"]))
        else:
            self.step("is_wiped", n, *self.older_state(n), self.older_marks(n))
        return n

    # ---- admission ----

    def line_marks(self, changes, node, mark, life, drain, client, machine):
        n = int(node)
        self.is_shown(n, changes)
        self.element("Mark", mark)
        is_there = n in self.state["marked"]
        d = self.element("Drain", f"drain {drain}")
        unused = self.element("Mark", f"unused {drain}") if is_there else mark
        if life != self.state["life"][n]:
            raise NotAllowed(f"a mark for {life} is written at {self.state['life'][n]}")
        self.step("marks", d, n, unused)
        if client == "-":
            return n
        self.drains.append((d, n, client))
        machine = machine if machine == "-" else "machine " + machine
        for earlier, m, of in self.drains if machine != "-" else ():
            s = self.state
            if m == n and of == machine and s["drained_life"][earlier] == life and s["drained_mark"][earlier] == mark:
                carried = self.element("Drain", f"{d}, with the note of {earlier}")
                self.step("goes_on_with_a_note", carried, n, earlier)
                self.drains.append((carried, n, client))
                break
        if machine != "-":
            self.drains.append((d, n, machine))
        return n

    def drains_of(self, client):
        """Its own, and those that it may find a note of. (It may have read behind such a one before it found the note.)"""
        machine = self.machines.get(client)
        return [(d, n) for d, n, of in self.drains if of == client or (machine is not None and of == machine)]

    def end_drains(self, client):
        for d, _ in self.drains_of(client):
            if d not in self.state["drained"]:
                self.try_step("ends_to_drain", d)

    def line_reads(self, changes, node, client, life, admitted, mark, hw, _max):
        """A client looks. Whatever it can be for: what is read behind a drain, or a node that has forgotten."""
        m, s = int(node), self.state
        self.is_shown(m, changes)
        says_so, is_so = admitted == life, m in s["recorded"] and s["record"][m] == s["life"][m]
        if life != s["life"][m] or says_so != is_so or (is_so and int(hw) != s["hw"][m]):
            raise NotAllowed(f"server {m} says {life}, {admitted}, {hw}, which is not what it is")
        self.end_drains(client)
        for d, n in self.drains_of(client):
            if n != m and d in s["drained"]:
                self.try_step("reads_a_mark", d, m)
        self.look_for_a_founding(client, m)
        return m

    def look_for_a_founding(self, client, m):
        s = self.state
        mine = self.foundings.setdefault(client, [])
        now = {d for d, _ in self.drains_of(client) if d in s["drained"]}
        forgot = {n for d, n in self.drains_of(client) if d in now}
        if all(forgot & h for h in self.halves) and (not mine or mine[-1][1] != now):
            mine.append((self.element("Founding", f"founding {len(self.world['Founding'])}"), now))
            self.step("begins_to_found", mine[-1][0])
        for f, over in mine:
            for d, n in self.drains_of(client):
                if n == m and d in over:
                    self.try_step("finds_that_it_forgot", f, d)

    def line_sends_an_admission(self, _, node, client, life, mark, base, _max, *read):
        n, t, s = int(node), self.element("Token", int(base)), self.state
        self.end_drains(client)
        told = {int(r.partition(":")[0]) for r in read}
        mine = [d for d, m in self.drains_of(client) if m == n and s["drained_life"][d] == life and s["drained_mark"][d] == mark]
        for d, h in itertools.product(mine, [h for h in self.halves if h <= told]):
            if self.try_step("sends_an_admission", d, h, t) is None:
                return
        for f, _ in self.foundings.get(client, ()):
            for d in mine:
                if self.try_step("founds", f, d, t) is None:
                    return
        for d in mine if self.bootstrap else ():
            if self.try_step("takes_the_operators_word", d, t) is None:
                return
        why = "no wait of this client was for this id and this mark" if not mine else \
            "its wait is not over" if not any(d in s["drained"] for d in mine) else \
            f"it has read {' '.join(read) or 'nobody'}, and needs {counting.intact_needed(len(self.nodes))} whose marks are not above the base"
        raise NotAllowed(f"client {client} admits server {n} from {base}: {why}")

    def line_is_admitted(self, changes, node, life, mark, base, _max):
        n, t, s = int(node), int(base), self.state
        self.is_shown(n, changes)
        sent = [d for d, u in s["admission"] if u == t and s["drained_node"][d] == n and s["drained_life"][d] == life and s["drained_mark"][d] == mark]
        if not sent:
            raise NotAllowed(f"nobody has sent this admission to server {n}")
        self.element("Token", self.shown[n]["hw"])
        self.step("is_admitted", sent[0], t)
        return n

    def end(self, thoroughly):
        for sentence in PROMISES if thoroughly else ():
            if not sentence.holds(self.state, self.world):
                raise NotAllowed(f"in the end this is not so: {prover.name_of(sentence.function)}: {prover.sentence(sentence.function)}")


def subsets(nodes, size):
    return [frozenset(c) for c in itertools.combinations(range(nodes), size)]


def words(value):
    if value is None:
        return "nothing"
    return "{" + ", ".join(map(str, sorted(value))) + "}" if isinstance(value, frozenset) else str(value)


THOROUGHLY_ONE_IN = 50      # in the end of these, the promises are looked at as well


def replay(text):
    """One trace. (steps of the proof, story or nothing)"""
    header, *lines = text.splitlines()
    taken = Counter()
    trace = Trace(header, taken)
    for line in lines:
        if line.startswith("marks "):
            *_, client, machine = line.partition(" ;")[0].split()
            if machine != "-":
                trace.machines[client] = "machine " + machine
    try:
        for line in lines:
            trace.take(line)
        if not trace.begun:
            raise NotAllowed("nothing happens in it")
        trace.end(hash_of(trace.seed) % THOROUGHLY_ONE_IN == 0)
    except NotAllowed as e:
        return taken, len(lines), [f"schedule {trace.seed}, line {trace.number + 1}: {trace.last[-1] if trace.last else header}",
                                   f"  not allowed: {e}", "  before it:", *[f"    {line}" for line in trace.last[:-1]]]
    except (KeyError, ValueError, TypeError, IndexError) as e:
        return taken, len(lines), [f"schedule {trace.seed}, line {trace.number + 1}: {trace.last[-1] if trace.last else header}",
                                   f"  not a trace: {type(e).__name__}: {e}"]
    return taken, len(lines), []


def hash_of(seed):
    return int(seed) if seed.isdigit() else 0


def traces(files):
    for file in files:
        part = []
        with open(file) as lines:
            for line in lines:
                if line.startswith("schedule ") and part:
                    yield "".join(part)
                    part = []
                part.append(line)
        if part:
            yield "".join(part)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", metavar="FILE")
    parser.add_argument("--jobs", type=int, default=min(2, os.cpu_count() or 1), help="processes (default: 2)")
    parser.add_argument("--at-least", type=int, default=1, metavar="N", help="fail when there are fewer schedules")
    parser.add_argument("--stories", type=int, default=5, metavar="N", help="tell so many (default: 5)")
    parser.add_argument("--expect-red", action="store_true", help="fail unless a schedule is refused: these are of a mutant")
    options = parser.parse_args()
    begun, count, steps, taken, red = time.monotonic(), 0, 0, Counter(), 0
    with multiprocessing.Pool(options.jobs) as pool:
        for of_one, lines, story in pool.imap(replay, traces(options.files), chunksize=16):
            count, steps, taken = count + 1, steps + lines, taken + of_one
            if story:
                red += 1
                if red <= options.stories:
                    print("\n".join(story), flush=True)
    for t in P.transitions if not options.expect_red else ():
        print(f"  {taken[t.__name__]:>10}  {prover.name_of(t)}")
    used = sum(resource.getrusage(who).ru_utime + resource.getrusage(who).ru_stime for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    never = [prover.name_of(t) for t in P.transitions if not taken[t.__name__]]
    print(f"schedules={count} lines={steps} steps={sum(taken.values())} not_allowed={red} seconds={time.monotonic() - begun:.0f} cpu={used:.0f}")
    if never and not options.expect_red:
        print("no schedule has: " + ", ".join(never))
    if count < options.at_least:
        print(f"these are fewer than the {options.at_least} that there have to be")
    if options.expect_red:
        print(f"of a mutant: {'refused, as it must be' if red else 'NOTHING is refused'}")
        return 0 if red and count >= options.at_least else 1
    return 1 if red or count < options.at_least else 0


if __name__ == "__main__":
    sys.exit(main())
