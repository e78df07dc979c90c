"""The rows of `make model` about leases that travel (ticket_model.py)."""
from row import holds, mutant

TICKETS = [
    "Leases that travel: one detaches, others adopt",
    holds("ticket", "two have the ticket, a rival", ticket=1, full=True),
    holds("ticket-chain", "the second has it from the first, which detaches again", ticket=1, chain=1, full=True),
    holds("ticket-goes-on", "the former holder goes on extending", ticket=1, goes_on=1, extensions=2, adopted_extensions=0, full=True),
    holds("ticket-n4", "N = 4, without extensions of adopters", ticket=1, nodes=4, adopted_extensions=0, full=True),
    holds("ticket-three", "three have it, no rival", ticket=1, attempts=1, adopters=3),
    holds("ticket-loss", "a loss, no extensions of adopters", ticket=1, losses=1, adopted_extensions=0, large=True, megabytes=4000),
    holds("ticket-loss-one", "a loss, one adopts and extends", ticket=1, losses=1, adopters=1, full=True),
    holds("ticket-older", "a loss with an older state, no rival", ticket=1, losses=1, rollback=1, attempts=1, adopted_extensions=0, full=True),
    holds("ticket-older-one", "a loss with an older state, one adopts", ticket=1, losses=1, rollback=1, adopters=1, adopted_extensions=0,
          large=True, megabytes=4000),
    mutant("ticket-reach", "sanity: somebody adopts", ticket=1, never=1),
    mutant("ticket-extends", "sanity: and extends", ticket=1, never=2),
    mutant("ticket-value", "mutant: the value is not replaced, and two adopt", ticket=1, keeps_value=1),
    mutant("ticket-release", "mutant: the same; a late release takes the key of the adopter", ticket=1, keeps_value=1, adopters=1),
    mutant("ticket-detached", "mutant: neither value nor counter; the former holder extends", ticket=1, keeps_value=1, raises=0, goes_on=1, extensions=2,
           adopters=1, adopted_extensions=0),
    mutant("ticket-counter", "mutant: the counter is not raised, and two adopt", ticket=1, raises=0, attempts=1),
    mutant("ticket-minority", "mutant: with the vote of one node", ticket=1, adopt_votes=1),
    mutant("ticket-guard", "mutant: whatever the counter is", ticket=1, old_guard=0),
    mutant("ticket-again", "mutant: an adoption takes G + 1 in the counter for its own", ticket=1, again_by_counter=1),
    mutant("ticket-base", "mutant: whatever the base is", ticket=1, losses=1, rollback=1, old_base=0, adopters=1, adopted_extensions=0),
    mutant("ticket-drain", "mutant: an admission does not wait for adoptions", ticket=1, losses=1, adoption_drained=0),
]
