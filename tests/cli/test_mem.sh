#!/bin/sh
# test_mem.sh - plim mem, against workloads that know what they hold: figures,
# allocators and verdict, the page and the JSON of one run, ends of all kinds,
# and what cannot be meant.
. "$(dirname -- "$0")/lib.sh"

have_schema=
"$python" -c 'import jsonschema' 2>/dev/null && have_schema=1

# told ARGUMENT...: JSON and page of one run, each checked by the other.
told() {
	run mem --json -o "$work/page.html" "$@"
	is "plim mem $*: status" 0 "$status"
	cp "$work/out" "$work/page.json"
	[ -z "$have_schema" ] || check "plim mem $*: the JSON is valid" \
		tool schema "$schema" mem <"$work/out"
	check "plim mem $*: the page says what the JSON says" \
		"$python" "$source/tests/cli/mem_page.py" "$work/page.html" \
		"$work/page.json"
}

# --- a process that stands still --------------------------------------------
start heap threads 4 kib 8192 hold 100
heap=$pid
# Its own words come after: asking allocates nothing that counts.
told "$heap"
ask "$heap" truth >"$work/truth"
allocator='.allocators[] | select(.name == "glibc")'
is "in use and cached is what mallinfo2 calls uordblks" \
	"$(value uordblks <"$work/truth")" \
	"$(json "$allocator | .in_use_bytes + .tcache_bytes")"
is "free, in fast bins and at the top is its fordblks" \
	"$(value fordblks <"$work/truth")" \
	"$(json "$allocator | .free_bytes + .fastbin_bytes + .top_bytes")"
