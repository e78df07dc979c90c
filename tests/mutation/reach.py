"""Which test programs reach which functions, and in which object files: read from what gcov's instrumentation writes (.gcno at compile time, .gcda at the
end of each process; GCC Internals, "gcov", libgcc's gcov-io.h).
"""
import os
import struct
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

FUNCTION = 0x01000000
ARCS = 0x01A10000
HEAD = 12           # magic, version, stamp
CHECKSUM = 4        # .gcno and .gcda of gcc 12 have one more word


@dataclass(frozen=True)
class Function:
    file: str
    first: int
    last: int


def words(data: bytes, at: int, number: int) -> tuple[int, ...]:
    return struct.unpack_from(f"<{number}I", data, at)


def text(data: bytes, at: int) -> tuple[str, int]:
    length = words(data, at, 1)[0]
    return data[at + 4:at + 4 + length].rstrip(b"\0").decode(errors="replace"), at + 4 + length


def functions(notes: Path, folder: Path, root: str) -> dict[int, Function]:
    """Those of the project's own files. Names are as the compiler was given them, which ccache makes relative to the folder of the build."""
    data = notes.read_bytes()
    if data[:4] != b"oncg":
        raise SystemExit(f"mutate: {notes} is not gcov's")
    found = {}
    at = HEAD + CHECKSUM
    _, at = text(data, at)          # the working directory
    at += 4                         # whether blocks were left unexecuted
    while at + 8 <= len(data):
        tag, length = words(data, at, 2)
        at += 8
        if tag == FUNCTION:
            ident = words(data, at, 1)[0]
            _, p = text(data, at + 12)
            source, p = text(data, p + 4)
            first, _, last = words(data, p, 3)
            source = os.path.normpath(folder / source)
            if source.startswith(root + "/"):
                found[ident] = Function(source[len(root):].lstrip("/"), first, last)
        at += length
    return found


def executed(counts: Path) -> set[int]:
    data = counts.read_bytes()
    found = set()
    at, end = HEAD + CHECKSUM, len(data)
    ident = 0
    unpack = struct.Struct("<Ii").unpack_from
    while at + 8 <= end:
        tag, length = unpack(data, at)
        at += 8
        if tag == FUNCTION and length:
            ident = words(data, at, 1)[0]
        elif tag == ARCS and length > 0 and any(data[at:at + length]):
            found.add(ident)
        at += max(length, 0)        # negative: so many counters that are all zero
    return found


class Reach:
    """Of one build."""

    def __init__(self, build: Path, root: str):
        self.build = build
        self.root = root
        self.notes: dict[str, dict[int, Function]] = {}
        self.by_file: dict[str, list[tuple[Function, str, str]]] = defaultdict(list)      # function, suite, object

    def read(self, counts: Path) -> list[tuple[Function, str]]:
        """What a run left below `counts` (GCOV_PREFIX): functions, each with its object."""
        found = []
        for file in counts.rglob("*.gcda"):
            name = str(file.relative_to(counts))
            name = name[len(str(self.build).lstrip("/")):].lstrip("/")[:-len(".gcda")]
            if name not in self.notes:
                notes = self.build / f"{name}.gcno"
                self.notes[name] = functions(notes, self.build, self.root) if notes.exists() else {}
            own = self.notes[name]
            for ident in executed(file) & own.keys():
                found.append((own[ident], f"{name}.o"))
        return found

    def add(self, suite: str, found: list[tuple[Function, str]]) -> None:
        for function, made in found:
            self.by_file[function.file].append((function, suite, made))

    def of(self, file: str, line: int) -> dict[str, set[str]]:
        """Suites that reach the innermost function around a line, and from which objects."""
        around = [r for r in self.by_file[file] if r[0].first <= line <= r[0].last]
        if not around:
            return {}
        innermost = min(r[0].last - r[0].first for r in around)
        found: dict[str, set[str]] = defaultdict(set)
        for function, suite, made in around:
            if function.last - function.first == innermost:
                found[suite].add(made)
        return found
