"""What group.py writes its steps with: options, state variables, small effects, and the symmetry reduction between servers."""
OPTIONS = {  # name: (default, meaning)
    "servers": (3, "the primary and its replicas, S"),
    "acks": (-1, "replicas that acknowledge a vote, a mark, an admission, k; -1: S/2"),
    "failovers": (1, "promotions in all, and restarts of a primary"),
    "ttl": (2, "of a lease, in ticks"),
    "drain": (1, "0, mutant: a promoted server is admitted at once; 2: only by skip"),
    "drain_ticks": (-1, "how long it lasts; -1: ttl; less: mutant"),
    "wait_mark": (1, "0, mutant: the drain begins when the promoted server is first seen"),
    "back": (0, "1, mutant: a replica may go back to an older primary"),
    "old_configuration": (0, "1, mutant: a replica may restart with the configuration of before, and follow the primary of then"),
    "earlier_acks": (0, "1, mutant: an extension counts acknowledgements of what was written before it"),
    "other_acks": (-1, "the second client waits for so many, and is not refused; -1: for as many as all; less: mutant"),
    "found_acks": (-1, "where no record is left, a mark waits for so many; -1: as anywhere; less: mutant"),
    "restart": (0, "1: a primary may restart"),
    "losses": (0, "how many servers restart without their memory (with old_configuration: with an old one)"),
    "fsync": (0, "1: what was acknowledged is on disk, so that no restart loses it"),
    "tokens": (0, "1: leases have tokens, and these are in order"),
    "attempts": (3, "with tokens: acquires in all"),
    "clock": (0, "1: the base of an admission is above every token that was ever given (a wall clock); 0: what the server has"),
    "skip": (0, "1: admitted without a drain if the id in the record is master_replid2"),
    "same_id": (1, "0: whatever master_replid2 is"),
    "id_in_file": (0, "1: a replica that restarts with an older file shows the id of before"),
    "ahead": (0, "1: the wall clock of a promoted server is a tick ahead of the old primary's"),
    "sorted": (1, "0: no symmetry reduction between servers"),
    "reach": (0, "1: instead of the promises, claim that no lease follows another one after the last failover"),
}
CLIENTS = range(2)


