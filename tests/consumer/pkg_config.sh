#!/bin/sh
# Compiles and runs a program with what pkg-config says, and with no build system at all.
#
#   pkg_config.sh COMPILER SOURCE PREFIX/LIBDIR PACKAGE FOLDER STATUS OUTPUT     what it has to end with, and what to say
set -eu
compiler=$1 source=$2 libdir=$3 package=$4 folder=$5 expected=$6 text=$7
rm -rf "$folder"
mkdir -p "$folder"
export PKG_CONFIG_PATH="$libdir/pkgconfig"

# shellcheck disable=SC2046
"$compiler" -std=c++20 $(pkg-config --cflags "$package") "$source" -o "$folder/program" $(pkg-config --libs "$package")
output=$(LD_LIBRARY_PATH="$libdir" "$folder/program" redis://127.0.0.1:1 2>&1) && status=0 || status=$?
printf '%s\n' "$output"
[ "$status" -eq "$expected" ]
case $output in *"$text"*) ;; *) exit 1 ;; esac

linked=$(readelf -d "$folder/program")
case $package:$linked in
redlock:*libredlock.so* | redlock-testing:*libredlock.so*) ;;
redlock-static:*libredlock.so*) exit 1 ;;
redlock-static:*) ;;
*) exit 1 ;;
esac
