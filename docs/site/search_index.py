"""What search.js looks through: the sections of all pages of the site, with the text of each."""
import json
import re
from html.parser import HTMLParser

SKIPPED = ("toc", "memproto")
HEADINGS = ("h1", "h2", "h3")
# Lists of names, whose members have pages of their own; files as they are.
NO_PAGES = re.compile(r"(-members|_source|8hpp)\.html$|^(annotated|files|functions|globals|namespacemembers|namespaces|classes|dir_|hierarchy)")


class Sections(HTMLParser):
    """Each heading, and each value of an enumeration, begins a section: [anchor, title, text]."""

    def __init__(self, text):
        super().__init__()
        self.title, self.found = "", [["", "", ""]]
        self.inside, self.into, self.anchor, self.skipped, self.page_title = 0, "text", "", 0, False
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        kind = attributes.get("class") or ""
        if tag == "div":
            self.page_title = self.page_title or (kind == "title" and not self.title)
            # Divisions in divisions: how deep, since the contents began. Lists of contents and declarations are left out.
            if self.inside or kind == "contents":
                self.inside += 1
            if self.skipped or kind in SKIPPED:
                self.skipped += 1
        if not self.inside or self.skipped:
            return
        if tag == "a" and attributes.get("id"):
            self.anchor = attributes["id"]
            if self.into == "title":
                self.found[-1][0] = self.anchor
        elif tag == "table" and kind == "memberdecls":
            self.into = ""  # the list at the top: all of it comes again
        elif self.into and (tag in HEADINGS or (tag == "td" and kind == "fieldname")):
            self.found.append([self.anchor, "", ""])
            self.into = "title"

    def handle_endtag(self, tag):
        if tag == "div":
            self.page_title = False
            self.inside -= bool(self.inside)
            self.skipped -= bool(self.skipped)
        elif tag == "table" or (self.into == "title" and tag in (*HEADINGS, "td")):
            self.into = "text"

    def handle_data(self, data):
        if self.page_title:
            self.title += data
        elif self.inside and not self.skipped and self.into:
            self.found[-1][1 if self.into == "title" else 2] += data + ("" if self.into == "title" else " ")


def plain(text):
    return re.sub(r" ([,.;:)])", r"\1", " ".join(text.replace("\u25c6", "").replace("\u200b", "").split()))


def of_site(site):
    """[address, title, title of the page, text] of each section."""
    result = []
    for file in sorted(site.glob("*.html")):
        if NO_PAGES.search(file.name):
            continue
        page = Sections(file.read_text(encoding="utf-8"))
        title = re.sub(r" (Class|Struct|Namespace) Reference.*", "", plain(page.title))
        page.found[0][2] = re.sub(r"^#include <\S+>", "", plain(page.found[0][2]).replace("< ", "<").replace(" >", ">"))
        if len(page.found) > 1 and plain(page.found[1][1]) == "Detailed Description":
            page.found[0][2] += page.found.pop(1)[2]
        for anchor, name, text in page.found:
            overrides = "Reimplemented from" in text    # what it overrides is found
            if (plain(name) or plain(text)) and not overrides:
                result.append([file.name + (f"#{anchor}" if anchor else ""), plain(name) or title, title, plain(text)])
    return result


def write(site):
    """Makes search-index.js, and gives each page the box. Answers how many sections there are."""
    sections = of_site(site)
    (site / "search-index.js").write_text(f"const sections = {json.dumps(sections, ensure_ascii=False, separators=(',', ':'))};\n", encoding="utf-8")
    for file in site.glob("*.html"):
        text = file.read_text(encoding="utf-8")
        scripts = '<script src="search-index.js"></script><script src="search.js"></script>\n</body>'
        file.write_text(text.replace("</body>", scripts), encoding="utf-8")
    return len(sections)
