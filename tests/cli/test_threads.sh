#!/bin/sh
# test_threads.sh - plim threads: the ranking beside a program's own count, the
# sums, interruptions, ends, hostile names and refusals.
. "$(dirname -- "$0")/lib.sh"

# --- who wakes --------------------------------------------------------------
start sleepers 4
sleepers=$pid
before=$(ask "$sleepers" truth)
run threads --json --for 1s "$sleepers"
after=$(ask "$sleepers" truth)
ends "plim threads --for: 0" 0
own=$(printf '%s\n%s\n' "$before" "$after" | awk -F= '
	$1 == "monotonic_ns" { t[++n] = $2 }
	$1 == "sleeps" { s[n] = $2 }
	END { printf "%.1f\n", (s[2] - s[1]) / (t[2] - t[1]) * 1e9 }')
got=$(json '.sums.listed_wakeups.value / .interval_ns * 1e9')
echo "# plim $got/s, the program's own count $own/s"
check "wake-ups within 5 % of the program's own count" tool near "$got" "$own" 5
is "five threads, the main one last" "5 $sleepers" \
	"$(json '"\(.threads | length) \(.threads[4].tid)"')"
is "ranked by wake-ups, most first" true \
	"$(json '[.threads[].delta.wakeups] | . == (sort | reverse)')"
is "the sum is that of the threads" true \
	"$(json '([.threads[].delta.wakeups] | add) ==
		.sums.listed_wakeups.value')"
is "and of one pass: the process's figure is the sum of its threads" true \
	"$(json '([.threads[].wakeups] | add) == .process.wakeups')"
is "none was born" '[false]' "$(json '[.threads[].born] | unique')"
run threads --json "$sleepers"
is "one sample has no changes" '[null] [null] null' \
	"$(json '"\([.threads[].born] | unique) \([.threads[].delta] |
		unique) \(.sums)"')"
is "and stands by the ids" true \
	"$(json '[.threads[].tid] | . == sort')"
if [ "$(json '.threads[0].unavailable.blocked_in.state')" = denied ]; then
	skip "what each blocks in" "tracing a child is refused here"
else
	is "the main thread waits for a command" read \
		"$(json '.threads[0].blocked_in')"
	check "the others sleep" grep -q clock_nanosleep "$work/out"
fi
run threads --for 100ms --limit 2 "$sleepers"
is "--limit: two rows, and how many more" "2 1" \
	"$(grep -c '/s.*sleepers\|sleepers.*/s' "$work/out") $(grep -c \
		'^and 3 more$' "$work/out")"
check "the sums are of all" grep -q '^threads      5: 0 born, 0 exited' \
	"$work/out"

# --- who ends ---------------------------------------------------------------
"$plim" threads --json --for 60s --every 100ms "$sleepers" \
	>"$work/out" 2>"$work/err" &
looker=$!
started="$started $looker"
sleep 0.4
ask "$sleepers" "end 2" >"$work/truth"
sleep 0.3
kill -TERM "$looker"
wait "$looker"
status=$?
is "interrupted: 130, and what was measured" "130 2 3" \
	"$status $(json '"\(.exited | length) \(.threads | length)"')"
is "what they did since is not known" '["thread_ended"]' \
	"$(json '[.exited[].delta.unavailable.wakeups.reason] | unique')"
is "by the ids" true "$(json '[.exited[].tid] | . == sort')"
is "listed - exited at the start = change of what lives" true \
	"$(json '.sums | .listed_wakeups.value -
		.exited_wakeups_at_start.value == .live_total_change.value')"
is "the kernel tells only a process itself what they added" \
	self_or_reaped_child_only \
	"$(json '.sums.exited_wakeups_in_window.unavailable.reason')"

"$plim" threads --json --for 60s --every 50ms "$sleepers" \
	>"$work/out" 2>"$work/err" &
looker=$!
started="$started $looker"
sleep 0.4
stop "$sleepers"
wait "$looker"
# It may have been looked at while its threads ended one by one.
is "a target that ends: 0, and its threads while it lived" "0 gone true" \
	"$? $(json '"\(.events[0].event) \(
		.threads + .exited | length >= 3)"')"
check "with what they did until shortly before" test \
	"$(json '.sums.listed_wakeups.value')" -gt 50
run threads "$sleepers"
is "then there is no such process: 1" 1 "$status"
run threads 2147483647
refuses "no such process" 1 \
	"open process 2147483647: there is no such process"

# --- rounds -----------------------------------------------------------------
start threads 3
run threads --watch --every 50ms --rounds 3 --json "$pid"
is "three rounds, a line each" 3 "$(wc -l <"$work/out")"
is "each with a window of its own" true \
	"$(jq -s 'all(.interval_ns < 1000000000)' "$work/out")"
run threads --watch --every 50ms --rounds 3 --csv "$pid"
is "CSV has one header" "1 13" "$(grep -c '^tid,' "$work/out") $(wc -l \
	<"$work/out")"
run threads --watch --every 50ms --rounds 2 "$pid"
is "and a page each" 2 "$(grep -c '^cost ' "$work/out")"

# --- names ------------------------------------------------------------------
start renamer
for name in 'a) R 1\n2 (' '\033[31mred\a' 'raw\0377\0376' '=cmd|x' \
	'a\0342\0200\0256gpj.exe' 'q"uote,co\\\\mma' '"},{"pid":1'; do
	ask "$pid" "name $(hex "$name")"
	run threads "$pid"
	check "the page of $name is clean" tool clean <"$work/out"
	run threads --for 2ms --csv "$pid"
	check "CSV of $name is clean" tool clean crlf <"$work/out"
	is "CSV of $name is one row" 1 "$(tool csv <"$work/out" | wc -l)"
	run threads --for 2ms --json "$pid"
	check "JSON of $name is clean" tool clean <"$work/out"
	is "JSON of $name: the thread is called as the process" true \
		"$(json '.threads[0].name == .process.name and
			.threads[0].name_bytes == .process.name_bytes')"
done

# --- refused ----------------------------------------------------------------
if [ "$(id -u)" = 0 ]; then
	as_nobody "$plim" threads --json --for 20ms "$pid" >"$work/out" 2>&1
else
	run threads --json --for 20ms 1
fi
is "of another user: what it blocks in is refused, the rest known" \
	'["denied"] true' \
	"$(json '"\([.threads[].unavailable.blocked_in.state] | unique) \(
		[.threads[] | .wakeups, .cpu_ns, .name] | all(. != null))"')"
done_testing
