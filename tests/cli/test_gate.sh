#!/bin/sh
# test_gate.sh - plim gate with real programs: each verdict, each condition,
# each figure against a truth of its own. The programs are tests/workloads/
# script.c; a budget is a few lines of it and short windows.
. "$(dirname -- "$0")/lib.sh"

script=$workloads/script
budget=$work/budget.toml

# budget TARGET-LINES LIMIT-LINES...: each limit is a table of its own.
budget() {
	{
		echo 'schema = 1'
		echo '[target.it]'
		echo 'scope = "synthetic"'
		echo 'load = { statement = "none", unit = "things", count = 1 }'
		echo 'quiet = { cpu = "20 %", for = "200ms", limit = "3s" }'
		echo 'window = "1s"'
		echo 'repeats = 1'
		printf '%s\n' "$1"
		shift
		for limit; do
			echo "[target.it.limit.${limit%%:*}]"
			printf '%s\n' "${limit#*:}" | tr ';' '\n'
		done
	} >"$budget"
}

# recall LIMIT-LINES...: of the result recorded in base.txt.
recall() {
	budget "report = \"$1\"" "$2"
	sed -i -e '/^quiet = /d' -e '/^window = /d' -e '/^repeats = /d' "$budget"
}

# runs WORD...: the line that starts the script with these words.
runs() {
	printf 'run = ["%s"' "$script"
	for word; do
		printf ', "%s"' "$word"
	done
	printf ']\n'
}

# gate ARGUMENT...: judges, and prints RESULT lines.
gate() {
	run gate --result "$@" "$budget"
}

# figure FIGURE KEY [N]: of the Nth reading.
figure() {
	grep "^RESULT gate_figure .*figure=$1 " "$work/out" |
		sed -n "${3:-1}{s/.* $2=\([^ ]*\).*/\1/;p}"
}

# verdict WHAT STATUS [TEXT]: and a text in the output.
verdict() {
	if [ "$status" = "$2" ] && grep -q -e "${3:-^RESULT}" "$work/out"; then
		pass "$1"
	else
		echo "# status $status instead of $2"
		fail "$1" "$work/out" "$work/err"
	fi
}

# --- the verdicts -----------------------------------------------------------

budget "$(runs wait 60000)" 'wakeups:max = "5/s"' 'resident_end:max = "64 MiB"'
gate
verdict "a sleeper passes" 0 'verdict=pass'
budget "$(runs wait 60000)" 'resident_end:max = "4 KiB"'
gate
verdict "a limit is crossed: 1" 1 'verdict=exceeded'
run gate --json "$budget"
is "with --json, too" "1 exceeded" "$status $(json .verdict)"
check "which is valid" tool schema "$schema" gate <"$work/out"
budget "$(runs wait 60000)" 'resident_end:min = "1 GiB"'
gate
verdict "a floor is crossed: 1" 1 'verdict=exceeded'
budget "$(runs wait 60000)" 'resident_end:max = "64 MB/s"'
run gate "$budget"
is "a wrong unit: 2" 2 "$status"
check "with the place" grep -q "^plim: $budget:[0-9]*:[0-9]*: " "$work/err"
is "and nothing on standard output" "" "$(cat "$work/out")"
budget "$(runs wait 60000)" 'retained:max = "1 MiB"'
gate
verdict "an allocator that keeps little: 0" 0 \
	'figure=retained .*method=heap_walk'
# Two threads free all of 16 MiB each.
start heap threads 2 kib 16384 pattern all
budget "attach = \"$pid\"" 'retained:max = "1 MiB"'
gate
verdict "one that keeps what was freed: 1" 1 'verdict=exceeded'
check "all of it, but for pages that libc holds" \
	test "$(figure retained value)" -gt 33000000
check "and no more" test "$(figure retained value)" -lt 36000000
run gate "$budget"
check "with what would return it" grep -q 'malloc_trim(0)' "$work/out"
stop "$pid"
budget "$(runs wait 60000)" 'disk_ops:max = "10/s"'
gate
verdict "operations that nobody counts: 3" 3 \
	'figure=disk_ops .*value=unavailable'
budget "$(runs wait 60000)" 'disk_ops:max = "10/s";on_unavailable = { skip = "no cgroup of its own" }' \
	'threads:max = 1'
