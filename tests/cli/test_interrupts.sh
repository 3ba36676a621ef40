#!/bin/sh
# test_interrupts.sh COMMAND COUNT - whatever happens to plim, nothing that it
# started is left running: random interruptions (interrupts.py).
# PLIM_INTERRUPTIONS=N makes it another number, PLIM_SEED=S repeats one.
set -u

python=/usr/bin/python3
[ -x "$python" ] || python=python3
if ! "$python" -c 'import os; os.close(os.pidfd_open(os.getpid()))' \
	2>/dev/null; then
	echo "1..1"
	echo "ok 1 - interruptions # skip this Python or kernel has no pidfd_open"
	exit 0
fi
exec "$python" "$PLIM_SOURCE/tests/cli/interrupts.py" \
	"$PLIM_BUILD_DIR/cli/plim" "$PLIM_BUILD_DIR/tests/workloads/runaway" \
	"${PLIM_INTERRUPTIONS:-$2}" "${PLIM_SEED:-$(date +%s)}" \
	"$1"
