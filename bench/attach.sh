#!/bin/sh
# attach.sh - a profile of another process held against gdb, perf and ptrace:
# are the stacks right, what does the target feel, what does it cost us.
#
# packages: gdb linux-perf strace python3 g++ dash zsh less vim tmux sqlite3 procps make bc ed openssh-client dbus socat nginx redis-server redis-tools xvfb xterm x11-apps tcl tk htop
#
# node, java and postgres are looked at where they are installed. Needs root,
# since gdb and strace look into processes of several users. BENCH_QUICK=1
# takes few programs and short windows. Ends with 1 if a target was missed.
# docs/design/attach-trials.md says what is measured and how.
set -u
here=bench/attach
out=$PLIM_BENCH_DIR/attach
library=$PLIM_BUILD_DIR/src/libplimsoll.a
mkdir -p "$out"

libraries=$(PKG_CONFIG_PATH=$PLIM_BUILD_DIR/meson-private \
	pkg-config --static --libs-only-l plimsoll 2>/dev/null |
	sed 's/-lplimsoll//')
[ -f "$PLIM_BUILD_DIR/meson-private/plimsoll.pc" ] || libraries=-lpthread

for program in busy sleepers ptraced; do
	cc -std=c11 -D_GNU_SOURCE -O2 -pthread -o "$out/$program" \
		"$here/program/$program.c" || exit 1
done
cc -std=c11 -D_GNU_SOURCE -O2 -o "$out/refuse" tests/support/refuse.c || exit 1
# shellcheck disable=SC2086
cc -std=c11 -D_GNU_SOURCE -O2 -Iinclude -o "$out/stacks" \
	"$here/program/stacks.c" "$library" $libraries -lm -lpthread ||
	exit 1
g++ -std=c++17 -O2 -g -o "$out/mix" tests/unwind/programs/mix.cpp || exit 1

PYTHONDONTWRITEBYTECODE=1 exec python3 $here/attach.py "$out" \
	"$PLIM_BUILD_DIR"
