#!/usr/bin/env python3
"""Draws docs/pictures/*.svg: the time lines (idea_*) from the data below, whose times follow from the library's defaults; the bars from the figures in the
tables of benchmarks/decisions.md.

    pictures.py           writes them
    pictures.py --check   exits with 1 where a file differs
"""
import math
import re
import sys
from html import escape
from pathlib import Path

DOCS = Path(__file__).resolve().parents[1]
FOLDER = DOCS / "pictures"
LEFT, RIGHT, TOP, LANE, BAR = 150, 24, 64, 58, 24
PLOT = 690          # pixels for the time
TEXT = 6.4          # pixels of a letter, about

STYLE = """
  svg { --ink: #1f2430; --faint: #5d6675; --line: #dfe3ea; --paper: #ffffff; --good: #2f7d4f; --wait: #b7791f; --bad: #b3382c; --idle: #c9d0db; --on: #ffffff; --bar: #3d6fb0; --goal: #b3382c; }
  @media (prefers-color-scheme: dark) {
    svg { --ink: #d9dde6; --faint: #98a1b2; --line: #2f3541; --paper: #15181e; --good: #3f9a66; --wait: #c98f35; --bad: #d2604f; --idle: #3a4352; --on: #ffffff; --bar: #5f90d0; --goal: #ef8373; }
  }
  text { font: 13px system-ui, "Segoe UI", "Noto Sans", "DejaVu Sans", sans-serif; fill: var(--ink); }
  .title { font-weight: 650; font-size: 15px; } .small { font-size: 12px; fill: var(--faint); paint-order: stroke; stroke: var(--paper); stroke-width: 4px; } .in { fill: var(--on); font-size: 12px; }
  .group { font-weight: 600; paint-order: stroke; stroke: var(--paper); stroke-width: 4px; } .bar { fill: var(--bar); } .goal { stroke: var(--goal); stroke-width: 3px; }
  .paper { fill: var(--paper); } .grid { stroke: var(--line); } .mark { stroke: var(--ink); stroke-dasharray: 3 3; }
  .good { fill: var(--good); } .wait { fill: var(--wait); } .bad { fill: var(--bad); } .idle { fill: var(--idle); } .idle + .in { fill: var(--ink); }
""".strip()

# The defaults, in seconds.
TTL, DRIFT, MAX_TTL, DOWN_AFTER = 10.0, 0.01, 30.0, 5.0
VALIDITY = TTL * (1 - DRIFT) - 0.002
EXTEND, STOP = TTL / 3, TTL / 10
QUARANTINE = MAX_TTL * (1 + DRIFT) + 0.7    # and the messages; a client printed 31 s


def seconds(t):
    return f"{t:.1f}".rstrip("0").rstrip(".") + " s"


def lease():
    last = 2 * EXTEND       # of the extensions that reached a majority
    end = last + VALIDITY
    return {
        "name": "lease", "title": f"The life of a lease: ttl {seconds(TTL)}, a majority is out of reach from 8 s on", "until": 20, "step": 2,
        "lanes": [
            ("watchdog", [(0, 0.25, "acquired", "good"), (EXTEND, EXTEND + 0.25, "extended", "good"), (last, last + 0.25, "extended", "good"),
                          (3 * EXTEND, end - STOP, "extensions fail", "wait")]),
            ("lease is valid", [(0, end, f"valid_until() = last extension + {seconds(VALIDITY)}", "good")]),
            ("body runs", [(0.3, end - STOP, "your work", "good"), (end - STOP, end, f"stop_margin {seconds(STOP)}", "bad")]),
            ("keys on the nodes", [(0, last + TTL, f"expire {seconds(TTL)} after the last extension", "idle")]),
            ("next holder", [(last + TTL, 20, "acquires", "good")]),
        ],
        "marks": [(8, "no majority", 0), (end - STOP, f"body is cancelled at {seconds(end - STOP)}", 1, "left"), (end, f"valid until {seconds(end)}", 0)],
    }


