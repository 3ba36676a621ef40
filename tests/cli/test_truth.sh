#!/bin/sh
# test_truth.sh - figures of the command beside the truth of who was measured:
# wake-ups against a program's own count, and plim time against wait4.
. "$(dirname -- "$0")/lib.sh"

# --- four threads that sleep 1 ms -------------------------------------------
# The two windows can only be laid around each other: the program's own count
# is asked right before and right after, and rates are compared.
start sleepers 4

# beside WHAT FILTER ARGUMENT...: the rate in the JSON beside the truth.
beside() {
	what=$1
	filter=$2
	shift 2
	before=$(ask "$pid" truth)
	run "$@"
	after=$(ask "$pid" truth)
	own=$(printf '%s\n%s\n' "$before" "$after" | awk -F= '
		$1 == "monotonic_ns" { t[++n] = $2 }
		$1 == "sleeps" { s[n] = $2 }
		END { printf "%.1f\n",
			(s[2] - s[1]) / (t[2] - t[1]) * 1e9 }')
	got=$(json "$filter.rates.wakeups_per_second")
	echo "# $what: plim $got/s, the program's own count $own/s"
	check "$what: wake-ups within 5 % of the program's own count" \
		tool near "$got" "$own" 5
	check "$what: which is a lot" test "${own%.*}" -gt 1000
}

beside show .process show --for 2s --json "$pid"
beside report .process report --for 2s --json "$pid"
beside "ps --threads" '.processes[0]' ps --threads --for 2s --json "pid = $pid"
if command -v pidstat >/dev/null 2>&1; then
	echo "# pidstat -w says: $(LC_ALL=C pidstat -w -p "$pid" 1 1 |
		awk '/^Average/ { print $4 }' | tail -1)/s"
fi

# --- plim time --------------------------------------------------------------
# The runner starts the workload, waits for it by wait4, and as its last act
# writes down what the kernel told it of its child and of itself. plim time is
# told the sum by the kernel; what is more is the runner's own end.
run time --json -- "$python" "$source/tests/cli/tool.py" account \
	"$work/account" "$workloads/grandchildren" 500 100
is "the command's status comes through" 7 "$status"
sed -n '/^{/,$p' "$work/out" >"$work/json"
mv "$work/json" "$work/out.json"
least=$(value wakeups_least <"$work/out")
sum() {
	jq ".child.$1 + .own.$1" "$work/account"
}
field() {
	jq ".process.$1" "$work/out.json"
}
echo "# wake-ups: plim time $(field wakeups), wait4 and getrusage" \
	"$(sum wakeups), the program's least $least"
# between WHAT LOW VALUE HIGH
between() {
	check "$1: $2 <= $3 <= $4" \
		awk "BEGIN { exit !($2 <= $3 && $3 <= $4) }"
}
between "wake-ups are wait4's, but for the runner's end" \
	"$(sum wakeups)" "$(field wakeups)" "$(($(sum wakeups) + 2))"
between "they are no fewer than the program's sleeps" \
	"$least" "$(jq .child.wakeups "$work/account")" 100000
is "500 children and 100 sleeps" 600 "$least"
between "involuntary switches" "$(sum involuntary)" \
	"$(field involuntary_switches)" "$(($(sum involuntary) + 10))"
# Each part of getrusage is rounded down to a microsecond on its own.
between "CPU in us, but for the runner's end" "$(($(sum cpu_us) - 4))" \
	"$(($(field cpu_ns) / 1000))" "$(($(sum cpu_us) + 20000))"
is "user and system add up" "$(field cpu_ns)" \
	"$(jq '.process | .cpu_user_ns + .cpu_system_ns' "$work/out.json")"
is "by wait4" '"wait4" "wait4"' \
	"$(field method.wakeups) $(field method.cpu_ns)"
is "with no bound: it is exact" '{}' "$(field bound)"
done_testing
