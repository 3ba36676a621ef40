#!/bin/sh
# unwind.sh - the unwinder held against libunwind: the same stacks at single
# instructions, the time per frame, and what its tables take.
#
# packages: libunwind-dev g++ clang python3 gdb sqlite3 xz-utils perl openssl
#
# BENCH_QUICK=1 takes a tenth of the stacks. Ends with 1 if a target was
# missed. docs/design/unwind-trials.md says what is measured and how.
set -u
here=bench/unwind
programs=tests/unwind/programs
out=$PLIM_BENCH_DIR/unwind
library=$PLIM_BUILD_DIR/src/libplimsoll.a
mkdir -p "$out/programs"

# What the library itself needs, beside libc.
libraries=$(PKG_CONFIG_PATH=$PLIM_BUILD_DIR/meson-private \
	pkg-config --static --libs-only-l plimsoll 2>/dev/null |
	sed 's/-lplimsoll//')
[ -f "$PLIM_BUILD_DIR/meson-private/plimsoll.pc" ] || libraries=-lpthread

build() {
	name=$1
	shift
	# shellcheck disable=SC2086
	cc -std=c11 -D_GNU_SOURCE -O2 -DNDEBUG -Iinclude -Isrc -o "$out/$name" \
		"$@" "$library" $libraries -lm -lpthread ||
		exit 1
}

trial=tests/unwind
build agree $here/agree.c $trial/trial.c $trial/step.c $trial/peer.c \
	$trial/ours.c $trial/programs.c -lunwind-x86_64 -lunwind
build tables $here/tables.c
build inside.so -shared -fPIC -fvisibility=hidden -Wl,--exclude-libs,ALL \
	$here/inside.c $trial/step.c $trial/ours.c -ldl

program() {
	command -v "$1" >/dev/null 2>&1 && "$@" && return
	echo "not built: $*"
}
program g++ -std=c++17 -O2 -o "$out/programs/mix-gcc-O2" $programs/mix.cpp
program g++ -std=c++17 -O0 -g -o "$out/programs/mix-gcc-O0" $programs/mix.cpp
program clang++ -std=c++17 -Os -o "$out/programs/mix-clang-Os" \
	$programs/mix.cpp
program rustc -O -o "$out/programs/mix-rust" $programs/mix.rs
program gcc -std=c11 -D_GNU_SOURCE -O2 -o "$out/programs/handlers-gcc-O2" \
	$programs/handlers.c
program clang -std=c11 -D_GNU_SOURCE -O1 \
	-o "$out/programs/handlers-clang-O1" $programs/handlers.c

exec python3 $here/unwind.py "$out" "$programs"
