#!/bin/sh
# run.sh SOURCE VERSION - is the installed library whole?
#
# Builds and installs into a prefix outside every build tree, then renames the
# build tree away, so that nothing can be found in it by chance, and compiles
# and runs a consumer in each of the ways that the manual promises. Prints
# TAP. Nothing is written outside a temporary folder.
set -u

source=$1
version=$2
work=$(mktemp -d) || exit 1
trap 'rm -rf -- "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

build=$work/build
prefix=$work/prefix
flags='-std=c11 -Wall -Wextra -Wpedantic -Werror'
cc=${CC:-cc}
cxx=${CXX:-c++}
consumer=$source/tests/install/consumer.c
export CMAKE_GENERATOR=Ninja
number=0
failures=0

# check WHAT COMMAND...: one result, and on failure what the command said.
check() {
	what=$1
	shift
	number=$((number + 1))
	if "$@" >"$work/log" 2>&1 </dev/null; then
		echo "ok $number - $what"
	else
		failures=$((failures + 1))
		echo "not ok $number - $what"
		sed 's/^/# /' "$work/log" | tail -40
	fi
}

install_it() {
	meson setup "$build" "$source" --prefix="$prefix" --libdir=lib \
		--buildtype=release &&
		ninja -C "$build" &&
		meson install -C "$build" --no-rebuild &&
		mv "$build" "$build.away"
}

pc() {
	PKG_CONFIG_PATH=$prefix/lib/pkgconfig pkg-config "$@" plimsoll
}

# The private symbols of the library are not for its users: what a consumer
# links is a file, never a build tree's.
by_pkg_config() {
	[ "$(pc --modversion)" = "$version" ] &&
		# shellcheck disable=SC2046
		$cc $flags -o "$work/shared" "$consumer" \
			$(pc --cflags --libs) "-Wl,-rpath,$prefix/lib" &&
		ldd "$work/shared" | grep -q "$prefix/lib/libplimsoll.so.0 " &&
		"$work/shared"
}

# As `pkg-config --static`, with the static library named, as who wants a
# static one beside a shared one has to.
by_pkg_config_static() {
	libs=$(pc --static --libs | sed 's/-lplimsoll/-l:libplimsoll.a/')
	# shellcheck disable=SC2046,SC2086
	$cc $flags -o "$work/static" "$consumer" $(pc --cflags) $libs &&
		! ldd "$work/static" | grep plimsoll &&
		"$work/static"
}

by_cxx() {
	# shellcheck disable=SC2046
	$cxx -x c++ -std=c++17 -Wall -Wextra -Wpedantic -Werror \
		-o "$work/cxx" "$consumer" -x none $(pc --cflags --libs) \
		"-Wl,-rpath,$prefix/lib" && "$work/cxx"
}

by_single_file() {
	$cc -std=c11 -Wall -Wextra -Werror -I"$source/include" \
		-I"$source/src" -o "$work/single" "$source/src/all.c" \
		"$consumer" && "$work/single"
}

by_cmake() {
	folder=$work/cmake.$1
	root=$2
	shift 2
	cmake -S "$source/tests/install" -B "$folder" \
		-DCMAKE_PREFIX_PATH="$root" "$@" &&
		cmake --build "$folder" && "$folder/consumer" &&
		case $folder in
		*static) ! ldd "$folder/consumer" | grep plimsoll ;;
		*) ldd "$folder/consumer" | grep "$root/lib/libplimsoll.so.0" ;;
		esac
}

# A program that asks for a later version is turned away.
cmake_is_strict() {
	mkdir -p "$work/strict"
	{
		echo 'cmake_minimum_required(VERSION 3.16)'
		echo 'project(strict NONE)'
		echo "find_package(plimsoll $1 REQUIRED CONFIG)"
	} >"$work/strict/CMakeLists.txt"
	rm -rf "$work/strict/b"
	! cmake -S "$work/strict" -B "$work/strict/b" \
		-DCMAKE_PREFIX_PATH="$prefix"
}

