"""Mistakes that could be made in a source, found in its syntax tree (libclang). Each is a change of a few characters; whether it compiles, only the
compiler knows.
"""
import hashlib
import json
import re
from dataclasses import asdict, dataclass
from pathlib import Path

from clang.cindex import Cursor, CursorKind, Index, TokenKind, TranslationUnit, TypeKind

VERSION = 4     # of the rules: what was found by others is found anew

FUNCTIONS = {CursorKind.FUNCTION_DECL, CursorKind.CXX_METHOD, CursorKind.CONSTRUCTOR, CursorKind.DESTRUCTOR, CursorKind.FUNCTION_TEMPLATE,
             CursorKind.CONVERSION_FUNCTION}
# What a compiler decides, and no test.
PASSED_OVER = {CursorKind.STATIC_ASSERT, CursorKind.ENUM_DECL, CursorKind.TEMPLATE_NON_TYPE_PARAMETER, CursorKind.TEMPLATE_TYPE_PARAMETER,
               CursorKind.CONCEPT_DECL, CursorKind.REQUIRES_EXPR}
BOUNDARIES = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}
ARITHMETIC = {"+": "-", "-": "+", "*": "/", "/": "*"}
UNITS = {"ns": "us", "us": "ms", "ms": "s", "s": "ms", "min": "s", "h": "min"}
LONG_UNITS = {"nanoseconds": "microseconds", "microseconds": "milliseconds", "milliseconds": "seconds", "seconds": "milliseconds",
              "minutes": "seconds", "hours": "minutes"}
EMPTY = ("{}", "std::nullopt", "nullptr")       # another word for it is no mistake
LOCKS = ("lock_guard", "scoped_lock", "unique_lock", "shared_lock")


@dataclass(frozen=True)
class Candidate:
    file: str           # from the root of the project
    rule: str
    line: int
    first: int          # characters (bytes) of the file that are replaced
    last: int
    text: str           # by this

    def key(self) -> str:
        return f"{self.file}:{self.line}: {self.rule}"


