#!/usr/bin/env python3
"""A picture of one measurement, drawn by gnuplot: plot.py FIGURES.json PICTURE.svg (or .png)"""
import json
import re
import subprocess
import sys

BLUE, GREEN, GREY, GOAL = '#3465a4', '#4e9a06', '#888a85', '#cc0000'
COLOURS = (BLUE, GREEN, '#f57900')


def kind(fencing):
    return 'with tokens' if fencing else 'without tokens'


def block(name, rows):
    lines = (' '.join(f'"{cell}"' if isinstance(cell, str) else 'NaN' if cell is None else repr(cell) for cell in row) for row in rows)
    return f'${name} << END\n' + '\n'.join(lines) + '\nEND\n'


def goal(height, words):
    """A horizontal line in the current plot's own units, and its key."""
    return f'{height} with lines linecolor rgb "{GOAL}" linewidth 2 dashtype 2 title "goal: {words}"'


def boxes(rows, title, unit, log=None, goal_line=None, number='%.3g'):
    """Bars with their names below and their values above: rows are (name, value)."""
    values = [value for _, value in rows if value]
    script = block('bars', [(name, None if value is None else max(value, log or 0), value) for name, value in rows])
    script += f'set title "{title}"\nset ylabel "{unit}"\nset style fill solid 0.85\nset boxwidth 0.5\n'
    script += f'set xrange [-0.6:{len(rows) - 0.4}]\n'
    script += f'set logscale y\nset yrange [{log}:*]\nset offsets 0, 0, graph 0.08, 0\n' if log else f'set yrange [0:{1.25 * max([*values, 0.8])}]\n'
    script += (f'plot $bars using 0:2:xtic(1) with boxes linecolor rgb "{BLUE}" notitle, '
               f'"" using 0:2:(sprintf("{number}", $3)) with labels offset 0,0.7 notitle')
    return script + (', ' + goal_line if goal_line else '') + '\n'


def handoff(figures):
    waiters = figures[0]['waiters']
    rows = [(kind(f['fencing']), f['pairs_per_second']) for f in figures]
    cpu = [(kind(f['fencing']), f['cpu_us_per_pair']) for f in figures]
    return ('set multiplot layout 1,2\n'
            + boxes(rows, f'Acquisitions and releases, {waiters} coroutines of one client', 'a second', 100, goal(500_000, '500,000'), '%.0f')
            + boxes(cpu, 'CPU time of the process', 'µs for each', 0.1, None, '%.3g'))


def clusters(rows, titles, title, unit, lowest, more=()):
    """Bars side by side with their values above, on a logarithmic scale: rows are (name, value of the first title, ...)."""
    script = block('rows', rows)
    script += (f'set title "{title}"\nset ylabel "{unit}"\nset style data histograms\nset style fill solid 0.85\n'
               f'set style histogram clustered gap 1\nset logscale y\nset yrange [{lowest}:*]\nset xrange [-0.6:{len(rows) - 0.4}]\n')
    plots = []
    for i, name in enumerate(titles):
        plots.append(f'$rows using {i + 2}:xtic(1) linecolor rgb "{COLOURS[i]}" title "{name}"')
        plots.append(f'"" using ($0 + {middle(i, titles)}):{i + 2}:(sprintf("%.3g", ${i + 2})) with labels offset 0,0.7 notitle')
    return script + f'plot {", ".join([*plots, *more])}\n'


def middle(i, titles):
    """Where a bar of a cluster is."""
    return (i - (len(titles) - 1) / 2) / (len(titles) + 1)


def remote(figures):
    rtt = figures['rtt_ms']['p50']
    names = {'same_process': 'another client of the\\nsame process', 'other_process': 'another process', 'node_redlock': 'node-redlock',
             'expiry': 'dead: from the\\nend of its ttl'}
    percentiles = ('p50', 'p90', 'p99')
    rows = [(names[f['holder']], *(f['ms'][p] for p in percentiles)) for f in figures['from']]
    return clusters(rows, percentiles,
                    f'From a release to the next acquisition, by who held the lock   (round trip {rtt:.3g} ms, {kind(figures["fencing"])})',
                    'ms', 0.01, [goal(2 * rtt + 1, f'p50 at most 2 round trips + 1 ms = {2 * rtt + 1:.3g} ms')])


