#!/bin/sh
# test_report_tree.sh - what a report says of descendants: of those that live,
# of those that ended meanwhile, and of none.
. "$(dirname -- "$0")/lib.sh"

# same WHAT FILTER: two figures of the output that are one by their meaning.
same() {
	is "$1" true "$(json "$2")"
}

within() {
	check "$1" tool near "$2" "$3" "$4"
}

run report -d 50ms --json $$
check "report: JSON with a tree is valid" tool schema "$schema" report \
	<"$work/out"
start family "$work"
root=$pid
ask "$root" "child 5" >"$work/news"
run report -d 50ms "$root"
check "report: one descendant" grep -q \
	'^descendants  1; 0 started and 0 ended meanwhile; the whole tree:$' \
	"$work/out"
start sleepers 1
run report --all -d 50ms "$pid"
check "report: a process without children has one line" grep -qx \
	'descendants  none' "$work/out"
stop "$pid"
sh -c 'while :; do :; done & echo $! >"$1"; exec sleep 60' sh "$work/spinner" &
pid=$!
started="$started $pid"
await "the spinner" test -s "$work/spinner"
spinner=$(cat "$work/spinner")
started="$started $spinner"
run report -d 400ms --json "$pid"
is "report: the biggest comes first" "$spinner" "$(json '.tree.biggest[0].pid')"
same "report: and the tree costs what it does" '.tree |
	(.rates.cpu_percent.value - .biggest[0].rates.cpu_percent | fabs) <
	.rates.cpu_percent.value / 5 and .rates.cpu_percent.value > 1'
kill -KILL "$spinner"
stop "$pid"
# Children that come and go between two looks: the parent is charged for them.
sh -c 'while :; do sh -c "i=0; while [ \$i -lt 3000 ]; do i=\$((i+1)); done"
	done' &
pid=$!
started="$started $pid"
sleep 0.3
run report -d 500ms "$pid"
check "report: what descendants did that ended" grep -q \
	'^             CPU .* of one core (.* % by descendants that ended); ' \
	"$work/out"
run report -d 500ms --json "$pid"
same "report: is most of it here" '.tree |
	.rates.cpu_percent.value > 2 * (.biggest | map(.rates.cpu_percent // 0) |
	add)'
stop "$pid"
stop "$root"
# Who wakes, of the whole tree, held against what the threads have counted.
start pulses 2
target=$pid
ask "$target" truth >"$work/before"
"$plim" report -d 3s --json "$target" >"$work/out" 2>"$work/err" &
observer=$!
sleep 1
ask "$target" 'pulse 300' >"$work/after"
wait "$observer"
check "report: JSON with threads is valid" tool schema "$schema" report \
	<"$work/out"
is "report: three threads" 3 "$(json '.threads | length')"
most=$(value tid_1 <"$work/after")
is "report: who woke most comes first" "$most" "$(json '.threads[0].tid')"
within "report: as often as it has counted" \
	"$(json '.threads[0].delta.wakeups')" \
	$(($(value wakeups_1 <"$work/after") - \
		$(value wakeups_1 <"$work/before"))) 2
is "report: by name" pulse-1 "$(json '.threads[0].name')"
is "report: the window was not waited for" not_awaited "$(json .window.quiet)"
run report -d 50ms "$target"
check "report: nobody wakes" grep -q \
	'^who wakes    nobody: none of 3 threads woke in ' "$work/out"
stop "$target"
start renamer
ask "$pid" "name $(hex '\033[31mred')" >/dev/null
"$plim" report -d 2s "$pid" >"$work/out" 2>"$work/err" &
observer=$!
sleep 0.7
ask "$pid" 'busy 20' >/dev/null
wait "$observer"
check "report: a thread's name is escaped" grep -qF "  \\x1b[31mred $pid" \
	"$work/out"
is "report: and nothing of it raw" '' "$(tr -dc '\033' <"$work/out")"
run report -d 100ms --json "$pid"
check "report: JSON of a hostile name is valid" tool schema "$schema" report \
	<"$work/out"
stop "$pid"
run report --json -- sh -c 'i=0; sh -c "while [ \$((i+=1)) -lt 200000 ]; do
	:; done"; sleep 0.1'
within "report: of a command that ended, what wait4 tells of all of it" \
	"$(json '.tree.totals.cpu_ns.value')" "$(json .total.cpu_ns)" 15
done_testing