class Finder:
    def __init__(self, root: Path, file: str, source: bytes):
        self.root = root
        self.path = str(root / file)
        self.file = file
        self.source = source
        self.found: list[Candidate] = []

    def add(self, rule: str, first: int, last: int, text: str) -> None:
        before = self.source[first:last].decode()
        if before == text:
            return
        line = self.source.count(b"\n", 0, first) + 1
        self.found.append(Candidate(self.file, rule, line, first, last, text))

    def is_here(self, cursor: Cursor) -> bool:
        start = cursor.extent.start
        return start.file is not None and start.file.name == self.path and cursor.extent.end.offset > start.offset

    def text(self, cursor: Cursor) -> str:
        return self.source[cursor.extent.start.offset:cursor.extent.end.offset].decode()

    def walk(self, cursor: Cursor, function: Cursor | None) -> None:
        if cursor.kind in PASSED_OVER:
            return
        if cursor.kind in FUNCTIONS:
            function = cursor
        if self.is_here(cursor):
            self.look_at(cursor, function)
        children = list(cursor.get_children())
        for child in children:
            if child.extent.start.file is None or child.extent.start.file.name == self.path:
                self.walk(child, function)

    def look_at(self, cursor: Cursor, function: Cursor | None) -> None:
        kind = cursor.kind
        if kind == CursorKind.COMPOUND_STMT:
            self.statements(cursor, function)
        elif kind in (CursorKind.IF_STMT, CursorKind.WHILE_STMT):
            self.condition(cursor)
        elif kind == CursorKind.BINARY_OPERATOR:
            self.operator(cursor)
        elif kind == CursorKind.CONDITIONAL_OPERATOR:
            self.negate(list(cursor.get_children())[0])
        elif kind == CursorKind.RETURN_STMT:
            self.returned(cursor, function)
        elif kind == CursorKind.CALL_EXPR:
            self.arguments(cursor)
        elif kind == CursorKind.MEMBER_REF_EXPR:
            self.member(cursor)
        elif kind in (CursorKind.INTEGER_LITERAL, CursorKind.CXX_BOOL_LITERAL_EXPR):
            self.literal(cursor)
        elif kind in (CursorKind.TYPE_REF, CursorKind.DECL_REF_EXPR) and self.text(cursor) in LONG_UNITS:
            self.add("a unit is another", cursor.extent.start.offset, cursor.extent.end.offset, LONG_UNITS[self.text(cursor)])

    def negate(self, what: Cursor) -> None:
        if self.is_here(what):
            self.add("a condition is negated", what.extent.start.offset, what.extent.end.offset, f"!({self.text(what)})")

    def condition(self, cursor: Cursor) -> None:
        parts = [c for c in cursor.get_children() if c.kind not in (CursorKind.DECL_STMT,)]
        head = self.source[cursor.extent.start.offset:cursor.extent.end.offset]
        if head.startswith(b"if constexpr") or not parts or parts[0].kind == CursorKind.VAR_DECL:
            return
        if parts[0].kind.is_expression():
            self.negate(parts[0])

    def operator(self, cursor: Cursor) -> None:
        sides = list(cursor.get_children())
        if len(sides) != 2 or not all(self.is_here(s) for s in sides):
            return
        first, last = sides[0].extent.end.offset, sides[1].extent.start.offset
        between = self.source[first:last].decode()
        sign = between.strip()
        at = first + between.find(sign)
        if sign in BOUNDARIES:
            self.add("a boundary is moved", at, at + len(sign), BOUNDARIES[sign])
        elif sign in ARITHMETIC:
            self.add("an operator is another", at, at + len(sign), ARITHMETIC[sign])
        elif sign in ("&&", "||"):
            start, end = cursor.extent.start.offset, cursor.extent.end.offset
            self.add("a condition is dropped", start, end, self.text(sides[0]))
            self.add("a condition is dropped", start, end, self.text(sides[1]))

    def statements(self, block: Cursor, function: Cursor | None) -> None:
        inside = list(block.get_children())
        for number, s in enumerate(inside):
            if not self.is_here(s):
                continue
            start, end = s.extent.start.offset, s.extent.end.offset
            if s.kind.is_expression() and not self.text(s).startswith("assert("):
                self.add("a statement is left out", start, end, "")
            elif s.kind == CursorKind.IF_STMT and len([c for c in s.get_children() if c.kind != CursorKind.DECL_STMT]) == 2:
                self.add("a check is left out", start, end, "" if self.text(s).endswith("}") else "(void)0")
            elif s.kind == CursorKind.DECL_STMT and any(word in self.text(s) for word in LOCKS):
                self.add("a lock is left out", start, end, ";")
            is_void = function is not None and function.result_type.kind == TypeKind.VOID
            if is_void and number > 0 and number in (1, len(inside) - 1) and self.is_body(block, function):
                self.add("it returns early", start, start, "return; ")

    @staticmethod
    def is_body(block: Cursor, function: Cursor) -> bool:
        return any(c == block for c in function.get_children())

    def returned(self, cursor: Cursor, function: Cursor | None) -> None:
        values = list(cursor.get_children())
        if len(values) != 1 or not self.is_here(values[0]):
            return
        start, end = values[0].extent.start.offset, values[0].extent.end.offset
        kind = values[0].type.get_canonical().kind
        if kind == TypeKind.BOOL:
            if values[0].kind != CursorKind.CXX_BOOL_LITERAL_EXPR:
                self.add("a result is negated", start, end, f"!({self.text(values[0])})")
        elif function is not None and kind not in (TypeKind.LVALUEREFERENCE, TypeKind.VOID) and self.text(values[0]) not in EMPTY:
            self.add("a result is empty", start, end, "{}")

    def arguments(self, call: Cursor) -> None:
        if call.spelling in ("min", "max"):     # of two
            return
        given = [a for a in call.get_arguments() if a is not None and self.is_here(a)]
        for one, other in zip(given, given[1:]):
            alike = one.type.get_canonical().spelling.replace("const ", "") == other.type.get_canonical().spelling.replace("const ", "")
            ordered = one.extent.end.offset < other.extent.start.offset
            if alike and ordered and one.type.kind != TypeKind.INVALID and self.text(one) != self.text(other):
                start, end = one.extent.start.offset, other.extent.end.offset
                between = self.source[one.extent.end.offset:other.extent.start.offset].decode()
                if between.strip() == ",":      # not the two sides of an operator
                    self.add("arguments are exchanged", start, end, self.text(other) + between + self.text(one))

    def member(self, cursor: Cursor) -> None:
        field = cursor.referenced
        if field is None or field.kind != CursorKind.FIELD_DECL or not self.text(cursor).endswith(field.spelling):
            return
        kind = field.type.get_canonical().spelling
        like = [f.spelling for f in field.semantic_parent.get_children()
                if f.kind == CursorKind.FIELD_DECL and f.spelling and f.type.get_canonical().spelling == kind]
        if len(like) < 2 or field.spelling not in like:
            return
        other = like[(like.index(field.spelling) + 1) % len(like)]
        end = cursor.extent.end.offset
        self.add("a member is another", end - len(field.spelling), end, other)

    def literal(self, cursor: Cursor) -> None:
        token = next((t for t in cursor.get_tokens() if t.kind in (TokenKind.LITERAL, TokenKind.KEYWORD)), None)
        if token is None:
            return
        start, end = token.extent.start.offset, token.extent.end.offset
        text = self.source[start:end].decode()
        if text in ("true", "false"):
            self.add("a constant is another", start, end, "false" if text == "true" else "true")
        elif m := re.fullmatch(r"(\d[\d']*)(ns|us|ms|s|min|h)", text):
            self.add("a unit is another", start, end, m[1] + UNITS[m[2]])
            self.add("a constant is another", start, end, str(int(m[1].replace("'", "")) + 1) + m[2])
        elif m := re.fullmatch(r"(\d[\d']*)([uUlL]*)", text):
            self.add("a constant is another", start, end, str(int(m[1].replace("'", "")) + 1) + m[2])


