#!/usr/bin/env python3
"""Pictures of what `speed all` has measured, drawn by gnuplot: plot.py SPEED.json FOLDER"""
import json
import pathlib
import subprocess
import sys

FLOOR, ASIO, REDIS, OURS, THEIRS, GREY, GOAL = '#888a85', '#f57900', '#4e9a06', '#3465a4', '#75507b', '#d3d7cf', '#cc0000'
# Baselines do a lock's messages without being a lock.
WORKERS = (('epoll', 'raw sockets', FLOOR), ('asio', 'Asio', ASIO), ('boost_redis', 'Boost.Redis', REDIS), ('redlock', 'this library', OURS))

# The figures that are ratios, with their names below the bars.
AT_MOST = (('cpu_ratio_n3_c256', 'CPU\\nN=3\\n256 callers'), ('cpu_ratio_n5_c256', 'CPU\\nN=5\\n256 callers'),
           ('cpu_ratio_n3_c2000', 'CPU\\nN=3\\n2,000 callers'), ('latency_ratio_n3_c1', 'latency\\nN=3\\n1 caller'),
           ('latency_ratio_n5_c1', 'latency\\nN=5\\n1 caller'), ('rtt2ms_latency_ratio', 'latency\\nRTT 2 ms'),
           ('stalled_node_p99_ratio', 'p99\\none of 5\\nstopped'), ('cost_growth_100k_names', 'CPU\\nmany\\nnames'))
AT_LEAST = (('throughput_ratio_n3_c256', 'N=3\\n256\\ncallers'), ('throughput_ratio_n5_c256', 'N=5\\n256\\ncallers'),
            ('fenced_throughput_ratio_n3_c256', 'N=3, 256\\nwith\\ntokens'))


def block(name, rows):
    lines = (' '.join(f'"{cell}"' if isinstance(cell, str) else repr(cell) for cell in row) for row in rows)
    return f'${name} << END\n' + '\n'.join(lines) + '\nEND\n'


def goal_bars(name, bars, summary, goals, title, log):
    """Bars with a mark of their own where the goal is."""
    rows = [(label, summary[key], goals[key]) for key, label in bars if key in summary]
    # A value is above its bar, or above the goal where that is just there.
    rows = [(*row, row[2] if row[1] <= row[2] < 1.25 * row[1] else row[1]) for row in rows]
    if not rows:
        return ''
    top = max(max(value, aim) for _, value, aim, _ in rows)
    script = block(name, rows) + f'set title "{title}"\nset boxwidth 0.55\nset xrange [-0.6:{len(rows) - 0.4}]\n'
    if log and top > 4:
        script += f'set logscale y 2\nset yrange [0.5:{2 * top}]\n'
    else:
        script += f'unset logscale y\nset yrange [0:{1.2 * top}]\n'
    return script + (f'plot 1 with lines linecolor rgb "{FLOOR}" linewidth 1 notitle, '
                     f'${name} using 0:2:xtic(1) with boxes linecolor rgb "{OURS}" notitle, '
                     f'"" using ($0 - 0.38):3:(0.76):(0) with vectors nohead linecolor rgb "{GOAL}" linewidth 3 title "goal", '
                     f'"" using 0:4:(sprintf("%.2f", $2)) with labels boxed textcolor rgb "{OURS}" offset 0,0.8 notitle\n')


def ratios(measured):
    summary = measured['summary']
    goals = {each['name']: each['value'] for each in measured['goals']}
    return ('set multiplot\nset ylabel "multiples of the baseline"\nset size 0.7,1\nset origin 0,0\n'
            + goal_bars('most', AT_MOST, summary, goals, 'Costs: lower is better (1: the baseline, hand-written code on raw sockets)', True)
            + 'set ylabel " "\nset size 0.3,1\nset origin 0.7,0\n'
            + goal_bars('least', AT_LEAST, summary, goals, 'Pairs a second: higher is better', False))


def curves(measured, key, title, unit, number, ours_above):
    """A figure against the number of callers, one line for each worker."""
    script, plots, values = '', [], []
    for worker, name, colour in WORKERS:
        rows = []
        for callers in (1, 16, 256, 2000):
            found = [w for w in measured['details'].get(f'plain_n3_c{callers}', ()) if w['worker'] == worker]
            rows += [(callers, w[key]) for w in found]
        if rows:
            script += block(worker, rows)
            plots.append(f'${worker} using 1:2 with linespoints linecolor rgb "{colour}" linewidth 2 pointtype 7 title "{name}"')
            values += [value for _, value in rows]
            above = (worker == 'redlock') == ours_above
            if worker not in ('asio', 'boost_redis'):  # are too near to the other lines
                plots.append(f'"" using 1:2:({number}) with labels textcolor rgb "{colour}" offset 0,{0.9 if above else -0.9} notitle')
    return script + (f'set title "{title}"\nset xlabel "callers"\nset ylabel "{unit}"\nset logscale xy\nset xrange [0.7:3500]\n'
                     f'set xtics (1, 16, 256, "2,000" 2000)\nset yrange [{min(values) / 2}:{max(values) * 2}]\n'
                     f'plot {", ".join(plots)}\n')


