#!/bin/sh
# The same seeds with two compilers must be the same schedules: the hash covers everything that happened, in its order.
#
#   compare.sh SIMULATE SIMULATE SEEDS
set -eu
seeds=$3
one=$("$1" --seeds "$seeds" --no-counters | tail -n 1)
other=$("$2" --seeds "$seeds" --no-counters | tail -n 1)
printf '%s\n%s\n' "$one" "$other"
one=${one##*hash=}
other=${other##*hash=}
if [ -z "$one" ] || [ "$one" != "$other" ]; then
    echo 'compare: the hashes differ' >&2
    exit 1
fi
echo 'the same schedules with both compilers'
