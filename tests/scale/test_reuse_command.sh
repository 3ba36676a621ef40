#!/bin/sh
# test_reuse_command.sh - plim ps --watch beside a storm of reused pids, in a
# pid namespace of its own. rounds.py does the work. PLIM_STORM=SECONDS,LIVE
# (60,10000) makes it a large one.
set -u

live=2000
seconds=3
case ${PLIM_STORM:-} in
*,*)
	seconds=${PLIM_STORM%,*}
	live=${PLIM_STORM#*,}
	;;
esac
python=/usr/bin/python3
[ -x "$python" ] || python=python3
user=
[ "$(id -u)" = 0 ] || user=-Ur

# shellcheck disable=SC2086
if ! unshare $user -pfm --mount-proc true 2>/dev/null; then
	echo "1..1"
	echo "ok 1 - plim ps in a storm # skip a pid namespace is refused here"
	exit 0
fi
# shellcheck disable=SC2086
exec unshare $user -pfm --kill-child --mount-proc \
	"$python" "$PLIM_SOURCE/tests/scale/rounds.py" \
	"$PLIM_BUILD_DIR/cli/plim" \
	"$PLIM_BUILD_DIR/tests/workloads/generations" \
	"$live" "$seconds" "${TMPDIR:-/tmp}"
