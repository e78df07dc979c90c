#!/bin/sh
# Runs every mutant until the simulation catches it, 100,000 seeds at most: a few need a rare mix of faults. Fails when one survives,
# when the unbroken library fails, or when there was nothing to run; its last lines say which mutants survived.
#
#   gate.sh DIRECTORY     the build's tests/simulation
#
# first_seeds.txt beside this file says of each mutant which seed caught it the last time. That one is tried first: if it still does, nothing
# has to be looked for; behind it, which worlds it needs (--changes). If it does not, or the file does not name the mutant, all are tried from the first on. The seeds that did it are
# written to DIRECTORY/mutants/first_seeds.txt, and are to be copied here when many have changed.
set -eu
built=$1
hints=$(dirname "$0")/first_seeds.txt
found=$built/mutants/first_seeds.txt
seeds=${SEEDS:-100000}
survivors=0
survived=
count=0
by_hint=0
tab=$(printf '\t')

: > "$found"
printf '%-26s %8s  %s\n' mutant 'seeds' 'how it was caught'
while IFS="$tab" read -r name what; do
    [ -n "$name" ] || continue
    count=$((count + 1))
    hint=
    worlds=
    if [ -f "$hints" ]; then
        hint=$(awk -v name="$name" '$1 == name { print $2 }' "$hints")
        worlds=$(awk -v name="$name" '$1 == name { print $3 }' "$hints")
    fi
    caught=
    if [ -n "$hint" ] && ! out=$("$built/mutants/mutant_$name" --first "$hint" --seeds 1 --no-counters $worlds 2>&1); then
        caught=$(printf '%s\n' "$out" | sed -n 's/^violation: //p' | head -n 1)
        [ -z "$caught" ] || by_hint=$((by_hint + 1))
    fi
    if [ -z "$caught" ]; then
        if out=$("$built/mutants/mutant_$name" --seeds "$seeds" --jobs "$(nproc)" --violations 1 --no-counters $worlds 2>&1); then
            survivors=$((survivors + 1))
            survived="$survived$name survived $seeds seeds: $what
"
            printf '%-26s %8s  SURVIVED: %s\n' "$name" "$seeds" "$what"
            continue
        fi
        caught=$(printf '%s\n' "$out" | sed -n 's/^violation: //p' | head -n 1)
    fi
    if [ -z "$caught" ]; then
        survivors=$((survivors + 1))
        survived="$survived$name failed without a verdict
"
        printf '%-26s %8s  FAILED WITHOUT A VERDICT: %s\n' "$name" - "$out"
        continue
    fi
    seed=${caught#seed=}
    seed=${seed%%:*}
    printf '%s %s%s\n' "$name" "$seed" "${worlds:+ $worlds}" >> "$found"
    printf '%-26s %8s  %s\n' "$name" "$seed" "${caught#*: }"
done < "$built/mutants/mutants.txt"

if ! "$built/simulate" --seeds 2000 --no-counters; then
    echo 'gate: the unbroken library fails: the verdicts above mean nothing' >&2
    exit 1
fi
[ "$by_hint" -eq "$count" ] || echo "$((count - by_hint)) had to be looked for: cp $found $hints"
printf '%smutants=%d survivors=%d\n' "$survived" "$count" "$survivors"
[ "$count" -gt 0 ] && [ "$survivors" -eq 0 ]
