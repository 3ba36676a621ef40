#!/bin/sh
# test_tree.sh - trees whose shape and cost the workload knows: members in
# their places, sums that add up and say what they lack, who comes and goes.
. "$(dirname -- "$0")/lib.sh"

# same WHAT FILTER: two figures of the output that are one by their meaning.
same() {
	is "$1" true "$(json "$2")"
}

within() {
	check "$1" tool near "$2" "$3" "$4"
}

parent_of() {
	sed -n 's/^PPid:[^0-9]*//p' "/proc/$1/status"
}

# --- a recording, to the byte -----------------------------------------------
run tree --proc "$fixture" 40
golden tree
run tree --proc "$fixture" --ascii --columns pid,tree_processes,resident,name 40
golden tree-columns
run tree --proc "$fixture" --columns pid,resident 35
golden tree-alone "a process without children; names are always there"
run tree --proc "$fixture" --csv --columns pid,tree_resident,name 40
golden tree-csv
run ps --proc "$fixture" --tree
golden ps-tree
run ps --proc "$fixture" --tree --ascii 'pid = 41'
golden ps-tree-filter "who is above a selected one is shown, too"
run ps --proc "$fixture" --tree --sort tree_resident --limit 4 \
	-o pid,tree_processes,tree_resident,name
golden ps-tree-sort
run ps --proc "$fixture" --tree --csv -o pid,tree_processes,tree_resident \
	'pid >= 40'
golden ps-tree-csv

# --- a family, whose members and CPU time it tells itself -------------------
start family "$work"
root=$pid
child=$(ask "$root" "child 60" | value child)
ask "$root" "nested 40" >"$work/news"
grandchild=$(value child <"$work/news")
middle=$(parent_of "$grandchild")
run tree --json "$root"
check "JSON is valid" tool schema "$schema" tree <"$work/out"
is "the members, each below its parent" \
	"[[$root,0,null],[$child,1,$root],[$middle,1,$root],[$grandchild,2,$middle]]" \
	"$(json '[.tree.processes[] | [.pid, .depth, .parent]]')"
same "the sum of resident memory is the members' own" \
	'(.tree.processes | map(.resident_bytes) | add) ==
		.tree.sums.resident_bytes.value'
same "and that of CPU time" '(.tree.processes | map(.cpu_ns) | add) ==
	.tree.sums.cpu_ns.value'
same "of as many members as there are" '[.tree.sums[] | .known + .missing] |
	all(. == 4)'
within "CPU time is what they burnt" \
	"$(json '.tree.sums.cpu_ns.value / 1e6')" 100 25
run tree --columns pid,name "$root"
is "the drawing" "family
├─ family
└─ family
   └─ family
