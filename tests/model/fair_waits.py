#!/usr/bin/env python3
"""What a queue on the nodes would give those who wait: a simulation in virtual time. benchmarks/decisions.md, "The servers have no queue".

    fair_waits.py [--seconds S] [--seed N]        prints the table; about a minute

Three nodes, processes that want the lock again and again, each message with a delay of its own. Two ways to wait:

  race    who was refused is told of the release by the nodes, and asks when two of three have told it. Who is first has it. What is no majority
          is undone, and repeated after a random delay. (The rules of src/quorum/waiting/fairness.cpp are not here: what they give was measured with the
          real thing, `waiting fair` of `make bench-waiting`.)
  queue   each node keeps a queue, in the order of tickets on which a majority agreed, and grants only to the first; a release tells that one. The
          first of the queue that is dead is passed over when its sign of life has ended.

Overtaken: acquisitions before which another process, that still waits, had been refused by all nodes before the first request was sent.
"""
import argparse
import heapq
import random
import statistics
import sys

NODES, MAJORITY = 3, 2
SIGN_OF_LIFE = 3000.0       # ms, how long it lasts
POLL = 500.0                # ms, after which somebody who was told nothing asks again


class World:
    def __init__(self, way, processes, hold, one_way, think, deaths, far, seconds, seed):
        self.way, self.hold, self.one_way, self.think, self.deaths = way, hold, one_way, think, deaths
        self.chance, self.now, self.end, self.events, self.count = random.Random(seed), 0.0, seconds * 1000.0, [], 0
        self.holder = [None] * NODES
        self.queue = [[] for _ in range(NODES)]             # of (ticket, process)
        self.processes = [Process(self, i) for i in range(processes)]
        self.processes[0].one_way *= far
        self.waits, self.overtaken, self.idle, self.freed = [], 0, [], None

    def later(self, delay, what, *arguments):
        self.count += 1
        heapq.heappush(self.events, (self.now + delay, self.count, what, arguments))

    def message(self, of, what, *arguments):
        self.later(of.one_way * (0.7 + self.chance.expovariate(1 / 0.6)), what, *arguments)

    def run(self):
        for p in self.processes:
            self.later(self.chance.random() * (self.hold + self.think), p.wants)
        while self.events and self.now < self.end:
            self.now, _, what, arguments = heapq.heappop(self.events)
            what(*arguments)
        return self

    # ---- nodes ----

    def first_of(self, n):
        live = [entry for entry in self.queue[n] if entry[1].dead_since is None or self.now < entry[1].dead_since + SIGN_OF_LIFE]
        self.queue[n] = sorted(live)
        return live and self.queue[n][0][1]

    def is_asked(self, n, p, attempt, ticket):
        if self.way == "queue":
            place = next((entry for entry in self.queue[n] if entry[1] is p), None)
            if place is None or ticket and place[0] != ticket:
                self.queue[n] = [entry for entry in self.queue[n] if entry[1] is not p]
                self.queue[n].append((ticket or max([entry[0] for entry in self.queue[n]], default=0) + 1, p))
            place = next(entry for entry in self.queue[n] if entry[1] is p)[0]
            granted = self.holder[n] is None and self.first_of(n) is p
        else:
            place, granted = 0, self.holder[n] is None
        if granted:
            self.holder[n] = (p, attempt)
        self.message(p, p.is_answered, n, attempt, granted, place)

    def is_released(self, n, p, attempt):
        if self.holder[n] == (p, attempt):
            self.holder[n] = None
            self.tell(n, p)

    def leaves(self, n, p):
        self.queue[n] = [entry for entry in self.queue[n] if entry[1] is not p]

    def tell(self, n, p):
        if self.way == "queue":
            first = self.first_of(n)
            if first and first.dead_since is not None:      # the one behind it is told when its sign of life has ended
                self.later(first.dead_since + SIGN_OF_LIFE - self.now, self.tell, n, p)
            elif first and self.holder[n] is None:
                self.message(first, first.is_told, n)
        else:
            for q in self.processes:
                if q is not p and q.waits_since is not None:
                    self.message(q, q.is_told, n)


