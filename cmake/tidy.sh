#!/bin/sh
# clang-tidy over what a build folder compiles, as many at once as there are cores. Fails when it finds something.
#
#   cmake/tidy.sh BUILD      configured by the preset tidy
#
# Most of the time goes into Boost's headers, so the library and the command are read in a few pieces of twenty sources each (a unity build):
# that takes a fifth of the time, and finds the same.
set -eu
build=$1

one() {
    # The pieces are nothing but `#include "….cpp"`, which is suspicious everywhere else. What Boost.Redis sorts with is deprecated, and is
    # reported where we instantiate it; our own use of such things is an error of the clang build.
    if ! said=$(clang-tidy-19 -p "$build" --quiet --checks=-bugprone-suspicious-include --extra-arg=-Wno-deprecated-declarations "$2" 2>&1); then
        printf '%s\n' "$said" | grep -v ' warnings\( and [0-9]* errors\)\? generated\.$'
        return 1
    fi
}

if [ $# -gt 1 ]; then
    one "$@"
    exit
fi
files=$(sed -n 's/^ *"file": "\(.*\)",\{0,1\}$/\1/p' "$build/compile_commands.json" | grep -v '/redlock_boost_redis\.dir/')
count=$(printf '%s\n' "$files" | wc -l)
[ -n "$files" ] || { echo "tidy: $build compiles nothing" >&2; exit 1; }
printf '%s\n' "$files" | xargs -P "$(nproc)" -n 1 "$0" "$build" || { echo 'tidy: see above' >&2; exit 1; }
echo "tidy: nothing found in $count pieces"
