#!/usr/bin/env bash
# One run of faults for each server program, side by side: they wait more than they work.
#
#   run.sh PROGRAM "SERVER..." [OPTION...]        the options are those of `faults run`
set -u
program=$1
read -ra servers <<<"$2"
shift 2
if ((${#servers[@]} == 1)); then exec "$program" run --server "${servers[0]}" "$@"; fi

logs=$(mktemp -d)
trap 'rm -r "$logs"' EXIT
pids=()
for server in "${servers[@]}"; do
    "$program" run --server "$server" "$@" >"$logs/${server##*/}" 2>&1 &
    pids+=($!)
done
failed=0
for i in "${!servers[@]}"; do
    wait "${pids[i]}" || failed=$?
    printf '%s\n' "--- ${servers[i]}"
    cat "$logs/${servers[i]##*/}"
done
exit "$failed"