class Process:
    def __init__(self, world, number):
        self.world, self.number, self.attempt = world, number, 0
        self.waits_since = self.refused_at = self.dead_since = None
        self.asking, self.answers, self.told, self.ticket = False, {}, {}, 0
        self.racing, self.places, self.one_way = False, {}, world.one_way

    def __lt__(self, other):
        return self.number < other.number

    def wants(self):
        self.waits_since, self.refused_at, self.ticket, self.places = self.world.now, None, 0, {}
        self.asks()

    def asks(self):
        if self.asking or self.waits_since is None or self.dead_since is not None:
            return
        self.asking, self.racing, self.answers, self.told, self.attempt = True, False, {}, {}, self.attempt + 1
        for n in range(NODES):
            self.world.message(self, self.world.is_asked, n, self, self.attempt, self.ticket)

    def is_answered(self, n, attempt, granted, place):
        if attempt != self.attempt or not self.asking or self.dead_since is not None:
            return
        self.answers[n] = granted
        if self.world.way == "queue" and not self.ticket:
            self.places[n] = place
        if sum(self.answers.values()) >= MAJORITY:
            self.asking = False
            self.has_it()
        elif len(self.answers) == NODES:
            self.asking = False
            self.is_refused()

    def is_refused(self):
        world, grants = self.world, sum(self.answers.values())
        if self.refused_at is None:
            self.refused_at = world.now
        world.later(POLL, self.polls, self.attempt)
        for n, granted in self.answers.items():
            if granted:
                world.message(self, world.is_released, n, self, self.attempt)
        if world.way == "queue" and not self.ticket:
            self.ticket = max(self.places.values())
            if len(set(self.places.values())) > 1:
                return self.asks()
        if grants or world.way == "queue" and len(self.told) >= MAJORITY:
            world.later(world.chance.uniform(0.5, 3) * world.one_way, self.asks)

    def polls(self, attempt):
        if attempt == self.attempt and not self.asking and self.dead_since is None:
            self.asks()

    def is_told(self, n):
        self.told[n] = self.world.now
        fresh = [n for n, at in self.told.items() if self.world.way == "queue" or self.world.now - at <= 4 * self.one_way]
        if len(fresh) < MAJORITY or self.asking or self.racing:
            return
        self.racing = True
        late = 0.0 if self.world.way == "queue" else self.world.chance.random() * 4 * self.world.one_way
        self.world.later(late, self.asks)

    def has_it(self):
        world, now = self.world, self.world.now
        world.waits.append(now - self.waits_since)
        if world.freed is not None:
            world.idle.append(now - world.freed)
        world.freed = None
        began = self.waits_since
        others = [q for q in world.processes if q is not self and q.waits_since is not None and q.dead_since is None]
        world.overtaken += any(q.refused_at is not None and q.refused_at < began for q in others)
        self.waits_since = None
        if world.way == "queue":
            for n in range(NODES):
                world.message(self, world.leaves, n, self)
        world.later(world.hold, self.releases)

    def releases(self):
        world = self.world
        world.freed = world.now
        for n in range(NODES):
            world.message(self, world.is_released, n, self, self.attempt)
        out = 4 * world.one_way if world.way == "race" else 0.0      # or it would always be first
        world.later(max(out, world.chance.expovariate(1 / world.think) if world.think else 0.0), self.wants)
        victim = world.processes[world.chance.randrange(len(world.processes))]
        if world.deaths and world.chance.random() < world.deaths and victim.waits_since is not None and victim.dead_since is None:
            victim.dead_since = world.now      # and comes back as another process
            world.later(2 * SIGN_OF_LIFE, victim.begins_anew)

    def begins_anew(self):
        for n in range(NODES):
            self.world.leaves(n, self)
        self.dead_since, self.asking, self.racing = None, False, False
        self.attempt += 1
        self.wants()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=120.0, help="of virtual time, for each row")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    print(f"{'':12} {'turns/s':>8} {'mean wait':>10} {'longest/mean':>13} {'overtaken':>10} {'release to next':>16}")
    for words, processes, one_way, think, deaths, far in (
            ("8 processes, RTT 0.2 ms", 8, 0.1, 0, 0, 1),
            ("8 processes, RTT 5 ms", 8, 2.5, 0, 0, 1),
            ("32 processes, RTT 0.2 ms", 32, 0.1, 0, 0, 1),
            ("8 processes that do something else for 40 ms", 8, 0.1, 40, 0, 1),
            ("8 processes, one of them 40 ms away", 8, 0.1, 0, 0, 200),
            ("8 processes, somebody who waits dies after one in 200 turns", 8, 0.1, 0, 0.005, 1)):
        print(words)
        for way in ("race", "queue"):
            w = World(way, processes, 10.0, one_way, think, deaths, far, options.seconds, options.seed).run()
            mean = statistics.fmean(w.waits)
            print(f"  {way:10} {len(w.waits) / options.seconds:8.1f} {mean:7.1f} ms {max(w.waits) / mean:13.1f} "
                  f"{w.overtaken / len(w.waits):9.1%} {statistics.fmean(w.idle):13.2f} ms", flush=True)


if __name__ == "__main__":
    sys.exit(main())
