#!/bin/sh
# All measurements, one after the other, and a picture of each.
#
#     run.sh PROGRAM FOLDER [OPTION...]    OPTION: for every measurement, such as --plain or --max-handoffs 16
set -eu
program=$1
folder=$2
shift 2
here=$(dirname "$0")
mkdir -p "$folder"
failed=

# One that fails is named at the end, and the others are measured.
measure() {
    name=$1
    file=$folder/$name.json
    shift
    printf '%s\n' "$*"
    if "$program" "$@" --output "$file"; then
        python3 "$here/plot.py" "$file" "${file%.json}.svg"
    else
        failed="$failed $name"
    fi
}

measure handoff handoff "$@"
measure handoff_long_turns handoff --max-handoffs 1000000 --max-local-hold 10000 "$@"
measure remote remote "$@"
measure remote_5ms remote --rtt-ms 5 "$@"
measure idle idle "$@"
measure fair fair "$@"
measure crowd crowd "$@"
[ -z "$failed" ] || { echo "failed:$failed" >&2; exit 1; }
