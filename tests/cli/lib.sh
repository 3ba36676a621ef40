# lib.sh - what the tests of the command share; sourced by each test_*.sh.
#
# A test is a script that prints TAP: `ok N - WHAT`, `not ok N - WHAT`, or
# `ok N - WHAT # skip REASON`, and at the end the plan. `run` runs plim; its
# output, its messages and its status are then compared to the byte, long
# output with a file of golden/ (written anew by UPDATE=1). Whatever a test
# starts ends with it. The driver gives PLIM_SOURCE, PLIM_BUILD_DIR, TMPDIR.
set -u
umask 022

source=${PLIM_SOURCE:?is not set: run this by ./dev test cli}
build=${PLIM_BUILD_DIR:?is not set: run this by ./dev test cli}
plim=$build/cli/plim
workloads=$build/tests/workloads
fixture=$source/tests/fixtures/linux-6.18-small
schema=$source/data/schema/plim.schema.json
golden_folder=$source/tests/cli/golden
python=/usr/bin/python3
[ -x "$python" ] || python=python3

# The tests choose what the output depends on.
unset NO_COLOR LANG LC_CTYPE LC_NUMERIC LC_MESSAGES
unset GITHUB_ACTIONS GITHUB_STEP_SUMMARY
export LC_ALL=C.UTF-8 TZ=UTC

number=0
failures=0
started=
work=$(mktemp -d "${TMPDIR:-/tmp}/plim-cli.XXXXXX") || exit 1

end_all() {
	status=$?
	trap - EXIT
	for pid in $started; do
		kill -KILL "$pid" 2>/dev/null
	done
	rm -rf -- "$work"
	exit "$status"
}
trap end_all EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

# --- results ----------------------------------------------------------------

pass() {
	number=$((number + 1))
	printf 'ok %d - %s\n' "$number" "$1"
}

# fail WHAT [FILE...]: what the files hold is shown, without control bytes.
fail() {
	number=$((number + 1))
	failures=$((failures + 1))
	printf 'not ok %d - %s\n' "$number" "$1"
	shift
	for file; do
		[ -s "$file" ] || continue
		echo "# ${file##*/}:"
		head -c 4000 "$file" | LC_ALL=C sed -n 'l 500' | sed 's/^/#   /'
	done
}

skip() {
	number=$((number + 1))
	printf 'ok %d - %s # skip %s\n' "$number" "$1" "$2"
}

# check WHAT COMMAND...: passes if the command succeeds.
check() {
	checked=$1
	shift
	if "$@" >"$work/log" 2>&1; then
		pass "$checked"
	else
		fail "$checked" "$work/log"
	fi
}

# is WHAT WANTED GOT
is() {
	if [ "$2" = "$3" ]; then
		pass "$1"
	else
		printf '%s\n' "$2" >"$work/wanted"
		printf '%s\n' "$3" >"$work/got"
		fail "$1" "$work/wanted" "$work/got"
	fi
}

done_testing() {
	echo "1..$number"
	[ "$failures" = 0 ] || exit 1
}

# --- plim -------------------------------------------------------------------

run() {
	timeout -k 5 60 "$plim" "$@" >"$work/out" 2>"$work/err" </dev/null
	status=$?
}

# run_with NAME=VALUE ARGUMENT...: the same with that in the environment.
run_with() {
	set_to=$1
	shift
	timeout -k 5 60 env "$set_to" "$plim" "$@" >"$work/out" \
		2>"$work/err" </dev/null
	status=$?
}

# ends WHAT STATUS: after `run`, its status and nothing on standard error.
ends() {
	if [ "$status" = "$2" ] && [ ! -s "$work/err" ]; then
		pass "$1"
	else
		echo "# status $status instead of $2"
		fail "$1" "$work/out" "$work/err"
	fi
}

