#!/bin/sh
# Brings node-redlock and ioredis, peers of the interop tests: node and npm from Debian where there are none, and the packages that
# package.json pins, under build/deps/npm. (redis-py is a package of Debian's, python3-redis.) A second call finds the stamp of the first and does nothing.
#
#   tests/interop/setup.sh [PINS FOLDER]    the packages of another package.json, in another folder
set -eu
cd "$(dirname "$0")/../.."
pins=${1:-tests/interop/package.json}
home=${2:-build/deps/npm}

say() { printf 'setup: %s\n' "$*"; }
has() { command -v "$1" >/dev/null 2>&1; }

if has node && cmp -s "$pins" "$home/stamp"; then exit 0; fi

missing=
has node || missing=nodejs
has npm || missing="$missing npm"
# shellcheck disable=SC2086
[ -z "$missing" ] || cmake/setup.sh $missing
for program in node npm; do
    has $program || { say "$program is missing, though its Debian package is installed: reinstall it, or put it in PATH" >&2; exit 1; }
done

say "installing what $pins names, with node $(node --version) and npm $(npm --version 2>/dev/null)"
rm -rf "$home"
mkdir -p "$home"
cp "$pins" "$home/package.json"
( cd "$home" && npm install --ignore-scripts --no-package-lock --no-audit --no-fund --loglevel=error )
cp "$pins" "$home/stamp"
say "done"
