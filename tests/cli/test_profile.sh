#!/bin/sh
# test_profile.sh - plim profile on live processes: what is written where and
# as what, whose exit status is ours, and what is said where nothing could be
# sampled. That writers agree with each other is test_profile_told.sh's.
. "$(dirname -- "$0")/lib.sh"

busy='while :; do :; done'
sh -c "$busy" &
spinner=$!
started="$started $spinner"
start sleepers 2
sleepers=$pid

# A container may refuse perf events; the rest of this is of profiles.
run profile --no-ptrace --for 200ms "$spinner"
if [ "$status" != 0 ] && grep -q 'perf' "$work/err"; then
	skip "profiles" "perf events are refused to this user"
	done_testing
	exit 0
fi

# --- a process --------------------------------------------------------------
run profile --for 500ms "$spinner"
ends "a busy process" 0
check "the first line says who" grep -q "^profile      sh  $spinner@" \
	"$work/out"
for word in sampled by time view functions 'hot stacks' threads kept cost; do
	check "the page has $word" grep -q "^$word  *" "$work/out"
done
check "and nothing that a terminal obeys" tool clean <"$work/out"
run profile --json --for 500ms "$spinner"
ends "as JSON" 0
if "$python" -c 'import jsonschema' 2>/dev/null; then
	check "JSON is valid" tool schema "$schema" profile <"$work/out"
else
	skip "JSON is valid" "python3-jsonschema is not installed"
fi
is "it ran on a CPU" true "$(json '.views.cpu.samples > 0')"
is "the views add up" true "$(json '.views.times as $t |
	$t.wall_ns == $t.cpu_ns + $t.waiting_ns + $t.blocked_ns')"
is "the window is what was asked for" true "$(json \
	'.profile.duration_ns | . >= 500000000 and . < 1500000000')"
is "nothing was stopped" '[0,0,0]' "$(json \
	'.metrics | [.stops, .signals_sent, .system_calls_disturbed]')"
run profile --json --view off --for 300ms "$sleepers"
ends "a sleeping process" 0
is "all of it was blocked" true "$(json \
	'.views.off.samples > 0 and .views.times.cpu_ns < 50000000')"
run profile --json -F 20000 --for 100ms "$spinner"
is "a frequency above the bound is brought down" '["hz"] 10000' \
	"$(json '"\(.profile.clamped) \(.profile.hz_effective)"')"
run profile -F 20000 --for 100ms "$spinner"
check "and the page says so" grep -q '10000/s of each (20000/s was asked' \
	"$work/out"
run profile --json --tid "$spinner" --for 200ms "$spinner"
is "one thread by its id" "[$spinner]" "$(json '[.threads[].tid]')"
run profile --tid 2147483647 --for 100ms "$spinner"
check "a thread that there is not is a failure" test "$status" != 0
run profile --thread nosuch --for 100ms "$spinner"
check "also by a name" test "$status" != 0
run profile --limit 1 --csv --for 200ms "$spinner"
ends "as CSV" 0
check "CSV of functions" sh -c "sed 1q '$work/out' |
	grep -q '^name,module,file,line,self_ns,total_ns,'"

# --- the report -------------------------------------------------------------
run report --for 500ms "$spinner"
check "the report has its hottest stack" grep -q '^hot stacks  *[0-9]* %  ' \
	"$work/out"
run report --all --for 500ms "$spinner"
check "and what that cost" grep -q '^stacks       sampled 99 times a second' \
	"$work/out"
run report --json --for 500ms "$sleepers"
is "and where threads that wake sleep" true "$(json '.threads as $all |
	.stacks.sleeping | length > 0 and
	all(.tid as $tid | $all | any(.tid == $tid))')"
is "without a stop" 0 "$(json .stacks.stops.value)"

# --- nothing ----------------------------------------------------------------
run profile --for 200ms "$sleepers"
is "no CPU time: status 1, one line" "1 1" \
	"$status $(wc -l <"$work/err" | tr -d ' ')"
check "which says what to do" grep -q -- '--view off' "$work/err"
check "and no empty profile" test ! -s "$work/out"
timeout -s INT 0.5 "$plim" profile --for 30s "$sleepers" >"$work/out" \
	2>"$work/err"
check "nor was it the stop that left nothing to sample" \
	grep -q 'no thread used the CPU for long enough' "$work/err"
run profile -- sh -c 'timeout 0.4 sh -c "while :; do :; done"; true'
check "a command whose children work: why nothing, and what would help" \
	grep -q 'no thread used the CPU for long enough.*--tree' "$work/err"
run profile --for 200ms -o "$work/none.folded" "$sleepers"
check "nor an empty file" test ! -e "$work/none.folded"
run profile --tree --view off --for 300ms --json $$
is "a shell does not do what its profiler does" "true false" \
	"$(json '[.programs[].name] | "\(length > 0) \(any(. == "plim"))"')"
run profile 2147483647
is "no such process" 1 "$status"

