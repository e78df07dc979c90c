#!/usr/bin/env python3
"""Doxygen's input filter: makes pages of the Markdown files as they are, and sections of what the headers' comments say in a fixed order.

    page.py FILE    writes what Doxygen is to read, line for line
"""
import os
import re
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).parent))
from markdown import CODE, MARK, ROOT, headings, lines, links_of, outside_code  # noqa: E402

# What an operation's comment says, each at the beginning of a line; check_reference.py asks for them by these names.
SECTIONS = ("Preconditions", "Lifetimes", "Completion signature", "Completion", "Executor", "Per-operation cancellation", "Errors",
            "Errors, thrown as `system_error`", "Exceptions", "Thread safety", "Units", "Source")

CONTENTS_FROM = 4       # sections: a page with fewer needs no list of them

# Members that the comment at the top of event.hpp explains for all events.
EVENT_MEMBERS = {
    "event::time at{};": "When it happened, in UTC.",
    "std::string_view lock{};": "The name of the lock.",
    "std::uint64_t token{0};": "The fencing token that the lease began with, 0 without.",
    "std::string_view node{};": "The node's address.",
}


def page_of(file):
    """The name of a Markdown file's page: docs/waiting.md is waiting.html."""
    return file.stem.lower() if file.parent != ROOT / "docs" or file.stem != "index" else "index"


def label_of(file):
    return "" if page_of(file) == "index" else f" {{#{page_of(file)}}}"     # Doxygen gives the front page one of its own


def target_in_site(file, target):
    """Where a link of a Markdown file leads in the site. What is neither a page, a picture nor in the reference gets a page under source/."""
    if re.match(r"[a-z]+:", target):
        return target
    path, _, anchor = target.partition("#")
    whole = Path(os.path.normpath(file.parent / path)) if path else file
    if whole.suffix == ".md" and whole.parent in (ROOT, ROOT / "docs") and whole != ROOT / "README.md":
        return f"{page_of(whole)}.html" + (f"#{page_of(whole)}-{anchor}" if anchor else "")
    inside = whole.relative_to(ROOT)
    if inside.parts[0] == "docs" and inside.parts[1:2] == ("pictures",):
        return "/".join(inside.parts[1:])
    if inside.parts[:2] == ("include", "redlock") and whole.suffix == ".hpp" and len(inside.parts) == 3:
        return whole.stem.replace("_", "__") + "_8hpp.html"
    return "source/" + "/".join(inside.parts) + ".html"


def in_text(text):
    """What Doxygen would take for a command or a reference, and is none."""
    return re.sub(r"(?<![\w\\&])([@#])(?=\w)", r"\\\1", text)


def in_heading(text):
    """Nor are options dashes; in the text they are code, which may go on over the end of a line."""
    return in_text(text).replace("--", r"\--")


def title_of(file):
    return next(words for _, words, _ in headings(file.read_text(encoding="utf-8")))


def of_markdown(file, text):
    anchors = iter(headings(text))
    result, title = [], None

    def link(found):
        picture, words, target = found.groups()
        if re.fullmatch(r"(docs/)?[\w-]+\.md", words):
            words = title_of(file.parent / target.partition("#")[0])     # in the site it is no file
        target = target_in_site(file, target)
        return f'<img src="{target}" alt="{words}"/>' if picture else f"[{words}]({target})"

    for line, fenced in lines(text):
        if fenced:
            language = re.match(r"```(\w+)$", line)
            known = language and language[1] in ("cpp", "python")
            result.append(line if not language or known else "```")
            continue
        if re.match(r"#{1,6} ", line):
            level, words, anchor = next(anchors)
            if level == 1 and title is None:
                title = outside_code(words, in_text) + label_of(file)
                result.append("")
            else:
                result.append(f"{'#' * level} {outside_code(words, in_heading)} {{#{page_of(file)}-{anchor}}}")
            continue
        if mark := MARK.match(line):
            path = mark[1]
            result.append(f'<div class="from"><a href="{target_in_site(ROOT / "README.md", path)}">{path}</a></div>')
            result.append("")
            continue
        # Links first: their texts may be code.
        pieces, end = [], 0
        for found in links_of(line):
            pieces += [outside_code(line[end:found.start()], in_text), link(found)]
            end = found.end()
        line = "".join([*pieces, outside_code(line[end:], in_text)])
        # Doxygen does not know the escaped bar of tables inside code.
        line = CODE.sub(lambda code: code.group() if r"\|" not in code.group()
                        else "<code>" + code.group().strip("`").replace(r"\|", "&#124;") + "</code>", line)
        result.append(line)
    sections = sum(level == 2 for level, _, _ in headings(text))
    contents = ["", "[TOC]"] if sections >= CONTENTS_FROM and file.parent != ROOT and label_of(file) else []
    return "\n".join([f"# {title}", *contents, *result, ""])


def of_header(file, text):
    start = re.compile(r"(\s*/// )(" + "|".join(map(re.escape, SECTIONS)) + r"): (.*)$")
    result, hidden = [], False
    for number, line in enumerate(text.splitlines()):
        if number == 0:
            line = re.sub(r"^// ", "/// @header ", line)  # the file's own comment
        elif re.match(r"\s*(// For (with_lock|simulations)|explicit lease\(std::shared_ptr<detail)", line):
            line, hidden = "/// @cond internal", True
        elif hidden and not line.strip():
            line, hidden = "/// @endcond", False
        elif line.startswith(("template <>", "struct boost::")):
            line = "// " + line
        if found := start.match(line):
            rest = found[3][0].upper() + found[3][1:]
            line = f"{found[1]}@saying{{{found[2].partition(',')[0]}}} {rest}"
        if file.name == "event.hpp" and line.strip() in EVENT_MEMBERS:
            line += f"  ///< {EVENT_MEMBERS[line.strip()]}"
        if found := re.match(r"    (?:virtual )?void on_\w+\((event::\w+) const&\)( override;| \{\})$", line):
            line += f"  ///< Told of `{found[1]}`."
        if re.match(r"#define REDLOCK_VERSION_(MAJOR|MINOR|PATCH) ", line):
            line += "  ///< Of the headers' release."  # CMake wants these lines bare
        # Files that comments name are pages here.
        line = re.sub(r"(///.*?)\bdocs/([a-z-]+)\.md", r'\1<a href="\2.html">docs/\2.md</a>', line)
        result.append(line)
    return "\n".join([*result, ""])


if __name__ == "__main__":
    file = Path(sys.argv[1]).resolve()
    text = file.read_text(encoding="utf-8")
    sys.stdout.write(of_markdown(file, text) if file.suffix == ".md" else of_header(file, text))
