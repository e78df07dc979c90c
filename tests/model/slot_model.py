#!/usr/bin/env python3
"""Writes a Promela model of a slot of a Redis Cluster that moves between two groups: two leases on a lock of the slot are never valid at once.
docs/proof.md, "Slots of a Redis Cluster".

    slot_model.py moves=2 losses=1 > slot.pml       `slot_model.py --help` lists the options

  group      one of two, each as the claim about failovers leaves it: a node that may lose its data and then has another id. What a loss leaves is the record
             and the key, or one of them, or nothing.
  slot       has an owner. While it moves, its keys go one by one, and the owner executes only what has all its keys there (ASK, TRYAGAIN). The slot is
             given away when no key is left. It may come back.
  record     the id of the group that was admitted, and whether it is marked
  client     one of two. It acquires at the owner if the record has the owner's id, or extends what it holds. A request that is executed later makes a shorter
             lease.
  admission  an owner whose id is not in the record is marked. The drain begins with that, and once more if the slot has moved. The mark takes the old id
             out of the record.
  time       ticks, the same for all; what is left of each deadline
"""
import sys

OPTIONS = {  # name: (default, meaning)
    "moves": (2, "how many times the slot moves"),
    "losses": (1, "how many times a group loses data"),
    "ttl": (3, "of a lease, and the largest, in ticks"),
    "drain": (0, "ticks less than the largest ttl: a mutant"),
    "identity": (1, "0, mutant: the owner does not compare the record with its id"),
    "asks": (1, "0, mutant: what is missing while the slot moves counts as free"),
    "takes_id": (1, "0, mutant: a mark leaves the old id in the record"),
    "unseen": (0, "1, not assumed: a slot may come back to the group whose id is in the record after a loss that nobody has seen"),
    "forced": (0, "1, not assumed: the slot is given away with keys in it, and the old owner is not told"),
    "reach": (0, "1: instead of the promise, claim that no lease is acquired after the slot has moved"),
}

GROUPS = (0, 1)
CLIENTS = (0, 1)


