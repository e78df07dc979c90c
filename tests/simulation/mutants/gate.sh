#!/bin/sh
# Runs every mutant until the simulation catches it, 100,000 seeds at most: a few need a rare mix of faults. Fails when one survives,
# when the unbroken library fails, or when there was nothing to run; its last lines say which mutants survived.
#
#   gate.sh DIRECTORY     the build's tests/simulation
set -eu
built=$1
seeds=${SEEDS:-100000}
survivors=0
survived=
count=0
tab=$(printf '\t')

printf '%-26s %8s  %s\n' mutant 'seeds' 'how it was caught'
while IFS="$tab" read -r name what; do
    [ -n "$name" ] || continue
    count=$((count + 1))
    if out=$("$built/mutants/mutant_$name" --seeds "$seeds" --jobs "$(nproc)" --violations 1 --no-counters 2>&1); then
        survivors=$((survivors + 1))
        survived="$survived$name survived $seeds seeds: $what
"
        printf '%-26s %8s  SURVIVED: %s\n' "$name" "$seeds" "$what"
    else
        line=$(printf '%s\n' "$out" | sed -n 's/^violation: //p' | head -n 1)
        if [ -z "$line" ]; then
            survivors=$((survivors + 1))
            survived="$survived$name failed without a verdict
"
            printf '%-26s %8s  FAILED WITHOUT A VERDICT: %s\n' "$name" - "$out"
            continue
        fi
        seed=${line#seed=}
        printf '%-26s %8s  %s\n' "$name" "${seed%%:*}" "${line#*: }"
    fi
done < "$built/mutants/mutants.txt"

if ! "$built/simulate" --seeds 10000 --no-counters; then
    echo 'gate: the unbroken library fails: the verdicts above mean nothing' >&2
    exit 1
fi
printf '%smutants=%d survivors=%d\n' "$survived" "$count" "$survivors"
[ "$count" -gt 0 ] && [ "$survivors" -eq 0 ]
