#!/bin/sh
# test_names.sh - plim ps --json of two thousand processes whose names are made
# to mislead: jq reads it, it is valid by the schema, and no byte of a name is
# lost. The truth is what the workload wrote down.
. "$PLIM_SOURCE/tests/cli/lib.sh"

count=2000
if ! awk -v least=$((count * 2)) '$1 == "Max" && $2 == "processes" &&
	$3 != "unlimited" && $3 < least { exit 1 }' /proc/self/limits; then
	skip "JSON of a crowd" "RLIMIT_NPROC does not allow as many processes \
as this test takes"
	done_testing
	exit 0
fi

: >"$work/table"
exec 7<>"$work/table"
start crowd "$count" 7 hostile
exec 7>&-

# What `crowd` wrote, as the lines `PID HEX` that `tool names` prints.
"$python" - "$work/table" >"$work/wanted" <<'END'
import struct
import sys

with open(sys.argv[1], "rb") as file:
    for pid, name in struct.iter_unpack("i16s", file.read()):
        print(pid, name.split(b"\0")[0].hex())
END
is "there are $count names" "$count" "$(wc -l <"$work/wanted")"
is "and most of them are different" true \
	"$([ "$(cut -d' ' -f2 "$work/wanted" | sort -u | wc -l)" -gt 900 ] &&
		echo true)"

run ps --json "ppid = $pid"
is "plim ends well" 0 "$status"
check "jq parses it" jq -e . "$work/out"
is "jq counts $count processes" "$count" "$(json '.processes | length')"
check "nothing that a terminal obeys is in it" tool clean <"$work/out"
tool names <"$work/out" | sort >"$work/got"
sort "$work/wanted" >"$work/sorted"
check "every name is whole" cmp "$work/sorted" "$work/got"
is "all of them are measured" 0 "$(json \
	'[.processes[] | select(.cpu_ns == null)] | length')"
if "$python" -c 'import jsonschema' 2>/dev/null; then
	check "it is valid" tool schema "$schema" ps <"$work/out"
else
	skip "it is valid" "python3-jsonschema is not installed"
fi

# Without a filter they stand among all others, in rounds.
"$plim" ps --json --watch --every 50ms --rounds 2 >"$work/out" 2>"$work/err"
check "jq parses two rounds" jq -e . "$work/out"
is "jq counts two lines" 2 "$(jq -c 1 "$work/out" | wc -l)"
for line in 1 2; do
	sed -n "${line}p" "$work/out" |
		jq -c "{processes: [.processes[] | select(.ppid == $pid)]}" \
			>"$work/round"
	tool names <"$work/round" | sort >"$work/got"
	check "round $line: every name is whole" cmp "$work/sorted" "$work/got"
done

# Below their parent, in the forest and as a tree, with sums of all.
for words in "ps --tree ppid = $pid" "tree $pid"; do
	command=${words%% *}
	# shellcheck disable=SC2086
	run $words --json -o pid,name,resident,disk_read
	is "plim $command: status" 0 "$status"
	check "plim $command: nothing that a terminal obeys" \
		tool clean <"$work/out"
	if [ "$command" = tree ]; then
		jq .tree "$work/out" | tool names
	else
		jq '{processes: [.processes[] | select(.selected)]}' \
			"$work/out" | tool names
	fi | grep -v "^$pid " | sort >"$work/got"
	check "plim $command: every name is whole" \
		cmp "$work/sorted" "$work/got"
	if "$python" -c 'import jsonschema' 2>/dev/null; then
		check "plim $command: it is valid" \
			tool schema "$schema" "$command" <"$work/out"
	else
		skip "plim $command: it is valid" \
			"python3-jsonschema is not installed"
	fi
	[ "$command" = tree ] || is "a sum says of how many it is" \
		"[$((count + 1)),$((count + 1))]" "$(json ".processes[] |
		select(.pid == $pid).tree_sums | [.processes.value,
		(.resident_bytes | .known + .missing)]")"
done
run tree "$pid"
check "the table of the tree is clean" tool clean <"$work/out"
is "and has a line for each" $((count + 1)) \
	"$(grep -c '^ *[0-9][0-9]* *[0-9]* *[A-Z] ' "$work/out")"

# CSV and the table have a row for each, whatever is in a name.
run ps --csv -o pid,name "ppid = $pid"
is "CSV has a row for each" "$count" "$(tool csv <"$work/out" | wc -l)"
run ps -o pid,name "ppid = $pid"
check "the table is clean" tool clean <"$work/out"
is "the table has a line for each" $((count + 2)) "$(wc -l <"$work/out")"

ask "$pid" end
done_testing
