"""The rows of `make model` about read-write locks (shared_model.py) and semaphores (semaphore_model.py)."""
from row import holds, mutant

SHARED = [
    "Readers and a writer: the order of tokens",
    holds("shared", "writer, reader, writer", shared=1, kinds="WRW"),
    holds("shared-wrr", "writer, two readers", shared=1, kinds="WRR", full=True),
    holds("shared-apart", "writer, reader; counters begin apart, two acquires again", shared=1, kinds="WR", initial=2, repeats=2, full=True),
    holds("shared-n4", "writer, reader, N = 4", shared=1, kinds="WR", nodes=4, initial=1),
    holds("shared-n5", "writer, reader, N = 5", shared=1, kinds="WR", nodes=5),
    holds("shared-recreate", "an extension each, recreate, an acquire again", shared=1, kinds="WR", extensions=1, recreate=1, repeats=1, full=True),
    holds("shared-twice", "two extensions each, recreate", shared=1, kinds="WR", initial=1, extensions=2, recreate=1, full=True),
    holds("shared-down", "a writer that may become a reader, and a reader", shared=1, kinds="WR", downgrade=1, initial=1, extensions=1, recreate=1,
          full=True),
    holds("shared-loss", "a loss", shared=1, kinds="WR", losses=1, initial=1),
    holds("shared-older", "a loss with an older state", shared=1, kinds="WR", losses=1, older=1, full=True),
    holds("shared-older-extend", "the same, an extension each, recreate", shared=1, kinds="WR", losses=1, older=1, extensions=1, recreate=1,
          large=True),
    holds("shared-older-down", "the same, and a downgrade", shared=1, kinds="WR", losses=1, older=1, extensions=1, recreate=1, downgrade=1,
          optional=True),
    mutant("shared-reach", "sanity: all three complete", shared=1, kinds="WRW", reach=1),
    mutant("shared-one-round", "mutant: a reader's token = max of one round", shared=1, kinds="RW", two_phase=0, initial=1),
    mutant("shared-no-guard", "mutant: a writer's confirm without guard", shared=1, kinds="WRW", guard=0, initial=1),
    mutant("shared-equal", "mutant: a reader confirms where epoch = token", shared=1, kinds="WRW", epoch_below=1),
    mutant("shared-no-epoch", "mutant: a reader confirms whatever the epoch is", shared=1, kinds="WRW", epoch_below=0),
    mutant("shared-first", "mutant: the first reader does not raise the counter", shared=1, kinds="WR", first_raises=0),
    mutant("shared-extend", "mutant: a reader's extension does not look at the epoch", shared=1, kinds="WR", extensions=1, repeats=2,
           extend_epoch=0, initial=1),
    mutant("shared-down-low", "mutant: a downgrade does not raise the counter", shared=1, kinds="WR", downgrade=1, downgrade_raises=0),
    mutant("shared-again-low", "mutant: nor a downgraded lease that is recreated", shared=1, kinds="WR", downgrade=1, extensions=1, recreate=1,
           recreate_raises=0),
    mutant("shared-minority", "mutant: readers ask one node fewer than a majority", shared=1, kinds="WR", votes=1),
    mutant("shared-stale", "mutant: an older set is joined as it is", shared=1, kinds="WR", losses=1, older=1, stale_raises=0),
    mutant("shared-no-read", "mutant: admitted without catch-up", shared=1, kinds="RW", losses=1, catch_up=0, initial=1),
    mutant("shared-one-read", "mutant: catch-up from one node too few", shared=1, kinds="RW", losses=1, catch_up=1, initial=1),
    mutant("shared-no-drain", "mutant: admitted without drain", shared=1, kinds="WRW", losses=1, drain=0),

    "Readers and a writer: exclusion",
    holds("beside", "writer, reader, writer", shared=1, clock=1, kinds="WRW", extensions=1, recreate=1, full=True),
    holds("beside-wrr", "writer, two readers", shared=1, clock=1, kinds="WRR", extensions=1, recreate=1, full=True),
    holds("beside-down", "a writer that may become a reader, reader, writer", shared=1, clock=1, kinds="WRW", downgrade=1, full=True),
    holds("beside-loss", "writer, reader, a loss", shared=1, clock=1, kinds="WR", losses=1, extensions=1, recreate=1),
    holds("beside-loss-wrw", "writer, reader, writer, a loss", shared=1, clock=1, kinds="WRW", losses=1, full=True),
    mutant("beside-reach", "sanity: all three complete", shared=1, clock=1, kinds="WRR", reach=1),
    mutant("beside-wipe", "mutant: a reader's release deletes the set", shared=1, clock=1, kinds="WRR", extensions=1, wipes=1),
    mutant("beside-last", "mutant: the set expires with who came last", shared=1, clock=1, kinds="WRR", last_expiry=1),
    mutant("beside-minority", "mutant: readers ask one node fewer than a majority", shared=1, clock=1, kinds="WR", votes=1),
    mutant("beside-no-drain", "mutant: no drain", shared=1, clock=1, kinds="WR", losses=1, drain=0),
]


def counting(name, words, verdict, **options):
    return verdict(name, words, semaphore=1, design="count", **options)


SEMAPHORE = [
    "At most k: slots, a majority for each",
    holds("slots", "k = 2, 3 attempts that may move", semaphore=1),
    holds("slots-loss", "the same, a loss", semaphore=1, losses=1),
    mutant("slots-reach", "sanity: k at a time", semaphore=1, reach=1),
    mutant("slots-mixed", "mutant: grants of different slots are added up", semaphore=1, mixed=1),
    mutant("slots-few", "mutant: one node fewer than a majority", semaphore=1, quorum=1),
    mutant("slots-no-drain", "mutant: a node that lost its memory votes at once", semaphore=1, losses=1, drain=0),

    "At most k: why permits are not counted",
    counting("count-majority", "k = 2, N = 3, a majority of counts", mutant),
    counting("count-all", "k = 2, N = 3, all three nodes", holds, quorum=3),
    counting("count-five", "k = 2, N = 5, three nodes", mutant, nodes=5),
    counting("count-five-four", "k = 2, N = 5, four nodes", holds, nodes=5, quorum=4, full=True),

    "At most k: k changes from two to one",
    holds("change", "2 attempts that say two", semaphore=1, design="change", attempts=2),
    holds("change-loss", "a loss, the new record on all nodes before", semaphore=1, design="change", attempts=2, losses=1, established=3),
    mutant("change-reach", "sanity: a change is over", semaphore=1, design="change", attempts=2, reach=1),
    mutant("change-same", "mutant: nodes do not compare k", semaphore=1, design="change", attempts=2, compares=0),
    mutant("change-at-once", "mutant: slots above k are not emptied", semaphore=1, design="change", attempts=2, empties=0),
    mutant("change-any", "mutant: they are emptied on nodes with the old record", semaphore=1, design="change", attempts=2, on_record=0),
    mutant("change-few", "mutant: the new record on a majority, and a loss", semaphore=1, design="change", attempts=2, losses=1),
    mutant("change-lost", "not promised: two losses of a record", semaphore=1, design="change", attempts=2, losses=2, established=3),
]
