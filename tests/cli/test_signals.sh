#!/bin/sh
# test_signals.sh - an interruption ends the measurement, not the report of
# it; and what plim started does not outlive it unless asked.
. "$(dirname -- "$0")/lib.sh"

# A shell that runs no terminal starts what it puts behind with SIGINT
# ignored, and plim leaves what was ignored alone; env gives it back.
if ! env --default-signal=INT true 2>/dev/null; then
	skip "interruptions" "env has no --default-signal"
	done_testing
	exit 0
fi

# interrupt SIGNAL SECONDS ARGUMENT...: its output, and its status.
interrupt() {
	signal=$1
	after=$2
	shift 2
	env --default-signal=INT "$plim" "$@" >"$work/out" 2>"$work/err" \
		</dev/null &
	plim_pid=$!
	started="$started $plim_pid"
	sleep "$after"
	kill -"$signal" "$plim_pid"
	wait "$plim_pid"
	status=$?
}

# The processes with this word as an argument of their own.
with_argument() {
	for file in /proc/[0-9]*/cmdline; do
		tr '\0' '\n' 2>/dev/null <"$file" | grep -qx -e "$1" &&
			echo "$file" | tr -dc '0-9\n'
	done
	return 0
}

start sleepers 2
sleepers=$pid
for signal in INT TERM HUP; do
	interrupt "$signal" 0.6 report --for 60s "$sleepers"
	ends "SIG$signal during report: 130" 130
	check "and the page is whole" grep -q '^cost ' "$work/out"
	took=$(sed -n 's/^observed  *\([0-9.]*\) ms.*/\1/p' "$work/out")
	check "of what was measured so far" tool near "$took" 600 50
	interrupt "$signal" 0.4 report --json --for 60s "$sleepers"
	is "SIG$signal during report --json: 130 and an object" \
		"130 report true" \
		"$status $(json '"\(.command) \(.process.rates != null)"')"
	interrupt "$signal" 0.4 show --json --for 60s "$sleepers"
	is "SIG$signal during show --for: 130 and rates" "130 true" \
		"$status $(json '.process.rates.wakeups_per_second > 0')"
	interrupt "$signal" 0.4 show --for 60s "$sleepers"
	ends "SIG$signal during show: 130" 130
	check "and the page is whole" grep -q '^cost ' "$work/out"
	interrupt "$signal" 0.4 threads --json --for 60s "$sleepers"
	is "SIG$signal during threads --for: 130 and changes" "130 true" \
		"$status $(json '.sums.listed_wakeups.value > 0')"
	interrupt "$signal" 0.5 ps --watch --json --every 100ms
	is "SIG$signal during ps --watch: 130" "130" "$status$(cat "$work/err")"
	is "and its last line is whole" "true" \
		"$(tail -1 "$work/out" | jq '.processes | length > 0')"
	interrupt "$signal" 0.4 ps --for 60s --csv
	is "SIG$signal during ps --for: 130, and rows" "130 true" \
		"$status $(tool csv <"$work/out" | wc -l | sed 's/.*/true/')"
done
interrupt INT 0.4 ps --watch --every 60s
is "between two rounds: 130, and the round is printed" "130 true" \
	"$status $(grep -q ' processes' "$work/out" && echo true)"

# --- what was started -------------------------------------------------------
mark=98$$.5
for signal in INT TERM; do
	interrupt "$signal" 0.7 report --json -- sleep "$mark"
	is "SIG$signal during report -- CMD: 130 and an object" "130 report" \
		"$status $(json .command)"
	is "and the command is gone" "" "$(with_argument "$mark")"
	check "nothing on standard error" test ! -s "$work/err"
done
interrupt TERM 0.7 report -- sh -c 'trap "" TERM; while :; do sleep 0.1; done' \
	"$mark"
is "one that ignores SIGTERM is killed" "130" "$status"
is "and gone" "" "$(with_argument "$mark")"
interrupt INT 0.7 report --leave --json -- sleep "$mark"
is "--leave: 130" 130 "$status"
left=$(with_argument "$mark")
is "the command still runs, and the report names it" "$left" \
	"$(json .process.pid)"
case $left in
'' | *[!0-9]*) ;;
*) kill -KILL "$left" ;;
esac
run report --json --for 100ms -- sleep "$mark"
is "report -- CMD to its end: 0" "0" "$status$(cat "$work/err")"
is "it became quiet" true "$(json .became_quiet)"
is "what was started has ended" "" "$(with_argument "$mark")"
is "and it is told by which signal" '[null,15]' \
	"$(json '[.exit_status, .signal]')"
run report --json --leave --for 100ms -- sleep "$mark"
is "--leave to its end: 0" 0 "$status"
left=$(with_argument "$mark")
is "the command still runs" "$left" "$(json .process.pid)"
case $left in
'' | *[!0-9]*) ;;
*) kill -KILL "$left" ;;
esac

# --- plim time --------------------------------------------------------------
interrupt TERM 0.5 time --json -- sleep "$mark"
is "SIGTERM to plim time reaches the command, and its end is reported" \
	"143 15" "$status $(json .signal)"
is "which is gone" "" "$(with_argument "$mark")"
interrupt INT 0.3 time --json -- sleep "$mark"
is "so does a SIGINT that was sent to plim alone" "130 2" \
	"$status $(json .signal)"
is "and it is gone" "" "$(with_argument "$mark")"

interrupt KILL 0.5 time -- sleep "$mark"
is "plim time is killed: so is the command asked to end" 137 "$status"
gone() { [ -z "$(with_argument "$1")" ]; }
check "and does" await "the command to end" gone "$mark"

# --- whose child is it ------------------------------------------------------
# A shell that puts something behind and becomes plim has given it a child.
sh -c 'sleep "$1" & exec "$2" report --json --for 100ms -- true' sh "$mark" \
	"$plim" >"$work/out" 2>"$work/err" </dev/null
is "plim has a child that it did not start: 0" "0 true" \
	"$?$(cat "$work/err") $(json '.process != null')"
left=$(with_argument "$mark")
check "which still runs" test -n "$left"
case $left in
'' | *[!0-9]*) ;;
*) kill -KILL "$left" ;;
esac
env --ignore-signal=CHLD "$plim" time --json -- sh -c 'exit 7' >"$work/out"
is "SIGCHLD was ignored: the status is the command's" "7 7" \
	"$? $(json .exit_status)"

# --- Ctrl-C -----------------------------------------------------------------
# press WHAT STATUS ARGUMENT...: on a terminal, which signals all of them.
press() {
	what=$1
	want=$2
	shift 2
	timeout -k 5 30 "$python" "$source/tests/cli/tool.py" interrupted 0.5 \
		"$plim" "$@" >"$work/terminal" 2>&1
	is "Ctrl-C during $what" "$want" "$?"
	tr -d '\r' <"$work/terminal" | sed 's/^^C//' >"$work/out"
}

press report 130 report --for 60s "$sleepers"
check "prints the page" grep -q '^cost ' "$work/out"
press "time, the command's end" 130 time --json -- sleep "$mark"
is "is told" 2 "$(json .signal)"
press "time, the command's own status" 3 \
	time -- sh -c 'trap "exit 3" INT; sleep 5 & wait'
press "report -- CMD" 130 report -- sleep "$mark"
check "prints the page" grep -q '^cost ' "$work/out"
is "and leaves nothing behind" "" "$(with_argument "$mark")"
done_testing
