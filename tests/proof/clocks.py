"""The two sentences about clocks that exclusion.py and memory.py rest on, from bounded rates. Clocks do not run backwards and are not set.
Durations are those that a clock shows between two events. `clock_drift` is that of the lock's options, between a client and the servers;
`clock_drift` that of the client's configuration, between two clients; `granularity` the 2 ms of timing.hpp.
"""
from z3 import And, Implies, Reals

from prover import MUTATION

DRIFT, CLOCK_DRIFT, GRANULARITY, TTL = Reals("drift clock_drift granularity ttl")
CLIENT, SERVER, SERVER_SINCE = Reals("client_since_sending server_since_sending server_since_execution")
LONGEST, WAITED, OTHER_IN_WAIT, OTHER = Reals("longest_ttl waited other_during_the_wait other_since_sending")

GIVEN = And(0 <= DRIFT, DRIFT < 1, 0 <= CLOCK_DRIFT, 0 <= GRANULARITY, 0 < TTL)


def validity():
    """validity_of, in src/quorum/timing.cpp."""
    return TTL - (0 if MUTATION.is_on("validity-without-drift") else TTL * DRIFT) - GRANULARITY


def wait():
    """drained_at, in src/quorum/admission.cpp."""
    return LONGEST + (0 if MUTATION.is_on("wait-without-drift") else LONGEST * CLOCK_DRIFT) + GRANULARITY


def the_key_outlives_the_deadline():
    """The server's clock runs at most `clock_drift` faster than the client's: it shows at most 1 / (1 - drift) of what that shows. The key was
    set after the message was sent. Then, while the client counts on it, less than the ttl is over on the server, by the granularity."""
    rates = And(0 <= SERVER_SINCE, SERVER_SINCE <= SERVER, SERVER * (1 - DRIFT) <= CLIENT, 0 <= CLIENT)
    return Implies(And(GIVEN, rates, CLIENT < validity()), SERVER_SINCE < TTL - GRANULARITY)


def the_wait_outlives_the_deadlines():
    """The waiting client's clock shows at most 1 + clock_drift of what any other client's shows. What was executed before the loss was sent
    before the wait. Then at the end of the wait nobody counts on it, nor is an attempt that was in flight still so."""
    rates = And(0 <= OTHER_IN_WAIT, OTHER_IN_WAIT <= OTHER, WAITED <= OTHER_IN_WAIT * (1 + CLOCK_DRIFT))
    return Implies(And(GIVEN, rates, TTL <= LONGEST, WAITED >= wait()), OTHER >= validity())


FROM_RATES = (the_key_outlives_the_deadline, the_wait_outlives_the_deadlines)
EVENTS = (DRIFT, CLOCK_DRIFT, GRANULARITY, TTL, CLIENT, SERVER, SERVER_SINCE, LONGEST, WAITED, OTHER_IN_WAIT, OTHER)


def story(model):
    return [", ".join(f"{v} = {model[v]}" for v in EVENTS if model[v] is not None)]