def quarantine():
    back = 7
    admitted = back + QUARANTINE
    return {
        "name": "quarantine", "title": "Quarantine: node C restarts without its data", "until": 44, "step": 4,
        "lanes": [
            ("node A", [(0, 44, "votes", "good")]),
            ("node B", [(0, 44, "votes", "good")]),
            ("node C", [(0, 4, "votes", "good"), (4, back, "down", "bad"), (back, admitted, f"quarantined for {seconds(QUARANTINE)}: no vote", "wait"),
                        (admitted, 44, "votes", "good")]),
            ("leases from before", [(0, 4 + MAX_TTL, f"may last until {seconds(4 + MAX_TTL)} (max_ttl); C has lost them", "idle")]),
            ("locks can be had", [(0, 44, "A and B are a majority of three", "good")]),
        ],
        "marks": [(4, "C is killed", 0), (back, "C is back, empty", 1), (admitted, "C gets the marks of A and B, and is admitted", 1)],
    }


def fencing():
    end = VALIDITY
    return {
        "name": "fencing", "title": "Fencing: a paused holder writes after its lease", "until": 24, "step": 2,
        "lanes": [
            ("holder 1", [(0, 2.4, "token 33", "good"), (2.4, 19, "paused: it cannot notice that its lease has ended", "idle"), (19, 21, "writes", "bad")]),
            ("lease of holder 1", [(0, end, "valid", "good")]),
            ("holder 2", [(TTL, 20.5, "token 34: reads, and writes", "good")]),
            ("lease of holder 2", [(TTL, 24, "valid", "good")]),
            ("data", [(0, 12, "accepts tokens from 33 on", "idle"), (12, 24, "has seen 34: refuses 33", "good")]),
        ],
        "marks": [(end, f"lease 1 ends at {seconds(end)}", 0), (12, "first write with 34", 1), (19, "write with 33: refused", 1)],
    }


def failover():
    cut = 8
    end = 2 * EXTEND + VALIDITY
    promoted = cut + DOWN_AFTER + 1
    admitted = promoted + 0.5 + QUARANTINE
    return {
        "name": "failover", "title": "Failover of a group: the primary is cut off together with a holder", "until": 52, "step": 4,
        "lanes": [
            ("old primary", [(0, cut, "votes", "good"), (cut, 52, "no replica acknowledges: its votes do not count", "bad")]),
            ("Sentinels", [(cut, promoted, f"down-after {seconds(DOWN_AFTER)}, then a vote", "wait")]),
            ("promoted replica", [(0, promoted, "replicates", "idle"), (promoted, admitted, f"quarantined for max_ttl ({seconds(MAX_TTL)}) and a little", "wait"),
                                  (admitted, 52, "votes", "good")]),
            ("first holder", [(0, end - STOP, "holds the lock", "good"), (end - STOP, end, f"stop_margin {seconds(STOP)}", "bad")]),
            ("second holder", [(promoted, admitted, "waits", "idle"), (admitted, 52, "holds", "good")]),
        ],
        "marks": [(cut, "cut off", 0), (promoted, f"promoted at {seconds(promoted)}", 0), (end, f"lease ends at {seconds(end)}", 1),
                  (admitted, f"admitted at {seconds(admitted)}", 1)],
    }


