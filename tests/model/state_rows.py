"""The rows of `make model` about the state that goes with a lock (state_model.py)."""
from row import holds, mutant

STATES = [
    "State that goes with a lock: published, and inherited by the next holder",
    holds("state", "one publishes, the next inherits", state=1),
    holds("state-both", "both publish and inherit", state=1, publishers=3, heirs=3),
    holds("state-again", "the same, and an acquire again", state=1, publishers=3, heirs=3, duplicates=1, large=True),
    holds("state-recreate", "one publishes and extends, the next inherits", state=1, extensions=1, recreate=1),
    holds("state-n4", "N = 4, one publishes, the next inherits", state=1, nodes=4, full=True),
    holds("state-three", "the first publishes, the two after it inherit", state=1, attempts=3, publishers=1, heirs=6, initial=0, large=True,
          megabytes=4000),
    holds("state-loss", "a loss, published on all nodes", state=1, losses=1, publish_votes=3, claims_order=0),
    mutant("state-reach", "sanity: something is inherited", state=1, never=1),
    mutant("state-minority", "mutant: published on one node", state=1, publish_votes=1),
    mutant("state-one", "mutant: inherited from one node", state=1, inherit_votes=1),
    mutant("state-fence", "mutant: no fence by the token, where it is published", state=1, publish_guard=0, duplicates=1),
    mutant("state-barrier", "mutant: no fence by the token, where it is inherited", state=1, inherit_guard=0),
    mutant("state-last", "mutant: the last writer wins", state=1, attempts=3, publishers=3, heirs=6, compares=0, initial=0),
    mutant("state-back", "mutant: what is on a minority is not written back", state=1, attempts=3, publishers=1, heirs=6, writes_back=0, initial=0),
    mutant("state-late", "mutant: what is heard during the write-back counts", state=1, attempts=3, publishers=3, heirs=6, hears_late=1, initial=0),
    mutant("state-lost", "not promised: a loss, published on a majority", state=1, losses=1, claims_order=0),
]