# --- files ------------------------------------------------------------------
# written NAME FIRST-LINE...: a file of that name, whose first line fits.
written() {
	run profile --for 200ms -V wall -o "$work/$1" "$sleepers"
	ends "-o $1" 0
	check "-o $1: what it is" grep -aqm1 "$2" "$work/$1"
	check "-o $1: the page says where it is" grep -q "^written .*$1: $3, " \
		"$work/out"
}
written p.folded '^sleepers;.* [0-9][0-9]*$' collapsed
written p.collapsed '^sleepers;.* [0-9][0-9]*$' collapsed
written p.txt '^profile      sleepers ' text
written p.csv '^name,module' csv
written p.speedscope.json speedscope.app/file-format speedscope
written p.firefox.json '"preprocessedProfileVersion":66' firefox
written p.html '^<!DOCTYPE html>' flame
written p.pb.gz . pprof
written p.pprof . pprof
if [ "$(od -An -tx1 -N2 "$work/p.pprof" | tr -d ' \n')" = 1f8b ]; then
	check "gzip finds it whole" gzip -t <"$work/p.pb.gz"
fi
run profile --for 200ms --json -o "$work/p.json" "$sleepers"
ends "--json -o p.json" 0
check "JSON in a file" grep -q '"command": "profile"' "$work/p.json"
check "and nothing besides" test ! -s "$work/out"
run profile --for 200ms -V wall --format collapsed "$sleepers"
ends "--format, to standard output" 0
check "collapsed stacks alone" sh -c "! grep -v '^sleepers;.* [0-9][0-9]*\$' \
	'$work/out'"
run profile --for 200ms -V wall --format pprof -o - "$sleepers"
check "-o - is standard output" test -s "$work/out"
echo old >"$work/kept.folded"
chmod 500 "$work" 2>/dev/null
if [ "$(id -u)" != 0 ]; then
	timeout 20 "$plim" profile --for 10s -o "$work/kept.folded" \
		"$spinner" >/dev/null 2>&1
	is "a place that cannot be written is found at once" 1 "$?"
fi
chmod 700 "$work"
is "an older file stays" old "$(cat "$work/kept.folded")"
run profile --for 200ms -o "$work/kept.folded" "$sleepers"
is "also where nothing was sampled" old "$(cat "$work/kept.folded")"
run profile --for 200ms -o "$work/no/such.folded" "$sleepers"
refuses "-o into no folder" 1 "write profile $work/no/such.folded: the output could not be written (ENOENT)"
for form in text pprof collapsed json csv speedscope flame firefox; do
	run profile --for 100ms -V wall --format $form -o /dev/full "$sleepers"
	refuses "$form -o /dev/full" 1 "write profile /dev/full: the output could not be written (ENOSPC)"
done

# --- several at once ----------------------------------------------------------
mkdir "$work/six"
(
	cd "$work/six" && timeout -k 5 60 "$plim" profile --for 300ms -V wall \
		-o p.html -o p.pb.gz -o p.folded -o p.speedscope.json \
		-o p.firefox.json -o json:p "$sleepers" >"$work/out" \
		2>"$work/err" </dev/null
)
status=$?
ends "six files of one run" 0
is "each is told" "6 1 1" "$(grep -c '^.\{13\}p[.a-z]*: ' "$work/out") $(grep \
	-c '^written' "$work/out") $(grep -c '^profile' "$work/out")"
check "and says the same" "$python" "$source/tests/cli/profile_check.py" \
	json="$work/six/p" collapsed="$work/six/p.folded" \
	pprof="$work/six/p.pb.gz" speedscope="$work/six/p.speedscope.json" \
	flame="$work/six/p.html" firefox="$work/six/p.firefox.json"
ln -s p.html "$work/six/link.html"
run profile --for 10s -o "$work/six/p.html" -o "$work/six/link.html" \
	"$spinner"
refuses "two of them the same file" 2 "--output: '$work/six/p.html' and '$work/six/link.html' are the same file"
run profile --for 10s -o - -o csv:- "$spinner"
refuses "standard output twice" 2 "--output: standard output can be given once"
run profile --for 10s -o "$work/a.csv" -o "$work/b.csv" --json "$spinner"
is "one form for several: 2" 2 "$status"
run profile --for 10s -o pprof: "$spinner"
refuses "no file" 2 "--output: 'pprof:' names no file"
run profile --for 10s -o pprof:p -f csv "$spinner"
refuses "two forms for one" 2 "--output: 'pprof:p' and csv cannot both be meant"
mkdir "$work/folder.html"
run profile --for 10s -o "$work/six/p.html" -o "$work/folder.html" "$spinner"
refuses "a folder, found before the run" 1 "write profile $work/folder.html: the output could not be written (EISDIR)"
run profile --for 200ms -V wall -o "$work/six/link.html" "$sleepers"
ends "through a link" 0
check "which stays one" test -L "$work/six/link.html"
run profile --for 200ms -V wall -o csv:/dev/full -o "$work/six/q.folded" \
	-o collapsed:- "$sleepers"
