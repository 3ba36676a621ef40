#!/bin/sh
# diff.sh - what `plim profile diff` says of runs whose truth is known:
# bench/diff/measure.py says what.
#
# packages: python3
cc -std=c11 -D_GNU_SOURCE -O2 -Itests/workloads \
	-o "$PLIM_BENCH_DIR/diff-parts" tests/workloads/parts.c \
	tests/workloads/workload.c || exit 1
exec python3 bench/diff/measure.py "$PLIM_BUILD_DIR/cli/plim" \
	"$PLIM_BENCH_DIR/diff-parts" "$PLIM_BENCH_DIR/diff"
