#!/usr/bin/env python3
"""Holds what `speed instructions` has measured against what is allowed.

    instructions.py MEASURED ALLOWED           prints a table; exits with 1 where more is used than is allowed
    instructions.py MEASURED ALLOWED --renew   writes what was measured to ALLOWED, for this way of counting, compiler, Boost and build type

ALLOWED has figures for each way of counting, compiler and Boost: they are not comparable.
"""
import json
import math
import sys
from pathlib import Path

TOLERANCE = 0.05
MIN_TOLERANCE = {'fenced_allocations_per_pair_n3_c256': 0.02}  # the figure is near 0, and varies by more than 5 %
KEYS = ('instructions_per_pair_n3_c256', 'instructions_per_pair_n5_c256', 'fenced_instructions_per_pair_n3_c256', 'instructions_per_pair_n3_c1',
        'epoll_floor_instructions_per_pair_n3_c256', 'boost_redis_floor_instructions_per_pair_n3_c256', 'fenced_allocations_per_pair_n3_c256',
        'bytes_per_held_lease', 'instructions_per_schedule')
RENEW = 'make instructions RENEW=1, and commit benchmarks/instructions.json with the reason'


def number(value):
    return f'{value:,.0f}' if abs(value) >= 1000 else f'{value:.4g}'


def read_measured(file):
    """(setup, key -> value). Raises ValueError where a key has no figure."""
    try:
        report = json.loads(Path(file).read_text(encoding='utf-8'))
        figures = report['figures']
        setup = f"{figures['counted_by']}, {report['compiler']}, Boost {figures['boost'].replace('_', '.')}, {report['build_type']}"
        values = figures['summary']
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(f'nothing was measured: {file}: {error!r}') from error
    for key in KEYS:
        value = values.get(key)
        if not isinstance(value, (int, float)) or not math.isfinite(value) or value < 0 or (value == 0 and key not in MIN_TOLERANCE):
            raise ValueError(f'{key} was not measured: {value}')
    return setup, {key: values[key] for key in KEYS}


def read_allowed(file):
    return json.loads(Path(file).read_text(encoding='utf-8')) if Path(file).exists() else {}


def compare(setup, values, allowed):
    """(errors, hints), a sentence each."""
    if setup not in allowed:
        return [f'nothing is allowed for "{setup}", only for {", ".join(sorted(allowed)) or "nobody"}: {RENEW}'], []
    errors, hints = [], []
    for key, value in values.items():
        limit = allowed[setup].get(key)
        if not isinstance(limit, (int, float)):
            errors.append(f'{key}: {number(value)} was counted ({setup}), and nothing says what is allowed: {RENEW}')
            continue
        spare = max(limit * TOLERANCE, MIN_TOLERANCE.get(key, 0))
        if value > limit + spare:
            errors.append(f'{key}: {number(value)} was counted ({setup}), and {number(limit + spare)} is allowed: the {number(limit)} of '
                          f'benchmarks/instructions.json and {number(spare)} more. If that is meant: {RENEW}')
        elif value < limit - spare:
            hints.append(f'{key}: {number(value)} was counted ({setup}), more than {number(spare)} less than the {number(limit)} of benchmarks/instructions.json: {RENEW}')
    return errors, hints


def table(setup, values, allowed):
    print(f'counted by {setup}\n')
    print(f'{"":50} {"measured":>12} {"in the file":>12}')
    for key, value in values.items():
        limit = allowed.get(setup, {}).get(key)
        print(f'{key:50} {number(value):>12} ' + (f'{number(limit):>12} {value / limit - 1:>+7.1%}' if limit else f'{"-" if limit is None else number(limit):>12}'))


def main():
    words = [word for word in sys.argv[1:] if word != '--renew']
    if len(words) != 2:
        sys.exit(__doc__)
    try:
        setup, values = read_measured(words[0])
        allowed = read_allowed(words[1])
    except ValueError as error:
        sys.exit(f'instructions: {error}')
    table(setup, values, allowed)
    if '--renew' in sys.argv:
        allowed[setup] = {key: float(f'{value:.4g}') if value < 1000 else round(value) for key, value in values.items()}
        Path(words[1]).write_text(json.dumps(allowed, indent=2, sort_keys=True) + '\n', encoding='utf-8')
        return
    errors, hints = compare(setup, values, allowed)
    for sentence in hints:
        print(f'\ninstructions: renew the file: {sentence}')
    for sentence in errors:
        print(f'\ninstructions: {sentence}', file=sys.stderr)
    if errors:
        sys.exit(1)


if __name__ == '__main__':
    main()
