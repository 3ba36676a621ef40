#!/bin/sh
# test_output.sh - where output goes: pipes that close, full disks, terminals
# and colour, ASCII, and numbers with a point in every locale.
. "$(dirname -- "$0")/lib.sh"

escape=$(printf '\033')
start sleepers 2
sleepers=$pid

# --- a reader that goes away is no failure ----------------------------------
for words in "ps" "ps --json" "ps --csv" "show $sleepers" \
	"doctor" "report -d 50ms $sleepers" \
	"ps --watch --every 5ms" "ps --watch --json --every 5ms" \
	"show --watch --every 5ms $sleepers"; do
	for reader in 'head -1' 'true'; do
		# shellcheck disable=SC2086
		{
			timeout -k 5 30 "$plim" $words 2>"$work/err"
			echo $? >"$work/status"
		} | $reader >/dev/null
		is "plim $words | $reader: ends quietly" "0" \
			"$(cat "$work/status" "$work/err")"
	done
done

# --- a full disk is -----------------------------------------------------------
for words in "ps" "ps --json" "ps --csv" "show $sleepers" "doctor" \
	"show --json $sleepers" "report -d 50ms $sleepers" "cmdline $sleepers" \
	"cmdline --json $sleepers" "ps --watch --every 5ms" \
	"show --watch --json --every 5ms $sleepers" "help" "help ps" \
	"ps --help" "--help" "--version"; do
	# shellcheck disable=SC2086
	timeout -k 5 30 "$plim" $words >/dev/full 2>"$work/err"
	is "plim $words >/dev/full: status 1 and one line" \
		"1 plim: standard output: ENOSPC" "$? $(cat "$work/err")"
done
for words in "ps" "cmdline $sleepers" "show --json $sleepers"; do
	# shellcheck disable=SC2086
	timeout -k 5 30 "$plim" $words >&- 2>"$work/err"
	is "plim $words >&-: status 1 and one line" \
		"1 plim: standard output: EBADF" "$? $(cat "$work/err")"
	# shellcheck disable=SC2086
	timeout -k 5 30 "$plim" $words <&- >&- 2>&-
	is "plim $words without any descriptor: status 1" 1 "$?"
done
timeout -k 5 30 "$plim" time --json -- true >/dev/full 2>"$work/err"
is "plim time --json >/dev/full: a failure of our own" \
	"125 plim: standard output: ENOSPC" "$? $(cat "$work/err")"

# --- colour -------------------------------------------------------------------
for words in "ps" "show $sleepers" "report -d 50ms $sleepers" "doctor"; do
	# shellcheck disable=SC2086
	run $words
	check "plim $words: no escape where no terminal is" \
		sh -c '! grep -q "$1" "$2"' sh "$escape" "$work/out"
	# shellcheck disable=SC2086
	run $words --color=always
	check "plim $words --color=always: bold" \
		grep -q "$escape\[1m" "$work/out"
	opened=$(grep -c "$escape\[1m" "$work/out")
	is "plim $words --color=always: and each ends on its line" "$opened" \
		"$(grep -c "$escape\[1m.*$escape\[0m" "$work/out")"
	# shellcheck disable=SC2086
	tool pty 300 "$plim" $words >"$work/out"
	check "plim $words: bold on a terminal" \
		grep -q "$escape\[1m" "$work/out"
	# shellcheck disable=SC2086
	tool pty 300 "$plim" $words --color=never >"$work/out"
	check "plim $words --color=never: none on a terminal" \
		sh -c '! grep -q "$1" "$2"' sh "$escape" "$work/out"
	# shellcheck disable=SC2086
	tool pty 300 env NO_COLOR=1 "$plim" $words >"$work/out"
	check "plim $words: none with NO_COLOR" \
		sh -c '! grep -q "$1" "$2"' sh "$escape" "$work/out"
	# shellcheck disable=SC2086
	tool pty 300 env NO_COLOR= "$plim" $words >"$work/out"
	check "plim $words: an empty NO_COLOR is none" \
		grep -q "$escape\[1m" "$work/out"
done
run ps --json --color=always --proc "$fixture"
check "JSON is never coloured" \
	sh -c '! grep -q "$1" "$2"' sh "$escape" "$work/out"
tool pty 40 "$plim" ps --color=never --proc "$fixture" | tr -d '\r' |
	sed '$d' >"$work/out"
is "a table is cut to the terminal" "" "$(awk 'length($0) > 40' "$work/out")"

# --- ASCII --------------------------------------------------------------------
for words in "ps --proc $fixture" "show --proc $fixture 19" \
	"report --proc $fixture -d 5ms 19" "doctor" "show $sleepers" \
	"cmdline --proc $fixture 20"; do
	# shellcheck disable=SC2086
	run $words --ascii
	is "plim $words --ascii" "" "$(LC_ALL=C tr -d '\n -~' <"$work/out")"
	cp "$work/out" "$work/long"
	for locale in C POSIX en_US.ISO-8859-1 ''; do
		# shellcheck disable=SC2086
		run_with "LC_ALL=$locale" $words
		is "plim $words, LC_ALL=$locale: the same kind" "" \
			"$(LC_ALL=C tr -d '\n -~' <"$work/out")"
	done
done
run ps --proc "$fixture" -o pid,name
check "in a UTF-8 locale names are shown as they are" \
	grep -q '日本語é' "$work/out"

# --- numbers ------------------------------------------------------------------
comma=
for name in de_DE.utf8 de_DE.UTF-8 fr_FR.utf8 nl_NL.utf8; do
	if locale -a 2>/dev/null | grep -qx "$name"; then
		comma=$name
	fi
done
if [ -z "$comma" ] && command -v localedef >/dev/null 2>&1 &&
	[ -e /usr/share/i18n/locales/de_DE ]; then
	mkdir "$work/locale"
	localedef -i de_DE -f UTF-8 "$work/locale/de_DE.utf8" \
		>/dev/null 2>&1
	export LOCPATH="$work/locale"
	comma=de_DE.utf8
fi
if [ -n "$comma" ] &&
	[ "$(LC_ALL=$comma locale decimal_point 2>/dev/null)" = , ]; then
	for words in "ps" "ps --csv" "show 35" "show --json 35" \
		"show --for 5ms 35"; do
		# shellcheck disable=SC2086
		run $words --proc "$fixture"
		steady "$work/out" | grep -v -e cpu_ns -e wall_ns \
			-e interval_ns -e system_calls >"$work/wanted"
		# shellcheck disable=SC2086
		run_with "LC_ALL=$comma" $words --proc "$fixture"
		steady "$work/out" | grep -v -e cpu_ns -e wall_ns \
			-e interval_ns -e system_calls >"$work/got"
		check "plim $words: the same in a locale with a comma" \
			cmp "$work/wanted" "$work/got"
	done
	run_with "LC_ALL=$comma" ps --proc "$fixture" \
		'resident > 1.05MiB and pid = 35'
	is "a point is read in a locale with a comma" 1 \
		"$(grep -c ' spin$' "$work/out")"
	run_with "LC_ALL=$comma" show --for 0,05s 1
	is "a comma is not" 2 "$status"
else
	skip "numbers in a locale with a comma" \
		"no locale with a decimal comma, and none can be made"
fi
done_testing