class Slot:
    def __init__(self, **options):
        options.pop("slot", None)
        unknown = set(options) - set(OPTIONS)
        if unknown:
            raise ValueError("no such option: " + ", ".join(sorted(unknown)))
        for name, (default, _) in OPTIONS.items():
            setattr(self, name, options.get(name, default))
        self.lines = []

    def say(self, text):
        self.lines.append(text)

    def step(self, guard, effect):
        self.say(f"  :: d_step {{ {guard} -> {effect} }}")

    def text(self):
        self.lines = []
        self.say("#define NONE 0          /* record[group]: there is none. 1, 2, ...: the id of a group */")
        self.say("#define TAKEN 15        /* a mark has taken the id */")
        self.say("byte id[2]; byte record[2]; bool marked[2]; byte timer[2]; bool unseen;     /* a key was lost where no record says so */")
        self.say("byte key[2]; byte left[2]; byte lease[2];      /* key: 0 is free, 1 and 2 are the clients' values */")
        self.say("byte owner; bool moving; byte next = 3; byte moved; byte lost; bool serves[2];")
        self.say("active proctype world() {")
        self.say("  id[0] = 1; id[1] = 2; record[0] = 1; serves[0] = 1;")
        self.say("  do")
        self.tick()
        for g in GROUPS:
            self.migrates(g)
            self.loses(g)
            self.is_marked(g)
            self.is_admitted(g)
            for c in CLIENTS:
                self.acquires(c, g)
                self.extends(c, g)
                self.releases(c, g)
        self.say("  od")
        self.say("}")
        return "\n".join(self.lines) + "\n"

    def tick(self):
        effect = "".join(f"if :: left[{g}] > 1 -> left[{g}]-- :: left[{g}] == 1 -> left[{g}] = 0; key[{g}] = 0 :: else fi; "
                         f"timer[{g}] = timer[{g}] - (timer[{g}] > 0); " for g in GROUPS)
        effect += "".join(f"lease[{c}] = lease[{c}] - (lease[{c}] > 0); " for c in CLIENTS)
        self.step("true", effect)

    # ---- the slot ----

    def migrates(self, g):
        """Key by key, the record or the lock first. What moves takes the rest of its ttl with it; a drain does not count where it came from."""
        to = 1 - g
        self.step(f"owner == {g} && !moving && moved < {self.moves}", "moving = 1; moved++")
        back = "true" if self.unseen else f"!(unseen && record[{to}] == id[{to}])"
        self.step(f"owner == {g} && moving && record[{g}] != NONE",
                  f"record[{to}] = record[{g}]; record[{g}] = NONE; marked[{to}] = 0; marked[{g}] = 0; ")
        self.step(f"owner == {g} && moving && key[{g}] != 0",
                  f"key[{to}] = key[{g}]; left[{to}] = left[{g}]; key[{g}] = 0; left[{g}] = 0; ")
        given = f"owner = {to}; moving = 0; serves[{to}] = 1; "
        self.step(f"owner == {g} && moving && record[{g}] == NONE && key[{g}] == 0 && {back}", given + f"serves[{g}] = 0; ")
        if self.forced:
            self.step(f"owner == {g} && moving", given)

    def loses(self, g):
        """Another id, and any part of what was there: keys that came last, or all of them. Nobody has seen it as long as nobody marks the record. The
        slot does not come back then to the group whose id is in the record."""
        end = f"id[{g}] = next; next++; lost++; marked[{g}] = 0; "
        seen = f"unseen = unseen || record[{1 - g}] == id[{1 - g}] || record[{g}] == id[{1 - g}]; "
        self.step(f"lost < {self.losses}", end + seen)
        self.step(f"lost < {self.losses} && key[{g}] != 0", end + f"key[{g}] = 0; left[{g}] = 0; " + seen)
        self.step(f"lost < {self.losses} && record[{g}] != NONE", end + f"record[{g}] = NONE; " + seen)
        self.step(f"lost < {self.losses} && record[{g}] != NONE && key[{g}] != 0",
                  end + f"record[{g}] = NONE; key[{g}] = 0; left[{g}] = 0; " + seen)

    # ---- admission ----

    def is_marked(self, g):
        """A server that has no record is marked, too: while the slot moves it answers TRYAGAIN instead."""
        keeps = f"if :: record[{g}] == NONE -> record[{g}] = TAKEN :: else fi; "
        taken = f"record[{g}] = TAKEN; " if self.takes_id else keeps
        self.step(f"serves[{g}] && record[{g}] != id[{g}] && !marked[{g}] && (!moving || record[{g}] != NONE)",
                  taken + f"marked[{g}] = 1; unseen = 0; timer[{g}] = {self.ttl - self.drain}; ")

    def is_admitted(self, g):
        self.step(f"serves[{g}] && marked[{g}] && timer[{g}] == 0", f"record[{g}] = id[{g}]; marked[{g}] = 0; ")

    # ---- clients ----

    def votes(self, g):
        return f"serves[{g}]" + (f" && record[{g}] == id[{g}]" if self.identity else "")

    def acquires(self, c, g):
        whole = f" && !(moving && owner == {g})" if self.asks else ""
        other = 1 - c
        claim = "assert(moved == 0 || moving); " if self.reach else f"assert(lease[{other}] == 0); "
        self.step(f"{self.votes(g)}{whole} && key[{g}] == 0 && lease[{c}] == 0",
                  f"key[{g}] = {c + 1}; left[{g}] = {self.ttl}; lease[{c}] = {self.ttl}; {claim}")

    def extends(self, c, g):
        """A key that is there has its record there, or the owner refuses. A missing key is set again by the same rules as a free one, so it is left out."""
        self.step(f"{self.votes(g)} && key[{g}] == {c + 1} && lease[{c}] > 0",
                  f"left[{g}] = {self.ttl}; lease[{c}] = {self.ttl}; ")

    def releases(self, c, g):
        self.step(f"serves[{g}] && key[{g}] == {c + 1} && lease[{c}] > 0", f"key[{g}] = 0; left[{g}] = 0; lease[{c}] = 0; ")


if __name__ == "__main__":
    if "--help" in sys.argv:
        print(__doc__)
        for option, (default, meaning) in OPTIONS.items():
            print(f"  {option:10} {default:>3}   {meaning}")
        sys.exit(0)
    print(Slot(**{k: int(v) for k, v in (a.split("=") for a in sys.argv[1:])}).text())
