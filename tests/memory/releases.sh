#!/bin/sh
# releases.sh [--trials N[,SEED[,KIB]]] BUILD ROOT...
#
# The random trials and the programs that fool, with the glibc of other
# systems. BUILD is a build folder with -Dtests=true, each ROOT the folder of a
# system that has lib64/ld-linux-x86-64.so.2 and lib/x86_64-linux-gnu/libc.so.6;
# docs/design/memory-trials.md says how to make one. The target alone runs with
# that glibc, through that system's loader; who looks at it does not. Prints a
# row for each root and ends with 1 if any trial went wrong.
set -u

trials=200,20261
if [ "${1:-}" = --trials ]; then
	trials=$2
	shift 2
fi
if [ $# -lt 2 ]; then
	echo "usage: releases.sh [--trials N[,SEED[,KIB]]] BUILD ROOT..." >&2
	exit 2
fi
build=$1
shift

log=$(mktemp) || exit 1
trap 'rm -f -- "$log"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

status=0
for root in "$@"; do
	libc=$root/lib/x86_64-linux-gnu/libc.so.6
	if [ ! -f "$libc" ]; then
		echo "$root: no $libc" >&2
		status=1
		continue
	fi
	version=$(strings -a "$libc" |
		sed -n 's/^GNU C Library .* version \([0-9.]*[0-9]\).*/\1/p' |
		head -1)
	echo "== glibc ${version:-?} of $root"
	for test in trials fooled; do
		PLIM_TRIALS=$trials PLIM_ROOT=$root \
			"$build/tests/memory/test_memory_$test" >"$log" 2>&1 ||
			status=1
		grep -v '^\[ RUN' "$log"
	done
done
exit $status
