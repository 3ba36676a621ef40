# lines.sh - lines and inlined functions beside other readers of DWARF, run
# alternately over the same addresses: bench/lines/measure.py says what.
#
# packages: elfutils binutils llvm g++ libc6-dbg
# What the library itself needs, beside libc.
libraries=$(PKG_CONFIG_PATH=$PLIM_BUILD_DIR/meson-private \
	pkg-config --static --libs-only-l plimsoll 2>/dev/null |
	sed 's/-lplimsoll//')
# shellcheck disable=SC2086
cc -std=c11 -D_GNU_SOURCE -O2 -DNDEBUG -Iinclude -Isrc \
	-o "$PLIM_BENCH_DIR/lines-frames" tests/lines/frames.c \
	"$PLIM_BUILD_DIR/src/libplimsoll.a" $libraries || exit 1
exec python3 bench/lines/measure.py "$PLIM_BENCH_DIR"
