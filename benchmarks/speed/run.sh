#!/bin/sh
# Everything that the speed program measures, the summary, a table, and pictures of it.
#
#     run.sh PROGRAM FOLDER [OPTION...]    OPTION: for `speed all`, such as --quick
set -eu
program=$1
folder=$2
shift 2
here=$(dirname "$0")
mkdir -p "$folder"
# A step that fails is in the summary, and what the others measured is drawn.
failed=0
"$program" all --summary "$folder/summary.json" --output "$folder/speed.json" "$@" || failed=$?
python3 "$here/plot.py" "$folder/speed.json" "$folder"
python3 "$here/table.py" "$folder/speed.json" > "$folder/speed.md"
printf '%s\n' "Figures: $folder/summary.json; table: $folder/speed.md; pictures: $folder/speed_*.png"
exit "$failed"
