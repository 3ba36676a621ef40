#!/bin/sh
# test_report.sh - the three answers of a report, held against what workloads
# count for themselves; the page of HTML against the JSON of the same run; what
# hostile names and refusals make of both.
. "$(dirname -- "$0")/lib.sh"

page() {
	check "$1" "$python" "$source/tests/cli/report_page.py" \
		"$work/page.html" "$work/out"
}

valid() {
	if "$python" -c 'import jsonschema' 2>/dev/null; then
		check "$1" tool schema "$schema" report <"$work/out"
	else
		skip "$1" "python3-jsonschema is not installed"
	fi
}

# --- who wakes ----------------------------------------------------------------
start pulses 3
target=$pid
ask "$target" truth >"$work/before"
"$plim" report -d 3s --json -o "$work/page.html" "$target" >"$work/out" \
	2>"$work/err" &
observer=$!
sleep 1
ask "$target" 'pulse 100' >"$work/after"
wait "$observer"
is "report -o: status 0" 0 $?
valid "JSON is valid"
counted=0
for i in 0 1 2; do
	counted=$((counted + $(value "wakeups_$i" <"$work/after") -
		$(value "wakeups_$i" <"$work/before")))
done
is "threads that differ by a number are one group" 'pulse 3 true' \
	"$(json '.wakers[0] | (.name[0:5]) + " " +
		"\(.threads) \(.names_differ)"')"
check "which woke as often as they have counted" tool near \
	"$(json '.wakers[0].wakeups.value')" "$counted" 3
is "the answer names them" 'pulse* (3 threads)' \
	"$(json '.answers[0].text | sub(", .*"; "")')"
