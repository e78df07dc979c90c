"""What Doxygen's pages lack: the menu as a column at the left, the headings of a table in its cells, and member lists that say something."""
import html
import re
import xml.etree.ElementTree as ElementTree
from html import escape

# Where the tabs of layout.xml that have no address lead.
ADDRESSES = {"mainpage": "index.html", "classlist": "annotated.html", "classmembers": "functions.html", "filelist": "files.html"}
ROW = re.compile(r"<tr\b[^>]*>(.*?)</tr>", re.S)
HEAD = re.compile(r"<th\b[^>]*>(.*?)</th>", re.S)
TABLE = re.compile(r'<table class="markdownTable">.*?</table>', re.S)


def groups(layout):
    """[title, [(title, address)]] of the menu; what stands alone is a group without a title."""
    result = []
    for tab in ElementTree.fromstring(layout.read_text(encoding="utf-8")).find("navindex"):
        if tab.get("type") == "usergroup":
            result.append((tab.get("title"), [(item.get("title"), item.get("url") or ADDRESSES[item.get("type")]) for item in tab]))
        else:
            result.append(("", [(tab.get("title"), tab.get("url") or ADDRESSES[tab.get("type")])]))
    return result


def column(menu, current):
    """The menu as HTML. Pages of the reference that are not in it belong to its last group."""
    parts = []
    for title, items in menu:
        if title:
            parts.append(f"<h2>{escape(title)}</h2>")
        parts.append("<ul>")
        for name, address in items:
            here = ' class="here" aria-current="page"' if address == current else ""
            parts.append(f'<li><a href="{address}"{here}>{escape(name)}</a></li>')
        parts.append("</ul>")
    return '<nav id="site-nav" aria-label="Pages">' + "".join(parts) + "</nav>"


def label(heading):
    return escape(html.unescape(re.sub(r"<[^>]*>", "", heading)).strip())


def with_labels(text):
    """Each cell of a table knows its heading, so that a narrow screen can show a row as a list. A table without headings has none to show."""
    def table(found):
        heads = [label(h) for h in HEAD.findall(found[0])]

        def row(r):
            number = -1

            def cell(c):
                nonlocal number
                number += 1
                name = heads[number] if number < len(heads) else ""
                return f'<td data-label="{name}"{c[1]}>' if name else c[0]
            return re.sub(r"<td\b([^>]*)>", cell, r[0])
        return ROW.sub(row, found[0])
    return TABLE.sub(table, text)


def without_more(text):
    """Lists of members: no links called "More...", and no line that only says "The same."."""
    text = re.sub(r'\s*<a href="[^"]*">More\.\.\.</a>', "", text)
    return re.sub(r'<tr class="memdesc:\w+"><td class="mdescLeft">&#160;</td><td class="mdescRight">The same\.\s*(<br />)?</td></tr>\n?', "", text)


def finish(site, layout):
    menu = groups(layout)
    for file in site.glob("*.html"):
        text = without_more(with_labels(file.read_text(encoding="utf-8")))
        file.write_text(text.replace("</div><!-- top -->", "</div><!-- top -->\n" + column(menu, file.name), 1), encoding="utf-8")