def callers(measured):
    return ('set multiplot layout 1,2\n'
            + curves(measured, 'cpu_us_per_pair', 'CPU time of the client for an acquisition and its release, N=3', 'µs', 'sprintf("%.3g", $2)', True)
            + 'set format y "%.0f"\n'
            + curves(measured, 'pairs_per_second', 'Acquisitions and releases of one client, N=3', 'a second', 'sprintf("%.0f", $2)', False))


def latency(measured):
    """Median and 99th percentile of acquisitions, side by side."""
    details = measured['details']
    places = (('plain_n3_c1', '1 caller, N=3'), ('plain_n5_c1', '1 caller, N=5'), ('plain_n3_c16', '16 callers, N=3'), ('plain_n3_c256', '256 callers, N=3'))
    rows = []
    for key, name in places:
        by = {w['worker']: w for w in details.get(key, ())}
        if by:
            rows.append((name, *(by[w][p] for w, _, _ in WORKERS for p in ('acquire_p50_us', 'acquire_p99_us'))))
    script = block('rows', rows)
    plots = []
    width = 0.2
    for i, (_, name, colour) in enumerate(WORKERS):
        x = f'($0 + {(i - 1.5) * width})'
        p50, p99 = 2 + 2 * i, 3 + 2 * i
        plots.append(f'$rows using {x}:{p50}:({0.9 * width}){":xtic(1)" if i == 1 else ""} with boxes linecolor rgb "{colour}" title "{name}"')
        plots.append(f'"" using {x}:{p50}:(0):(${p99} - ${p50}) with vectors heads size graph 0.008,90 linecolor rgb "{colour}" linewidth 2 notitle')
        plots.append(f'"" using {x}:{p50}:(sprintf("%.0f", ${p50})) with labels offset 0,-0.8 textcolor rgb "white" font "sans,10" notitle')
    return script + ('set title "Acquisition: median, and up to the 99th percentile"\nset ylabel "µs"\nset logscale y\n'
                     f'set xrange [-0.6:{len(rows) - 0.4}]\nset yrange [10:*]\nplot {", ".join(plots)}\n')


def peers(measured):
    details = measured['details']
    here = {w['worker']: w['cpu_us_per_pair'] for w in details.get('plain_n3_c256', ())}
    theirs = {w['worker']: w['cpu_us_per_pair'] for w in details.get('peers', ())}
    rows = [(name, here[w], int(colour[1:], 16)) for w, name, colour in WORKERS if w in here]
    rows += [(w, cost, int(THEIRS[1:], 16)) for w, cost in theirs.items() if w != 'redlock']
    return block('bars', rows) + (
        'set title "CPU time of the client for an acquisition and its release, N=3, 256 callers (logarithmic)"\nset ylabel "µs"\nset boxwidth 0.5\n'
        f'set xrange [-0.6:{len(rows) - 0.4}]\nset logscale y\nset yrange [{min(cost for _, cost, _ in rows) / 4}:{3 * max(cost for _, cost, _ in rows)}]\n'
        'plot $bars using 0:2:3:xtic(1) with boxes linecolor rgb variable notitle, '
        '"" using 0:2:(sprintf("%.3g", $2)) with labels offset 0,0.7 notitle\n')


PICTURES = {'speed_ratios': (ratios, 'summary', 1200), 'speed_callers': (callers, 'plain_n3_c1', 1200), 'speed_latency': (latency, 'plain_n3_c1', 1000),
            'speed_peers': (peers, 'peers', 800)}


def main():
    source, folder = sys.argv[1:]
    with open(source, encoding='utf-8') as file:
        report = json.load(file)
    measured, host = report['figures'], report['host']
    quick = ' (QUICK: the figures mean little)' if measured['summary'].get('quick') else ''
    below = f'speed all{quick}; {host["cores"]} processors, {report["compiler"]}, {report["build_type"]}, redis-servers on processors of their own'
    for name, (draw, needs, width) in PICTURES.items():
        if needs != 'summary' and needs not in measured['details']:
            continue
        picture = pathlib.Path(folder) / f'{name}.png'
        script = (f'set terminal pngcairo size {width},520 font "sans,11" background rgb "white" noenhanced\nset output "{picture}"\n'
                  f'set label 1 "{below}" at screen 0.01,0.025 textcolor rgb "{FLOOR}" font "sans,9"\n'
                  f'set bmargin 5.5\nset style fill solid 0.85\nset grid ytics linecolor rgb "{GREY}"\nset border 3\nset tics nomirror\n'
                  'set key above right samplen 2\nset style textbox opaque noborder margins 1,0.2 fillcolor rgb "white"\n')
        subprocess.run(['gnuplot', '-'], input=script + draw(measured), text=True, check=True)


if __name__ == '__main__':
    main()
