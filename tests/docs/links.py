#!/usr/bin/env python3
"""Follows the links between the Markdown files of this repository, as they stand: files, folders, and anchors of headings. Each page is in the menu of
the site, and in the README. External links are not fetched.

    links.py    exits with 1 and the list of what is wrong
"""
import re
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "docs/site"))
from markdown import ROOT, headings, links, notes, pages  # noqa: E402

wrong, count = [], 0
anchors = {page: {anchor for _, _, anchor in headings(page.read_text(encoding="utf-8"))} for page in [*pages(), *notes()]}
for page in [*pages(), *notes()]:
    for line, target in links(page.read_text(encoding="utf-8")):
        count += 1
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        if not file.is_relative_to(ROOT) or not file.exists():
            wrong.append(f"{page.relative_to(ROOT)}:{line}: {target} is not there")
        elif anchor and anchor not in anchors.get(file, ()):
            wrong.append(f"{page.relative_to(ROOT)}:{line}: {target}: no such heading")

menu = re.findall(r'url="([^"]+)\.html"', (ROOT / "docs/site/layout.xml").read_text(encoding="utf-8"))
readme = {target for _, target in links((ROOT / "README.md").read_text(encoding="utf-8"))}
for page in (ROOT / "docs").glob("*.md"):
    if page.stem != "index" and page.stem not in menu:
        wrong.append(f"docs/{page.name} is not in the menu: docs/site/layout.xml")
    if f"docs/{page.name}" not in readme:
        wrong.append(f"docs/{page.name} is not in the README")

for what in wrong:
    print(what, file=sys.stderr)
if count < 100:
    sys.exit(f"only {count} links were found")
if wrong:
    sys.exit(1)
print(f"{count} links in {len(anchors)} files")
