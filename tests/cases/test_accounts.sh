#!/bin/sh
# test_accounts.sh - times by the command, held against the kernel's account
# of the process: where half of it is in read(), and by threads of known
# shares.
. "$(dirname -- "$0")/cases.sh"
needs_perf

# cpu PID: of the process, by its own clock, in us.
cpu() {
	echo $(($(ask "$1" where | value process_cpu_ns) / 1000))
}

# window WORD...: profile, with the process's own clock before and after. The
# profile lies within, and begins and ends a moment later and sooner.
window() {
	before=$(cpu "$pid")
	profile "$@" "$pid"
	used=$(($(cpu "$pid") - before))
}

# same_cpu WHAT
same_cpu() {
	kernel=$(fact '.metrics.target_cpu_ns / 1000 | floor')
	got=$(fact '.views.times.cpu_ns / 1000 | floor')
	within "$1: the CPU view is the process's CPU time, to 5 %" \
		$((kernel * 95 / 100 - 4000)) $((kernel * 105 / 100 + 4000)) \
		"$got"
	within "$1: and no more than its own clock has" 1 \
		$((used * 105 / 100)) "$got"
}

start profiled reads
window -F 500 --for 2s
made "half of it in read()"
same_cpu "half of it in read()"
# Half of so many samples, within four times its error and one in a hundred.
check "and it has samples to tell by" test "$(fact .views.cpu.samples)" -gt 100
samples=$(fact .views.cpu.samples)
error=$(awk -v n="$samples" 'BEGIN { print int(4 * 500 / sqrt(n)) + 10 }')
least=$((500 - error)) most=$((500 + error))
within "half of it in read(): the other half is in hot()" $least $most \
	"$(look per_mille cpu hot)"
if [ "$(fact .profile.kernel_seen)" = true ]; then
	within "half of it in read(): that half is in stacks" $least $most \
		"$(look per_mille cpu read total)"
else
	within "half of it in read(): that half has a row of its own" $least $most \
		"$(look per_mille cpu '[system, not sampled]')"
	run profile --for 500ms "$pid"
	check "and the page says what is counted alone" sh -c \
		"tr -s ' \n' ' ' <'$work/out' | grep -q \
		'time in the kernel is counted, and not sampled'"
fi
stop "$pid"

start profiled shares
window -F 500 --for 3s
made "shares of 1:2:4:8"
same_cpu "shares of 1:2:4:8"
for thread in 0 1 2 3; do
	truth=$((1000 * (1 << thread) / 15))
	within "the share of share-$thread" $((truth * 80 / 100 - 15)) \
		$((truth * 120 / 100 + 15)) "$(fact '([.threads[].samples] |
		add) as $all | .threads[] | select(.name == "share-'$thread'") |
		1000 * .samples / $all | round')"
done
stop "$pid"
done_testing
