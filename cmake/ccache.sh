#!/bin/sh
# ccache, with paths below this clone made relative: what one clone has compiled, another one takes, wherever it lies. With debug
# information that means that a debugger may be shown the sources of the other. The sloppiness is what precompiled headers need. What a source includes is
# known from the compiler (depend mode), so that nothing is preprocessed for the cache alone.
#
#   /path/to/cmake/ccache.sh COMPILER ARGUMENT...

# A precompiled header is made from a file that includes the header. An old one beside it would be read in the place of its sources.
for argument in "$@"; do
    if [ "$previous" = -o ]; then
        case $argument in *.gch) rm -f "$argument" ;; esac
    fi
    previous=$argument
done

CCACHE_BASEDIR=${0%/cmake/ccache.sh} CCACHE_NOHASHDIR=1 CCACHE_DEPEND=1 CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime exec ccache "$@"
