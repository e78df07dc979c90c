#!/bin/sh
# Brings everything that the build needs: Debian packages of this machine, and the headers of Boost >= 1.88, which is
# the first release whose Boost.Redis has what the library uses. Debian 12 has 1.81 only, so there Debian 13's header
# package is fetched from the machine's own Debian mirror and unpacked under the build tree; no system file changes.
#
#   cmake/setup.sh [PACKAGE...]    PACKAGE: what one make target needs besides; two words mean more than a package:
#       valkey         a valkey-server, which Debian 12 has among its backports, is unpacked in the same way unless the system has one
#       newest-boost   the headers of the newest Boost that Debian has at all are unpacked as well, beside the others
#       newest-servers the newest redis-server and valkey-server that Debian has at all, with the libraries that they need:
#                      build/deps/newest-servers/bin/redis-server and valkey-server start them
#
# Unpacked packages go to build/deps. A second call finds the stamp of the first and does nothing.
set -eu
cd "$(dirname "$0")/.."
deps=build/deps
besides=$*
boost_package=libboost1.88-dev
boost_suite=trixie
newest_boost_suite=sid
newest_servers_suites='sid experimental'
newest_servers=$deps/newest-servers
valkey_suite=bookworm-backports
valkey=$deps/valkey/usr/bin/valkey-server
packages='g++ make cmake ninja-build ccache ca-certificates libssl-dev nlohmann-json3-dev libcli11-dev libmimalloc-dev redis-server'
with_valkey=
with_newest_boost=
with_newest_servers=
for package in $besides; do
    case $package in
    valkey) with_valkey=yes ;;
    newest-boost) with_newest_boost=yes ;;
    newest-servers) with_newest_servers=yes ;;
    *) packages="$packages $package" ;;
    esac
done

say() { printf 'setup: %s\n' "$*"; }
fail() { printf 'setup: %s\n' "$*" >&2; exit 1; }

# The stamp names what was set up, so that a change of this list is noticed.
stamp=$deps/stamp$(printf '%s' "${besides:+-$besides}" | tr ' ' '-')
wanted="$packages $boost_package"
if [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$wanted" ]; then exit 0; fi

check_system() {
    command -v apt-get >/dev/null 2>&1 || fail "this system has no apt-get. Set-up works on Debian 12 or newer.
  Elsewhere install by hand: a C++20 compiler, CMake >= 3.25, Ninja, Boost >= 1.88, OpenSSL, nlohmann_json, CLI11,
  redis-server >= 6, for the tests PostgreSQL with libpq; then: cmake --workflow --preset demo"
    # shellcheck disable=SC1091
    ( . /etc/os-release; [ "${ID:-}" = debian ] || fail "this is ${PRETTY_NAME:-an unknown system}; set-up knows Debian 12 and newer only" )
    version=$( . /etc/os-release; echo "${VERSION_ID:-99}" )
    [ "$version" -ge 12 ] || fail "Debian $version is too old: CMake >= 3.25 and a compiler with C++20 coroutines come with Debian 12"
}

as_root() {
    if [ "$(id -u)" = 0 ]; then "$@"
    elif command -v sudo >/dev/null 2>&1; then sudo "$@"
    else fail "missing packages:$missing. Run as root or with sudo, or install them yourself"
    fi
}

# PostgreSQL's package makes a database and starts a server for it, unless a file in this folder says no.
clusters=/etc/postgresql-common/createcluster.d

install_packages() {
    missing=
    failed=0
    for package in $packages; do
        [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)" = installed ] || missing="$missing $package"
    done
    [ -n "$missing" ] || return 0
    say "installing$missing"
    as_root apt-get update -qq
    case "$missing " in *' postgresql '*) as_root sh -c "mkdir -p $clusters && echo create_main_cluster = off > $clusters/redlock.conf" ;; esac
    # The tests start servers of their own; in a container or chroot, RUNLEVEL=1 keeps the package's service from starting.
    # shellcheck disable=SC2086
    as_root env DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 apt-get install -y -qq --no-install-recommends $missing >/dev/null 9>&- || failed=$?
    case "$missing " in *' postgresql '*) as_root sh -c "rm $clusters/redlock.conf; rmdir --ignore-fail-on-non-empty $clusters" ;; esac
    return "$failed"
}

system_boost_version() {
    header=/usr/include/boost/version.hpp
    if [ -f $header ]; then sed -n 's/^#define BOOST_VERSION \([0-9]*\).*/\1/p' $header; else echo 0; fi
}

# apt with private lists, cache and sources: the machine's own mirror, with the suite's name replaced.
#
#   open_suite SUITE...
#   private PROGRAM ARGUMENT...   of apt
#   unpack FOLDER PACKAGE...
#   unpack_with_libraries FOLDER PACKAGE...
#   close_suite
open_suite() {
    suite=$*
    home=$(mkdir -p "$deps/apt" && cd "$deps/apt" && pwd)
    mkdir -p "$home/lists/partial" "$home/archives/partial"
    codename=$( . /etc/os-release; echo "${VERSION_CODENAME:-}" )
    site=$(apt-get indextargets --format '$(RELEASE) $(SITE)' 2>/dev/null | awk -v release="$codename" '$1 == release { print $2; exit }')
    if [ -z "$site" ]; then
        missing=' (package lists)'
        as_root apt-get update -qq
        site=$(apt-get indextargets --format '$(RELEASE) $(SITE)' | awk -v release="$codename" '$1 == release { print $2; exit }')
    fi
    [ -n "$site" ] || fail "no Debian mirror for $codename in this machine's apt sources; the $suite suite would be read from there"
    keyring=/usr/share/keyrings/debian-archive-keyring.gpg
    [ -f $keyring ] || fail "$keyring is missing: install debian-archive-keyring"
    for one in $suite; do echo "deb [signed-by=$keyring] $site $one main"; done > "$home/sources.list"
    say "reading the lists of Debian's $suite suite"
    private apt-get update || fail "the $suite suite could not be read from this machine's Debian mirror"
}

