"""The rows of `make model`: what is modelled, and which verdict is expected. run.py runs them."""
from carried import Carried
from climb_model import Climb
from failover_rows import FAILOVER
from fence_model import Model
from group import Group
from groups import Groups
from node_set_model import NodeSet
from node_set_rows import NODE_SETS
from set_founding_model import SetFounding
from permits_model import Permits
from recovery_model import Recovery
from row import Row, holds, mutant
from semaphore_model import Semaphore
from several import Several
from shared_model import Shared
from shared_rows import SEMAPHORE, SHARED
from slot_model import Slot
from slot_rows import SLOTS
from state_model import State
from state_rows import STATES
from ticket_model import Ticket
from ticket_rows import TICKETS
from wait_model import Wait

TABLE = [
    "Tokens: two phases and the guard",
    holds("two", "guard, N = 3, 2 attempts", attempts=2),
    holds("three", "guard, N = 3, 3 attempts", attempts=3, large=True),
    holds("three-unsorted", "the same without symmetry reduction (checks the reduction)", attempts=3, sorted=0, large=True),
    holds("two-by-two", "guard, N = 3, 2 clients x 2 attempts", attempts=4, clients=2, large=True, optional=True, megabytes=8000),
    holds("floor", "3 attempts, grants may jump to a lower bound", attempts=3, floor=3, large=True),
    holds("repeated", "2 attempts, up to 2 acquires executed again", attempts=2, duplicates=2),
    holds("n4", "N = 4 (M = 3), 2 attempts", nodes=4),
    holds("n5", "N = 5, 2 attempts", nodes=5),
    mutant("reach", "sanity: both attempts can complete", reach=1),
    mutant("one-round", "mutant: token = max of one round", two_phase=0),
    mutant("no-guard", "mutant: no guard", guard=0),
    mutant("no-guard-three", "mutant: no guard, 3 attempts", attempts=3, guard=0),
    mutant("value-again", "mutant: value reused across attempts", attempts=3, clients=2, fresh_values=0),
    mutant("two-of-four", "mutant: 2 of 4 as majority", nodes=4, majority=2),

    "Token blocks: each attempt reserves 1 or 2 tokens",
    holds("block-two", "blocks, 2 attempts", block=2),
    holds("block-three", "blocks, 3 attempts", block=2, attempts=3, large=True),
    mutant("block-no-guard", "mutant: blocks, no guard", block=2, guard=0),
    mutant("block-no-guard-three", "mutant: blocks, no guard, 3 attempts", block=2, attempts=3, guard=0),

    "Extension and recreate",
    holds("extend", "two extensions a lease", extensions=2),
    holds("recreate", "two extensions a lease, with recreate", extensions=2, recreate=1),
    mutant("extend-no-guard", "mutant: extension without guard", extensions=1, extend_guard=0),
    mutant("recreate-no-guard", "mutant: recreate without guard", extensions=1, recreate=1, recreate_guard=0),

    "Several resources: two of them; attempts want one, the other or both",
    holds("both-two", "2 attempts that want anything; counters gone, acquires again", resources=2, forgets=3, repeats=1, large=True),
    holds("both-333", "3 attempts that want both", resources=2, attempts=3, wants=333, large=True),
    holds("both-313", "3 attempts: both, the first, both", resources=2, attempts=3, wants=313, large=True),
    holds("both-132", "3 attempts: the first, both, the second", resources=2, attempts=3, wants=132, large=True),
    holds("both-123", "3 attempts: the first, the second, both", resources=2, attempts=3, wants=123, large=True),
    holds("both-recreate", "2 attempts, extension and recreate, each key for itself", resources=2, extensions=1, recreate=1, large=True),
    mutant("both-reach", "sanity: both attempts can complete", resources=2, wants=33, reach=1),
    mutant("both-no-guard", "mutant: no guard", resources=2, guard=0),
    mutant("token-of-first", "mutant: token above the first resource's counter only", resources=2, token_of_first=1),
    mutant("key-of-first", "mutant: confirm compares the first value only", resources=2, key_of_first=1, attempts=3, large=True),
    mutant("uneven", "mutant: repeated acquire answers the larger of two counters", resources=2, forgets=3, repeats=1, even=0),
    mutant("part-counts", "mutant: an extension of one of two keys is a vote", resources=2, extensions=1, recreate=1, part_counts=1),

    "Loss of data and admission (drain, catch-up from ceil(N/2) nodes with data)",
    holds("loss", "a node loses its data, 2 attempts", losses=1),
    holds("loss-three", "the same, 3 attempts", losses=1, attempts=3, large=True),
    holds("loss-twice", "two losses, one after the other", losses=2),
    holds("loss-rollback", "a loss may bring back an older state", losses=1, rollback=1),
    holds("loss-block", "a loss, and token blocks", losses=1, block=2),
    holds("loss-n4", "a loss, N = 4", losses=1, nodes=4),
    holds("loss-n5", "a loss, N = 5", losses=1, nodes=5, large=True),
    holds("loss-recreate", "a loss, extension and recreate", losses=1, extensions=1, recreate=1),
    holds("rollback-recreate", "a loss with an older state, extension and recreate",
          losses=1, rollback=1, extensions=1, recreate=1, large=True),
    mutant("loss-reach", "sanity: an admitted node's vote is used", losses=1, reach=1),
    mutant("no-catch-up", "mutant: admitted without catch-up", losses=1, catch_up=0),
    mutant("one-too-few", "mutant: catch-up from one node too few", losses=1, catch_up=1),
    mutant("one-too-few-n5", "mutant: the same, N = 5", losses=1, nodes=5, catch_up=2),
    mutant("no-drain", "mutant: admitted without drain", losses=1, drain=0),
    mutant("late-admit", "mutant: admission executed again after a second FLUSHALL", losses=2, late_admit=1),
    mutant("no-base", "mutant: extension looks at the counter, not at the base",
           losses=1, rollback=1, extensions=1, recreate=1, base_guard=0),

    "Carried wait: a node is marked, and processes that come and go share a file",
    holds("carried", "two losses of any kind, a restart of the host", carried=1, large=True),
    holds("carried-three", "three losses", carried=1, losses=3, large=True, optional=True),
    mutant("carried-reach", "sanity: a process admits with another one's entry", carried=1, reach=1),
    mutant("carried-no-mark", "mutant: an entry is compared by the server's id only", carried=1, compares_mark=0),
    mutant("carried-no-id", "mutant: an entry is compared by its mark only", carried=1, compares_id=0),
    mutant("carried-any-boot", "mutant: an entry of another boot counts", carried=1, compares_boot=0),
    mutant("carried-mark-again", "mutant: a mark that is written again is the same mark", carried=1, stamped=0),

    "The length of the wait: clients with max_ttl 1 and 3, and what records allow",
    holds("wait-one", "one node that keeps its record, three losses", wait=1, losses=3),
    holds("wait-two", "N = 2, two losses, one of them of the record as well", wait=1, nodes=2, losses=2, records_lost=1),
    holds("wait-three", "N = 3, six losses, one of them of the record as well", wait=1, nodes=3, losses=6, records_lost=1),
    mutant("wait-reach", "sanity: a lease is granted after a loss", wait=1, reach=1),
    mutant("wait-own", "mutant: the record of a node that is not admitted does not count", wait=1, own=0),
    mutant("wait-own-three", "mutant: the same, N = 3", wait=1, own=0, nodes=3, losses=5),
    mutant("wait-others", "mutant: records of admitted nodes do not count", wait=1, others=0, nodes=3, losses=4, records_lost=2),
    mutant("wait-short", "mutant: the wait is a tick short", wait=1, drain=1),
    mutant("wait-no-record", "not promised: the only node loses its record as well", wait=1, records_lost=1),
    mutant("wait-most-records", "not promised: two of three nodes lose their records", wait=1, nodes=3, losses=5, records_lost=2),

    "The wait of a founding that counts from the start of a server, and a set that recovers by itself",
    holds("evidence-one", "one node, three losses of any kind", wait=1, losses=3, evidence=1, flushes=3),
    holds("evidence-two", "N = 2, three losses, one of them of the record as well", wait=1, nodes=2, losses=3, evidence=1, flushes=2, records_lost=1),
    holds("evidence-three", "N = 3, four losses", wait=1, nodes=3, losses=4, evidence=1, flushes=2, recovery=1, large=True),
    holds("recovery-three", "N = 3, six losses, one of them of the record as well", wait=1, nodes=3, losses=6, records_lost=1, recovery=1),
    mutant("evidence-reach", "sanity: a set is founded before its nodes have waited since the mark", wait=1, evidence=1, reach=2),
    mutant("evidence-no-flush", "mutant: a server does not say that it was flushed", wait=1, evidence=1, flushes=1, flush_shows=0),
    mutant("evidence-reset", "mutant: what it says can be set back", wait=1, evidence=1, flushes=1, resets=1),
    mutant("evidence-before-mark", "mutant: evidence from before the mark counts", wait=1, evidence=1, flushes=1, after_mark=0),
    mutant("evidence-rounded", "mutant: a server overstates for how long it has run", wait=1, evidence=1, rounding=1),
    mutant("evidence-own", "mutant: the record of a node that is not admitted does not count", wait=1, evidence=1, own=0),
    mutant("recovery-no-wait", "mutant: a set recovers before those that lost their data have waited", wait=1, nodes=3, losses=4, recovery=1,
           survivors_wait=0),

    "Recovery: too few nodes have their data, and a wall clock is ahead of all tokens",
    holds("recovery", "N = 3, two losses", recovery=1, losses=2),
    holds("recovery-four", "N = 4, three losses", recovery=1, losses=3, nodes=4, large=True),
    holds("recovery-two-nodes", "N = 2, two losses", recovery=1, losses=2, nodes=2),
    holds("recovery-thrice", "three losses", recovery=1, losses=3, large=True),
    holds("recovery-extend", "two losses, an extension with recreate", recovery=1, losses=2, extensions=1, recreate=1, large=True),
    holds("recovery-no-clock", "while enough nodes have their data, no clock is needed", recovery=1, losses=3, clock=0, large=True),
    mutant("recovery-reach", "sanity: a node votes after a recovery", recovery=1, losses=2, reach=1),
    mutant("recovery-marks", "mutant: the base is the largest mark that is left", recovery=1, losses=2, clock_read=0),
    mutant("recovery-no-drain", "mutant: no wait", recovery=1, losses=2, drain=0),
    mutant("recovery-silent", "mutant: a silent node is taken for one that lost its data", recovery=1, losses=1, clock=0, silent=1),
    mutant("recovery-enough", "mutant: a recovery while ceil(N/2) nodes have their data", recovery=1, losses=1, clock=0, survivors=2),
    mutant("recovery-stale", "mutant: what a node said before the last wait counts", recovery=1, losses=2, clock=0, reads_again=0),

    "Trailing identity check: one per message, after its scripts",
    holds("trailing", "a loss, 2 attempts", losses=1, trailing=1),
    holds("trailing-at-once", "the same, check and script in one step", losses=1, trailing=1, at_once=1),
    holds("trailing-rollback", "a loss with an older state", losses=1, trailing=1, rollback=1, large=True),
    holds("trailing-recreate", "the same, extension and recreate (in one step)",
          losses=1, trailing=1, at_once=1, rollback=1, extensions=1, recreate=1, large=True),
    holds("trailing-three", "a loss, 3 attempts (in one step)", losses=1, trailing=1, at_once=1, attempts=3, large=True, optional=True,
          megabytes=8000),
    mutant("trailing-reach", "sanity: an admitted node's vote is used", losses=1, trailing=1, reach=1),
    mutant("trailing-no-wait", "mutant: votes counted before the check", losses=1, trailing=1, trailing_wait=0),
    mutant("trailing-new-id", "mutant: an attempt changes to the new id", losses=1, trailing=1, bound_id=0),
] + FAILOVER + TICKETS + STATES + SHARED + SEMAPHORE + NODE_SETS + SLOTS
ROWS = [row for row in TABLE if isinstance(row, Row)]
# Of the large models that must hold, those that --quick has, too: of each group with such, one.
QUICK = {"three", "both-333", "both-recreate", "trailing-rollback"}

# An option of these names says which model it is. fence_model.py has no word of its own.
MODELS = {"carried": Carried, "resources": Several, "group": Group, "groups": Groups, "climb": Climb, "shared": Shared,
          "permits_record": Permits, "semaphore": Semaphore, "state": State, "ticket": Ticket, "node_set": NodeSet,
          "founding": SetFounding, "slot": Slot, "wait": Wait, "recovery": Recovery}


def model_of(row):
    return next((model for word, model in MODELS.items() if word in row.options), Model)


def has_proof(row):
    """Is it about what tests/proof proves? Of the others there are small worlds only."""
    return model_of(row) not in (Group, Groups, Climb, Shared, Permits, Semaphore, State, Ticket, NodeSet, SetFounding, Slot, Wait, Recovery)
