#!/usr/bin/env python3
"""Writes a Promela model of one group: a primary and its replicas that fail over. docs/proof.md, "Failover of a replicated group".

    group.py servers=3 acks=1 failovers=2 > group.pml       `group.py --help` lists the options

  server     primary or replica. Its era is the id under which it is primary; a replica's era is that of the primary it follows, so primaries
             only become newer for it. Any replica may be promoted at any time, and gets the next era. Nobody tells the old primary: it keeps
             its replicas and its clients until it is demoted, which may be never.
  data       the id in the record, the key with what is left of its ttl, and the counter. They are replicated in order: a replica has what its
             primary had at some moment. A replica takes over the primary's present state in one step, and acknowledges with it what is
             waited for there; replicas that do not are behind.
  client     one of two, with one request at a time, to any primary: it acquires, or extends what it holds. The request becomes a vote when
             `acks` replicas have acknowledged it. The lease counts from the request.
  admission  a primary whose record has another id is marked; the drain begins when `acks` replicas have acknowledged the mark.
  time       ticks, the same for all. All deadlines are ticks that are left, so a search has no last moment.

A message that is late or lost: the request is executed at once, and given up at any time. One that is executed later than it was sent makes a
lease that is shorter, as if the client had given it up earlier. A late acknowledgement of the mark makes a longer drain.
"""
import sys

from group_writer import OPTIONS, GroupWriter

CLIENTS = range(2)