# What most sources include, of others: parsed once.
HEADERS = ("algorithm", "array", "chrono", "functional", "map", "memory", "optional", "string", "string_view", "vector", "boost/asio.hpp",
           "boost/asio/experimental/parallel_group.hpp", "boost/container/string.hpp", "nlohmann/json.hpp")


def prepare(arguments: list[str], to: Path) -> None:
    text = "".join(f"#include <{h}>\n" for h in HEADERS)
    known = to.with_suffix(".hpp")
    if to.exists() and known.exists() and known.read_text() == text:
        return
    to.parent.mkdir(parents=True, exist_ok=True)
    known.write_text(text)
    unit = Index.create().parse(str(known), ["-xc++-header", *arguments], options=TranslationUnit.PARSE_INCOMPLETE)
    unit.save(str(to))


def find(root: Path, file: str, arguments: list[str], cache: Path) -> list[Candidate]:
    source = (root / file).read_bytes()
    name = hashlib.sha256(source + file.encode() + bytes([VERSION])).hexdigest()
    kept = cache / f"{name}.json"
    if kept.exists():
        return [Candidate(**c) for c in json.loads(kept.read_text())]
    # Incomplete: no template is instantiated that nobody asks for.
    unit = Index.create().parse(str(root / file), ["-xc++", *arguments], options=TranslationUnit.PARSE_INCOMPLETE)
    broken = [d for d in unit.diagnostics if d.severity >= 4]
    if broken:
        raise SystemExit(f"mutate: {file}: {broken[0]}")
    finder = Finder(root, file, source)
    finder.walk(unit.cursor, None)
    found = list(dict.fromkeys(finder.found))
    cache.mkdir(parents=True, exist_ok=True)
    kept.write_text(json.dumps([asdict(c) for c in found]))
    return found


if __name__ == "__main__":      # ROOT FILE CACHE ARGUMENT...
    import sys
    if sys.argv[2] == "--prepare":
        sys.exit(prepare(sys.argv[4:], Path(sys.argv[3])))
    print(json.dumps([asdict(c) for c in find(Path(sys.argv[1]), sys.argv[2], sys.argv[4:], Path(sys.argv[3]))]))
