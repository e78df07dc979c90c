"""What the site and the tests know of the Markdown of this repository: headings and their anchors (GitHub's), links, code."""
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\(([^()\s]+)\)")
MARK = re.compile(r"^<!-- (\S+/\S+) -->$", re.M)      # the next block is of this file
CODE = re.compile(r"(`+)(?:(?!\1).)+?\1(?!`)")


def pages():
    """All Markdown files that are documentation."""
    return [ROOT / "README.md", ROOT / "CHANGELOG.md", ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md", *sorted((ROOT / "docs").glob("*.md"))]


def notes():
    """Markdown beside the sources, for those who change them."""
    return [ROOT / "benchmarks/decisions.md", *sorted((ROOT / "tests").glob("*/README.md"))]


def lines(text):
    """(line, whether it is inside a fenced block, or one of its fences) for each line."""
    fenced = False
    for line in text.splitlines():
        fence = line.lstrip().startswith("```")
        yield line, fenced or fence
        fenced ^= fence


def outside_code(line, change):
    """`line` with `change` applied to what is not in backticks."""
    parts, end = [], 0
    for span in CODE.finditer(line):
        parts += [change(line[end:span.start()]), span.group()]
        end = span.end()
    return "".join([*parts, change(line[end:])])


def slug(heading):
    """The anchor that GitHub gives to a heading."""
    plain = LINK.sub(r"\2", heading).replace("`", "")
    return re.sub(r"[^\w\- ]", "", plain.strip().lower()).replace(" ", "-")


def headings(text):
    """(level, text, anchor) of each heading."""
    seen = {}
    for line, fenced in lines(text):
        if fenced or not (found := re.match(r"(#{1,6}) +(.*?)\s*#*$", line)):
            continue
        anchor = slug(found[2])
        seen[anchor] = seen.get(anchor, -1) + 1
        yield len(found[1]), found[2], anchor + (f"-{seen[anchor]}" if seen[anchor] else "")


def links_of(line):
    """The matches of LINK in it. A link's text may be code; a link inside code is none."""
    blank = CODE.sub(lambda span: "\0" * len(span.group()), line)
    return [found for found in LINK.finditer(line) if "\0" not in blank[found.start(3):found.end(3)]]


def links(text):
    """(line number, target) of each link and picture."""
    for number, (line, fenced) in enumerate(lines(text), 1):
        if not fenced:
            for found in links_of(line):
                yield number, found[3]
