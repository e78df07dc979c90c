#!/bin/sh
# The packages of `make package`: what is in them, what they need, and that a stranger's project is built and runs with them. They are unpacked
# into a folder, so that nothing is installed; tests/consumer says more of what is installed, but of an optimised build only this.
#
#   packages.sh BUILD
set -eu
here=$(cd "$(dirname "$0")" && pwd)
tree=$(cd "$here/../.." && pwd)
build=$(cd "$1" && pwd)
root=$build/unpacked

fail() { printf 'packages: %s\n' "$*" >&2; exit 1; }

rm -rf "$root"
mkdir -p "$root"
names=
for package in "$build"/packages/*.deb; do
    [ -f "$package" ] || fail "there are none in $build/packages"
    name=$(dpkg-deb --field "$package" Package)
    names="$names$name "
    dpkg-deb --extract "$package" "$root"
    for file in copyright changelog.gz; do
        [ -f "$root/usr/share/doc/$name/$file" ] || fail "$name has no $file"
    done
    printf '%-22s %8s kB, unpacked %s kB; needs: %s\n' "$name" "$(($(wc -c < "$package") / 1000))" \
        "$(dpkg-deb --field "$package" Installed-Size)" "$(dpkg-deb --field "$package" Depends)"
done
case $names in
*'libredlock-dev libredlock0.1 redlock '*) ;;
*) fail "not the packages that there should be: $names" ;;
esac

needs() { dpkg-deb --field "$build"/packages/"$1"_*.deb Depends | grep -q "$2" || fail "$1 does not need $2"; }
needs libredlock0.1 'libssl3'
needs libredlock-dev 'libredlock0.1 (= '
needs redlock 'libssl3'

# What only this build has: nothing is left of assertions and of names for a debugger, and no path of this machine.
library=$(echo "$root"/usr/lib/*/libredlock.so.0.1)
[ -L "$library" ] && [ -f "$library" ] || fail "there is no libredlock.so.0.1"
for binary in "$library" "$root/usr/bin/redlock"; do
    file --dereference "$binary" | grep -q ', stripped' || fail "$binary is not stripped"
    ! grep -qF "$tree" "$binary" || fail "$binary names the folder that it was built in"
    ! readelf --dynamic "$binary" | grep -q 'R\(UN\)\?PATH' || fail "$binary looks for libraries where it was built"
done
gzip --test "$root/usr/share/man/man1/redlock.1.gz"
"$root/usr/bin/redlock" --version

# project NAME OPTIONS RUNS: see consume.cmake.
project() {
    cmake "-Dsource=$here/$1" "-Dfolder=$build/consumer/$1" -Dgenerator=Ninja "-Doptions=$2" "-Druns=$3" -P "$here/consume.cmake"
}
first_lock='first_lock redis://127.0.0.1:1|not acquired in time'
installed="-DCMAKE_PREFIX_PATH=$root/usr -DCMAKE_CXX_FLAGS=-Werror"
project installed "$installed" "$first_lock"

# One that has Boost.Redis of its own.
own='compiled by the program: Got RESP3 null'
project own_boost "$installed" "own_boost_static|$own|own_boost_after_static|$own|own_boost_shared|$own|own_boost_after_shared|$own"

# One that compiles the library as a part of its own, in the few pieces that a user gets; not optimised, since nothing waits for it.
project fetch_content "-DFETCHCONTENT_SOURCE_DIR_REDLOCK=$tree -DBUILD_SHARED_LIBS=ON -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG=-O0 \
    -DREDLOCK_WARNINGS_AS_ERRORS=ON" "$first_lock"
echo 'packages: they hold what they should, and projects use them, or the sources'
