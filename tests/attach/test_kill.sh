#!/bin/sh
# test_kill.sh TIER - kills plim profile at random moments (kill.py).
# PLIM_KILLS=N makes it another number, PLIM_SEED=S repeats one.
set -u

python=/usr/bin/python3
[ -x "$python" ] || python=python3
exec "$python" "$PLIM_SOURCE/tests/attach/kill.py" \
	"$PLIM_BUILD_DIR/cli/plim" "$PLIM_BUILD_DIR/tests/workloads/spinners" \
	"$PLIM_BUILD_DIR/tests/support/refuse" "${PLIM_KILLS:-60}" \
	"${PLIM_SEED:-$(date +%s)}" "$1"