def draw(data):
    lanes, until = data["lanes"], data["until"]
    width, bottom = LEFT + PLOT + RIGHT, TOP + 18 + LANE * len(lanes)

    def x(t):
        return LEFT + PLOT * t / until
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {bottom + 34}" role="img">', f"<style>{STYLE}</style>",
             f"<title>{escape(data['title'])}</title>", f'<rect class="paper" width="{width}" height="{bottom + 34}"/>',
             f'<text class="title" x="12" y="24">{escape(data["title"])}</text>']
    for t in range(0, until + 1, data["step"]):
        parts.append(f'<line class="grid" x1="{x(t):.1f}" y1="{TOP + 14}" x2="{x(t):.1f}" y2="{bottom}"/>'
                     f'<text class="small" x="{x(t):.1f}" y="{bottom + 18}" text-anchor="middle">{t} s</text>')
    for t, _, row, *_ in data["marks"]:
        parts.append(f'<line class="mark" x1="{x(t):.1f}" y1="{TOP - 14 + 16 * row}" x2="{x(t):.1f}" y2="{bottom}"/>')
    for number, (name, bars) in enumerate(lanes):
        top = TOP + 28 + LANE * number
        parts.append(f'<text x="12" y="{top + 17}">{escape(name)}</text>')
        for begin, end, text, kind in bars:
            room = x(end) - x(begin)
            parts.append(f'<rect class="{kind}" x="{x(begin):.1f}" y="{top}" width="{room:.1f}" height="{BAR}" rx="3"/>')
            if text and TEXT * len(text) + 10 <= room:
                parts.append(f'<text class="in" x="{x(begin) + 6:.1f}" y="{top + 16}">{escape(text)}</text>')
            elif text:
                after = min((b for b, *_ in bars if b >= end), default=until + (RIGHT - 4) / PLOT * until)
                if TEXT * len(text) + 8 > x(after) - x(end):
                    raise SystemExit(f"{data['name']}: no room for \"{text}\"")
                parts.append(f'<text class="small" x="{x(end) + 5:.1f}" y="{top + 16}">{escape(text)}</text>')
    taken = {0: 0.0, 1: 0.0}
    for t, text, row, *side in sorted(data["marks"]):
        room = TEXT * len(text)
        at = x(t) + 4 if x(t) + 4 + room <= width and not side else x(t) - 4 - room      # at the other side of its line
        if at < taken[row]:
            raise SystemExit(f"{data['name']}: \"{text}\" overlaps the mark before it")
        taken[row] = at + room
        parts.append(f'<text class="small" x="{at:.1f}" y="{TOP - 16 + 16 * row}">{escape(text)}</text>')
    return "\n".join([*parts, "</svg>", ""])


def measured(page, row):
    """The cells of the row of a table in a page that begins so."""
    for line in (DOCS / page).read_text(encoding="utf-8").splitlines():
        if line.startswith(f"| {row} |"):
            return [cell.strip().replace("**", "") for cell in line.strip("|").split("|")]
    raise SystemExit(f"docs/{page} has no row that begins with | {row} |")


def ratios():
    def bar(label, name):
        _, _, goal, value = measured("../benchmarks/decisions.md", f"`{name}`")
        return label, float(value), float(goal.strip("≤≥ "))
    return {
        "name": "speed_ratios", "title": "This library as multiples of the epoll baseline", "from": 0, "to": 4, "grid": (0, 1, 2, 3, 4), "line": 1,
        "notes": ("1 is the epoll baseline: hand-written code on raw sockets that sends the same commands, without leases, timers or errors.",
                  "Where goals and conditions come from: the tables beside this picture."),
        "groups": [
            ("CPU time of the client for a pair: lower is better", "good",
             [bar("3 nodes, 256 callers", "cpu_ratio_n3_c256"), bar("5 nodes, 256 callers", "cpu_ratio_n5_c256"), bar("3 nodes, 2,000 callers", "cpu_ratio_n3_c2000"),
              bar("3 nodes, 256 callers, with tokens", "fenced_cpu_ratio_n3_c256")]),
            ("Latency of an acquisition: lower is better", "wait",
             [bar("3 nodes, 1 caller, median", "latency_ratio_n3_c1"), bar("5 nodes, 1 caller, median", "latency_ratio_n5_c1"),
              bar("round trip of 2 ms, median", "rtt2ms_latency_ratio")]),
            ("Pairs a second: higher is better", "bar",
             [bar("3 nodes, 256 callers", "throughput_ratio_n3_c256"), bar("5 nodes, 256 callers", "throughput_ratio_n5_c256"),
              bar("3 nodes, 256 callers, with tokens", "fenced_throughput_ratio_n3_c256")]),
        ],
    }


