"""One row of the table of `make model`."""
from dataclasses import dataclass

HOLDS, VIOLATION = "holds", "violation found"


@dataclass(frozen=True)
class Row:
    name: str
    words: str
    expected: str
    options: dict
    large: bool = False         # worth an optimised search; for the others gcc -O2 would take longer than it saves
    full: bool = False          # not with --quick, though it is not large
    optional: bool = False      # with --all only
    megabytes: int = 1000       # the search stops, and fails, beyond this


def holds(name, words, large=False, full=False, optional=False, megabytes=1000, **options):
    return Row(name, words, HOLDS, options, large, full, optional, megabytes)


def mutant(name, words, large=False, optional=False, megabytes=1000, **options):
    return Row(name, words, VIOLATION, options, large, False, optional, megabytes)
