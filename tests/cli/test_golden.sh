#!/bin/sh
# test_golden.sh - what the commands print of a machine that stands still: to
# the byte, by the files in golden/.
. "$(dirname -- "$0")/lib.sh"

run ps --proc "$fixture"
golden ps
run ps --proc "$fixture" --ascii
golden ps-ascii
run ps --proc "$fixture" --threads -o pid,wakeups,involuntary_switches,name
golden ps-threads
run ps --proc "$fixture" --sort resident --limit 3
golden ps-sort
run ps --proc "$fixture" --sort resident --limit 3 --reverse
golden ps-sort-reverse
run ps --proc "$fixture" --sort name -o name,pid
golden ps-sort-name
run ps --proc "$fixture" --reverse -o pid,ppid
golden ps-reverse
run ps --proc "$fixture" 'name ~ "r*" and wakeups >= 1'
golden ps-filter
run ps --proc "$fixture" 'pid = 1'
golden ps-none "a filter that selects nothing"
run ps --proc "$fixture" resident '>' 100GiB or pid = 35
golden ps-words "the words of a filter need no quotes"
run ps --proc "$fixture" --columns identity,identity_rung,start_unix_ms,name
golden ps-columns
run ps --proc "$fixture" --identity -o identity,name
golden ps-identity
run ps --proc "$fixture" --csv
golden ps-csv
run ps --proc "$fixture" --csv -o pid,name,cpu_ns 'pid = 35'
golden ps-csv-columns
run ps --proc "$fixture" --for 20ms 'pid = 35'
golden ps-for
for pid in 30 2 41; do
	if [ "$pid" != 2 ]; then # whose empty fd folder git does not keep
		run show --proc "$fixture" "$pid"
		golden "show-$pid"
	fi
	run show --proc "$fixture" --csv "$pid"
	golden "show-$pid-csv"
done
run show --proc "$fixture" plain
golden show-name "a process by its name"
identity=$("$plim" ps --proc "$fixture" --csv -o identity 'pid = 30' |
	tr -d '\r' | sed 1d)
run show --proc "$fixture" "$identity"
golden show-30 "a process by its identity"
run show --proc "$fixture" --for 20ms --ascii 35
golden show-for
run report --proc "$fixture" --for 20ms 16
golden report
run report --proc "$fixture" --for 20ms --ascii 41
golden report-zombie
run threads --proc "$fixture" 30
golden threads
run threads --proc "$fixture" --for 20ms --ascii 30
golden threads-for
run threads --proc "$fixture" --csv 30
golden threads-csv
run threads --proc "$fixture" --for 20ms --csv --limit 2 30
golden threads-for-csv
run cmdline --proc "$fixture" 20
golden cmdline
run cmdline --proc "$fixture" 10
golden cmdline-bare

# JSON without what depends on who runs this, and where.
if command -v jq >/dev/null 2>&1; then
	for words in 'ps --limit 11' 'ps --threads -o pid,wakeups' 'show 30' 'show 41' \
		'cmdline 20' 'threads 30' 'tree 40' 'ps --tree -o pid,resident'; do
		command=${words%% *}
		# shellcheck disable=SC2086
		run $words --json --proc "$fixture"
		jq 'del(.cost, .host.usable_cpus, .host.proc_root,
			.host.unavailable.usable_cpus, .plimsoll)' \
			<"$work/out" >"$work/json" 2>&1
		mv "$work/json" "$work/out"
		golden "json-$(printf %s "$words" | tr -c 'a-z0-9' -)" \
			"plim $words --json"
	done
else
	skip "JSON of a recording" "jq is not installed"
fi
done_testing
