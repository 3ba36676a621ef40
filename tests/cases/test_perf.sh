#!/bin/sh
# test_perf.sh - the whole chain beside another one: perf record and perf report
# of the same process in the same seconds. The hottest functions are the same,
# their shares within what sampling leaves open.
. "$(dirname -- "$0")/cases.sh"
needs_perf

# beside WHAT PID: both at once; then look.py and perf's list are held together.
beside() {
	perf record -q -F 999 -e cpu-clock:u -o "$work/perf.data" -p "$2" \
		-- sleep 2 >"$work/perf.out" 2>&1 &
	recorder=$!
	profile -F 999 --for 2s "$2"
	wait "$recorder"
	made "$1"
	perf report -i "$work/perf.data" --stdio --no-children -F \
		overhead,sample,sym --no-demangle --percent-limit 0 \
		-t '|' 2>/dev/null >"$work/perf.report"
	check "$1: shares are perf's" "$python" \
		"$source/tests/cases/beside.py" "$work/p.json" \
		"$work/perf.report"
}

if ! perf record -q -e cpu-clock:u -o "$work/perf.data" -- true \
	>/dev/null 2>&1; then
	skip "beside perf" "perf is not installed, or may not record"
	done_testing
	exit 0
fi
start profiled hot
beside "two functions" "$pid"
stop "$pid"
mix=$build/tests/unwind/programs/mix-gcc-O0
if [ -x "$mix" ]; then
	"$mix" >/dev/null &
	pid=$!
	started="$started $pid"
	beside "a C++ program" "$pid"
	stop "$pid"
fi
done_testing
