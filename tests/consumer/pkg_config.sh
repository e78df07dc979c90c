#!/bin/sh
# Compiles and runs a program with what pkg-config says, and with no build system at all.
#
#   pkg_config.sh COMPILER SOURCE PREFIX/LIBDIR PACKAGE FOLDER
set -eu
compiler=$1 source=$2 libdir=$3 package=$4 folder=$5
rm -rf "$folder"
mkdir -p "$folder"
export PKG_CONFIG_PATH="$libdir/pkgconfig"

# shellcheck disable=SC2046
"$compiler" -std=c++20 $(pkg-config --cflags "$package") "$source" -o "$folder/first_lock" $(pkg-config --libs "$package")
output=$(LD_LIBRARY_PATH="$libdir" "$folder/first_lock" redis://127.0.0.1:1 2>&1) && status=0 || status=$?
printf '%s\n' "$output"
[ "$status" -eq 1 ]
case $output in *'not acquired before its deadline'*) ;; *) exit 1 ;; esac

linked=$(readelf -d "$folder/first_lock")
case $package:$linked in
redlock:*libredlock.so*) ;;
redlock-static:*libredlock.so*) exit 1 ;;
redlock-static:*) ;;
*) exit 1 ;;
esac
