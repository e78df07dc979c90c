#!/usr/bin/env python3
"""Makes the site, and checks it: each public member is documented, each operation says everything, no link is dead.

    build.py FOLDER    needs doxygen; nothing of FOLDER stays that was there before
"""
import html
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True
import check_reference  # noqa: E402
import check_site  # noqa: E402
import navigation  # noqa: E402
import search_index  # noqa: E402
from markdown import MARK, ROOT, links, pages  # noqa: E402
from page import target_in_site  # noqa: E402

SHOWN_MAX = 200     # files of one folder


def version():
    numbers = re.findall(r"^#define REDLOCK_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", (ROOT / "include/redlock/version.hpp").read_text(), re.M)
    return ".".join(numbers)


def xml_of(site):
    return site.with_name(f"{site.name}-xml")


def doxygen(folder):
    settings = (ROOT / "docs/site/Doxyfile").read_text() + f"OUTPUT_DIRECTORY = {folder}\nXML_OUTPUT = {xml_of(folder)}\nPROJECT_NUMBER = {version()}\n"
    return subprocess.run(["doxygen", "-"], input=settings, text=True, cwd=ROOT).returncode == 0   # it has said what is wrong


def shown(path, level, content):
    up = "../" * level
    return (f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
            f'<title>redlock: {path}</title><link rel="stylesheet" href="{up}doxygen.css"><link rel="stylesheet" href="{up}style.css"></head>\n'
            f'<body class="source"><div id="titlearea"><div id="projectname"><a href="{up}index.html" style="color: inherit">redlock</a></div></div>\n'
            f"<main><h1>{path}</h1>\n{content}</main></body></html>\n")


def show_source(site, path):
    """A page for a file or a folder of the repository that a page refers to."""
    page = site / "source" / f"{path}.html"
    if page.exists():
        return
    page.parent.mkdir(parents=True, exist_ok=True)
    level = len(path.parts)
    if (ROOT / path).is_dir():
        inside = sorted(f.relative_to(ROOT) for f in (ROOT / path).rglob("*") if f.is_file() and "__pycache__" not in f.parts)[:SHOWN_MAX]
        items = "".join(f'<li><a href="{"../" * level}source/{f}.html">{f.relative_to(path)}</a></li>\n' for f in inside)
        page.write_text(shown(path, level, f"<ul>\n{items}</ul>\n"), encoding="utf-8")
        for f in inside:
            show_source(site, f)
    else:
        text = html.escape((ROOT / path).read_text(encoding="utf-8"))
        page.write_text(shown(path, level, f"<pre>{text}</pre>\n"), encoding="utf-8")


def show_sources(site):
    for file in pages():
        text = file.read_text(encoding="utf-8")
        targets = [target_in_site(file, target) for _, target in links(text)]
        targets += [target_in_site(ROOT / "README.md", mark) for mark in MARK.findall(text)]
        for target in targets if file.name != "README.md" else ():
            if target.startswith("source/"):
                show_source(site, Path(target.removeprefix("source/").removesuffix(".html")))


def main():
    site = Path(sys.argv[1]).resolve()
    for old in (site, xml_of(site)):
        shutil.rmtree(old, ignore_errors=True)
    site.mkdir(parents=True)
    if not doxygen(site):
        return 1
    shutil.copytree(ROOT / "docs/pictures", site / "pictures")
    show_sources(site)
    shutil.copy(ROOT / "docs/site/search.js", site)
    sections = search_index.write(site)
    navigation.finish(site, ROOT / "docs/site/layout.xml")

    wrong, operations = check_reference.check(xml_of(site))
    dead, links_seen, pages_seen = check_site.check(site)
    for what in wrong:
        print(f"missing in the reference: {what}", file=sys.stderr)
    for link in dead:
        print(f"dead link: {link}", file=sys.stderr)
    if wrong or dead or not operations or not sections:
        return 1
    print(f"docs: {operations} operations say everything; {links_seen} links in {pages_seen} pages lead somewhere; the search knows {sections} sections: "
          f"{os.path.relpath(site)}/index.html")
    return 0


if __name__ == "__main__":
    sys.exit(main())