class GroupWriter:
    def __init__(self, **options):
        options.pop("group", None)
        unknown = set(options) - set(OPTIONS)
        if unknown:
            raise ValueError("no such option: " + ", ".join(sorted(unknown)))
        for name, (default, _) in OPTIONS.items():
            setattr(self, name, options.get(name, default))
        self.acks = self.servers // 2 if self.acks < 0 else self.acks
        self.drain_ticks = self.ttl if self.drain_ticks < 0 else self.drain_ticks
        self.enough = max(self.acks, self.other_acks)
        self.described = ", ".join(f"{k}={v}" for k, v in options.items())
        self.replicated = ["rec", "owner", "left"] + ["counter"] * self.tokens
        self.lines = []

    def text(self):
        self.say(f"/* {self.described or 'all defaults'} */")
        self.say("#define MAX(a, b) ((a) > (b) -> (a) : (b))")
        self.say("#define MARKED 1     /* the mark is written, and waits for acknowledgements */")
        self.say("#define DRAINING 2")
        self.declare()
        self.write_tidy()
        self.say("init {")
        start = "prim[0] = 1; " + "".join(f"era[{x}] = 1; rec[{x}] = 1; " for x in self.all_servers())
        start += "".join(f"shown[{x}] = {min(x, 1)}; " for x in self.all_servers() if self.skip)
        self.say(f"  d_step {{ {start}{'tidy()' if self.sorted else ''} }}")
        self.say("  do")
        self.steps()
        self.say("  od")
        self.say("}")
        return "\n".join(self.lines) + "\n"

    # ---- small vocabulary ----

    def all_servers(self):
        return range(self.servers)

    def at(self, c, x):
        return c * self.servers + x

    def acks_of(self, c):
        return self.other_acks if c == 1 and self.other_acks >= 0 else self.acks

    def marked_by_enough(self, x):
        enough = f"marks[{x}] >= {self.acks}"
        return enough if self.found_acks < 0 else f"({enough} || (rec[{x}] == 0 && marks[{x}] >= {self.found_acks}))"

    def base_is_written(self, x):
        """Without a clock the base is what the server has."""
        return f"counter[{x}] = MAX(counter[{x}], given); " if self.tokens and self.clock else ""

    @staticmethod
    def key_vanishes(x):
        return f"owner[{x}] = 0; left[{x}] = 0; "

    def forgets(self, x):
        return "".join(f"{v}[{x}] = 0; " for v in self.replicated)

    def request_ends(self, c):
        """What a request leaves in the client: nothing. What it wrote stays."""
        text = f"asked[{c}] = 0; count[{c}] = 0; "
        if self.tokens:
            text += f"fresh[{c}] = 0; before[{c}] = 0; "
        return text + "".join(f"op[{self.at(c, x)}] = 0; acked[{self.at(c, x)}] = 0; " for x in self.all_servers())

    def requests_end_at(self, x):
        """The server is no primary any more, or has another id: nothing that waits there becomes a vote."""
        return "".join(f"if :: op[{self.at(c, x)}] -> {self.request_ends(c)}:: else fi; " for c in CLIENTS)

    def wait_ends(self, x):
        seen = "".join(f"if :: era[{y}] == era[{x}] -> saw[{y}] = 0 :: else fi; " for y in self.all_servers())
        return f"phase[{x}] = 0; timer[{x}] = 0; marks[{x}] = 0; {seen}"

    def acknowledgements_end(self, x):
        """A replica leaves. What it has acknowledged stays counted (`count`, `marks`), as that answer may be on its way."""
        return f"saw[{x}] = 0; " + "".join(f"acked[{self.at(c, x)}] = 0; " for c in CLIENTS)

    # ---- writing ----

    def say(self, text=""):
        self.lines.append(text)

    def step(self, condition, effect):
        self.say(f"  :: d_step {{ {condition} -> {effect}{' tidy()' if self.sorted else ''} }}")

    def columns(self):
        """Variables of a server, with their widths in bits."""
        widths = [("prim", 1), ("era", 3), ("rec", 3), ("owner", 2), ("left", 2), ("phase", 2), ("timer", 2), ("marks", 2), ("saw", 1)]
        widths += [("counter", 3)] * self.tokens + [("shown", 3)] * self.skip
        return widths

    def declare(self):
        one_bit = {"prim", "saw"}
        for name, _ in self.columns():
            self.say(f"{'bit' if name in one_bit else 'byte'} {name}[{self.servers}];")
        self.say(f"bit op[{2 * self.servers}];       /* [client * {self.servers} + server]: the client's request was executed here */")
        self.say(f"bit acked[{2 * self.servers}];    /* and this replica has acknowledged it */")
        self.say("byte asked[2], count[2], lease[2], next = 2;")
        if self.tokens:
            self.say(f"byte token[2], before[2], largest, given, attempts = {self.attempts}; short taken; bit fresh[2];")
        if self.losses:
            self.say(f"byte losses = {self.losses};")
        if self.reach:
            self.say("bit held;")
        self.say("byte swap;")

    def write_tidy(self):
        """Symmetry: servers are put in order by content, by as much of it as 31 bits hold."""
        if not self.sorted:
            return
        for x in self.all_servers():
            packed, width = "", 0
            bits = [(f"{name}[{x}]", b) for name, b in self.columns()]
            bits += [(f"{name}[{self.at(c, x)}]", 1) for name in ("op", "acked") for c in CLIENTS]
            for name, b in bits:
                if width + b > 31:
                    break
                packed, width = (f"(({packed} << {b}) + {name})" if width else name), width + b
            self.say(f"#define CONTENT{x} ({packed})")
        self.say("inline tidy() {")
        for end in range(self.servers - 1, 0, -1):
            for x in range(end):
                pairs = [(f"{name}[{x}]", f"{name}[{x + 1}]") for name, _ in self.columns()]
                pairs += [(f"{name}[{self.at(c, x)}]", f"{name}[{self.at(c, x + 1)}]") for name in ("op", "acked") for c in CLIENTS]
                swaps = "".join(f"swap = {a}; {a} = {b}; {b} = swap; " for a, b in pairs)
                self.say(f"  if :: CONTENT{x} > CONTENT{x + 1} -> {swaps}:: else fi;")
        self.say("  swap = 0")
        self.say("}")