check "and says where they sleep" sh -c 'jq -e ".answers[0].where |
	test(\"^sleeping in .*(read|nanosleep)\")" "$1"' sh "$work/out"
page "the page has what the JSON has"
run report -d 20ms "$target"
check "nobody wakes" grep -q '^who wakes    nobody: none of 4 threads woke in ' \
	"$work/out"
tool pty 80 "$plim" report -d 200ms "$target" >"$work/screen"
check "one screen: at most 24 lines" \
	test "$(wc -l <"$work/screen")" -le 24
stop "$target"
# Two programs, each with four threads that are alike.
sh -c '"$1" --for 60 --dir "$2" & "$1" --for 60 --dir "$2" & wait' sh \
	"$workloads/plim-example" "$work" >"$work/two" 2>&1 &
both=$!
await "two programs" sh -c '[ "$(grep -c ready "$1")" = 2 ]' sh "$work/two"
run report -d 1s --json "$both"
is "threads of two processes are of two processes" 2 \
	"$(json '[.wakers[].processes] | max')"
for of in "$both" $(sed -n 's/^pid=\([0-9]*\) ready$/\1/p' "$work/two"); do
	kill "$of"
done

# --- what is retained -----------------------------------------------------------
start heap threads 4 kib 8192 pattern last hold 100
run report -d 100ms --json -o "$work/page.html" "$pid"
check "freed and kept: how much, of how much" sh -c 'jq -e ".answers[1] |
	.known and (.text | test(\"^[0-9.]+ MiB of [0-9.]+ MiB resident was \" +
	\"freed and is kept$\"))" "$1"' sh "$work/out"
check "and what would return it" sh -c 'jq -e ".answers[1].where |
	test(\"^what would return .*: malloc_trim\\\\(0\\\\)\")" "$1"' sh \
	"$work/out"
page "the page of a hoarder has what the JSON has"
kept=$(json .verdict.retained_bytes)
falls=$(json .verdict.rss_falls_bytes)
ask "$pid" trim >"$work/trim"
fell=$(($(value before_bytes <"$work/trim") -
	$(value after_bytes <"$work/trim")))
check "a trim returns what was said, within two pages" \
	test "$((falls - fell))" -le 8192 -a "$((fell - falls))" -le 8192
run report -d 100ms --json "$pid"
check "and then less is kept, by that" tool near \
	"$((kept - $(json .verdict.retained_bytes)))" "$fell" 1
stop "$pid"
# Objects of Python are in pools of its own, which are not walked.
"$python" -c 'import sys, time
print("ready", flush=True)
time.sleep(60)' >"$work/snake" &
snake=$!
await "python" grep -q ready "$work/snake"
run report -d 50ms --json "$snake"
kill "$snake"
is "nobody says of what was not walked that it keeps nothing" \
	'cpython at_least true' "$(json '.verdict.allocators[-1] + " " +
	.verdict.bound.retained_bytes + " \(.answers[1] |
	(.text | test("what cpython holds was not walked$")) and
	(.where | test("could not be told apart")))"')"

# --- where the time goes -------------------------------------------------------
start profiled hot
run report -d 2s --json -o "$work/page.html" "$pid"
if [ "$(json '.stacks.functions | type')" = array ]; then
	is "the answer names the function" hot \
		"$(json '.answers[2].text | sub(":.*"; "")')"
	is "with the share that it has, three of four" true "$(json \
		'.stacks.functions[0] | .name == "hot" and
		((.self_share - 0.75) | fabs) < 4 * .self_error + 0.02')"
	page "the page of one that computes has what the JSON has"
else
	skip "stacks in a report" "perf events cannot be used here"
fi
if [ -n "$(find_browser)" ] && grep -q '<iframe' "$work/page.html"; then
	check "a browser shows it, with the flame graph" "$python" \
		"$source/tests/cli/report_opened.py" "$work/page.html"
else
	skip "in a browser" "chromium is not installed"
fi
run report -d 300ms --format html "$pid"
ends "--format html: to standard output" 0
is "a page" '<!DOCTYPE html>' "$(sed 1q "$work/out")"
is "and all of it" '</html>' "$(tail -n 1 "$work/out")"
stop "$pid"
run report --json -- sh -c 'i=0; while [ $((i += 1)) -lt 400000 ]; do :; done'
is "a command that ends before it is quiet has stacks, or why not" true \
	"$(json '(.stacks.hot_stacks // [] | length > 0) or
		.stacks_error != null')"

# --- what may not be told ---------------------------------------------------------
run report -o "$work/page.html" --json -- sleep 0.3 s3cret=hunter2
is "arguments of a command are left out" "plim report -o $work/page.html --json\
 -- sleep, 2" "$(json '"\(.command_line), \(.arguments_left_out)"')"
is "and are nowhere" 0 "$(cat "$work/out" "$work/page.html" | grep -c hunter2)"
run report -d 200ms --json -o "$work/it's.html" $$
is "words are quoted" "plim report -d 200ms --json -o '$work/it'\\''s.html' $$" \
	"$(json .command_line)"

# --- hostile names ----------------------------------------------------------------
start renamer
ask "$pid" "name $(hex '</p><i>"&\033[1m')" >/dev/null
run report -d 300ms --json -o "$work/page.html" "$pid"
page "the page of a hostile name has what the JSON has"
is "no byte that a terminal obeys" '' "$(tr -dc '\033' <"$work/page.html")"
stop "$pid"

# --- refused ------------------------------------------------------------------------
# The search for leaks of a sanitizer needs ptrace itself.
leakless=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0
start profiled hot
ASAN_OPTIONS=$leakless timeout -k 5 60 \
	"$build/tests/support/refuse" perf ptrace -- "$plim" report \
	-d 300ms --json -o "$work/page.html" "$pid" >"$work/out" 2>"$work/err"
status=$?
ends "where perf events are refused: status 0" 0
valid "JSON is valid without perf events"
is "running threads are named as not sampled" true \
	"$(json '[.stacks.lacks[]?, .stacks_error.detail] |
	any(. != null and test("perf|sampled"))')"
is "why no function is known" true "$(json '.answers[2].where |
	test("perf events")')"
page "the page has what the JSON has without perf events"
ASAN_OPTIONS=$leakless timeout -k 5 60 \
	"$build/tests/support/refuse" perf ptrace -- "$plim" report \
	-d 300ms "$pid" >"$work/out" 2>"$work/err"
is "and on the terminal" "not sampled  running threads are not sampled: this \
system refuses perf events to" "$(grep '^not sampled  ' "$work/out")"
stop "$pid"

# --- words ----------------------------------------------------------------------------
run report -o page.txt $$
refuses "-o: a page is HTML" 2 "--output: 'page.txt': a page is written to a\
 file that ends in .html"
run report --format xml $$
refuses "--format" 2 "--format: 'xml' is none of text, html, json, csv"
run report -d 20ms -o /nonexistent/page.html $$
is "a file that cannot be written: status 1" 1 "$status"
is "which is found before anything is measured" '' "$(cat "$work/out")"
run report -d 20ms --format json $$
is "--format json" report "$(json .command)"
done_testing