private() {
    program=$1
    shift
    "$program" -qq -o Dir::Etc::SourceList="$home/sources.list" -o Dir::Etc::SourceParts=/dev/null \
        -o Dir::State::Lists="$home/lists" -o Dir::Cache="$home" -o Dir::Cache::Archives="$home/archives" \
        -o APT::Sandbox::User="$(id -un)" -o Acquire::Languages=none -o Acquire::IndexTargets::deb::Contents-deb::DefaultEnabled=false "$@"
}

unpack() {
    folder=$1
    shift
    say "fetching $* from Debian's $suite suite"
    ( cd "$home/archives" && private apt-get download "$@" ) || fail "$* could not be downloaded from this machine's Debian mirror"
    unpack_archives
}

unpack_archives() {
    rm -rf "$folder"
    mkdir -p "$folder"
    for archive in "$home"/archives/*.deb; do dpkg-deb -x "$archive" "$folder"; done
}

# apt takes only these for installed, which make users and folders: it brings all the rest, down to the loader.
unpack_with_libraries() {
    folder=$1
    shift
    say "fetching $* with their libraries from Debian's $suite suites"
    for package in adduser systemd; do
        printf 'Package: %s\nStatus: install ok installed\nVersion: 9999\nArchitecture: %s\nMaintainer: none\nDescription: none\n\n' \
            $package "$(dpkg --print-architecture)"
    done > "$home/status"
    private apt-get install -y --download-only --no-install-recommends -o Dir::State="$home" -o Dir::State::status="$home/status" \
        -o Debug::NoLocking=true "$@" >/dev/null || fail "$* could not be downloaded with their libraries from this machine's Debian mirror"
    unpack_archives
}

close_suite() { rm -rf "$home"; }

has_boost_redis() { [ -f "$1/usr/include/boost/redis/connection.hpp" ]; }

fetch_boost() {
    open_suite $boost_suite
    unpack "$deps/boost" $boost_package
    close_suite
    has_boost_redis "$deps/boost" || fail "$boost_package holds no Boost.Redis"
}

# Debian's default is often a release behind the newest package that it has.
fetch_newest_boost() {
    open_suite $newest_boost_suite
    newest=$(private apt-cache search --names-only '^libboost1\.[0-9]+-dev$' | cut -d ' ' -f 1 | sort -V | tail -n 1)
    [ -n "$newest" ] || fail "the $newest_boost_suite suite has no libboost1.N-dev"
    unpack "$deps/newest-boost" "$newest"
    close_suite
    has_boost_redis "$deps/newest-boost" || fail "$newest holds no Boost.Redis"
}

# Its libraries are those of redis-server, which is installed.
fetch_valkey() {
    open_suite $valkey_suite
    unpack "$deps/valkey" valkey-server valkey-tools
    close_suite
    "$valkey" --version >/dev/null || fail "the valkey-server of $valkey_suite does not run on this system"
}

# The newest version of a package in the suites, whichever of them has it.
newest_version() {
    newest=
    for version in $(private apt-cache madison "$1" | cut -d '|' -f 2); do
        if [ -z "$newest" ] || dpkg --compare-versions "$version" gt "$newest"; then newest=$version; fi
    done
    [ -n "$newest" ] || fail "Debian's $suite suites have no $1"
    echo "$newest"
}

# They are of a newer Debian, so each is started by the loader and with the libraries of that one.
fetch_newest_servers() {
    # shellcheck disable=SC2086
    open_suite $newest_servers_suites
    chosen=
    for package in redis-server redis-tools valkey-server valkey-tools; do
        version=$(newest_version $package)
        chosen="$chosen $package=$version"
    done
    # shellcheck disable=SC2086
    unpack_with_libraries "$newest_servers" $chosen
    close_suite
    loader=$(cd "$newest_servers" && ls usr/lib/*/ld-linux*.so.*)
    mkdir -p "$newest_servers/bin"
    for program in redis-server redis-cli valkey-server valkey-cli; do
        wrapper=$newest_servers/bin/$program
        {
            printf '#!/bin/sh\n# Made by cmake/setup.sh.\nroot=${0%%/*}/..\n'
            printf 'exec "$root/%s" --library-path "$root/%s" "$root/usr/bin/%s" "$@"\n' "$loader" "${loader%/*}" $program
        } > "$wrapper"
        chmod +x "$wrapper"
        "$wrapper" --version >/dev/null || fail "the newest $program does not run on this system"
    done
}

check_system
# One at a time: two make targets may begin together.
mkdir -p "$deps"
exec 9> "$deps/lock"
flock 9
install_packages
if has_boost_redis "$deps/boost"; then
    say "Boost is there already"
elif [ "$(system_boost_version)" -ge 108800 ]; then
    say "using the system's Boost ($(system_boost_version))"
else
    fetch_boost
fi
[ -z "$with_newest_boost" ] || has_boost_redis "$deps/newest-boost" || fetch_newest_boost
[ -z "$with_newest_servers" ] || [ -x "$newest_servers/bin/valkey-cli" ] || fetch_newest_servers
[ -z "$with_valkey" ] || [ -x "$valkey" ] || command -v valkey-server >/dev/null 2>&1 || fetch_valkey
echo "$wanted" > "$stamp"
say "done"
