#!/usr/bin/env python3
"""Writes a Promela model of a wait that is carried from one process to the next on a host, in a file: docs/proof.md, "The wait".

    carried.py losses=2 > carried.pml

One node that loses its memory, and what the rest of the proof needs of its admission: that every attempt that was in flight at the
last loss is over. Tokens and other nodes are left to fence_model.py.

  server     an id, and the mark in its record. FLUSHALL removes the mark and leaves the id. A restart gives another id, with no record or
             with that of an older state, which may have a mark.
  process    asks for the mark, and comes to an end whenever it likes: it is only an answer, and what it does with that.
  entry      a line of the file: this mark was seen at this id. There is no clock: the wait since then may be over as soon as all attempts
             that were in flight then are, and not before. Where the clock of the entry was another one, it says nothing.
  message    a request to mark, or to admit, may be executed late, again, or never.
"""
import sys

OPTIONS = {  # name: (default, meaning)
    "losses": (2, "how often the node loses its memory"),
    "attempts": (2, "in flight at a time"),
    "begins": (3, "attempts in all"),
    "entries": (3, "in the file; a new one takes the place of the oldest"),
    "reboots": (1, "how often the host of the processes restarts, and begins a new clock"),
    "compares_id": (1, "0, mutant: an entry is compared by its mark only"),
    "compares_mark": (1, "0, mutant: an entry is compared by its id only"),
    "compares_boot": (1, "0, mutant: an entry of another clock is read on this one"),
    "stamped": (1, "0, mutant: a request to mark that is executed again brings the same mark back"),
    "reach": (0, "1: instead of the promise, claim that no process ever admits the node with another one's entry"),
}


class Carried:
    def __init__(self, **options):
        for name, (default, _) in OPTIONS.items():
            setattr(self, name, options.pop(name, default))
        options.pop("carried", None)
        if options:
            raise ValueError("no such option: " + ", ".join(sorted(options)))
        self.lines = []

    def step(self, condition, effect):
        self.lines.append(f"  :: d_step {{ {condition} -> {effect} }}")

    def text(self):
        every = range(self.entries)
        self.lines = [f"byte id = 1, mark, older_mark, losses = {self.losses}, next = 1;",
                      "bit lost;                /* and not admitted since */",
                      "byte in_flight, at_loss;  /* attempts, a bit each: now, and those of them that were at the last loss */",
                      f"byte begins = {self.begins}, boot = 1;",
                      "byte said_id, said_mark; /* an answer that a process has not seen yet */",
                      "byte asked_id, asked_mark; /* a request to mark that was executed once */",
                      "byte admit_id, admit_mark; bit carried; /* a request to admit, and whether it rests on another process's entry */",
                      f"byte entry_id[{self.entries}], entry_mark[{self.entries}], entry_boot[{self.entries}], entry_waits[{self.entries}];",
                      "byte place, found;", "init {", "  do"]
        self.attempts_come_and_go(every)
        self.node_loses_its_memory()
        if self.reboots:
            self.step(f"boot <= {self.reboots}", "boot++; said_mark = 0; said_id = 0")
        self.node_is_marked()
        self.answer_is_seen(every)
        self.node_is_admitted()
        return "\n".join([*self.lines, "  od", "}"]) + "\n"

    def attempts_come_and_go(self, every):
        for a in range(self.attempts):
            bit = 1 << a
            self.step(f"begins > 0 && (in_flight & {bit}) == 0", f"in_flight = in_flight | {bit}; begins--")
            over = f"in_flight = in_flight & {255 - bit}; at_loss = at_loss & {255 - bit}"
            self.step(f"(in_flight & {bit}) != 0", over + "".join(f"; entry_waits[{e}] = entry_waits[{e}] & {255 - bit}" for e in every))

    def node_loses_its_memory(self):
        loss = "losses--; lost = 1; at_loss = in_flight; "
        self.step("losses > 0", loss + "mark = 0")
        self.step("losses > 0", loss + "id++; mark = 0")
        self.step("losses > 0 && older_mark > 0", loss + "id++; mark = older_mark")
        self.step("older_mark != mark", "older_mark = mark")

    def node_is_marked(self):
        said = "said_id = id; said_mark = mark; "
        self.step("lost && mark == 0 && losses + next < 9", f"mark = next; next++; {said} asked_id = id; asked_mark = mark")
        self.step("lost && mark > 0 && (said_id != id || said_mark != mark)", said)
        again = "next; next++" if self.stamped else "asked_mark"
        limit = "&& losses + next < 9" if self.stamped else ""
        self.step(f"lost && mark == 0 && asked_mark > 0 && asked_id == id {limit}", f"mark = {again}")

    def answer_is_seen(self, every):
        """A process notes what it saw, unless the file says it already; or finds that the wait is over, and asks to admit."""
        for e in every:
            same = [f"entry_mark[{e}] > 0"]
            if self.compares_id:
                same.append(f"entry_id[{e}] == said_id")
            if self.compares_mark:
                same.append(f"entry_mark[{e}] == said_mark")
            if self.compares_boot:
                same.append(f"entry_boot[{e}] == boot")
            over = f"entry_waits[{e}] == 0" if self.compares_boot else f"(entry_waits[{e}] == 0 || entry_boot[{e}] != boot)"
            self.step(f"said_mark > 0 && {' && '.join(same)} && {over}",
                      "admit_id = said_id; admit_mark = said_mark; carried = 1; said_mark = 0; said_id = 0")
        known = " || ".join(f"(entry_id[{e}] == said_id && entry_mark[{e}] == said_mark && entry_boot[{e}] == boot)" for e in every)
        self.step(f"said_mark > 0 && !({known})",
                  "entry_id[place] = said_id; entry_mark[place] = said_mark; entry_boot[place] = boot; entry_waits[place] = in_flight; "
                  f"place = (place + 1) % {self.entries}; said_mark = 0; said_id = 0")

    def node_is_admitted(self):
        promise = "assert(!carried || losses > 0)" if self.reach else "assert(at_loss == 0)"
        self.step("lost && mark > 0 && admit_id == id && admit_mark == mark", f"{promise}; lost = 0; mark = 0")


if __name__ == "__main__":
    if any(word in ("-h", "--help") for word in sys.argv[1:]):
        print(__doc__)
        for name, (default, meaning) in OPTIONS.items():
            print(f"    {name}={default:<3} {meaning}")
        sys.exit(0)
    print(Carried(**{name: int(value) for name, value in (word.split("=") for word in sys.argv[1:])}).text(), end="")