def crowd():
    def bars(row):
        return [(f"{count} waiters", float(value), None) for count, value in zip(("10", "100", "1,000"), measured("../benchmarks/decisions.md", row)[2].split(" / "))]
    return {
        "name": "waiting_crowd", "title": "Commands for each acquisition, all three nodes together", "from": 0.5, "to": 1000, "grid": (1, 10, 100, 1000), "line": None,
        "notes": ("The waiters of one client share a queue, so only one of them asks the nodes. Logarithmic scale.",),
        "groups": [
            ("one process", "good", bars("the same, in one process")),
            ("8 processes", "bar", bars("commands per acquisition, all nodes, 10 / 100 / 1,000 waiters in 8 processes (`waiting crowd`)")),
            ("a client with connections of its own for each waiter", "wait", bars("the same, each a client with connections of its own")),
        ],
    }


def draw_bars(data):
    left, right, step, bar = 250, 70, 26, 18
    lowest, highest = data["from"], data["to"]
    width = left + PLOT - 100 + right

    def x(value):
        part = (math.log(value / lowest) / math.log(highest / lowest)) if lowest > 0 else value / highest
        return left + (PLOT - 100) * part
    parts, y = [], 44
    for note in data["notes"]:
        parts.append(f'<text class="small" x="12" y="{y}">{escape(note)}</text>')
        y += 18
    top = y
    for name, kind, rows in data["groups"]:
        parts.append(f'<text class="group" x="12" y="{y + 20}">{escape(name)}</text>')
        y += 32
        for label, value, goal in rows:
            parts.append(f'<text x="24" y="{y + 14}">{escape(label)}</text>'
                         f'<rect class="{kind}" x="{left}" y="{y}" width="{x(value) - left:.1f}" height="{bar}" rx="2"/>')
            after = x(value)
            if goal is not None:
                parts.append(f'<line class="goal" x1="{x(goal):.1f}" y1="{y - 3}" x2="{x(goal):.1f}" y2="{y + bar + 3}"/>')
                after = max(after, x(goal))
            text = f"{value:g}" + (f" (goal {goal:g})" if goal is not None else "")
            parts.append(f'<text class="small" x="{after + 6:.1f}" y="{y + 14}">{text}</text>')
            y += step
    bottom = y + 4
    grid = [f'<line class="grid" x1="{x(value):.1f}" y1="{top + 8}" x2="{x(value):.1f}" y2="{bottom}"/>'
            f'<text class="small" x="{x(value):.1f}" y="{bottom + 17}" text-anchor="middle">{value:g}</text>' for value in data["grid"]]
    if data["line"] is not None:
        grid.append(f'<line class="mark" x1="{x(data["line"]):.1f}" y1="{top + 8}" x2="{x(data["line"]):.1f}" y2="{bottom}"/>')
    return "\n".join([f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {bottom + 28}" role="img">', f"<style>{STYLE}</style>",
                      f"<title>{escape(data['title'])}</title>", f'<rect class="paper" width="{width}" height="{bottom + 28}"/>',
                      f'<text class="title" x="12" y="24">{escape(data["title"])}</text>', *grid, *parts, "</svg>", ""])


def main():
    wrong = 0
    pictures = {f"idea_{data['name']}": draw(data) for data in (lease(), quarantine(), fencing(), failover())}
    pictures.update({data["name"]: draw_bars(data) for data in (ratios(), crowd())})
    for name, drawn in pictures.items():
        file = FOLDER / f"{name}.svg"
        if "--check" not in sys.argv:
            file.write_text(drawn, encoding="utf-8")
        elif not file.exists() or file.read_text(encoding="utf-8") != drawn:
            print(f"{file.name} is not what docs/site/pictures.py draws: run it", file=sys.stderr)
            wrong = 1
    return wrong


if __name__ == "__main__":
    sys.exit(main())