is "one that fails: status 1, one line" "1 1" "$status $(grep -c '^plim: ' \
	"$work/err")"
check "and the others are written" sh -c "grep -q '^sleepers;' '$work/six/q.folded' &&
	grep -q '^sleepers;' '$work/out' && grep -q '^written .*q.folded' '$work/err'"
timeout -k 5 60 "$plim" profile --for 200ms -V wall -o csv:/dev/stdout "$sleepers" \
	>"$work/out" 2>"$work/err"
is "/dev/stdout is standard output" "name,module" \
	"$(sed 1q "$work/out" | cut -d, -f1-2)"
run profile --for 200ms -o "$work/six/s.html" -o "$work/six/s.folded" \
	-o "$work/six/s.json" "$sleepers"
is "a view with nothing, of one: status 1" 1 "$status"
check "it is not written, the others are, and say where it waits" sh -c "
	test ! -e '$work/six/s.folded' &&
	grep -q '\"view\":\"off\"' '$work/six/s.html' &&
	grep -q '\"command\": *\"profile\"' '$work/six/s.json'"
mkdir "$work/small"
if unshare -m true 2>/dev/null; then
	timeout -k 5 60 unshare -m sh -c 'small=$1
		shift
		mount -t tmpfs -o size=64k none "$small" && exec "$@"' sh \
		"$work/small" "$plim" profile --for 10s -o "$work/small/p.html" \
		-o "$work/small/p.csv" "$spinner" >"$work/out" 2>"$work/err"
	status=$?
	refuses "a full disk, found before the run" 1 "write profile $work/small/p.csv: the output could not be written (ENOSPC)"
else
	skip "a full disk, found before the run" "a mount namespace takes root"
fi
is "no file is left behind" '' "$(ls "$work" "$work/six" | grep '\.new$')"
timeout 20 "$plim" profile --for 200ms -V wall "$sleepers" >/dev/full 2>"$work/err"
is ">/dev/full: status 1 and one line" \
	"1 plim: standard output: ENOSPC" "$? $(cat "$work/err")"
{
	timeout 20 "$plim" profile --for 200ms -V wall "$sleepers" 2>"$work/err"
	echo $? >"$work/status"
} | true
is "a reader that goes away is no failure" "0" \
	"$(cat "$work/status" "$work/err")"

# --- a command ---------------------------------------------------------------
some='i=0; while [ $i -lt 60000 ]; do i=$((i + 1)); done'
run profile -o "$work/c.folded" -- sh -c "$some; echo told; exit 3"
is "its exit status is ours" 3 "$status"
is "its output stays its own" told "$(cat "$work/out")"
check "what was sampled is told on standard error" \
	grep -q '^written ' "$work/err"
check "it was sampled" grep -q '^sh;' "$work/c.folded"
run profile --json -- sh -c "$some"
ends "a command that ends well" 0
is "until it ended" target_ended "$(json .profile.end)"
run profile --format csv -- sh -c "$some; kill -9 \$\$"
is "128+N of a signal" 137 "$status"
run profile -- "$work/nosuch"
refuses "a command that there is not" 127 "$work/nosuch: no such command"
run profile -- "$work"
refuses "one that cannot be executed" 126 "$work: EACCES"
run profile -- true
is "one that ends before anything is sampled: our failure" 125 "$status"
run profile -- false
is "or its own" 1 "$status"
run profile -o /dev/full --format csv -- sh -c "$some"
is "a failure to write is ours" 125 "$status"
run profile -o "$work/c.folded" -- sh -c "ulimit -n; $some"
is "its limits are its own" "$(ulimit -n)" "$(cat "$work/out")"
run profile --for 100ms -o "$work/c.folded" -- \
	sh -c "$some; $some; echo awaited; exit 4"
is "with a time its end is awaited all the same" "4 awaited" \
	"$status $(cat "$work/out")"

# --- interruptions ------------------------------------------------------------
if env --default-signal=INT true 2>/dev/null; then
	env --default-signal=INT "$plim" profile --for 60s "$spinner" \
		>"$work/out" 2>"$work/err" </dev/null &
	plim_pid=$!
	started="$started $plim_pid"
	sleep 0.7
	kill -INT "$plim_pid"
	wait "$plim_pid"
	status=$?
	ends "SIGINT: 130" 130
	check "and the page is whole" grep -q '^cost ' "$work/out"
	check "and says that it ended early" \
		grep -q 'ended early: it was stopped early' "$work/out"
	env --default-signal=TERM "$plim" profile -o "$work/c.folded" -- \
		sh -c "trap 'exit 7' TERM; while :; do :; done" \
		>"$work/out" 2>"$work/err" </dev/null &
	plim_pid=$!
	started="$started $plim_pid"
	sleep 0.7
	kill -TERM "$plim_pid"
	wait "$plim_pid"
	is "SIGTERM is handed on to a command, which decides" 7 "$?"
else
	skip "interruptions" "env has no --default-signal"
fi
done_testing
