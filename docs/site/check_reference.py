#!/usr/bin/env python3
"""Sees that the reference says of each asynchronous operation what STYLE asks for: its completion signature, errors, cancellation and so on, each in a section
of its own, or in one of its class that is true of all its operations; and of each duration, in what unit it is.

    check_reference.py XML    the folder with Doxygen's XML; exits with 1 and the list of what is missing
"""
import re
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

REQUIRED = ("Preconditions", "Lifetimes", "Completion signature", "Executor", "Per-operation cancellation", "Errors", "Thread safety")

# Whoever adds an operation adds it here, or is told so; whoever takes one away, too.
OPERATIONS = {"redlock::client::run", "redlock::client::drain", "redlock::client::adopt", "redlock::lock::acquire", "redlock::lock::try_acquire",
              "redlock::lease::extend", "redlock::lease::downgrade", "redlock::lease::release", "redlock::lease::wait_lost", "redlock::lease::publish", "redlock::lease::inherited",
              "redlock::election::lead", "redlock::election::leader", "redlock::election::observe",
              "redlock::lock::peek", "redlock::lock::wait_changed", "redlock::with_lock", "redlock::with_shared_lock",
              "redlock::rw_lock::acquire", "redlock::rw_lock::peek", "redlock::rw_lock::wait_changed", "redlock::rw_lock::try_acquire", "redlock::rw_lock::acquire_shared", "redlock::rw_lock::try_acquire_shared",
              "redlock::semaphore::acquire", "redlock::semaphore::try_acquire", "redlock::semaphore::available", "redlock::change_permits",
              "redlock::testing::timer::async_wait", "redlock::testing::sleep"}

UNIT = re.compile(r"\b(ns|us|ms|s|min|h|(nano|micro|milli)?seconds?|minutes?|hours?|days?)\b")
COUNTS = re.compile(r"\b(std::)?(u?int\d+_t|size_t|double|float|long|int|unsigned)\b")
LASTS = re.compile(r"(timeout|delay|interval|duration|elapsed|buckets|_after|_for)s?$")


def words(element):
    return "" if element is None else " ".join("".join(element.itertext()).split())


def sections(member):
    """title -> text of each @par."""
    return {words(par.find("title")): words(par).removeprefix(words(par.find("title"))).strip() for par in member.iter("simplesect")}


def sections_of_all(compound):
    """What a class says of all its operations."""
    described = compound.find("detaileddescription")
    return {} if described is None or compound.get("kind") == "namespace" else sections(described)


def is_operation(member):
    """Takes a completion token, or is to be awaited."""
    parameters = words(member.find("argsstring")) + "".join(words(p) for p in member.iter("templateparamlist"))
    return "completion_token_for" in parameters or "awaitable" in words(member.find("type"))


def members(folder):
    for file in sorted(Path(folder).glob("*.xml")):
        if file.name.startswith(("class", "struct", "namespace")):
            compound = ElementTree.parse(file).getroot().find("compounddef")
            for member in compound.iter("memberdef"):
                if member.get("prot") == "public":
                    yield f"{compound.findtext('compoundname')}::{member.findtext('name')}", member, compound


def check(folder):
    wrong, found = [], {}
    for name, member, compound in members(folder):
        text = words(member.find("briefdescription")) + " " + words(member.find("detaileddescription"))
        if member.get("kind") == "function" and is_operation(member):
            found.setdefault(name, []).append((member, text, compound))
        kind = words(member.find("type"))
        if member.get("kind") in ("variable", "typedef") and not UNIT.search(text):
            if "chrono::duration" in kind or (COUNTS.search(kind) and LASTS.search(member.findtext("name"))):
                wrong.append(f"{name}: in what unit it is")
    for name in sorted(OPERATIONS - found.keys()):
        wrong.append(f"{name}: is no operation any more, or is not documented")
    for name in sorted(found.keys() - OPERATIONS):
        wrong.append(f"{name}: is an operation that check_reference.py does not know")
    for name, overloads in sorted(found.items()):
        complete = False
        for member, text, compound in overloads:
            if text.startswith("The same, and "):
                continue                            # another overload says it
            complete = True
            said = sections_of_all(compound) | sections(member)
            wrong += [f"{name}: {title}" for title in REQUIRED if not said.get(title)]
            if "chrono" in words(member.find("argsstring")) and not said.get("Units"):
                wrong.append(f"{name}: Units")
        if not complete:
            wrong.append(f"{name}: each overload refers to another one")
    return wrong, sum(len(overloads) for overloads in found.values())


if __name__ == "__main__":
    wrong, count = check(sys.argv[1])
    for what in wrong:
        print(f"missing in the reference: {what}", file=sys.stderr)
    if not wrong:
        print(f"reference: {count} operations say everything")
    sys.exit(1 if wrong else 0)