gate
verdict "they may be skipped, with a reason" 0 'verdict=pass'
budget "$(runs wake 100 1 9000 wait 60000)" 'wakeups:max = "500/s"'
sed -i 's/cpu = "20 %"/cpu = "0.5 %"/' "$budget"
gate
verdict "never quiet: 4" 4 'verdict=inconclusive'
gate --allow inconclusive
is "--allow inconclusive: 0" 0 "$status"
run gate --allow unavailable "$budget"
is "nothing else may be allowed" 2 "$status"

# --- ends -------------------------------------------------------------------

budget "$(runs exit 0)" 'threads:max = 1'
gate
verdict "a target that exits at once: 3" 3 'no samples'
budget "$(runs exit 0)" 'cpu_total:max = "10s"'
gate
verdict "also where only the whole run is limited" 3 'no samples'
budget "$(runs wait 800 exit 3)" 'threads:max = 1'
gate
verdict "it ends in the window: 4" 4 \
	'ended with status 3 in the window, after 0\.[1-9] s'
budget "$(runs wait 100)" 'threads:max = 1'
gate
verdict "it ends before the window: 4" 4 'ended with status 0 before the window'
budget "$(runs detach wait 60000)" 'threads:max = 1'
gate
verdict "it forks away: 3 or 4" 3 'no samples\|descendants'
budget "$(runs wait 100 detach wait 60000)" 'threads:max = 1'
gate
verdict "later: 4, and what to do" 4 'start it in the foreground'
budget "$(runs wait 800 exec "$script")" 'threads:max = 1'
gate
verdict "it executes another program in the window: 4" 4 \
	'executed another program'
budget 'run = ["sh", "-c", "kill -STOP $$; sleep 60"]' 'wakeups:max = "5/s"'
gate
verdict "a stopped one is not quiet: 4" 4 'stopped when the window ended'
budget "$(runs burn 300 exit 0)" 'cpu_total:min = "300ms";max = "400ms"' \
	'wall:min = "300ms";max = "3s"' 'peak_resident:max = "64 MiB"'
gate
verdict "a job may end: its whole run is judged" 0 'verdict=pass'
is "CPU by the kernel's account" wait4 "$(figure cpu_total method)"
budget "run = [\"sh\", \"-c\", \"($script burn 300 &); exec $script wait 1000\"]" \
	'cpu_total:min = "300ms";max = "400ms"'
gate
verdict "what an orphan used is counted" 0 'verdict=pass'
budget "$(runs deaf wait 60000)" 'threads:max = 1'
gate
verdict "a target that ignores SIGTERM is ended all the same" 0 'verdict=pass'
budget "$(runs burn 300 exit 3)" 'cpu_total:max = "10s"'
gate
verdict "but not with another status" 4 'ended with status 3'
budget 'run = ["/nonexistent/program"]' 'threads:max = 1'
run gate "$budget"
refuses "a command that is not there: 2" 2 \
	"$budget:2: /nonexistent/program: no such command that could be executed"
budget 'run = ["plim-no-such-command"]' 'threads:max = 1'
run gate "$budget"
is "nor on the PATH: 2" 2 "$status"
printf '#!/nonexistent/interpreter\n' >"$work/broken"
chmod 755 "$work/broken"
budget "run = [\"$work/broken\"]" 'threads:max = 1'
gate
verdict "one that cannot be executed after all: 3" 3 'cannot be executed'

# --- ready ------------------------------------------------------------------

