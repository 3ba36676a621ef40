#!/bin/sh
# test_cost.sh - the bill is honest: system calls beside those that strace
# counts, CPU time beside what wait4 tells of the whole command.
. "$(dirname -- "$0")/lib.sh"

mkfifo "$work/crowd"
"$python" "$source/tests/cli/tool.py" crowd 300 <>"$work/crowd" \
	>"$work/ready" &
started="$started $!"
await "the crowd" grep -q ready "$work/ready"
present=$(ls /proc | grep -c '^[0-9]')
check "at least 300 processes ($present)" test "$present" -ge 300

# --- system calls -----------------------------------------------------------
traced=
if ! command -v strace >/dev/null 2>&1; then
	reason="strace is not installed"
elif ! strace -f -c -o "$work/counts" true 2>/dev/null; then
	reason="strace may not trace here"
else
	traced=1
fi
for words in "ps --json" "ps --json --threads" "ps --json --identity" \
	"ps --json --columns pid,cpu,name" "ps --json --for 100ms"; do
	if [ -z "$traced" ]; then
		skip "system calls of plim $words" "$reason"
		continue
	fi
	# shellcheck disable=SC2086
	strace -f -c -o "$work/counts" "$plim" $words >"$work/out" 2>/dev/null
	counted=$(awk '$NF == "total" { print $4 }' "$work/counts")
	billed=$(json .cost.system_calls)
	echo "# plim $words: billed $billed, strace counts $counted"
	check "system calls of plim $words within 10 %" \
		tool near "$billed" "$counted" 10
done

# A profile looks for names with a helper process, whose calls are its own, and
# for the tree by a snapshot, whose bill is a part of the whole.
sh -c 'while :; do :; done' &
spinner=$!
started="$started $spinner"
words="profile --tree --json --for 1s -F 499 $spinner"
if [ -z "$traced" ]; then
	skip "system calls of plim profile" "$reason"
else
	# shellcheck disable=SC2086
	strace -c -o "$work/counts" "$plim" $words >"$work/out" 2>/dev/null
	counted=$(awk '$NF == "total" { print $4 }' "$work/counts")
	strace -c -o "$work/counts" "$plim" --version >"$work/version" 2>&1
	begun=$(awk '$NF == "total" { print $4 }' "$work/counts")
	billed=$(json .cost.system_calls)
	echo "# plim $words: billed $billed, strace counts $counted," \
		"$begun of them to start"
	check "system calls of plim profile within 15 %" \
		tool near "$billed" $((counted - begun)) 15
fi

# --- CPU time ---------------------------------------------------------------
tool account "$work/account" "$plim" $words >"$work/out"
billed=$(json .cost.cpu_ns)
counted=$(jq '.child.cpu_us * 1000' "$work/account")
echo "# plim $words: billed $billed ns, wait4 tells $counted ns"
check "CPU time of plim profile, helpers included, within 15 %" \
	tool near "$billed" "$counted" 15
for words in "ps --watch --json --every 10ms --rounds 100" \
	"ps --watch --json --threads --every 10ms --rounds 60"; do
	# shellcheck disable=SC2086
	tool account "$work/account" "$plim" $words >"$work/long"
	billed=$(tail -1 "$work/long" | jq .cost.cpu_ns)
	counted=$(jq '.child.cpu_us * 1000' "$work/account")
	echo "# plim $words: billed $billed ns, wait4 tells $counted ns"
	check "CPU time of plim $words within 10 %" \
		tool near "$billed" "$counted" 10
	check "of a run that is long enough to tell ($counted ns)" \
		test "$counted" -gt 100000000
done
done_testing
