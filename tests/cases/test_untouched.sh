#!/bin/sh
# test_untouched.sh - sixteen threads that sleep by five ways and never retry,
# sampled a thousand times a second: no sleep is interrupted or shorter, each
# is one context switch, no signal is queued, and strace sees nothing.
. "$(dirname -- "$0")/cases.sh"

# signals PID: what is queued and pending of each thread, on one line.
signals() {
	cat "/proc/$1/status" "/proc/$1/task/"*/status |
		grep -E '^(SigQ|SigPnd|ShdPnd|TracerPid):' | sort | uniq -c |
		tr -s ' \t\n' ' '
}

start naps
before=$(signals "$pid" | sed 's/SigQ: [0-9]*/SigQ: N/')
queued=$(sed -n 's/^SigQ:[ \t]*\([0-9]*\).*/\1/p' "/proc/$pid/status")
ask "$pid" count >/dev/null
profile --no-ptrace --view wall -F 1000 --for 2s "$pid"
ask "$pid" count >"$work/count"
made "sixteen sleepers"
naps=$(value naps <"$work/count")
within "they slept" 100 100000 "$naps"
is "not one was interrupted" 0 "$(value interrupted <"$work/count")"
is "or shorter" 0 "$(value shorter <"$work/count")"
is "or answered wrongly" 0 "$(value wrong <"$work/count")"
within "one voluntary switch a nap" "$naps" $((naps + naps / 100 + 16)) \
	"$(value switches <"$work/count")"
is "signals: the same are pending, and nobody traces" "$before" \
	"$(signals "$pid" | sed 's/SigQ: [0-9]*/SigQ: N/')"
echo "# SigQ was $queued, is $(sed -n 's/^SigQ:[ \t]*//p' /proc/$pid/status)"
is "we stopped nobody and sent nothing" "0 0 0" "$(fact \
	'.metrics | "\(.stops) \(.signals_sent) \(.system_calls_disturbed)"')"
within "and looked at all of them" 16 17 "$(fact '[.threads[] |
	select(.blocked_samples > 20)] | length')"

# --- strace -----------------------------------------------------------------
if ! command -v strace >/dev/null; then
	skip "strace" "strace is not installed"
	done_testing
	exit 0
fi
strace -f -q -e trace=none -o "$work/strace" -p "$pid" 2>"$work/strace.err" &
tracer=$!
started="$started $tracer"
if await "strace" sh -c "! grep -q 'TracerPid:[[:space:]]*0\$' \
	/proc/$pid/task/*/status"; then
	profile --no-ptrace --view wall -F 1000 --for 1s "$pid"
	made "with strace beside"
	is "strace saw nothing" "" "$(cat "$work/strace")"
	# It does see a signal, so that nothing means nothing.
	kill -WINCH "$pid"
	check "but a signal that is sent" await "the signal" \
		grep -q SIGWINCH "$work/strace"
else
	skip "strace" "ptrace is refused to this user"
fi
kill -TERM "$tracer"
wait "$tracer" 2>/dev/null
stop "$pid"
done_testing