budget "$(runs wait 300 half re half 'ady no' wait 60000)
ready = { output = \"ready now\" }" 'threads:max = 1'
gate
verdict "output that never comes: 4" 4 'not ready after .* did not hold'
budget "$(runs wait 100 half 're' wait 100 say 'ady now' flood 4096 wait 60000)
ready = { output = \"ready now\" }" 'threads:max = 1'
gate
verdict "output in two pieces, and four MiB behind it" 0 'verdict=pass'
check "it is passed on to standard error" grep -q '^ready now$' "$work/err"
is "all of it" 4194314 "$(wc -c <"$work/err")"
budget "$(runs half aaa half aab wait 60000)
ready = { output = \"aaab\" }" 'threads:max = 1'
gate
verdict "output that begins more than once" 0 'verdict=pass'
budget "$(runs wait 300 touch "$work/sign" wait 60000)
ready = { file = \"$work/sign\" }" 'threads:max = 1'
gate
verdict "a file appears" 0 'verdict=pass'
budget "$(runs wait 60000)
ready = { file = \"$work/sign\" }" 'threads:max = 1'
gate
verdict "that was there before the start is none: 4" 4 'no new file'
# What the file says reaches the terminal, and a workflow, as text alone.
budget "$(runs wait 60000)
ready = { output = \"no\\u001b[31m\\n::error::such\" }" 'cpu_total:max = "10s"'
run gate "$budget"
is "a sign that is no text: 4" 4 "$status"
check "nothing that a terminal obeys" tool clean <"$work/out"
is "no line that a workflow takes for a command" "" \
	"$(grep '^ *::' "$work/out")"
port=$("$python" -c 'import socket
s = socket.socket()
s.bind(("127.0.0.1", 0))
print(s.getsockname()[1])')
budget "$(runs wait 300 listen "$port" wait 60000)
ready = { port = $port }" 'threads:max = 1'
gate
verdict "a port takes calls" 0 'verdict=pass'
budget "$(runs wait 60000)
ready = { port = $port }" 'threads:max = 1'
gate
verdict "a port that never opens: 4" 4 "nothing listened on port $port"

"$script" listen "$port" wait 30000 </dev/null &
started="$started $!"
taken() { "$python" -c "import socket
socket.create_connection(('127.0.0.1', $port)).close()"; }
await "the port" taken
budget "$(runs wait 60000)
ready = { port = $port }" 'threads:max = 1'
gate
verdict "a port that somebody else has: 4" 4 'before the start'
stop "$!"

# --- figures ----------------------------------------------------------------

budget "$(runs wake 3000 4 16 wait 60000)" 'wakeups:max = "100/s"' \
	'idle_cpu:min = "1 %";max = "20 %"'
gate
verdict "3,000 wake-ups a second fail a ceiling of 100" 1 \
	'figure=wakeups .*verdict=exceeded'
# One that comes too late, on a busy machine, is left out by the program.
check "there were so many" awk -v n="$(figure wakeups value)" \
	'BEGIN { exit !(n > 1000 && n < 3150) }'
is "the guilty threads are ranked" "waker-3 waker-2 waker-1 waker-0" \
	"$(sed -n 's/^RESULT thread_wakeups rank=[1-4] .*name="\([^"]*\)".*/\1/p' \
		"$work/out" | tr '\n' ' ' | sed 's/ $//')"
# For information: the usual tool on the same program, as an ordinary user, to
# whom it counts user mode alone and says 0.
if command -v perf >/dev/null 2>&1; then
	as=
	[ "$(id -u)" = 0 ] && as=as_nobody
	$as perf stat -x, -e context-switches timeout 1 "$script" \
		wake 3000 4 16 wait 60000 2>&1 |
		sed 's/^/# perf stat of a second of it: /'
fi
budget "$(runs child 100 600)" 'children_started:min = 5;max = 12' \
	'idle_cpu:max = "50 %"' 'cpu_total:min = "10ms";max = "2s"'
gate
case $(figure children_started value) in
unavailable)
	skip "children that start are counted" "births cannot be counted here"
	;;
*)
	verdict "a child every 100 ms: starts and CPU are counted" 0 \
		'figure=children_started .*value=[0-9]'
	;;
esac
budget "$(runs ignore child 100 600)" 'children_started:min = 5;max = 12'
gate
case $(figure children_started value) in
unavailable)
	skip "auto-reaped children" "births cannot be counted here"
	;;
*)
	verdict "also where the kernel reaps them" 0 \
		'figure=children_started .*value=[0-9]'
	;;
esac
# It writes three seconds after its start, in a window that has begun by then.
folder=${TMPDIR:-/tmp}
budget "$(runs file 4096 "$folder" wait 3000 write 1024 16 wait 60000)
window = \"6s\"" 'disk_write:max = "100 MiB/s"' 'disk_blocks:max = "1000000/s"' \
	'io_calls:max = "1000/s"'
sed -i '/^window = "1s"$/d' "$budget"
gate
verdict "a program that writes a known amount" 0 'verdict=pass'
is "16 calls" 16 "$(figure io_calls counted)"
case $(stat -f -c %T "$folder") in
tmpfs | ramfs | overlayfs | nfs)
	skip "a MiB is written, 2,048 blocks" "TMPDIR is not on storage"
	;;
*)
	written="$(figure disk_write counted) $(figure disk_blocks counted)"
	# ext4 without a journal: the new time of the file dirties the block of
	# its inode, and the kernel counts that page, too, unless it was dirty.
	[ "$written" = "1052672 2056" ] && written="1048576 2048"
	is "a MiB is written, 2,048 blocks" "1048576 2048" "$written"
	is "by the bytes of io" "io_reaped_children_included" \
		"$(figure disk_blocks method)"
	;;
esac
budget "$(runs memory 40 wait 60000)" 'private_warm:min = "40 MiB";max = "44 MiB"' \
	'resident_end:min = "40 MiB";max = "50 MiB"' \
	'private_dirty_end:min = "40 MiB";max = "44 MiB"' \
	'peak_resident:min = "40 MiB";max = "50 MiB"' 'threads:min = 1;max = 1' \
	'descriptors:max = 1000'
gate
verdict "40 MiB are found in each figure of memory" 0 'verdict=pass'
is "what it has written is by the walk" smaps_rollup \
	"$(figure private_dirty_end method)"
is "and its descriptors are those it has from here" \
	"$(($(ls /proc/self/fd | wc -l) - 1))" \
	"$(figure descriptors value)"

# --- on a terminal -----------------------------------------------------------

budget "$(runs wait 60000)" 'threads:max = 1'
TERM=xterm tool pty 100 "$plim" gate --result "$budget" >"$work/out" 2>&1
check "progress is shown" grep -q 'it, 1 of 1: window' "$work/out"
TERM=xterm tool pty 100 "$plim" gate -q --result "$budget" >"$work/out" 2>&1
check "and not with --quiet" sh -c '! grep -q "1 of 1" "$1"' sh "$work/out"

# --- repeats, selection, attach ---------------------------------------------

budget "$(runs wait 60000)" 'threads:max = 1'
gate -n 3 --for 300ms
is "three repeats" "1 1 1" "$(figure threads value 1) $(figure threads value 2) $(figure threads value 3)"
start sleepers 2
budget "attach = \"$pid\"" 'threads:min = 3;max = 3' 'wall:max = "1s"'
gate -n 2
verdict "attached: the wall clock of another's program is unavailable" 3 \
	'figure=wall .*value=unavailable'
is "two windows" "3 3" "$(figure threads value 1) $(figure threads value 2)"
check "which still runs" kill -0 "$pid"
budget "$(runs wait 60000)" 'resident_end:max = "4 KiB"'
sed 's/^\[target.it/[target.other/; s/"4 KiB"/"64 MiB"/' "$budget" |
	grep -v '^schema' >>"$budget.more"
cat "$budget.more" >>"$budget"
gate --for 300ms
verdict "two targets: the worse verdict" 1 'target=other verdict=pass'
gate --for 300ms --target other
verdict "one of them alone" 0 'target=other verdict=pass'
is "and no other" "" "$(grep 'target=it ' "$work/out")"
budget 'attach = "no-such-name-here"' 'threads:max = 1'
gate
verdict "attached to nobody: 3" 3 'no samples'
run gate --target itt "$budget"
refuses "a target that is not in the file" 2 \
	"$budget has no target 'itt'; did you mean 'it'?"

# --- baselines and recorded results -----------------------------------------

budget "$(runs wait 60000)" 'resident_end:max = "64 MiB"'
gate --record "$work/base.txt"
check "--record writes what --result prints" cmp "$work/base.txt" "$work/out"
recall base.txt 'resident_end:max = "64 MiB"'
gate
verdict "a recorded result is judged" 0 'verdict=pass'
recall base.txt 'resident_end:max = "4 KiB"'
gate
verdict "and exceeded" 1 'verdict=exceeded'
awk 'BEGIN {
	for (i = 1; i <= 1200; i++)
		print "RESULT idle_resident_bytes=" (i < 1200 ? 1000 : 9999) " bytes"
}' >"$work/many.txt"
recall many.txt 'resident_end:max = "4 KiB"'
gate
verdict "of many repeats the last, too" 1 'value=9999 .*repeats=1200'
recall not-there.txt 'resident_end:max = "4 KiB"'
gate
verdict "one that is not there: 3" 3 'no samples'
budget "$(runs memory 20 wait 60000)" \
	'resident_end:versus = "base.txt";rise = "50 %";also_above = "1 MiB"'
gate
verdict "20 MiB above the baseline: 1" 1 'verdict=exceeded'
budget "$(runs wait 60000)" \
	'resident_end:versus = "base.txt";rise = "50 %";also_above = "1 MiB"'
gate
verdict "as the baseline: 0" 0 'verdict=pass'
sed -i 's/processor="[^"]*"/processor="Another"/' "$work/base.txt"
gate
verdict "a baseline of another machine: 3" 3 'verdict=unavailable'
is "and there is no limit then, and none of 0" "" \
	"$(grep '^RESULT gate_verdict .* limit=' "$work/out")"
run gate "$budget"
check "nor in the table" grep -q '^  unavailable  resident_end .* relative  ' \
	"$work/out"

# --- the file, and where it goes --------------------------------------------

budget "$(runs wait 60000)" 'threads:max = 1;owner = "ann";until = 2020-01-01'
run gate "$budget"
is "an entry that has expired: 2" 2 "$status"
check "with its owner" grep -q ann "$work/err"
budget "$(runs wait 60000)
longest_period = \"2s\"" 'threads:max = 1'
run gate "$budget"
is "a window shorter than the longest period: 2" 2 "$status"
sed -i 's/^window = "1s"/window = "2s"/' "$budget"
run gate --for 1s "$budget"
refuses "also by --for" 2 "--for: the window of it is 1 s, which is shorter \
than its longest_period of 2 s"
budget "$(runs wait 60000)" 'threads:max = 1'
run gate --junit "$work/no/such/folder.xml" "$budget"
refuses "an output that cannot be written: 2, before anything is started" 2 \
	"$work/no/such/folder.xml: ENOENT"
cp "$budget" "$budget.kept"
run gate --record "$budget" "$budget"
refuses "nor the budget itself" 2 "$budget: it is the budget itself"
check "which is as it was" cmp "$budget" "$budget.kept"
run gate --record "$work/one" --junit "$work/one" "$budget"
refuses "nor one file twice" 2 "$work/one: two results cannot go there"
echo before >"$work/one"
"$plim" gate --record "$work/one" --for 60s "$budget" >"$work/out" 2>&1 \
	</dev/null &
plim_pid=$!
started="$started $plim_pid"
sleep 1
kill -KILL "$plim_pid"
wait "$plim_pid" 2>/dev/null
sleep 1 # for the process of it that measured, and ends the program
is "a baseline outlives a gate that is killed" before "$(cat "$work/one")"
gate --record "$work/one"
check "and is written as a whole" cmp "$work/one" "$work/out"
if [ -c /dev/full ]; then
	run gate --result --junit /dev/full "$budget"
	verdict "one that fills up: 125, and the rest is told" 125 \
		'verdict=pass'
fi
if [ -c /dev/full ]; then
	"$plim" gate --explain "$budget" >/dev/full 2>"$work/err" </dev/null
	is "nor is an explanation that is lost a verdict" 125 $?
fi
if [ -c /dev/full ]; then
	"$plim" gate --result "$budget" >/dev/full 2>"$work/err" </dev/null
	is "standard output fills up: 125, and it is said once" \
		"125 plim: standard output: ENOSPC" "$? $(cat "$work/err")"
fi
run gate "$work/no-such-file"
refuses "no such file" 2 "$work/no-such-file: ENOENT"
run gate
is "no file at all" 2 "$status"
run gate --explain "$budget"
ends "--explain" 0
check "tells the source" grep -q 'stat when the window ends' "$work/out"

# --- a first file -----------------------------------------------------------

run gate --init --for 1s -n 1 -o "$work/first.toml" -- "$script" memory 4 wait 60000
is "--init" 0 "$status$(cat "$work/err" "$work/out")"
check "it reads back" "$plim" gate --explain "$work/first.toml"
run gate --result "$work/first.toml"
verdict "and passes at once" 0 'verdict=pass'
run gate --init --for 1s -n 1 -o "$work/first.toml" -- "$script" wait 60000
is "it writes over nothing" 2 "$status"
run gate --init --for 1s -- "$script" exit 0
is "of what exits at once: 1" 1 "$status"

# --- interruptions ----------------------------------------------------------

mark=97$$.5
budget "run = [\"sleep\", \"$mark\"]" 'threads:max = 1'
for signal in INT TERM; do
	env --default-signal=INT "$plim" gate --result --for 60s "$budget" \
		>"$work/out" 2>"$work/err" </dev/null &
	plim_pid=$!
	started="$started $plim_pid"
	sleep 1.5
	kill -"$signal" "$plim_pid"
	wait "$plim_pid"
	status=$?
	verdict "SIG$signal: 130, and what was measured" 130 \
		'figure=threads .*value=1 '
done
done_testing
