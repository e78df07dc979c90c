"""The rows of `make model` about sets of nodes and their changes (node_set_model.py)."""
from row import holds, mutant


def changing(name, words, verdict, **options):
    return verdict(name, words, node_set=1, **options)


def founding(name, words, verdict, **options):
    return verdict(name, words, founding=1, **options)


NODE_SETS = [
    "Lists of nodes that share servers: at most one becomes a set",
    founding("list-mixture", "{A,B,C} and {C,D,E}", holds),
    founding("list-subset", "{A,B,C} and {A}", holds, lists="012.0"),
    founding("list-superset", "{A,B,C} and {A,B,C,D,E}", holds, lists="012.01234"),
    founding("list-five", "{A,D,E,F,G} and {A,B,C,H,I}", holds, lists="03456.01278"),
    founding("list-three", "{A,B,C}, {C,D,E} and {A,E}", holds, lists="012.234.04"),
    founding("list-reach", "sanity: a lock is held", mutant, reach=1),
    founding("list-any-order", "mutant: claims in any order, so that no list becomes a set", mutant, lists="012.123", ordered=0),
    founding("list-overwritten", "mutant: a claim is written over another", mutant, overwrites=1),
    founding("list-majority", "mutant: a majority of claims makes a set", mutant, claims=2),
    founding("list-at-once", "mutant: servers vote before the set is complete", mutant, waits=0),
    founding("list-not-asked", "mutant: votes of another set's servers count", mutant, lists="012.0", asks=0),
    founding("list-loss", "not promised: a server loses its memory in between", mutant, losses=1),

    "Several commands change a set, each the members that stay, in their order: one goes on",
    founding("change-two", "of three nodes, the last and the second are replaced", holds, lists="01.02"),
    founding("change-first", "the last and the first", holds, lists="01.12"),
    founding("change-three", "each of the three", holds, lists="01.02.12"),
    founding("change-five", "of five, the last and the first, each needs three", holds, lists="0123.1234", claims=3),
    founding("change-any-order", "mutant: in any order, so that none goes on", mutant, lists="0123.1234", claims=3, ordered=0),

    "A set of nodes: one member is replaced",
    changing("set-replace", "3 nodes; old list, new list", holds),
    changing("set-three", "the same; old, new, old list", holds, lists="010", large=True, optional=True),
    changing("set-news", "the same; both have the new list", holds, lists="11"),
    changing("set-four", "N = 4", holds, sets="0123.0124", large=True),
    changing("set-loss", "N = 3, a loss", holds, losses=1, large=True),
    changing("set-once", "the same; members that moved must be up", holds, losses=1, at_once=1, large=True),
    changing("set-back", "replaced, and put back", holds, sets="012.013.012", lists="01", large=True),
    changing("set-on", "two members are replaced, one after the other", holds, sets="012.013.034", lists="02", large=True),
    changing("set-fork", "two commands replace it by different nodes, each node follows one", holds, sets="012.013.014", lists="12", fork=1, large=True),
    changing("set-fork-old", "the same; old list, new list", holds, sets="012.013.014", lists="02", fork=1, large=True),
    changing("set-keeps", "a lease goes on with members that have not moved", holds, keeps=1),
    changing("set-keeps-four", "the same, N = 4", holds, sets="0123.0124", keeps=1, large=True),
    changing("set-cuts", "and with those that left, until its validity ends", holds, keeps=1, cuts=1),
    changing("set-cuts-old", "the same; both have the old list", holds, lists="00", keeps=1, cuts=1),
    changing("set-cuts-four", "the same, N = 4; old list, new list", holds, sets="0123.0124", keeps=1, cuts=1, large=True),
    changing("set-reach", "sanity: the vote of the new member is used", mutant, reach=1),
    changing("set-unbound", "mutant: nodes do not look at the generation", mutant, bound=0),
    changing("set-mixed", "mutant: votes of two generations are added up", mutant, mixed=1),
    changing("set-stale", "mutant: votes of an older generation still count", mutant, stale=1),
    changing("set-counts-on", "mutant: a lease that goes on counts on a member that left", mutant, forgets=0),
    changing("set-uncut", "mutant: for as long as it counts on others", mutant, keeps=1, cuts=1, uncut=1),
    changing("set-returns", "mutant: a member that left comes back as it was", mutant, sets="012.013.012", lists="01", returns=1),
    changing("set-no-drain", "mutant: the new member is admitted without drain", mutant, drain=0),
    changing("set-early", "mutant: the drain begins with the first that has moved", mutant, early=1),
    changing("set-one", "mutant: one member has moved, no majority", mutant, moved=1),
    changing("set-rivals", "mutant: two commands replace it by different nodes", mutant, rivals=1, lists="11"),
    changing("set-fork-loose", "mutant: a node follows one command, and then the other", mutant, sets="012.013.014", lists="12", fork=1, loose=1),
    changing("set-no-read", "mutant: the new member is told nothing", mutant, reads=0),
    changing("set-one-read", "mutant: it is told by one member", mutant, reads=1),
    changing("set-anybody", "mutant: a node without data is admitted by any list", mutant, sets="012", lists="00", any_set=1),

    "A set of nodes: it grows, it shrinks",
    changing("set-grow", "3 to 5; old list, new list", holds, sets="012.01234", large=True, megabytes=4000),
    changing("set-grow-one", "1 to 3; old list, new list", holds, sets="0.012"),
    changing("set-grow-no-drain", "mutant: 3 to 5 without drain", mutant, sets="012.01234", drain=0),
    changing("set-grow-read", "mutant: 3 to 5, those that join are told by one", mutant, sets="012.01234", reads=1, large=True),
    changing("set-grow-step", "3 to 4; old list, new list", holds, sets="012.0123", large=True),
    changing("set-grow-at-once", "3 to 4; the new member votes without drain", holds, sets="012.0123", drain=0, large=True),
    changing("set-shrink-step", "4 to 3; old list, new list", holds, sets="0123.012", large=True),
    changing("set-shrink", "not built: 5 to 3 by the same steps", mutant, sets="01234.012"),
]