is "no check failed" 0 \
	"$(json "[$allocator | .checks[] | select(.state == \"failed\")] | length")"
is "arenas add up to the whole" true \
	"$(json "$allocator | .in_use_bytes == ([.arenas[].in_use_bytes] | add)")"
is "anonymous memory is in the first sample" \
	"$(awk '/^RssAnon/ { print $2 * 1024 }' "/proc/$heap/status")" \
	"$(json '.samples[0].anonymous_bytes')"
check "parts of the verdict add up to no more than what is resident" test \
	"$(json '[.verdict | to_entries[] | select(.key | test("^(live|cached|returnable|pinned|top|freed|lazy|other|file_cache|shmem|unknown)_bytes$")) | .value // 0] | add')" \
	-le "$(json '.samples[0].resident_bytes')"
told --for 400ms --every 50ms "$heap"
check "several samples were taken" test "$(json '.samples | length')" -ge 4
is "a heap at rest is a floor" flat "$(json '.steady.anonymous_bytes.trend')"
is "the allocators were walked at both ends" true \
	"$(json '.allocators_before[0].in_use_bytes == .allocators[0].in_use_bytes')"
told --tree "$heap"
is "a tree of one has its own private memory" true \
	"$(json '.tree.sums.anonymous_bytes.value == .samples[0].anonymous_bytes')"
told --no-walk "$heap"
is "not walked: no allocators" null "$(json .allocators)"
is "the estimate says that it is one" true "$(json .mappings.baseline.estimate)"
run mem --no-walk "$heap"
check "and stands on the page in place of a walk" \
	grep -q '^estimate     by the layout of mappings alone' "$work/out"
run mem --csv --for 200ms --every 50ms "$heap"
check "the timeline as CSV" tool csv <"$work/out"
run mem "$heap"
check "the page of the terminal is clean" tool clean <"$work/out"
ends "plim mem: status" 0
for label in figures 'high water' 'what counts' verdict allocator arenas \
	checks mappings 'by kind' 'cost to it'; do
	check "it has: $label" grep -q "^$label  *" "$work/out"
done
check "the verdict says what would return it" \
	grep -q 'what would return it: malloc_trim(0)' "$work/out"
is "12 mappings unless asked otherwise" 12 "$(sed -n \
	'/^mappings/,/and .* more/p' "$work/out" | grep -c ' [kMG]*i*B  ')"
run mem --limit 3 "$heap"
is "or as many as asked" 3 "$(sed -n '/^mappings/,/and .* more/p' \
	"$work/out" | grep -c ' [kMG]*i*B  ')"
run mem --stall 1ms --json "$heap"
check "a low limit leaves walks out, or the walk is predicted below it" test \
	"$(json '.ledger | if .predicted_ns > .stall_ns then .skipped > 0
		else .skipped == 0 end')" = true
run report --for 100ms "$heap"
check "plim report says whether it is live" \
	grep -q '^retained     .*freed' "$work/out"

# --- what a trim returns ------------------------------------------------------
start heap threads 4 kib 8192 pattern last hold 100
run mem --json "$pid"
is "all but the last block freed: the verdict" returnable \
	"$(json .verdict.word)"
forecast=$(json .verdict.rss_falls_bytes)
ask "$pid" trim >"$work/trim"
fell=$(($(value before_bytes <"$work/trim") - $(value after_bytes <"$work/trim")))
check "a trim is forecast to return most of 32 MiB" \
	test "$forecast" -gt 16777216
check "and then returns that, within two pages" \
	test "$((forecast - fell))" -le 8192 -a "$((fell - forecast))" -le 8192

# --- names that mean harm ---------------------------------------------------
start renamer
ask "$pid" "name $(hex '<b>&"\033[1m')"
told "$pid"
check "a name is no markup" grep -q '&lt;b&gt;&amp;&quot;\\x1b\[1m' \
	"$work/page.html"

# --- ends -------------------------------------------------------------------
start sleepers 1
(sleep 0.5 && kill -KILL "$pid") &
run mem --json --for 20s --every 50ms "$pid"
is "a process that ends: status" 0 "$status"
is "it is told" gone "$(json .ended.how)"
is "and is an event" gone "$(json '.events[0].event')"
check "its last figures are there" test \
	"$(json '.steady.resident_bytes.last')" -gt 0
check "it ended after its last sample" test \
	"$(json '.ended.last_alive_ns <= .ended.seen_ns')" = true
[ -z "$have_schema" ] || check "the JSON of one that ended is valid" \
	tool schema "$schema" mem <"$work/out"
wait "$pid" 2>/dev/null
run mem "$pid"
is "no such process: status" 1 "$status"
"$plim" mem --json --for 30s --every 50ms "$heap" >"$work/out" \
	2>"$work/err" &
measuring=$!
sleep 0.6
kill -INT "$measuring" # ignored in the background by some shells
kill -TERM "$measuring"
wait "$measuring"
is "interrupted: status" 130 "$?"
check "and reports what there is" test "$(json '.samples | length')" -ge 2

# --- what cannot be meant ---------------------------------------------------
run mem
refuses "neither process nor core" 2 "usage: plim mem [options] PID | --core FILE"
run mem --core x "$heap"
refuses "both" 2 "mem takes a process or a core file, not both"
run mem -o page.txt "$heap"
refuses "a page that is none" 2 \
	"--output: 'page.txt': a page is written to a file that ends in .html"
run mem -o "$work/none/page.html" "$heap"
is "a page that cannot be written: status" 1 "$status"
run mem --core "$work/none"
is "no such core: status" 1 "$status"
run mem --core x --for 1s
is "a core stands still: status" 2 "$status"

# --- one that may not be read -----------------------------------------------
if [ "$(id -u)" = 0 ]; then
	as_nobody "$plim" mem --json "$heap" >"$work/out" 2>"$work/err"
	is "another user's process: status" 0 "$?"
	check "its cheap figures are there" test \
		"$(json '.samples[0].anonymous_bytes')" -gt 0
	is "the walk was refused" denied "$(json .walk_error.code)"
	is "and nothing is called walked" null "$(json .allocators)"
	is "heaps in mappings that were refused are not none" "null denied" \
		"$(json '.mappings.baseline | .sub_heaps, .unavailable.sub_heaps.state' | tr -d \" | xargs)"
	as_nobody "$plim" mem "$heap" >"$work/out" 2>"$work/err"
	check "the page says so" grep -q '^estimate     unknown: ' "$work/out"
	check "and what would allow it" \
		grep -q 'be the same user, .* or have CAP_SYS_PTRACE' "$work/out"
fi
done_testing
