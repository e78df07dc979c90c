#!/bin/sh
# Schedules of the scripts on real servers, replayed step by step like those of the simulation; then each mutant of them, of which the replay
# must refuse something.
#
#   tests/proof/scripts.sh SCHEDULES_PROGRAM FOLDER [COUNT]
set -eu
schedules=$1 folder=$2 count=${3:-1000}
replay="/usr/bin/python3 $(dirname "$0")/replay.py"
mutants='one_round no_guard no_catch_up no_drain no_trailing_check'
of_a_mutant=100     # schedules

"$schedules" --schedules "$count" --transitions "$folder/scripts.txt"
# In a few schedules nothing happens at all.
$replay --at-least $((count * 9 / 10)) "$folder/scripts.txt"
rm "$folder/scripts.txt"

for mutant in $mutants; do
    # 1: the promises have survived so few schedules. It is the replay that has to see what is wrong.
    status=0
    "$schedules" --schedules "$of_a_mutant" --mutant "$mutant" --transitions "$folder/mutant.txt" >"$folder/mutant.log" || status=$?
    [ "$status" -le 1 ] || { cat "$folder/mutant.log"; exit 1; }
    printf '%s: ' "$mutant"
    $replay --expect-red --stories 0 "$folder/mutant.txt" >"$folder/mutant.log" || { cat "$folder/mutant.log"; exit 1; }
    tail -n 1 "$folder/mutant.log"
    rm "$folder/mutant.txt" "$folder/mutant.log"
done
