# check.sh - the steps of `./dev check`; read by dev, which brings configure,
# compile and $build.
#
# A step is a shell function that prints what is wrong and fails. Each prints
# one line: name, ok or FAILED, seconds; the end of what a failed one said
# follows, all of it is in $build/check. All steps run whatever the earlier
# ones gave, and one failure fails the whole.

failures=0
steps=0

step() {
	name=$1
	shift
	log=$build/check/$name.log
	begin=$(date +%s)
	steps=$((steps + 1))
	if ("$@") >"$log" 2>&1 </dev/null; then
		word=ok
	else
		word=FAILED
		failures=$((failures + 1))
	fi
	printf '%-12s %-6s %4d s  %s\n' "$name" "$word" \
		$(($(date +%s) - begin)) \
		"$([ "$word" = FAILED ] || tail -1 "$log")"
	if [ "$word" = FAILED ]; then
		tail -80 "$log"
	else
		grep '^passed only when run again' "$log"
	fi | sed 's/^/    /'
}

sources() {
	find include src cli tests fuzz bench budgets tools -type f \
		\( -name '*.c' -o -name '*.h' \) | sort
}

step_format() {
	status=0
	for file in $(sources); do
		clang-format "$file" | cmp -s - "$file" || {
			echo "$file: run clang-format -i"
			status=1
		}
	done
	[ "$status" = 0 ] && printf '%d files\n' "$(sources | wc -l)"
}

