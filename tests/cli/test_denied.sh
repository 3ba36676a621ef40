#!/bin/sh
# test_denied.sh - what an ordinary user learns of root's process: memory by
# kind, CPU, switches and descriptors; not its storage traffic, which is null
# with the reason, and `-` in a table.
. "$(dirname -- "$0")/lib.sh"

if [ "$(id -u)" = 0 ]; then
	start sleepers 3
	root=$pid
	as="as_nobody"
else
	# Any process of root's that has memory.
	root=$(stat -c '%u %n' /proc/[0-9]* 2>/dev/null |
		sed -n 's|^0 /proc/||p' | while read -r id; do
		grep -q '^VmRSS' "/proc/$id/status" 2>/dev/null && {
			echo "$id"
			break
		}
	done)
	as=
fi
if [ -z "$root" ]; then
	skip "root's process as another user" "no process of root's is visible"
	done_testing
	exit 0
fi
if [ -n "$as" ] && ! as_nobody true >"$work/log" 2>&1; then
	skip "root's process as another user" \
		"$(sed -n 's/^SKIP_BECAUSE: //p' "$work/log")"
	done_testing
	exit 0
fi

as_user() {
	$as "$plim" "$@" >"$work/out" 2>"$work/err" </dev/null
	status=$?
}

known='cpu_ns resident_bytes private_bytes anonymous_bytes file_bytes
	shmem_bytes swap_bytes peak_resident_bytes wakeups
	involuntary_switches threads descriptors faults_minor uid'
denied='disk_read_bytes disk_write_bytes disk_cancelled_write_bytes io_calls'

for words in "show" "report -d 200ms"; do
	# shellcheck disable=SC2086
	as_user $words --json "$root"
	ends "plim $words on root's process" 0
	for field in $known; do
		is "$words: $field is a number" number \
			"$(json ".process.$field | type")"
	done
	for field in $denied; do
		is "$words: $field is denied" "null denied not_permitted" "$(json \
			".process | \"\(.$field) \" + (.unavailable.$field |
			\"\(.state) \(.reason)\")")"
	done
	if "$python" -c 'import jsonschema' 2>/dev/null; then
		check "$words: valid" \
			tool schema "$schema" "${words%% *}" <"$work/out"
	fi
done
as_user ps --json --threads "pid = $root"
for field in cpu_ns resident_bytes anonymous_bytes wakeups; do
	is "ps: $field is a number" number \
		"$(json ".processes[0].$field | type")"
done
is "ps: disk_read_bytes is denied" "null denied" "$(json '.processes[0] |
	"\(.disk_read_bytes) \(.unavailable.disk_read_bytes.state)"')"
as_user ps -o pid,disk_read,disk_write,io_calls "pid = $root"
is "in a table it is -" "$root - - -" \
	"$(sed -n 2p "$work/out" | tr -s ' ' | sed 's/^ //')"
check "the page counts what was refused" \
	grep -q ', [1-9][0-9]* with figures refused to this user' "$work/out"
as_user ps --csv -o pid,disk_read_bytes "pid = $root"
is "in CSV it is empty" "$root," "$(sed -n 2p "$work/out" | tr -d '\r')"
as_user report -d 50ms "$root"
check "the report says why" grep -A1 -q '^unavailable.*disk_read_bytes' \
	"$work/out"
check "and what it would take" grep -q 'CAP_SYS_PTRACE' "$work/out"
as_user show "$root"
check "so does show" grep -q 'disk_read_bytes  *-  denied: ' "$work/out"
done_testing