sum
4 processes" "$(awk 'NR == 1 { at = index($0, "NAME"); next }
		/^4 processes/ { at = 1 } /^cost/ { exit } { print substr($0, at) }' \
		"$work/out")"
run tree --ascii "$root"
is "in ASCII" "" "$(LC_ALL=C tr -d '\n -~' <"$work/out")"
check "is drawn, too" grep -q '   `- family$' "$work/out"
run tree --sort cpu --columns pid,cpu,name "$root"
is "siblings by CPU time, with what is below them" \
	"$root $child $middle $grandchild" \
	"$(sed -n '2,5p' "$work/out" | awk '{ printf "%s%s", s, $1; s = " " }')"
run tree --reverse --columns pid "$root"
is "or the other way round" "$root $middle $grandchild $child" \
	"$(sed -n '2,5p' "$work/out" | awk '{ printf "%s%s", s, $1; s = " " }')"
run tree --json --columns pid,tree_cpu,tree_processes "$root"
is "a subtree is of whom it should be" \
	"[[$root,4],[$child,1],[$middle,2],[$grandchild,1]]" \
	"$(json '[.tree.processes[] | [.pid, .tree_sums.processes.value]]')"
same "and its sum is the members'" '.tree.processes as $p |
	$p[2].tree_sums.cpu_ns.value == $p[2].cpu_ns + $p[3].cpu_ns'

# The same in the forest.
run ps --tree --json "pid = $grandchild"
check "JSON of a forest is valid" tool schema "$schema" ps <"$work/out"
same "one is selected, the others lead to it" \
	"[.processes[] | select(.selected).pid] == [$grandchild]"
is "each stands below its parent" "[$middle,$root]" \
	"$(json "[.processes | map({key: \"\\(.pid)\", value: .}) |
		from_entries | .[\"$grandchild\"].parent,
		.[\"$middle\"].parent]")"
is "sums are of whole subtrees" 4 "$(json ".processes[] |
	select(.pid == $root).tree_sums.processes.value")"
run ps --tree "pid = $grandchild" -o pid,resident,name
is "one that leads there has no figures of its own" "$middle" \
	"$(sed -n "/^ *$middle /p" "$work/out" | sed 's/[^0-9]//g')"

run ps --tree --json --watch --rounds 2 --every 50ms "ppid = $root"
check "a forest in rounds is valid, line by line" \
	tool schema "$schema" ps --lines <"$work/out"
is "with sums of rates in each" 2 "$(json ".processes[] |
	select(.pid == $root).tree_sums.cpu_percent.value | numbers" | wc -l)"
run ps --tree --csv --for 50ms -o pid,tree_cpu_percent "pid = $grandchild"
is "CSV has them, too" "depth,parent,selected,tree_cpu_percent,\
tree_cpu_percent_missing,pid,cpu_ns,cpu_percent,cpu_ns_per_second" \
	"$(head -1 "$work/out" | tr -d '\r')"
is "and rows of one length" 0 "$(tool csv <"$work/out" >"$work/rows"; echo $?)"

# --- ended members -----------------------------------------------------------
ask "$root" "end $child" >"$work/news"
waited=$(ask "$root" reap | value waited_ns)
run tree --json "$root"
is "a member that ended is none" 3 "$(json '.tree.facts.members')"
within "what it burnt is still in the total, to a tick or two" \
	"$(json '.tree.totals.cpu_ns.value / 1e6')" 100 30
check "and was waited for" test "$waited" -ge 60000000

# Rounds: one comes, one goes, one is given to another parent.
"$plim" tree --json --watch --every 400ms --rounds 4 "$root" \
	>"$work/out" 2>"$work/err" &
rounds=$!
started="$started $rounds"
sleep 0.6
new=$(ask "$root" "child 10" | value child)
ask "$root" "end $middle" >"$work/news"
ask "$root" reap >"$work/news"
wait "$rounds"
check "rounds are valid, line by line" \
	tool schema "$schema" tree --lines <"$work/out"
is "who comes is told" started "$(json \
	".events[] | select(.pid == $new).event")"
is "and marked in that round alone" 1 "$(json \
	".tree.processes[] | select(.pid == $new and .born) | 1" | wc -l)"
is "who goes is told" gone "$(json \
	".events[] | select(.pid == $middle).event")"
is "a member that is given to another parent stays one" true "$(json \
	"select(.tree.facts.ended == 0 and .tree.facts.born == 0) |
	.tree.processes[] | select(.pid == $grandchild).reparented" | tail -1)"
check "rates are there in every round" \
	test "$(json 'select(.tree.rates.cpu_percent.value != null) | 1' |
	wc -l)" = 4
stop "$root"
run tree "$root"
is "of one that has ended: status" 1 "$status"
check "and a message" grep -q '^plim: open process' "$work/err"
kill -KILL "$grandchild" "$new" 2>/dev/null

# --- a rate against the process's own account --------------------------------
start spin
printf 'spin 60000\n' >"$work/of.$pid"
run tree --json --for 500ms "$pid"
check "JSON with rates is valid" tool schema "$schema" tree <"$work/out"
same "a process without children is its own tree" '.tree |
	(.rates.cpu_percent.value - .processes[0].rates.cpu_percent | fabs) <
	.rates.cpu_percent.value / 5 and .rates.cpu_percent.value > 1'
stop "$pid"

# --- what is refused is counted ------------------------------------------------
if [ "$(id -u)" = 0 ]; then
	start family "$work"
	ask "$pid" "child 5" >"$work/news"
	as_nobody "$plim" tree --json "$pid" >"$work/out" 2>"$work/err"
	check "as another user: valid" tool schema "$schema" tree <"$work/out"
	is "refused figures are missing in the sum, and counted" \
		'[null,0,2,"denied",2]' "$(json '.tree |
		[(.sums.disk_read_bytes | .value, .known, .missing,
		.unavailable.state), .facts.unreadable]')"
	is "and what is told is whole" '[2,0]' \
		"$(json '.tree.sums.cpu_ns | [.known, .missing]')"
	as_nobody "$plim" tree -o pid,cpu,disk_read,name "$pid" \
		>"$work/out" 2>"$work/err"
	is "in the table, too" "(2) sum" \
		"$(sed -n 's/.* - \((2)\) *\(sum\)$/\1 \2/p' "$work/out")"
	stop "$pid"
else
	skip "what is refused is counted" \
		"only root can start a process of root"
fi

# --- what is wrong -------------------------------------------------------------
run tree
refuses "no process" 2 "usage: plim $("$plim" tree --help |
	sed -n '1s/^usage: plim //p')"
run tree 1 2
is "two processes: status" 2 "$status"
run tree 2147483647
is "no such process: status" 1 "$status"
run tree --columns nme 1
is "no such column: status" 2 "$status"
run tree --sort tree_pid 1
is "no sum of pids: status" 2 "$status"
run ps --columns tree_cpu
refuses "subtrees without --tree" 2 "column tree_cpu_ns: no such name, at\
 byte 0; sums of subtrees are there with --tree"
run tree --json 2147483647
check "an error object" tool schema "$schema" failure <"$work/out"
done_testing