# Each public header alone, as C11 and as C++17, and what needs no library as
# C99 and C++11. Included, as users do: an inline function that stands in the
# file itself would be one that nobody calls.
step_headers() {
	status=0
	for file in include/*.h include/plimsoll/*.h; do
		for compiler in gcc clang; do
			$compiler -x c -std=c11 -fsyntax-only -Iinclude -Wall \
				-Wextra -Wpedantic -Wc++-compat -Wconversion \
				-Wshadow -Wundef -Wstrict-prototypes -Werror \
				-include "$file" /dev/null || status=1
		done
		for compiler in g++ clang++; do
			$compiler -x c++ -std=c++17 -fsyntax-only -Iinclude \
				-Wall -Wextra -Wpedantic -Wundef -Werror \
				-include "$file" /dev/null || status=1
		done
	done
	for compiler in gcc clang; do
		$compiler -x c -std=c99 -fsyntax-only -Iinclude -Wall -Wextra \
			-Wpedantic -Wconversion -Wshadow -Wundef -Werror \
			-include include/plimsoll-result.h /dev/null || status=1
	done
	for compiler in g++ clang++; do
		$compiler -x c++ -std=c++11 -fsyntax-only -Iinclude -Wall \
			-Wextra -Wpedantic -Wconversion -Wshadow -Wundef \
			-Werror -include include/plimsoll-result.h /dev/null ||
			status=1
	done
	return "$status"
}

step_gcc() {
	CC=gcc configure gcc -Dwerror=true -Dtests=true && compile gcc
}

step_clang() {
	CC=clang configure clang -Dwerror=true -Dtests=true && compile clang
}

step_release() {
	CC=gcc configure release --buildtype=release -Dwerror=true &&
		compile release
}

step_none() {
	CC=gcc configure none -Dwerror=true -Dhost=none -Dtests=true &&
		compile none &&
		tools/all-tests --once --no-suite install "$build/none"
}

# Windows is built and its tests run under Wine; macOS is built where npm brings
# its compiler (tools/cross.sh).
step_cross() {
	. tools/cross.sh
	cross_all 'windows macos'
}

# The single file, for both systems, by one compiler, without anything of the
# build.
all_c() {
	for how in -O1 '-O1 -DPLIM_HOST_NONE' -O3; do
		# shellcheck disable=SC2086
		$1 -std=c11 -Wall -Wextra -Wshadow -Werror -Iinclude -Isrc \
			$how -c -o "$scratch/all-$1.o" src/all.c || return 1
	done
}

# Each takes one CPU and a minute: both at once.
step_all_c() {
	tools/check-all-c "$build/gcc" "$build/none" || return 1
	all_c clang &
	all_c gcc
	status=$?
	wait $! && return "$status"
}

step_arrows() {
	tools/check-arrows
}

step_names() {
	tools/check-names "$build/gcc/src/libplimsoll.a" \
		"$build/none/src/libplimsoll.a"
}

step_symbols() {
	tools/check-symbols "$build/gcc/src/libplimsoll.so" \
		"$build/clang/src/libplimsoll.so" \
		"$build/none/src/libplimsoll.so"
}

step_man() {
	tools/check-man
}

step_platforms() {
	tools/gen-platforms --check
}

step_flame() {
	tools/gen-flame --check
}

step_fuzz() {
	PLIM_BUILD_DIR=$build/fuzz tools/check-fuzz
}

# Bugs that are planted in a copy of a decoder must be found.
step_planted() {
	tools/fuzz-planted
}

# Bounds on time don't hold in a program that a sanitizer slows down, and the
# installed library has none.
sanitized() {
	tools/all-tests --once --no-suite timing --no-suite install \
		"$build/$1"
}

step_asan() {
	CC=clang configure asan -Dtests=true -Db_lundef=false \
		-Db_sanitize=address,undefined && compile asan &&
		ASAN_OPTIONS=detect_leaks=1:strict_string_checks=1 \
			UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 \
			sanitized asan
}

# Its runtime does not survive the bare clone() of the helper process, and
# tests that fork have one thread; tests/threads holds what is shared.
step_tsan() {
	CC=clang configure tsan -Dtests=true -Db_lundef=false \
		-Db_sanitize=thread && compile tsan &&
		TSAN_OPTIONS=halt_on_error=1 tools/all-tests --once \
			--no-suite host --no-suite fault --no-suite cli \
			--no-suite scale --no-suite timing --no-suite install "$build/tsan"
}

# The checks are chosen in .clang-tidy. The library is read as one unit, so
# that the analyzer sees across files; it takes the largest part of a minute.
analyze() {
	timeout 600 clang-tidy -quiet --extra-arg=-Xclang \
		--extra-arg=-analyzer-opt-analyze-headers "$@" \
		-- -std=c11 -D_GNU_SOURCE -Iinclude -Isrc 2>"$scratch/tidy" || {
		grep -v 'warnings generated\|Suppressed\|Use -header' \
			"$scratch/tidy"
		return 1
	}
}

# A command may ask for its environment; a library may not.
step_analyzer() {
	status=0
	analyze src/all.c || status=1
	# Files of another system don't compile here; ./dev cross holds them.
	# shellcheck disable=SC2046
	analyze --checks=-concurrency-mt-unsafe $(printf '%s\n' cli/*.c |
		grep -v '_windows\.c$\|_macos\.c$\|/wide\.c$') || status=1
	return "$status"
}

# The project holds itself to its own load line, as docs/how-to/ has it done.
step_load_line() {
	mkdir -p "$build/load-line" &&
		cc -std=c11 -D_GNU_SOURCE -O2 -Wall -Wextra -Wconversion \
			-Werror -Iinclude -o "$build/load-line/observer" \
			budgets/observer.c "$build/release/src/libplimsoll.a" &&
		PATH=$build/release/cli:$build/load-line:$PATH \
			plim gate --record "$build/load-line/result.txt" \
			budgets/plim.toml
}

step_tests() {
	tools/all-tests "$build/gcc"
}

check_all() {
	need_scratch
	mkdir -p "$build/check" || die "cannot write in $build"
	step format step_format
	step headers step_headers
	step arrows step_arrows
	step gcc step_gcc
	step clang step_clang
	step release step_release
	step none step_none
	step cross step_cross
	step all.c step_all_c
	step names step_names
	step symbols step_symbols
	step man step_man
	step platforms step_platforms
	step flame step_flame
	step fuzz step_fuzz
	step asan+ubsan step_asan
	if [ "$1" = --cheap ]; then
		say "left out by --cheap: tsan, analyzer, planted, load-line;" \
			"and tests (./dev test passes those)"
	else
		step tsan step_tsan
		step analyzer step_analyzer
		step planted step_planted
		step load-line step_load_line
		step tests step_tests
	fi
	say "$steps steps, $failures failed"
	[ "$failures" = 0 ]
}
