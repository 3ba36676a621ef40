#!/bin/sh
# test_idle.sh - plim idle: RESULT lines in their order, held against what the
# observed program has counted itself; what does not go as planned is told, in
# the lines, in words and by the status.
. "$(dirname -- "$0")/lib.sh"

# The keys of the lines, in their order.
keys() {
	sed -n 's/^RESULT \([a-z_]*\)[= ].*/\1/p' "$work/out" | tr '\n' ' '
}

# key NAME: its value.
key() {
	sed -n "s/^RESULT $1=\([^ ]*\).*/\1/p" "$work/out"
}

# pair RECORD KEY: of the first such record.
pair() {
	sed -n "s/^RESULT $1 \(.* \)\{0,1\}$2=\([^ ]*\).*/\2/p" "$work/out" |
		head -1
}

within() {
	check "$1" tool near "$2" "$3" "$4"
}

block='warm_resident_bytes idle_resident_bytes resident_memory_bytes '
block=$block'footprint_bytes idle_window_seconds idle_cpu_percent '
block=$block'wakeups_per_second disk_ops_per_second '
block=$block'disk_read_bytes_per_second disk_write_bytes_per_second '
block=$block'scale scope budget window '

# --- the lines, and the truth -----------------------------------------------
start pulses 2
target=$pid
before=$(ask "$target" truth | value wakeups)
"$plim" idle --quiet-cpu none --for 3s --threads --limit 2 "$target" \
	--scale '2 pulsing threads' --scope synthetic --crate pulses \
	--crate-version 1.0 >"$work/out" 2>"$work/err" &
observer=$!
sleep 1
ask "$target" 'pulse 300' >"$work/answer"
after=$(value wakeups <"$work/answer")
most=$(value tid_1 <"$work/answer")
wait "$observer"
status=$?
ends "idle: of a process" 0
is "the keys, in their order" \
	"${block}thread_wakeups_summary thread_wakeups thread_wakeups " \
	"$(keys)"
is "the scale as it was stated" 'RESULT scale=2 pulsing threads' \
	"$(grep '^RESULT scale=' "$work/out")"
is "the scope" synthetic "$(key scope)"
is "its name" pulses "$(pair budget crate)"
is "its version" 1.0 "$(pair budget version)"
is "its unit" threads "$(pair budget scale_unit)"
is "quiet was not awaited" not_awaited "$(pair window quiet)"
seconds=$(key idle_window_seconds)
within "the window" "$seconds" 3 20
within "wake-ups are those that it counted" \
	"$(pair thread_wakeups_summary listed_wakeups)" $((after - before)) 2
within "and their rate is of this window" "$(key wakeups_per_second)" \
	"$(awk "BEGIN { print ($after - $before) / $seconds }")" 3
is "the gate line has the same" "$(key wakeups_per_second)" \
	"$(pair budget wakeups_per_s)"
is "who woke most comes first" "$most" \
	"$(sed -n 's/^RESULT thread_wakeups rank=1 tid=\([0-9]*\) .*/\1/p' \
		"$work/out")"
check "by name, with what it blocks in" grep -q \
	'rank=1 .* name="pulse-1" pid=[0-9]* process="pulses" .*blocked_in="' \
	"$work/out"
check "disk operations have a reason where they are not counted" grep -Eq \
	'^RESULT disk_ops_per_second=([0-9.]+ per_second|unavailable [a-z_]+)$' \
	"$work/out"
is "blocks are not taken for operations" unavailable \
	"$(pair budget disk_blocks_per_s)"

# --- other formats ----------------------------------------------------------
run idle --quiet-cpu none --for 200ms --threads --json "$target"
ends "idle: as JSON" 0
check "which is valid" tool schema "$schema" idle <"$work/out"
is "its window has two samples" 2 "$(json .window.samples)"
is "the process's own figures stand beside" "$target" "$(json .process.pid)"
is "three threads" 3 "$(json '.threads | length')"
run idle --quiet-cpu none --for 200ms --no-tree --json "$target"
check "of the process alone it is valid, too" tool schema "$schema" idle \
	<"$work/out"
