#!/usr/bin/env python3
"""The table of benchmarks/decisions.md from what `speed all` has measured: table.py SPEED.json"""
import json
import sys

WHAT = {
    'cpu_ratio_n3_c256': 'client CPU for a pair over the epoll baseline, N=3, 256 callers',
    'cpu_ratio_n5_c256': 'the same, N=5',
    'cpu_ratio_boost_redis_floor_n3_c256': 'a limit: Boost.Redis without any lock over the epoll baseline, N=3, 256 callers',
    'cpu_ratio_boost_redis_floor_n5_c256': 'the same, N=5',
    'cpu_ratio_coroutines_floor_n3_c256': 'the same with a coroutine for each caller, N=3, 256 callers',
    'cpu_ratio_n3_c256_without_implicit_strand': 'this library without `config::implicit_strand`',
    'cpu_ratio_multithreaded_n3_c256': 'the same with it, where a second thread exists',
    'cpu_growth_multithreaded_n3_c256': 'client CPU for a pair where a second thread exists over that without',
    'cpu_ratio_four_threads_n3_c256': 'without it, on an `io_context` that four threads run',
    'cpu_growth_four_threads_n3_c256': 'client CPU for a pair on four threads over that on one with `config::implicit_strand`',
    'cpu_growth_four_threads_coroutines_floor_n3_c256': 'a limit: the same of Boost.Redis with a coroutine for each caller, all in one strand',
    'instructions_per_pair_n3_c256': 'instructions in user mode for a pair, N=3, 256 callers',
    'instructions_per_pair_n5_c256': 'the same, N=5',
    'fenced_instructions_per_pair_n3_c256': 'the same with tokens, N=3',
    'instructions_per_pair_n3_c1': 'the same, one caller, N=3',
    'epoll_floor_instructions_per_pair_n3_c256': 'the same of the epoll baseline, 256 callers',
    'boost_redis_floor_instructions_per_pair_n3_c256': 'the same of Boost.Redis without any lock',
    'throughput_ratio_n3_c256': 'pairs a second over the baseline, N=3, 256 callers',
    'throughput_ratio_n5_c256': 'the same, N=5',
    'throughput_ratio_boost_redis_floor_n3_c256': 'a limit: Boost.Redis without any lock over the epoll baseline, N=3, 256 callers',
    'throughput_ratio_boost_redis_floor_n5_c256': 'the same, N=5',
    'latency_ratio_n3_c1': 'acquisition, median, over the baseline, N=3, one caller',
    'latency_ratio_n5_c1': 'the same, N=5',
    'latency_ratio_with_strand_n3_c1': 'this library without `config::implicit_strand`, N=3',
    'latency_ratio_boost_redis_floor_n3_c1': 'a limit: Boost.Redis without any lock over the epoll baseline, N=3, one caller',
    'latency_ratio_boost_redis_floor_n5_c1': 'the same, N=5',
    'cpu_ratio_n3_c2000': 'client CPU over the baseline, N=3, 2,000 callers',
    'cpu_ratio_boost_redis_floor_n3_c2000': 'a limit: Boost.Redis without any lock over the epoll baseline, N=3, 2,000 callers',
    'cpu_ratio_coroutines_floor_n3_c2000': 'the same with a coroutine for each caller',
    'cpu_ratio_duties_floor_n3_c2000': 'the same with votes, timers and names, and without what goes wrong',
    'fenced_cpu_ratio_n3_c256': 'client CPU with tokens over the baseline that sends the same scripts, N=3, 256 callers',
    'fenced_one_round_share': 'acquisitions with tokens that took one round, nobody else wants them',
    'fenced_throughput_ratio_n3_c256': 'pairs a second with tokens over the baseline that sends the same scripts',
    'fenced_server_us_per_acquire': 'a server\'s time for an acquisition with tokens, µs',
    'script_with_the_calls_server_us': 'to compare: a script for each acquisition that makes its calls and decides nothing, µs',
    'empty_script_server_us': 'the same, a script that makes none, µs',
    'plain_server_us_per_acquire': 'a server\'s time for an acquisition without tokens, µs',
    'fenced_server_process_cpu_us_per_acquire': 'CPU time of its process for an acquisition with tokens, sockets included, µs',
    'plain_server_process_cpu_us_per_acquire': 'the same without tokens',
    'stalled_node_p99_ratio': 'acquisition, 99th percentile, N=5, one server stopped over none stopped',
    'floor_stalled_node_p99_ratio': 'the same of the epoll baseline',
    'rtt2ms_latency_ratio': 'acquisition, median, over the baseline, round trip of 2 ms',
    'keepalive_100k_cpu_core_share': '100,000 leases kept alive: share of one processor',
    'plain_keepalive_100k_cpu_core_share': 'the same without tokens',
    'bytes_per_held_lease': 'memory of a held lease, bytes',
    'allocations_per_pair': 'heap allocations for a pair, N=3, 256 callers',
    'fenced_allocations_per_pair_n3_c256': 'the same with tokens',
    'cost_growth_100k_names': 'client CPU, 100,000 names over one for each caller',
    'cost_growth_100k_names_epoll_floor': 'a limit: the same of the epoll baseline',
    'cost_growth_100k_names_coroutines_floor': 'the same of Boost.Redis with a coroutine for each caller',
    'cpu_ratio_node_redlock': 'client CPU of node-redlock over this library\'s, 256 callers',
    'local_handoffs_per_second': 'hand-overs a second within a client',
    'local_handoffs_per_second_with_strand': 'the same without `config::implicit_strand`',
    'first_acquire_ms': 'construction of a client to its first lease, N=5, new servers, ms',
    'first_acquire_admitted_ms': 'the same, servers that were admitted before',
    'round_parallel_group_us': 'a round of three operations in memory as `make_parallel_group`, CPU, µs',
    'round_handwritten_us': 'the same, counted by hand',
}


def number(value):
    return f'{value:,.0f}' if abs(value) >= 1000 else f'{value:.3g}'


def main():
    with open(sys.argv[1], encoding='utf-8') as file:
        measured = json.load(file)['figures']
    goals = {each['name']: each for each in measured['goals']}
    print('| in summary.json | what | goal | measured |\n|---|---|---|---|')
    for name, what in WHAT.items():
        if name not in measured['summary']:
            continue
        value, aim, shown = measured['summary'][name], '', '{}'
        if name in goals:
            at_most, bound = goals[name]['at_most'], goals[name]['value']
            aim = f'{"≤" if at_most else "≥"} {number(bound)}'
            if (value <= bound) if at_most else (value >= bound):
                shown = '**{}**'
        print(f'| `{name}` | {what} | {aim} | {shown.format(number(value))} |')


if __name__ == '__main__':
    main()
