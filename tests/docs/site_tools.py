#!/usr/bin/env python3
"""The tools that make and check the site, without Doxygen: each of them must find what is wrong, and only that."""
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "docs/site"))
import check_reference  # noqa: E402
import check_site  # noqa: E402
import navigation  # noqa: E402
import page  # noqa: E402
import search_index  # noqa: E402
from markdown import headings, links  # noqa: E402


def saying(sections):
    return "".join(f'<simplesect kind="par"><title>{title}</title><para>Something.</para></simplesect>' for title in sections)


def operation(name, sections, arguments="(CompletionToken &amp;&amp;token={})", text="Does something."):
    return (f'<memberdef kind="function" prot="public"><templateparamlist><param><type>asio::completion_token_for&lt; void(error_code)&gt;</type></param>'
            f"</templateparamlist><type>auto</type><name>{name}</name><argsstring>{arguments}</argsstring><briefdescription><para>{text}</para>"
            f"</briefdescription><detaileddescription><para>{saying(sections)}</para></detaileddescription></memberdef>")


def variable(name, kind, text):
    return (f'<memberdef kind="variable" prot="public"><type>{kind}</type><name>{name}</name><briefdescription><para>{text}</para></briefdescription>'
            f"<detaileddescription/></memberdef>")


class Reference(unittest.TestCase):
    def check(self, change=lambda classes: None, of_all={}, kind="class"):
        classes = {}
        for full in sorted(check_reference.OPERATIONS):
            scope, _, name = full.rpartition("::")
            classes.setdefault(scope, {})[name] = operation(name, check_reference.REQUIRED)
        change(classes)
        with tempfile.TemporaryDirectory() as folder:
            for number, (scope, members) in enumerate(classes.items()):
                said = f"<detaileddescription><para>{saying(of_all.get(scope, ()))}</para></detaileddescription>"
                text = (f'<doxygen><compounddef kind="{kind}"><compoundname>{scope}</compoundname>{said}{"".join(members.values())}'
                        f"</compounddef></doxygen>")
                (Path(folder) / f"class{number}.xml").write_text(text, encoding="utf-8")
            return check_reference.check(folder)[0]

    def test_what_says_everything_passes(self):
        self.assertEqual(self.check(), [])

    def test_each_section_is_missed(self):
        for missing in check_reference.REQUIRED:
            rest = [title for title in check_reference.REQUIRED if title != missing]
            self.assertEqual(self.check(lambda c: c["redlock::lease"].update(extend=operation("extend", rest))), [f"redlock::lease::extend: {missing}"])

    def test_a_class_may_say_it_of_all_its_operations(self):
        rest = [title for title in check_reference.REQUIRED if title != "Executor"]
        def without(classes):
            classes["redlock::lease"].update(extend=operation("extend", rest))
        missing = ["redlock::lease::extend: Executor"]
        self.assertEqual(self.check(without, {"redlock::lease": ["Executor"]}), [])
        self.assertEqual(self.check(without, {"redlock::lock": ["Executor"]}), missing)
        self.assertEqual(self.check(without, {"redlock::lease": ["Executor"]}, kind="namespace"), missing)

    def test_an_overload_may_refer_to_one_that_says_everything_and_not_to_none(self):
        same = operation("acquire", (), text="The same, and fills a report.")
        self.assertEqual(self.check(lambda c: c["redlock::lock"].update(another=same)), [])
        self.assertEqual(self.check(lambda c: c["redlock::lock"].update(acquire=same)), ["redlock::lock::acquire: each overload refers to another one"])

    def test_operations_that_come_and_go_are_noticed(self):
        self.assertEqual(len(self.check(lambda c: c["redlock::client"].pop("drain"))), 1)
        self.assertEqual(len(self.check(lambda c: c["redlock::client"].update(pause=operation("pause", check_reference.REQUIRED)))), 1)

    def test_durations_have_units(self):
        chrono = operation("extend", check_reference.REQUIRED, "(std::chrono::milliseconds by, CompletionToken &amp;&amp;token={})")
        self.assertEqual(self.check(lambda c: c["redlock::lease"].update(extend=chrono)), ["redlock::lease::extend: Units"])
        without, within = variable("stall_timeout", "int", "How long it may take."), variable("stall_timeout", "int", "In seconds.")
        self.assertEqual(self.check(lambda c: c["redlock::client"].update(x=without)), ["redlock::client::stall_timeout: in what unit it is"])
        self.assertEqual(self.check(lambda c: c["redlock::client"].update(x=within)), [])


