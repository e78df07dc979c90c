#!/usr/bin/env bash
# One run of faults for each server program with independent servers, and one with a group that Sentinels watch, side by side: they wait more than
# they work.
#
#   run.sh PROGRAM "SERVER..." [OPTION...]        the options are those of `faults run`
set -u
program=$1
read -ra servers <<<"$2"
shift 2

logs=$(mktemp -d)
trap 'rm -r "$logs"' EXIT
names=()
pids=()
run() {
    "$program" run "${@:2}" >"$logs/${#pids[@]}" 2>&1 &
    pids+=($!)
    names+=("$1")
}
for server in "${servers[@]}"; do
    run "$server" --server "$server" "$@"
    run "$server, a group" --group --server "$server" "$@"
done
failed=0
for i in "${!pids[@]}"; do
    wait "${pids[i]}" || failed=$?
    printf '%s\n' "--- ${names[i]}"
    cat "$logs/$i"
done
exit "$failed"