def idle(figures):
    rows = [(f'{f["waiters"]} waiter{"s" if f["waiters"] > 1 else ""}', f['per_waiter']) for f in figures if f['waiters']]
    holder = figures[0]['commands_per_second_and_node']
    title = f'Commands of an idle waiter while the lock is held   (the holder alone: {holder:.2f}, {kind(figures[0]["fencing"])})'
    return boxes(rows, title, 'a second and node, for each waiter', 0.01, goal(1, '1 a second'), '%.3g')


def fair(figures):
    shares = [(str(i + 1), count) for i, count in enumerate(figures['acquired'])]
    equal = sum(figures['acquired']) / len(shares)
    title = f'Acquisitions in {figures["seconds"]:.0f} s, each held for {figures["hold_ms"]} ms ({kind(figures["fencing"])})'
    waits = [('mean', figures['wait_mean_ms']), ('longest', figures['wait_max_ms'])]
    return ('set multiplot\nset size 0.48,1\nset origin 0,0\nset xlabel "process"\n'
            + boxes(shares, title, 'acquisitions', None,
                    f'{equal} with lines linecolor rgb "{GREY}" linewidth 2 dashtype 2 title "equal shares"', '%.0f')
            + 'set size 0.24,1\nset origin 0.48,0\nset xlabel " "\n'
            + boxes([('', figures['jains_index'])], 'Fairness', 'Jain\'s index', None, goal(0.95, '0.95'))
            + 'set size 0.28,1\nset origin 0.72,0\n'
            + boxes(waits, 'Waits', 'ms', 0.01, goal(5 * figures['wait_mean_ms'], '5 times the mean'), '%.5g'))


def crowd(figures):
    names = {'eight_processes': 'coroutines of 8 processes', 'one_process': 'coroutines of one process',
             'own_clients': 'a client each, in 8 processes'}
    hows = list(dict.fromkeys(f['how'] for f in figures))
    crowds = list(dict.fromkeys(f['waiters'] for f in figures))
    found = {(f['how'], f['waiters']): f['commands_per_acquisition'] for f in figures}
    rows = [(f'{waiters:,}', *(found[how, waiters] for how in hows)) for waiters in crowds]
    script, goals = 'set xlabel "contenders"\n', []
    for i, how in enumerate(hows):
        if not {10, 1000} <= set(crowds) or not found[how, 10]:
            continue
        centre, half = crowds.index(1000) + middle(i, hows), 0.5 / (len(hows) + 1)
        script += block(f'goal{i}', [(centre - half, 3 * found[how, 10]), (centre + half, 3 * found[how, 10])])
        key = 'notitle' if goals else 'title "goal: at 1,000 at most 3 times as many as at 10"'
        goals.append(f'$goal{i} using 1:2 with lines linecolor rgb "{GOAL}" linewidth 2 {key}')
    first = figures[0]
    return script + clusters(rows, [names[how] for how in hows],
                             f'Commands for each acquisition, all nodes together   (held for {first["hold_ms"]} ms, {kind(first["fencing"])})',
                             'commands', 1, goals)


def main():
    source, picture = sys.argv[1:]
    with open(source, encoding='utf-8') as file:
        measured = json.load(file)
    terminal = 'pngcairo' if picture.endswith('.png') else 'svg'
    host = measured['host']
    command = re.sub(' --output [^ ]*', '', measured['command_line'])
    below = f'{command}; {host["cores"]} cores, {measured["compiler"]}, {measured["build_type"]}, {measured["nodes"]} redis-servers'
    script = (f'set terminal {terminal} size 1100,520 font "sans,12" background rgb "white" noenhanced\nset output "{picture}"\n'
              f'set label 1 "{below}" at screen 0.01,0.025 textcolor rgb "{GREY}" font "sans,10"\n'
              'set bmargin 5.5\nset grid ytics linecolor rgb "#d3d7cf"\nset border 3\nset tics nomirror\nset key above right samplen 2\n')
    script += {'handoff': handoff, 'remote': remote, 'idle': idle, 'fair': fair, 'crowd': crowd}[measured['what']](measured["figures"])
    subprocess.run(['gnuplot', '-'], input=script, text=True, check=True)


if __name__ == '__main__':
    main()