class Site(unittest.TestCase):
    def check(self, **files):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in files.items():
                (Path(folder) / name.replace("_", ".")).write_text(text, encoding="utf-8")
            return check_site.check(folder)[0]

    def test_links_that_lead_somewhere(self):
        self.assertEqual(self.check(a_html='<a href="b.html#x">b</a><a href="https://example.org/none">c</a><a href="#">d</a>', b_html='<p id="x"></p>'), [])

    def test_dead_ones(self):
        self.assertEqual(len(self.check(a_html='<a href="b.html">b</a>')), 1)
        self.assertEqual(len(self.check(a_html='<a href="b.html#y">b</a>', b_html='<p id="x"></p>')), 1)
        self.assertEqual(len(self.check(a_html='<img src="b.png">')), 1)
        self.assertEqual(len(self.check(a_html='<a href="../b.html">b</a>')), 1)
        self.assertEqual(len(self.check(a_html="", menudata_js='var menudata={children:[{text:"B",url:"b.html"}]}')), 1)


class Pages(unittest.TestCase):
    def site(self, text, file=ROOT / "docs/waiting.md"):
        return page.of_markdown(file, text)

    def test_links_lead_into_the_site(self):
        self.assertIn("[x](proof.html#proof-memory-loss)", self.site("# W\n[x](proof.md#memory-loss)"))
        self.assertIn("[x](waiting.html#waiting-owners)", self.site("# W\n[x](#owners)"))
        self.assertIn("[x](config_8hpp.html)", self.site("# W\n[x](../include/redlock/config.hpp)"))
        self.assertIn("[x](source/tests/model.html)", self.site("# W\n[x](../tests/model)"))
        self.assertIn("[x](source/benchmarks/decisions.md.html)", self.site("# W\n[x](../benchmarks/decisions.md)"))
        self.assertIn("[x](proof.html)", self.site("# W\n[x](docs/proof.md)", ROOT / "SECURITY.md"))
        self.assertIn("[Why the fencing tokens increase](proof.html)", self.site("# W\n[proof.md](proof.md)"))
        self.assertIn("[x](https://example.org/a.md)", self.site("# W\n[x](https://example.org/a.md)"))

    def test_code_stays_as_it_is(self):
        text = "`[x](proof.md)` and `a@b`\n```cpp\n[&](int) {}  // [x](proof.md)\n```"
        self.assertIn(text, self.site("# W\n" + text))

    def test_headings_have_names_of_their_own(self):
        self.assertIn("## A `b`, c {#waiting-a-b-c}", self.site("# W\n## A `b`, c"))
        self.assertEqual([anchor for _, _, anchor in headings("# A\n## B\n## B\n")], ["a", "b", "b-1"])

    def test_links_are_found_unless_they_are_code(self):
        self.assertEqual(list(links("[`a`](b.md)\n`[c](d.md)`\n```\n[e](f.md)\n```\n")), [(1, "b.md")])

    def test_sections_of_headers(self):
        text = page.of_header(Path("lease.hpp"), "// A lease.\n    /// Errors: `errc::x`.\n    // For with_lock: it.\n    void f();\n\n")
        self.assertEqual(text, "/// @header A lease.\n    /// @saying{Errors} `errc::x`.\n/// @cond internal\n    void f();\n/// @endcond\n")


class Navigation(unittest.TestCase):
    def test_the_column_has_the_groups_and_marks_the_page(self):
        text = navigation.column(navigation.groups(ROOT / "docs/site/layout.xml"), "waiting.html")
        self.assertIn("<h2>Guides</h2>", text)
        self.assertIn('<a href="waiting.html" class="here" aria-current="page">Waiting</a>', text)
        self.assertEqual(text.count("aria-current"), 1)
        self.assertIn('href="annotated.html"', text)

    def test_cells_know_their_headings(self):
        table = ('<table class="markdownTable"><tr><th>a &amp; <b>b</b></th><th></th></tr><tr><td class="x">1</td><td>2</td></tr></table><td>3</td>')
        self.assertEqual(navigation.with_labels(table).split("</th></tr>")[1],
                         '<tr><td data-label="a &amp; b" class="x">1</td><td>2</td></tr></table><td>3</td>')

    def test_lists_of_members_have_no_empty_words(self):
        row = '<tr class="memdesc:a1"><td class="mdescLeft">&#160;</td><td class="mdescRight">%s  <a href="x.html#a1">More...</a><br /></td></tr>'
        self.assertEqual(navigation.without_more(row % "The same."), "")
        self.assertNotIn("More", navigation.without_more(row % "Releases it."))
        self.assertIn("Releases it.", navigation.without_more(row % "Releases it."))


class Search(unittest.TestCase):
    def test_each_heading_begins_a_section(self):
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "a.html").write_text(
                '<div class="header"><div class="title">A page</div></div><div class="contents"><div class="toc"><h3>Contents</h3></div>'
                '<div class="textblock"><p>First.</p><h1><a class="anchor" id="x"></a>Then</h1><p>Second.</p></div></div></body>', encoding="utf-8")
            found = search_index.of_site(Path(folder))
        self.assertEqual(found, [["a.html", "A page", "A page", "First."], ["a.html#x", "Then", "A page", "Second."]])


if __name__ == "__main__":
    unittest.main()
