#!/bin/sh
# test_trees.sh - what a process starts: a thousand processes that live for
# 20 ms, whose CPU time the kernel has counted for their parent and whose
# functions have names although nobody of them is left; and descendants that
# were there before anybody looked.
. "$(dirname -- "$0")/cases.sh"
needs_perf

# --- short lives -------------------------------------------------------------
# short WAY COUNT: the last profile is of so many children, whose truth is in
# `truth`. Each computes 4 ms, and a fork or an exec beside that. What each did
# behind its last sample has a row: the accounts know it from the kernel's sums,
# to a tick of the children's user time and one of their system time.
short() {
	all=$((($(value children_ns <"$work/truth") +
		$(value own_ns <"$work/truth")) / 1000000))
	made "$2 by $1"
	is "$2 by $1: each is there" $(($2 + 1)) "$(look programs)"
	within "$2 by $1: the CPU time is the kernel's" \
		$((all * 95 / 100 - 20)) $((all * 105 / 100 + 20)) \
		"$(look cpu)"
	within "$2 by $1: most of it is in samples" $((all * 70 / 100)) \
		$((all * 105 / 100 + 20)) "$(look cpu_in_samples)"
	within "$2 by $1: what they compute in has its name" \
		$((4 * $2 * 80 / 100)) $((4 * $2 * 115 / 100)) \
		"$(look children_with brief_work)"
	within "$2 by $1: hardly a sample in unknown code" 0 20 \
		"$(look children_unknown)"
	rm -f "$work/truth"
}

profile --tree -F 1000 -- "$workloads/brief" exec 1000
mv "$work/out" "$work/truth"
short exec 1000

start brief
env --default-signal=INT timeout -k 5 60 "$plim" profile --tree -F 1000 --no-inlines --for 60s --json \
	-o "$work/q.json" "$pid" >"$work/q.out" 2>"$work/q.err" </dev/null &
profiler=$!
started="$started $profiler"
sleep 0.7
ask "$pid" "fork 200" >"$work/truth"
kill -INT "$profiler"
wait "$profiler"
status=$?
stop "$pid"
mv "$work/q.json" "$work/p.json"
is "a process that forks: interrupted" 130 "$status"
status=0
: >"$work/err"
short fork 200

# --- who was there before -----------------------------------------------------
# cpu_of PID: its CPU time so far, ms.
cpu_of() {
	cut -d' ' -f1 "/proc/$1/schedstat" | sed 's/......$//; s/^$/0/'
}

# A chain: the one that computes is three generations below.
sh -c 'sh -c "sh -c \"echo \\\$\\\$ >\\\"\$0\\\"; while :; do :; done\" \"\$0\" &
	wait" "$0" & wait' "$work/below" &
chain=$!
started="$started $chain"
await "the one below" test -s "$work/below"
below=$(cat "$work/below")
started="$started $below"
before=$(cpu_of "$below")
profile --tree --for 1s "$chain"
used=$(($(cpu_of "$below") - before))
made "a chain that was there"
is "it has all three" 3 "$(look programs)"
is "from the start on" true "$(fact '.threads | all(.born_ns == null)')"
is "which it says" 3 "$(fact .metrics.threads_at_start)"
got=$(look children_cpu)
within "the lowest one's CPU time is no more than the kernel counts" 20 \
	$((used + 20)) "$got"
is "each thread's time is the whole window" true "$(fact \
	'.profile.duration_ns as $all | .threads |
	all(.times.wall_ns > $all * 0.95)')"
run report --json --for 1s "$chain"
ends "a report of it" 0
is "the report has its hottest stack" true \
	"$(json '.stacks.hot_stacks | length > 0 and .[0].weight_ns > 10000000')"
run report --for 1s "$chain"
check "and so has its page" grep -q '^hot stacks  *[0-9]* %  ' "$work/out"
kill -KILL "$below"
stop "$chain"

# Brothers of which one computes in hot() and one in cool().
start profiled tree
profile --tree -F 500 --for 1s "$pid"
made "two children that were there"
within "one of them computes in hot()" 300 700 "$(look per_mille cpu hot)"
within "the other in cool()" 300 700 "$(look per_mille cpu cool)"
run report --json --for 1s "$pid"
is "and the report has both" '["cool","hot"]' "$(json \
	'[.stacks.hot_stacks[].functions[] | select(. == "hot" or . == "cool")]
	| unique')"
stop "$pid"
done_testing
