#!/usr/bin/env python3
"""Follows every link of the built site that stays in it: pages, anchors, pictures, the menu and what the search finds. External ones are not fetched.

    check_site.py SITE    exits with 1 and the list of dead ones
"""
import json
import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote


class Page(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.anchors, self.links = set(), []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name == "id" or (name == "name" and tag == "a"):
                self.anchors.add(value)
            elif name in ("href", "src") and value is not None:
                self.links.append(value)


def check(site):
    site = Path(site).resolve()
    pages = {file: Page(file.read_text(encoding="utf-8", errors="replace")) for file in site.rglob("*.html")}
    links = [(file, link) for file, page in pages.items() for link in page.links]
    for file in site.rglob("*.js"):
        text = file.read_text(encoding="utf-8")
        if file.name == "menudata.js":
            links += [(file, link) for link in re.findall(r'url:"([^"]*)"', text)]
        elif file.name == "search-index.js":
            links += [(file, address) for address, *_ in json.loads(text[text.index("["):text.rindex("]") + 1])]
    dead = []
    for file, link in links:
        if re.match(r"[a-z]+:", link) or link in ("", "#"):
            continue
        path, _, anchor = unquote(link).partition("#")
        target = (file.parent / path).resolve() if path else file
        if not target.is_relative_to(site) or not target.exists():
            dead.append(f"{file.relative_to(site)}: {link}")
        elif anchor and target in pages and anchor not in pages[target].anchors:
            dead.append(f"{file.relative_to(site)}: {link}: no such anchor")
    return sorted(set(dead)), len(links), len(pages)


if __name__ == "__main__":
    dead, links, pages = check(sys.argv[1])
    for link in dead:
        print(f"dead link: {link}", file=sys.stderr)
    if not links:
        sys.exit("the site has no links at all")
    if not dead:
        print(f"site: {links} links in {pages} pages lead somewhere")
    sys.exit(1 if dead else 0)
