#!/bin/sh
# profile.sh - what a session inside a process costs it, tier by tier, with
# gperftools and perf beside; and two thousand threads that do nothing.
#
# packages: linux-perf libgoogle-perftools4 python3
#
# BENCH_QUICK=1 takes short windows. Ends with 1 if a target was missed.
# docs/design/inside.md has the tables.
set -u
here=bench/profile
out=$PLIM_BENCH_DIR/profile
library=$PLIM_BUILD_DIR/src/libplimsoll.a
mkdir -p "$out"

libraries=$(PKG_CONFIG_PATH=$PLIM_BUILD_DIR/meson-private \
	pkg-config --static --libs-only-l plimsoll 2>/dev/null |
	sed 's/-lplimsoll//')
[ -f "$PLIM_BUILD_DIR/meson-private/plimsoll.pc" ] || libraries=-lpthread

for program in bench/attach/program/busy.c bench/attach/program/sleepers.c \
	$here/program/gaps.c $here/program/idle.c; do
	name=${program##*/}
	cc -std=c11 -D_GNU_SOURCE -O2 -pthread -o "$out/${name%.c}" \
		"$program" || exit 1
done
# shellcheck disable=SC2086
cc -std=c11 -D_GNU_SOURCE -O2 -Iinclude -o "$out/stacks" \
	bench/attach/program/stacks.c "$library" $libraries -lm -lpthread ||
	exit 1
# shellcheck disable=SC2086
cc -std=c11 -D_GNU_SOURCE -O2 -Iinclude -shared -fPIC -o "$out/session.so" \
	-Wl,--exclude-libs,ALL $here/program/session.c "$library" $libraries \
	-lm -lpthread -ldl || exit 1

PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=bench/attach \
	exec python3 $here/profile.py "$out" "$PLIM_BUILD_DIR"
