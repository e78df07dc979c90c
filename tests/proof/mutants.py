"""What must not be proven: each mutant takes something away from a transition or an axiom (a switch there, by name). With it at least
one obligation must fail, with a counterexample to induction. `rows`: its counterparts in tests/model/run.py."""
from dataclasses import dataclass


@dataclass(frozen=True)
class Mutant:
    name: str
    words: str
    protocol: str
    rows: tuple = ()
    first: str = ""     # an obligation that is looked at before the others


MUTANTS = [
    Mutant("one-round", "a majority of answers is enough, whatever their counters", "tokens", ("one-round",)),
    Mutant("no-guard", "confirm does not look at the counter", "tokens",
           ("no-guard", "no-guard-three", "block-no-guard", "block-no-guard-three", "both-no-guard")),
    Mutant("value-again", "two attempts may have the same value", "tokens", ("value-again",), "kept by acquire: a key was set"),
    Mutant("two-of-four", "two quorums need not share a node", "tokens", ("two-of-four",), "promise"),
    Mutant("two-of-four-counted", "half of the nodes as a majority", "counting", ("two-of-four",)),
    Mutant("not-raised", "acquire answers the counter as it is (<= for <)", "tokens"),
    Mutant("block-by-one", "acquire steps up by one, and the block has more tokens", "tokens"),
    Mutant("extend-no-guard", "an extension does not look at the counter", "tokens", ("extend-no-guard",)),
    Mutant("recreate-no-guard", "a recreate does not look at the counter", "tokens", ("recreate-no-guard",)),
    Mutant("token-of-first", "acquire steps over the first name's counter only", "tokens", ("token-of-first",)),
    Mutant("key-of-first", "confirm compares the first name's value only", "tokens", ("key-of-first",)),
    Mutant("uneven", "a repeated acquire answers the largest of unequal counters", "tokens", ("uneven",)),
    Mutant("part-counts", "an extension of one name of several is a vote", "tokens", ("part-counts",)),
    Mutant("no-catch-up", "admitted without having read anything", "memory", ("no-catch-up",)),
    Mutant("one-too-few", "the nodes read need not share one with a majority", "memory", ("one-too-few", "one-too-few-n5"),
           "kept by sends an admission"),
    Mutant("one-too-few-counted", "ceil(N/2) - 1 nodes are read", "counting", ("one-too-few", "one-too-few-n5")),
    Mutant("no-drain", "admitted while attempts from before are in flight", "memory", ("no-drain",)),
    Mutant("late-admit", "an admission does not look at the mark, and comes after a second FLUSHALL", "memory", ("late-admit",)),
    Mutant("mark-again", "a mark is written twice", "memory", ("carried-mark-again",)),
    Mutant("carried-no-id", "a note of another process is compared by its mark only", "memory", ("carried-no-id",)),
    Mutant("carried-no-mark", "a note is compared by the server's id only", "memory", ("carried-no-mark",)),
    Mutant("carried-any-boot", "a note is read on another clock, and the wait seems to be over", "memory", ("carried-any-boot",)),
    Mutant("founded-without-drain", "a cluster is founded while attempts from before are in flight", "memory"),
    Mutant("founded-on-old-facts", "a cluster is founded by what the nodes said before the last drain was over", "memory"),
    Mutant("founded-by-some", "a cluster is founded although ceil(N/2) nodes may have their data", "memory"),
    Mutant("founding-clock-behind", "the clock that a new cluster begins with is behind tokens of before", "memory"),
    Mutant("word-is-wrong", "the operator says fresh, and something was locked", "memory"),
    Mutant("id-again", "a server gets an id again", "memory"),
    Mutant("no-base", "an extension looks at the counter, and not at the base", "memory", ("no-base",)),
    Mutant("acquire-no-base", "acquire steps over the counter, and not over the base", "memory"),
    Mutant("no-guard-after-loss", "confirm does not look at the counter, with losses", "memory"),
    Mutant("trailing-no-wait", "votes count before the trailing check", "memory", ("trailing-no-wait",)),
    Mutant("trailing-new-id", "an attempt changes to the new id", "memory", ("trailing-new-id",),
           "kept by confirm: votes at one node"),
    Mutant("climb-no-guard", "a climb does not look at the counter", "climb"),
    Mutant("climb-minority", "one node is enough to climb", "climb", first="kept by has climbed: no token"),
    Mutant("climb-too-soon", "an extension is sent with a guard that no majority has climbed to yet", "climb", first="asks to extend: rivals"),
    Mutant("climb-recreate-old", "a recreate compares with the new guard, and writes the old one", "climb", first="kept by recreate: counters"),
    Mutant("climb-again", "a climb counts where the counter is there already, as if it had been executed before", "climb"),
    Mutant("climb-no-guard", "a climb does not look at the counter, with losses", "climb-memory", first="kept by climb: votes"),
    Mutant("climb-minority", "one node is enough to climb, with losses", "climb-memory", first="kept by has climbed: no token"),
    Mutant("climb-recreate-old", "a recreate writes the old guard, with losses", "climb-memory", first="kept by recreate: admitted"),
    Mutant("climb-no-base", "a recreate under the new guard looks at the counter, and not at the base", "climb-memory",
           first="kept by recreate: no renewal"),
    Mutant("climb-mark-of-any", "an extension does not look for the mark", "climb-memory", first="kept by extend at a mark: no renewal"),
    Mutant("climb-mark-no-base", "an extension at a mark does not look at the base", "climb-memory", first="kept by extend at a mark: no renewal"),
    Mutant("climb-from-any-mark", "a climb starts from a mark that is above its goal", "climb-memory", first="kept by climb from a mark: votes"),
    Mutant("climb-not-drained", "a drain does not wait for climbs", "climb-memory", first="kept by ends to drain"),
    Mutant("climb-founding-behind", "the clock of a founding is behind a guard", "climb-memory", first="kept by founds"),
    Mutant("any-ttl", "a node grants any ttl", "ttl"),
    Mutant("own-ttl-only", "a drain waits for its client's own ttl, whatever the nodes allow", "ttl"),
    Mutant("longest-of-too-few", "the nodes that are asked for the longest ttl need not share one with a majority", "ttl"),
    Mutant("raised-during-the-wait", "what a node allows is raised while such an attempt is in flight", "ttl"),
    Mutant("clock-set-forward", "a server's clock is set forward, and keys expire too early", "exclusion"),
    Mutant("deadline-from-answer", "a client counts from the answer, not from the sending", "exclusion"),
    Mutant("deletes-first", "a release deletes keys while the lease is valid", "exclusion"),
    Mutant("admitted-too-early", "admitted while somebody counts on what the node has lost", "exclusion"),
    Mutant("validity-without-drift", "a client counts with the whole ttl", "clocks"),
    Mutant("wait-without-drift", "the wait is as long as the ttl on the client's own clock", "clocks"),
]