class Group(GroupWriter):
    def steps(self):
        self.say("  /* ---- time ---- */")
        self.tick()
        for x in self.all_servers():
            self.say(f"  /* ---- server {x} ---- */")
            self.is_promoted(x)
            self.restarts(x)
            for y in self.all_servers():
                if x != y:
                    self.replicates(x, y)
                    self.follows_another(x, y)
            self.is_drained(x)
            for c in CLIENTS:
                self.asks(c, x)
                self.releases(c, x)
        for c in CLIENTS:
            self.say(f"  /* ---- client {c} ---- */")
            self.is_answered(c)
            self.gives_up(c)

    # ---- time ----

    def tick(self):
        effect = ""
        for x in self.all_servers():
            effect += f"if :: left[{x}] > 1 -> left[{x}]-- :: left[{x}] == 1 -> {self.key_vanishes(x)}:: else fi; "
            effect += f"timer[{x}] = timer[{x}] - (timer[{x}] > 0); "
        for c in CLIENTS:
            effect += f"lease[{c}] = lease[{c}] - (lease[{c}] > 0); "
            effect += f"if :: asked[{c}] > 1 -> asked[{c}]-- :: asked[{c}] == 1 -> {self.request_ends(c)}:: else fi; "
        self.step("true", effect)

    # ---- servers ----

    def is_promoted(self, x):
        """Whatever it has. What it acknowledged before is not taken back."""
        effect = f"prim[{x}] = 1; era[{x}] = next; next++; {self.acknowledgements_end(x)}"
        if self.ahead:
            effect += f"if :: left[{x}] > 1 -> left[{x}]-- :: left[{x}] == 1 -> {self.key_vanishes(x)}:: else fi; "
        self.step(f"!prim[{x}] && next <= 1 + {self.failovers}", effect)

    def restarts(self, x):
        """A primary's restart gives another id. It is counted as a failover. What a server has on its disk it keeps; a replica that restarts with all
        that it had acknowledged is only one that is behind, which takes no step."""
        if self.restart:
            again = f"prim[{x}] && next <= 1 + {self.failovers}"
            effect = f"{self.requests_end_at(x)}{self.wait_ends(x)}era[{x}] = next; next++; " + f"shown[{x}] = 0; " * self.skip
            self.step(again, effect)
            if not self.fsync:
                self.step(f"{again} && losses > 0", f"losses--; {effect}{self.forgets(x)}")
        if self.losses and not self.fsync:
            self.step(f"!prim[{x}] && losses > 0", f"losses--; {self.forgets(x)}" + f"shown[{x}] = 0; " * self.skip)
            if self.skip:       # an older file, with the record, and without what came later
                older = f"losses--; {self.key_vanishes(x)}" + f"counter[{x}] = 0; " * self.tokens
                self.step(f"!prim[{x}] && losses > 0", older + ("" if self.id_in_file else f"shown[{x}] = 0; "))
        if self.old_configuration:                  # not its data: whom it follows
            for y in self.all_servers():
                if x != y:
                    self.step(f"losses > 0 && !prim[{x}] && prim[{y}] && era[{y}] < era[{x}]",
                              f"losses--; era[{x}] = era[{y}]; {self.acknowledgements_end(x)}")

    def replicates(self, x, y):
        """Replica x takes over what its primary y has, and acknowledges it."""
        effect = "".join(f"{v}[{x}] = {v}[{y}]; " for v in self.replicated)
        if self.skip:
            effect += f"shown[{x}] = era[{y}]; "
        for c in CLIENTS:
            effect += (f"if :: op[{self.at(c, y)}] && !acked[{self.at(c, x)}] -> acked[{self.at(c, x)}] = 1; "
                       f"count[{c}] = count[{c}] + (count[{c}] < {self.enough}) :: else fi; ")
        effect += f"if :: phase[{y}] == MARKED && !saw[{x}] -> saw[{x}] = 1; marks[{y}] = marks[{y}] + (marks[{y}] < {self.enough}) :: else fi; "
        news = " || ".join([f"{v}[{x}] != {v}[{y}]" for v in self.replicated] + [f"phase[{y}] == MARKED && !saw[{x}]"]
                           + [f"op[{self.at(c, y)}] && !acked[{self.at(c, x)}]" for c in CLIENTS] + [f"shown[{x}] != era[{y}]"] * self.skip)
        self.step(f"!prim[{x}] && prim[{y}] && era[{x}] == era[{y}] && ({news})", effect)

    def follows_another(self, x, y):
        """A replica is told of another primary, or a primary that it is none any more. It has its own data until it replicates."""
        newer = "true" if self.back else f"era[{y}] > era[{x}]"
        self.step(f"!prim[{x}] && prim[{y}] && era[{x}] != era[{y}] && {newer}",
                  f"era[{x}] = era[{y}]; {self.acknowledgements_end(x)}")
        shown = f"shown[{x}] = era[{x}]; " if self.skip else ""
        self.step(f"prim[{x}] && prim[{y}] && era[{y}] > era[{x}]",
                  f"{self.requests_end_at(x)}{self.wait_ends(x)}{shown}prim[{x}] = 0; era[{x}] = era[{y}]; ")

    # ---- marks, drains, admission ----

    def is_drained(self, x):
        forgot = f"prim[{x}] && rec[{x}] != era[{x}]"
        admitted = f"rec[{x}] = era[{x}]; {self.wait_ends(x)}" + self.base_is_written(x)
        if self.skip:
            same = f" && rec[{x}] > 0" + f" && shown[{x}] == rec[{x}]" * self.same_id
            self.step(forgot + same, admitted)
        if self.drain != 1:
            if not self.drain:
                self.step(forgot, admitted)
            return
        begins = f"phase[{x}] = DRAINING; timer[{x}] = {self.drain_ticks}; "
        if self.wait_mark:
            self.step(f"{forgot} && phase[{x}] == 0", f"phase[{x}] = MARKED; ")
            self.step(f"phase[{x}] == MARKED && {self.marked_by_enough(x)}", f"{self.wait_ends(x)}{begins}")
        else:
            self.step(f"{forgot} && phase[{x}] == 0", begins)
        self.step(f"phase[{x}] == DRAINING && timer[{x}] == 0", admitted)

    # ---- clients ----

    def asks(self, c, x):
        """A server that is not admitted refuses. The id that the client is bound to is the era: a request is over when that ends."""
        condition = f"prim[{x}] && rec[{x}] == era[{x}] && asked[{c}] == 0"
        sets = f"owner[{x}] = {c + 1}; left[{x}] = {self.ttl}; asked[{c}] = {self.ttl}; op[{self.at(c, x)}] = 1; "
        acquires = f"{condition} && lease[{c}] == 0 && owner[{x}] == 0"
        if self.tokens:
            self.step(f"{acquires} && attempts > 0",
                      f"attempts--; counter[{x}]++; token[{c}] = counter[{x}]; before[{c}] = largest; fresh[{c}] = 1; "
                      f"given = MAX(given, counter[{x}]); {sets}")
        else:
            self.step(acquires, sets)
        heard = f"count[{c}] = {self.acks}; " if self.earlier_acks else ""
        guard = f" && counter[{x}] <= token[{c}]" if self.tokens else ""
        self.step(f"{condition} && lease[{c}] > 0 && (owner[{x}] == 0 || owner[{x}] == {c + 1}){guard}", sets + heard)

    def is_answered(self, c):
        """The promises. A lease that is extended has its token already."""
        done = f"lease[{c}] = MAX(lease[{c}], asked[{c}]); {self.request_ends(c)}"
        if self.reach:
            later = " || ".join(f"(op[{self.at(c, x)}] && era[{x}] == {self.failovers} + 1)" for x in self.all_servers())
            first = f"assert(!({later}) || !held); held = 1; "
        else:
            first = f"assert(lease[{1 - c}] == 0); "
            if self.tokens:
                first += (f"if :: fresh[{c}] -> assert(token[{c}] > before[{c}]); assert(!(taken & (1 << token[{c}]))); "
                          f"taken = taken | (1 << token[{c}]); largest = MAX(largest, token[{c}]) :: else fi; ")
        self.step(f"asked[{c}] > 0 && count[{c}] >= {self.acks_of(c)}", first + done)

    def gives_up(self, c):
        self.step(f"asked[{c}] > 0", self.request_ends(c))
        self.step(f"lease[{c}] > 0", f"lease[{c}] = 0; {self.request_ends(c)}")

    def releases(self, c, x):
        """What it gave up, also at an old primary; never waited for. (A value belongs to one attempt, so no other one is released.)"""
        self.step(f"prim[{x}] && owner[{x}] == {c + 1} && lease[{c}] == 0 && asked[{c}] == 0", self.key_vanishes(x))


def main(arguments):
    if not arguments or "--help" in arguments:
        print(__doc__)
        for name, (default, meaning) in OPTIONS.items():
            print(f"  {name}={default:<4} {meaning}")
        return
    print(Group(**{k: int(v) for k, v in (argument.split("=", 1) for argument in arguments)}).text(), end="")


if __name__ == "__main__":
    main(sys.argv[1:])
