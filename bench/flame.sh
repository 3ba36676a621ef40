#!/bin/sh
# flame.sh - how long the page of a flame graph takes until it is drawn: with
# 100,000 different stacks, and with one of 70,000 frames, in a headless
# Chromium.
#
# Ends with 1 where the page does not have what the stacks add up to. There is no
# target. docs/design/exports.md has the figures.
set -u
out=$PLIM_BENCH_DIR/flame
mkdir -p "$out"
"$PLIM_BUILD_DIR/cli/plim" profile --for 2s -o "$out/small.html" -- \
	python3 -c 'sum(range(10000000))' >"$out/told" || exit 1
cd "$out" || exit 1
PYTHONDONTWRITEBYTECODE=1 exec python3 \
	"$OLDPWD/tests/cli/flame_large.py" small.html "${PLIM_STACKS:-100000}"
