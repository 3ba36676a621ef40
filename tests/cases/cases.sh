# cases.sh - what the tests of profiling cases share; sourced by each. Which
# report each is about stands in docs/design/profile-cases.md.
. "$(dirname -- "$0")/../cli/lib.sh"

# look QUESTION WORD...: an answer of look.py about the last profile.
look() {
	question=$1
	shift
	"$python" "$source/tests/cases/look.py" "$work/p.json" "$question" \
		"$@" 2>&1
}

# profile WORD...: a profile in p.json; what it wrote besides is in out, err.
profile() {
	rm -f "$work/p.json"
	run profile --json -o "$work/p.json" "$@"
}

# made WHAT: the last profile is there, and its numbers add up.
made() {
	ends "$1: there is a profile" 0
	is "$1: the accounts add up" yes "$(look adds_up)"
}

# within WHAT LEAST MOST GOT: whole numbers.
within() {
	if [ "$2" -le "$4" ] && [ "$4" -le "$3" ] 2>/dev/null; then
		pass "$1"
	else
		echo "# $4 is not within $2 and $3"
		fail "$1"
	fi
}

# Of the last profile, by jq.
fact() {
	jq -c -r "$1" "$work/p.json" 2>&1
}

# perf_works: a container may refuse perf events; without them there is no
# profile of threads that run but by ptrace.
perf_works() {
	start spinners 1
	run profile --no-ptrace --for 100ms "$pid"
	stop "$pid"
	[ "$status" = 0 ] || ! grep -q perf "$work/err"
}

needs_perf() {
	perf_works && return
	skip "profiles" "perf events are refused to this user"
	done_testing
	exit 0
}
