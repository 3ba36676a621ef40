#!/bin/sh
# test_targets.sh - the process that an operand means: unknown, ended, a
# thread, replaced, ambiguous; and proc roots that are none.
. "$(dirname -- "$0")/lib.sh"

# fails COMMAND... MESSAGE CODE: by text and by JSON.
fails() {
	message=$1
	code=$2
	want=$3
	shift 3
	run "$@"
	refuses "plim $*" "$want" "$message"
	run "$@" --json
	is "plim $* --json: status $want" "$want" "$status"
	is "plim $* --json: $code" "$code $message" \
		"$(json '.error | "\(.code) \(.message)"')"
	check "plim $* --json: nothing on standard error" test ! -s "$work/err"
}

start sleepers 1
sleepers=$pid
for tid in $(ls "/proc/$sleepers/task"); do
	[ "$tid" = "$sleepers" ] || thread=$tid
done
start renamer
first=$pid
name="pl$$x"
ask "$first" "name $(hex "$name")"

# --- found ------------------------------------------------------------------
run show --json "$first"
ends "a pid" 0
identity=$(json .process.identity)
run show --json "$identity"
ends "an identity" 0
is "and it is that process" "$first" "$(json .process.pid)"
run show --json "$name"
ends "a name that one process has" 0
is "and it is that process" "$first" "$(json .process.pid)"
ticks=$(json .process.start_ticks)
run show --json "$first@t$ticks"
ends "the weaker identity, too" 0
run report --json -d 50ms "$name"
ends "report takes a name" 0
run cmdline "$name"
ends "cmdline takes a name" 0
is "and prints how it was started" "$workloads/renamer" "$(cat "$work/out")"

# --- not found --------------------------------------------------------------
for command in show cmdline report; do
	fails "open process 2147483647: there is no such process" \
		no_such_process 1 "$command" 2147483647
	fails "open process $thread: the number is the id of a thread, not of\
 a process; it is a thread of process $sleepers" \
		thread_not_process 1 "$command" "$thread"
	fails "find process no$name: there is no such process; no process has\
 this name" no_such_process 1 "$command" "no$name"
done
for bad in 0 00 2147483648 99999999999999999999 '1@' 1@zz 1@i 1@t 1@i1x \
	'@i5' '1@i-1'; do
	run show "$bad"
	is "plim show $bad: status 2" 2 "$status"
	check "plim show $bad: says what is no identity" \
		grep -q "^plim: identity $bad: the text cannot be understood" \
		"$work/err"
done
run show "$(printf 'a\033[31m\nb')"
refuses "a hostile operand comes back clean" 1 'find process a\x1b[31m\x0ab:'\
' there is no such process; no process has this name'

# --- another process --------------------------------------------------------
run show "$first@t$((ticks + 1))"
is "an identity with another start: status 1" 1 "$status"
check "and the pid now belongs to another" \
	grep -q 'the pid now belongs to another process' "$work/err"
run show --json "$first@t$((ticks + 1))"
is "by its code" replaced "$(json .error.code)"

# --- ambiguous --------------------------------------------------------------
start renamer
second=$pid
ask "$second" "name $(hex "$name")"
run show "$name"
is "a name that two have: status 1" 1 "$status"
check "nothing on standard output" test ! -s "$work/out"
check "one line that says so" grep -q \
	"^plim: find process $name: the name matches several processes; " \
	"$work/err"
is "and lists both" "$(printf '%s\n' "$first" "$second" | sort -n |
	tr '\n' ' ')" "$(sed 's/.*; //; s/, /\n/g' \
	"$work/err" | sed 's/@.*//' | sort -n | tr '\n' ' ')"
for candidate in $(sed 's/.*; //; s/,//g' "$work/err"); do
	run show --json "$candidate"
	is "which plim takes back: $candidate" "${candidate%@*}" \
		"$(json .process.pid)"
done
run show --json "$name"
is "JSON: ambiguous" ambiguous "$(json .error.code)"

# --- ended ------------------------------------------------------------------
stop "$second"
fails "open process $second: there is no such process" no_such_process 1 \
	show "$second"
run show "$name"
ends "the name is one process's again" 0
sh -c 'exec sleep 0.4' &
short=$!
run show --json --for 10s "$short"
wait "$short"
ends "a process that ends while it is shown" 0
is "its pid" "$short" "$(json .process.pid)"
is "and its end" '["gone"]' "$(json '[.events[].event]')"
sh -c 'exec sleep 0.6' &
short=$!
run report --json --for 10s "$short"
wait "$short"
ends "a process that ends while it is reported" 0
is "its pid, and memory of its last live sample" "$short true" \
	"$(json '.process | "\(.pid) \(.resident_bytes > 0)"')"
is "and its end" true "$(json '[.events[].event] | any(. == "gone")')"
sh -c 'exec sleep 0.4' &
short=$!
run report --for 10s "$short"
wait "$short"
check "the page says that it ended" grep -q 'then it ended' "$work/out"
start zombie
ask "$pid" child >/dev/null
child=$(ask "$pid" 'end 3' | value child)
run show --json "$child"
ends "a zombie is shown" 0
is "without memory, with the reason" 'Z null not_applicable zombie' "$(json \
	'.process | "\(.state) \(.resident_bytes) " +
	(.unavailable.resident_bytes | "\(.state) \(.reason)")')"

# --- proc roots -------------------------------------------------------------
mkdir "$work/empty"
for command in 'ps' 'show 1' 'cmdline 1' 'doctor' 'report 1'; do
	# shellcheck disable=SC2086
	fails "open $work/empty: the directory is not a proc file system; it\
 holds neither processes nor a stat file" not_procfs 2 \
		$command --proc "$work/empty"
	# shellcheck disable=SC2086
	fails "open $work/none: the directory is not a proc file system\
 (ENOENT)" not_procfs 2 $command --proc "$work/none"
done
fails "open $source/NEWS.md: the directory is not a proc file system\
 (ENOTDIR)" not_procfs 2 ps --proc "$source/NEWS.md"
fails "open process 77: there is no such process" no_such_process 1 \
	show 77 --proc "$fixture"
done_testing
