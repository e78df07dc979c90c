#!/usr/bin/env python3
"""No static object of the library has a destructor that runs when the program ends: threads of a static thread_pool, or of Asio's
system_executor, go on using a client after main() has returned. Objects of Boost and of the standard library are theirs.

    statics.py FILE...    exits with 1 and the list of what would be destroyed; each FILE is an object or an archive for x86-64
"""
import re
import subprocess
import sys

# What their destructors leave behind can still be used; the reason is beside each.
HARMLESS = {
    "redlock::detail::context_service::id": "the destructor of an id is empty, and its address stays",
    "redlock::detail::strand_depths::id": "the same",
    "redlock::detail::(anonymous namespace)::lookups_of_context::id": "the same",
    "redlock::testing::(anonymous namespace)::virtual_timer_service::id": "the same",
    "redlock::detail::(anonymous namespace)::make_block(unsigned long, unsigned long)::opened": "closes the bins of its thread, which stay",
}
REGISTRATIONS = ("__cxa_atexit", "__cxa_thread_atexit")
OWN = re.compile(r"(redlock|\(anonymous namespace\))::")
NEAR = 84  # bytes of instructions between an object's address and the call that registers its destructor

SYMBOL = re.compile(r"\s*\d+: ([0-9a-f]+)\s+(\S+) (OBJECT|TLS)\s+\w+\s+\w+\s+(\d+) (\S+)")
SECTION = re.compile(r"\s*\[\s*(\d+)\] (\S+)")
RELOCATION = re.compile(r"([0-9a-f]+)\s+[0-9a-f]+ R_X86_64_\w+\s+[0-9a-f]+ (\S+)(?: ([+-]) ([0-9a-f]+))?")


def members(path):
    """(name, lines of readelf) for each object in the file."""
    said = subprocess.run(["readelf", "--sections", "--relocs", "--symbols", "--wide", path], capture_output=True, text=True, check=True)
    name, lines = path, []
    for line in said.stdout.splitlines():
        if line.startswith("File: "):
            yield name, lines
            name, lines = line[6:], []
        lines.append(line)
    yield name, lines


def registered(lines):
    """The variables whose addresses are loaded near a registration of a destructor."""
    names = {m[1]: m[2] for line in lines if (m := SECTION.match(line))}
    variables, locals_of = set(), {}
    for line in lines:
        m = SYMBOL.match(line)
        if m and re.match(r"\.(t?bss|t?data)(?!\.rel\.ro)", names.get(m[4], "")):
            variables.add(m[5])
            begin = int(m[1], 16)
            locals_of.setdefault(names[m[4]], []).append((begin, begin + int(m[2], 0), m[5]))
    before = []
    for line in lines:
        if line.startswith("Relocation section"):
            before = []
        m = RELOCATION.match(line)
        if not m:
            continue
        if m[2] not in REGISTRATIONS:
            before.append(m)
            continue
        for b in before:
            if int(m[1], 16) - int(b[1], 16) < NEAR:
                if b[2] in variables:
                    yield b[2]
                # Of a local variable the relocation names the section, and counts from the end of its own four bytes.
                place = int(b[4] or "0", 16) * (-1 if b[3] == "-" else 1) + 4
                yield from (name for begin, end, name in locals_of.get(b[2], []) if begin <= place < end)
        before = []


def demangled(names):
    said = subprocess.run(["c++filt"], input="\n".join(names), capture_output=True, text=True, check=True)
    return said.stdout.splitlines()


def main():
    found = []  # (variable, object)
    for path in sys.argv[1:]:
        for member, lines in members(path):
            found += [(name, member) for name in registered(lines)]
    if not found:
        sys.exit("no destructor at all is registered, not even one of Boost: this test sees nothing")
    wrong = set()
    for name, (_, member) in zip(demangled([name for name, _ in found]), found):
        if OWN.match(name) and name not in HARMLESS:
            wrong.add(f"{member}: {name}")
    for line in sorted(wrong):
        print(line)
    if wrong:
        sys.exit("these are destroyed when the program ends, while threads may use them: make them with new, and keep a reference")


if __name__ == "__main__":
    main()
