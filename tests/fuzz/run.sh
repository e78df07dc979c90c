#!/bin/sh
# Runs every fuzzer for so long, four at a time, and says what each did. Fails on any finding, names its input, and how to repeat it.
#
#   tests/fuzz/run.sh PROGRAMS SECONDS [NAME...]     PROGRAMS: the folder of the fuzzers; NAME: only these
#
# What libFuzzer learns stays beside the programs, so that the next run begins there.
set -eu
programs=$1
seconds=$2
shift 2
here=$(dirname "$0")
[ $# -gt 0 ] || set -- $(cd "$here/corpus" && ls)

# The second half of this script: one fuzzer.
one() {
    name=$1
    learned=$programs/learned/$name
    findings=$programs/findings
    log=$programs/$name.log
    mkdir -p "$learned" "$findings"
    [ -x "$programs/fuzz_$name" ] || { printf '%-10s was not built\n' "$name"; return 1; }
    dictionary=$here/$name.dict
    [ -f "$dictionary" ] && dictionary=-dict=$dictionary || dictionary=
    # shellcheck disable=SC2086
    if "$programs/fuzz_$name" -max_total_time="$seconds" -max_len=2048 -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
        -artifact_prefix="$findings/$name-" $dictionary "$learned" "$here/corpus/$name" > "$log" 2>&1
    then
        executions=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
        coverage=$(sed -n 's/.* cov: \([0-9]*\) ft: \([0-9]*\) corp: \([0-9]*\).*/\1 \2 \3/p' "$log" | tail -n 1)
        [ "${executions:-0}" -gt 0 ] && [ -n "$coverage" ] || { printf '%-10s did nothing; see %s\n' "$name" "$log"; return 1; }
        # shellcheck disable=SC2086
        printf '%-10s %11s %8s %9s %7s\n' "$name" "$executions" $coverage
    else
        why=$(grep -A 1 -E '^(broken property|SUMMARY|.*(runtime error|Assertion))' "$log" | head -n 4 | sed 's/^/  /')
        artifact=$(sed -n 's/.*Test unit written to //p' "$log" | tail -n 1)
        printf '%-10s FOUND SOMETHING:\n%s\n  all it said: %s\n  again:       %s %s\n' \
            "$name" "$why" "$log" "$programs/fuzz_$name" "${artifact:-(no input was kept)}"
        return 1
    fi
}

if [ "${REDLOCK_FUZZ_ONE:-}" ]; then
    one "$1"
else
    printf '%-10s %11s %8s %9s %7s\n' fuzzer executions edges features inputs
    export REDLOCK_FUZZ_ONE=1
    printf '%s\n' "$@" | xargs -n 1 -P 4 "$0" "$programs" "$seconds"
fi
