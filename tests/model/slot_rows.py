"""The rows of `make model` about slots of a Redis Cluster (slot_model.py)."""
from row import holds, mutant


def moving(name, words, verdict, **options):
    return verdict(name, words, slot=1, **options)


SLOTS = [
    "A slot of a Redis Cluster moves between two groups",
    moving("slot", "two moves, a loss", holds),
    moving("slot-still", "no loss, four moves", holds, losses=0, moves=4),
    moving("slot-more", "three moves, two losses", holds, losses=2, moves=3, large=True),
    moving("slot-reach", "sanity: a lease is acquired where the slot is then", mutant, losses=0, reach=1),
    moving("slot-no-identity", "mutant: the record is not compared with the server's id", mutant, identity=0),
    moving("slot-short", "mutant: the drain is a tick short", mutant, drain=1),
    moving("slot-no-ask", "mutant: a key that has left counts as free", mutant, asks=0),
    moving("slot-keeps-id", "mutant: a mark leaves the old id in the record", mutant, takes_id=0),
    moving("slot-unseen", "not assumed: back again after a loss that nobody has seen", mutant, unseen=1),
    moving("slot-forced", "not assumed: the slot is given away with keys in it", mutant, forced=1, losses=0),
]