command_runs() {
	[ "$("$prefix/bin/plim" --version | grep -c "$version")" = 1 ]
}

# preloads PREFIX: a command samples itself, by the object that is installed
# with the plim that runs.
preloads() {
	case $(uname -m) in
	x86_64 | aarch64) ;;
	*) return 0 ;;
	esac
	rm -f "$work/preloaded.json"
	"$1/bin/plim" profile --preload --json -o "$work/preloaded.json" -- \
		sh -c 'i=0; while [ $i -lt 200000 ]; do i=$((i + 1)); done' &&
		grep -q 'sampled themselves, by an object that was preloaded' \
			"$work/preloaded.json"
}

# Where each shell looks, below a prefix; as a package would have it.
completions_are_there() {
	bash -n "$prefix/share/bash-completion/completions/plim" &&
		head -1 "$prefix/share/zsh/site-functions/_plim" |
		grep -q '^#compdef plim$' &&
		grep -q '^complete -c plim ' \
			"$prefix/share/fish/vendor_completions.d/plim.fish"
}

# prints COMPILER FLAG...: the program that has one header of ours and no
# library, in a locale whose point is a comma where there is one.
prints() {
	# shellcheck disable=SC2086
	"$@" -Wall -Wextra -Wconversion -pedantic -Werror \
		-I"$prefix/include" -o "$work/printer" \
		"$source/tests/install/printer.c" &&
		! ldd "$work/printer" | grep plimsoll &&
		LC_ALL=$comma "$work/printer" >"$work/printed" &&
		diff "$source/tests/install/printed" "$work/printed"
}

# A comma is the point; else the test is as good as in C.
find_comma() {
	comma=de_DE.UTF-8
	[ "$(LC_ALL=$comma locale decimal_point 2>/dev/null)" = , ] && return
	mkdir -p "$work/locale"
	localedef -i de_DE -f UTF-8 "$work/locale/de_DE.UTF-8" >"$work/log" 2>&1
	LOCPATH=$work/locale
	export LOCPATH
	[ "$(LC_ALL=$comma locale decimal_point 2>/dev/null)" = , ] && return
	unset LOCPATH
	comma=C
}

# Nothing that was installed remembers where it was built.
no_build_paths() {
	! grep -r -l -e "$build" -e "$source/src" "$prefix"
}

moved() {
	mv "$prefix" "$work/elsewhere" &&
		"$work/elsewhere/bin/plim" --version &&
		preloads "$work/elsewhere" &&
		by_cmake moved "$work/elsewhere" &&
		PKG_CONFIG_PATH=$work/elsewhere/lib/pkgconfig \
			pkg-config --define-prefix --cflags plimsoll |
		grep -q "$work/elsewhere/include"
}

check "it builds and installs, and the build tree is renamed away" install_it
if [ ! -d "$build.away" ]; then
	echo "1..$number"
	exit 1
fi
check "pkg-config, shared" by_pkg_config
check "pkg-config, static" by_pkg_config_static
check "C++17" by_cxx
check "one source file" by_single_file
check "CMake, shared" by_cmake shared "$prefix"
check "CMake, static" by_cmake static "$prefix" -DPLIMSOLL_USE_STATIC_LIBS=ON
check "CMake, C++17" by_cmake cxx "$prefix" -DLANGUAGE=CXX
check "CMake refuses version 0.2" cmake_is_strict 0.2
check "CMake refuses version 1.0" cmake_is_strict 1.0
check "the installed command runs" command_runs
check "what is preloaded is found from where plim lies" preloads "$prefix"
check "completions are where shells look" completions_are_there
check "no path of the build is installed" no_build_paths
find_comma
check "RESULT lines from one header, C99" prints "$cc" -x c -std=c99
check "RESULT lines from one header, C11" prints "$cc" -x c -std=c11
check "RESULT lines from one header, C++11" prints "$cxx" -x c++ -std=c++11
check "RESULT lines from one header, C++17" prints "$cxx" -x c++ -std=c++17
check "the prefix can be moved" moved
echo "1..$number"
[ "$failures" = 0 ]
