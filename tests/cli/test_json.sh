#!/bin/sh
# test_json.sh - the JSON of every command against the installed schema, and
# against what a schema cannot tell: a figure is known and has a source, or is
# null and has a reason.
. "$(dirname -- "$0")/lib.sh"

if ! "$python" -c 'import jsonschema' 2>/dev/null; then
	skip "JSON against the schema" "python3-jsonschema is not installed"
	done_testing
	exit 0
fi

# valid NAME ARGUMENT...
valid() {
	part=$1
	shift
	run "$@"
	check "plim $* is valid" tool schema "$schema" "$part" <"$work/out"
	check "plim $*: nothing on standard error" test ! -s "$work/err"
}

valid_lines() {
	part=$1
	rounds=$2
	shift 2
	run "$@"
	check "plim $* is valid, line by line" \
		tool schema "$schema" "$part" --lines <"$work/out"
	is "plim $*: a line for each round" "$rounds" "$(wc -l <"$work/out")"
	is "plim $*: status" 0 "$status"
}

start sleepers 3
for target in "$pid" 1; do
	valid show show --json "$target"
	valid show show --json --for 50ms "$target"
	valid report report --json --for 50ms "$target"
	valid cmdline cmdline --json "$target"
	valid threads threads --json "$target"
	valid threads threads --json --for 50ms "$target"
done
valid_lines threads 3 threads --json --watch --every 20ms --rounds 3 "$pid"
valid_lines show 3 show --json --watch --every 20ms --rounds 3 "$pid"
for more in '' '--threads --limit 40' '--identity --limit 40' \
	'--for 30ms --limit 40' '--sort resident --limit 40' \
	'--columns pid,name,cpu_percent' "--proc $fixture"; do
	# shellcheck disable=SC2086
	valid ps ps --json $more
done
valid ps ps --json 'threads > 1 and name ~ "sleep*"'
is "and has that process" true "$(json "[.processes[].pid] | any(. == $pid)")"
valid ps ps --json 'pid = 2147483647'
is "and has none" 0 "$(json '.processes | length')"
valid_lines ps 3 ps --json --watch --every 20ms --rounds 3 --limit 40
is "rates from the first line on" 3 \
	"$(json "select(.processes | any(.rates != null)) | 1" | wc -l)"
for target in 2 30 35 41; do
	valid show show --json --proc "$fixture" "$target"
	valid show show --json --for 20ms --proc "$fixture" "$target"
	valid report report --json --for 20ms --proc "$fixture" "$target"
	valid cmdline cmdline --json --proc "$fixture" "$target"
done
valid threads threads --json --proc "$fixture" 30
valid threads threads --json --for 20ms --proc "$fixture" 30
valid threads threads --json --proc "$fixture" 41
is "a recording of one thread needs no folder of threads" '[41]' \
	"$(json '[.threads[].tid]')"
valid doctor doctor --json
valid doctor doctor --json --proc "$fixture"
valid time time --json -- true
valid time time --json -- sh -c 'kill -9 $$'
is "a signal stands where no exit status is" '[null,9,137]' \
	"$(json "[.exit_status, .signal, $status]")"
valid report report --json -- sh -c 'exit 3'
is "a command that ended has its total" 'wait4 3' \
	"$(json '"\(.total.method.cpu_ns) \(.exit_status)"')"
valid report report --json -- sh -c 'sleep 0.3; kill -15 $$'
is "or its signal" '[null,15]' "$(json '[.exit_status, .signal]')"

# Errors: one object, of every kind.
for words in 'show 2147483647' 'show no-such-name' 'show 1@t1' 'show 0' \
	'show' 'show --frob 1' 'show --for 3x 1' 'ps --sort nme' \
	'ps --proc /' 'cmdline 2147483647' 'threads 2147483647' 'report 2147483647' 'ps resdent' \
	'report -- /nonexistent' 'time -- /nonexistent' 'doctor 1' \
	'doctor --proc /nonexistent' 'help ps show'; do
	# shellcheck disable=SC2086
	run ${words%% *} --json ${words#"${words%% *}"}
	check "plim $words --json: an error object" \
		tool schema "$schema" failure <"$work/out"
	check "plim $words --json: and a status" test "$status" != 0
	check "plim $words --json: nothing on standard error" \
		test ! -s "$work/err"
done

# The events of rounds: who comes and who goes.
"$plim" ps --json --watch --every 200ms --rounds 6 "name = pl$$y" \
	>"$work/out" 2>"$work/err" &
rounds=$!
sleep 0.3
start renamer
ask "$pid" "name $(hex "pl$$y")"
sleep 0.3
stop "$pid"
wait "$rounds"
check "rounds with events are valid" \
	tool schema "$schema" ps --lines <"$work/out"
is "a process that starts and ends is told" "started gone" "$(json \
	".events[]? | select(.pid == $pid) | .event" | tr '\n' ' ' |
	sed 's/ $//')"
done_testing