is "and says so" false "$(json .window.tree)"
run idle --quiet-cpu none --for 200ms --csv "$target"
is "idle: as CSV" \
	'figure,first,last,peak,change,per_second,bound,unavailable' \
	"$(head -1 "$work/out" | tr -d '\r')"
check "every row has eight fields" awk -F, 'NF != 8 { exit 1 }' "$work/out"
run idle --quiet-cpu none --for 200ms --threads --table "$target"
ends "idle: as a page" 0
check "with a line for the threads" grep -q '^who wakes ' "$work/out"
run_with LC_ALL=de_DE.UTF-8 idle --quiet-cpu none --for 200ms --threads \
	"$target"
check "a point in every locale" test -z \
	"$(sed 's/"[^"]*"//g; s/method=[^ ]*//' "$work/out" | grep ',')"

# --- facts ------------------------------------------------------------------
run idle --quiet-cpu none --for 100ms --longest-period 300ms "$target"
is "a window that is too short is raised: status" 0 "$status"
is "and told" yes "$(pair window raised)"
check "in words, too" grep -qx \
	'plim: idle: the window was raised to the longest period, 300 ms' \
	"$work/err"
run idle --quiet-for 300ms --for 100ms "$target"
ends "idle: of a process that is quiet" 0
is "it became quiet" reached "$(pair window quiet)"
stop "$target"
run idle --quiet-for 1s --quiet-limit 600ms --for 500ms -- \
	sh -c 'while :; do :; done'
is "a process that is never quiet is observed all the same" 0 "$status"
is "and that is told" not_reached "$(pair window quiet)"
check "in words, too" grep -q \
	'^plim: idle: it did not become quiet within ' "$work/err"
check "with its CPU" awk "BEGIN { exit !($(key idle_cpu_percent) > 2) }"
run idle --for 5s -- true
is "a command that ends at once is nothing observed" 1 "$status"
is "which stands in every figure" 'unavailable ended' \
	"$(sed -n 's/^RESULT wakeups_per_second=//p' "$work/out")"
is "and in the line" loading "$(pair window ended)"
is "all lines are there" "$block" "$(keys)"
check "and in words" grep -qx \
	'plim: idle: it ended before it could be observed' "$work/err"
run idle --quiet-cpu none --for 60s -- sleep 1
is "one that ends in the window has no rates" 1 "$status"
is "in the line" window "$(pair window ended)"
check "but the memory that it had" awk \
	"BEGIN { exit !($(key warm_resident_bytes) > 100000) }"
run idle --quiet-cpu none --for 60s --every 100ms -- sleep 0.7
is "with samples in between it has" 0 "$status"
is "those of its life" window "$(pair window ended)"
check "with a rate" awk "BEGIN { exit !($(key wakeups_per_second) < 100) }"
run idle --for 200ms --quiet-for 200ms -- sh -c 'sleep 60 & exit 0'
is "one that goes to the background is not observed" 1 "$status"
check "and it is said what to do" grep -q 'keep it in the foreground' \
	"$work/err"

# --- statuses ---------------------------------------------------------------
run idle 4194304
is "no such process" 1 "$status"
run idle -- /nonexistent/command
is "no such command" 127 "$status"
run idle --scale many 1
refuses "a scale without a number" 2 "--scale: 'many' is no number and what\
 it counts: write '200 open connections'"
run idle --scope big 1
refuses "no such scope" 2 "--scope: 'big' is none of synthetic, real,\
 installed"
run idle --quiet-cpu 2 1
refuses "a share without its sign" 2 "--quiet-cpu: '2' is no share of one\
 core: write 2% or none"
if env --default-signal=INT true 2>/dev/null; then
	start idle
	env --default-signal=INT "$plim" idle --quiet-cpu none --for 60s \
		"$pid" >"$work/out" 2>"$work/err" </dev/null &
	observer=$!
	started="$started $observer"
	sleep 1
	kill -INT "$observer"
	wait "$observer"
	is "an interruption: status 130" 130 $?
	is "and what was measured" yes "$(pair window interrupted)"
	check "with its rate" awk \
		"BEGIN { exit !($(key idle_cpu_percent) < 5) }"
	stop "$pid"
fi
done_testing
