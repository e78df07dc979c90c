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

measure() {
    file=$folder/$1.json
    shift
    printf '%s\n' "$*"
    "$program" "$@" --output "$file"
    python3 "$here/plot.py" "$file" "${file%.json}.svg"
}

measure handoff handoff "$@"
measure handoff_long_turns handoff --max-handoffs 1000000 --max-local-hold 10000 "$@"
measure remote remote "$@"
measure remote_5ms remote --rtt-ms 5 "$@"
measure idle idle "$@"
measure fair fair "$@"
measure crowd crowd "$@"