# refuses WHAT STATUS MESSAGE: the status, this one line on standard error,
# nothing on standard output.
refuses() {
	printf 'plim: %s\n' "$3" >"$work/wanted"
	if [ "$status" = "$2" ] && cmp -s "$work/wanted" "$work/err" &&
		[ ! -s "$work/out" ]; then
		pass "$1"
	else
		echo "# status $status instead of $2"
		fail "$1" "$work/wanted" "$work/err" "$work/out"
	fi
}

# The bill of a command is never the same twice.
steady() {
	LC_ALL=C sed -e '/^cost  /d' \
		-e 's/; [0-9]* system calls, .* of CPU time$/; COST/' \
		-e 's/ woke in [0-9.]* [a-z]*s$/ woke in TIME/' \
		-e 's/^observed     .*/observed     TIME/' "$1"
}

# golden NAME [WHAT]: status 0, no message, and the output of the file.
golden() {
	file=$golden_folder/$1.out
	steady "$work/out" >"$work/steady"
	if [ -n "${UPDATE:-}" ]; then
		cp -- "$work/steady" "$file"
	fi
	if [ "$status" = 0 ] && [ ! -s "$work/err" ] &&
		cmp -s "$file" "$work/steady"; then
		pass "${2:-$1}"
	else
		echo "# status $status"
		diff -a "$file" "$work/steady" >"$work/difference"
		fail "${2:-$1}" "$work/difference" "$work/err"
	fi
}

# tool COMMAND...: the helper program of the tests.
tool() {
	"$python" "$source/tests/cli/tool.py" "$@"
}

# json FILTER: of the output, by jq.
json() {
	jq -c -r "$1" "$work/out" 2>&1
}

# The path of a browser for tests/cli/browser.py, or nothing.
find_browser() {
	"$python" -c "
import sys
sys.path.insert(0, '$source/tests/cli')
import browser
print(browser.find() or '')"
}

# As uid 65534 with nothing of root's.
as_nobody() {
	"$source/tools/as-user" 65534 "$source" "$build" "$@"
}

# --- workloads --------------------------------------------------------------

# start NAME ARGUMENT...: starts a workload and waits until it is ready; its
# pid is in $pid. It ends with this script, by its own doing too.
start() {
	fifo=$work/in.$#.$1.$(date +%s%N)
	mkfifo "$fifo" || exit 1
	program=$1
	shift
	"$workloads/$program" "$@" <>"$fifo" >"$fifo.out" 2>&1 &
	pid=$!
	started="$started $pid"
	ln -s "$fifo" "$work/of.$pid"
	await "$program to start" grep -q ' ready$' "$fifo.out"
}

# await WHAT COMMAND...: repeats the command until it succeeds, at most 10 s.
await() {
	awaited=$1
	shift
	tries=0
	until "$@" >/dev/null 2>&1; do
		tries=$((tries + 1))
		if [ "$tries" -gt 200 ]; then
			echo "# waited in vain for $awaited"
			return 1
		fi
		sleep 0.05
	done
}

answers() {
	[ "$(grep -c '^end$' "$1")" -ge "$2" ]
}

# ask PID COMMAND: the workload's answer, without the last line.
ask() {
	answer=$(readlink "$work/of.$1").out
	have=$(grep -c '^end$' "$answer")
	printf '%s\n' "$2" >"$work/of.$1"
	await "an answer to $2" answers "$answer" $((have + 1))
	awk -v skip="$have" '$0 == "end" { n++; next } n == skip' "$answer" |
		grep -v ' ready$'
}

# value KEY: of the lines `KEY=VALUE` on standard input.
value() {
	sed -n "s/^$1=//p"
}

# stop PID: ends what was started, and reaps it.
stop() {
	kill -KILL "$1"
	wait "$1" 2>/dev/null
	started=$(printf '%s' "$started" | sed "s/ $1\( \|\$\)/ /")
}

# The name that a process has in hex: the renamer takes it so.
hex() {
	printf '%b' "$1" | od -An -v -tx1 | tr -d ' \n'
}
