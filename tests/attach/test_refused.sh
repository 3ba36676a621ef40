#!/bin/sh
# test_refused.sh - what a profile says where the kernel refuses it something:
# the tiers that were used and those that are missing are named with the reason
# and a remedy, the exit status tells whether there is a profile, and nothing
# that is half is told as whole. The refusals are a container's: a filter of
# system calls (tests/support/refuse.c).
. "${PLIM_SOURCE:?}/tests/cli/lib.sh"

# LeakSanitizer, in a build that has it, looks by ptrace, and complains where
# that is refused.
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0
export ASAN_OPTIONS

refuse=$build/tests/support/refuse
tiers='[.. | .tiers? // empty][0][]'

# refused WORDS ARGUMENT...: plim under a filter; WORDS may be empty.
refused() {
	words=$1
	shift
	if [ -n "$words" ]; then
		# shellcheck disable=SC2086
		set -- "$refuse" $words -- "$plim" "$@"
	else
		set -- "$plim" "$@"
	fi
	timeout -k 5 60 "$@" >"$work/out" 2>"$work/err" </dev/null
	status=$?
}

# used TIER: 1 or 0
used() {
	json "$tiers | select(.name == \"$1\") | if .used then 1 else 0 end"
}

why() {
	json "$tiers | select(.name == \"$1\") | .unavailable.works |
		\"\(.state) \(.remedy // \"\")\"" | sed 's/ $//'
}

start spinners 2
spinner=$pid

# What a kernel refuses to everybody here is no matter of this test.
refused "" profile --for 300ms --json "$spinner"
if [ "$(used perf)" != 1 ]; then
	skip "refusals one after another" \
		"perf events are refused to this user"
	done_testing
	exit 0
fi
ends "nothing is refused" 0
is "running threads by perf events" "1 0" "$(used perf) $(used ptrace)"
is "the sleeping one without a stop" 1 "$(used no_stop)"
is "nobody was stopped, nothing was signalled" "0 0" \
	"$(json '[.. | .metrics? // empty][0] | "\(.stops) \(.signals_sent)"')"

for words in perf perf-enosys; do
	refused "$words" profile --for 300ms --json "$spinner"
	ends "$words refused: there is a profile" 0
	is "$words refused: running threads by ptrace" "0 1 1" \
		"$(used perf) $(used ptrace) $(used no_stop)"
	check "$words refused: it says why" grep -q '[a-z]' <<-END
		$(why perf | grep -v '^null')
	END
	refused "$words" profile --for 300ms "$spinner"
	ends "$words refused: there is a page" 0
	check "$words refused: the page names it" grep -qi 'perf events' \
		"$work/out"
	check "$words refused: and that it disturbs" grep -qi 'disturb' \
		"$work/out"
done

refused perf profile --no-ptrace --for 300ms --view wall "$spinner"
ends "perf refused, ptrace not wanted: the waiting half" 0
check "and its first line says what is missing" sh -c \
	"head -2 '$work/out' | grep -q INCOMPLETE"
refused perf profile --no-ptrace --for 300ms --json "$spinner"
ends "perf refused, ptrace not wanted: as JSON" 0
is "the tiers of it" "0 0 1" "$(used perf) $(used ptrace) $(used no_stop)"
is "what it lacks, and what would help" true "$(json \
	'[.. | .lacks? // empty][0] | length == 1 and
	(.[0] | test("perf_event_paranoid") and test("not sampled"))')"
is "and so for each way that is missing" true "$(json "[$tiers |
	select(.used | not)] | length == 2 and (map(select(.name == \"perf\"))[0]
	| .remedy | test(\"perf_event_paranoid\"))")"

# nothing WHAT: no profile, the reason and what would help, no output.
nothing() {
	is "$1: no profile" 1 "$status"
	check "$1: the reason" grep -Eq 'refuses|may not' "$work/err"
	check "$1: and what would help" grep -Eq \
		'perf_event_paranoid=|ptrace_scope|as the target.s user' \
		"$work/err"
	check "$1: on one line" test "$(wc -l <"$work/err")" = 1
	check "$1: and nothing on the output" test ! -s "$work/out"
}

refused "perf ptrace" profile --for 300ms --json "$spinner"
is "perf and ptrace refused: only those that sleep" "0 0 1" \
	"$(used perf) $(used ptrace) $(used no_stop)"
refused "perf ptrace" profile --for 300ms "$spinner"
nothing "perf and ptrace refused"
refused "perf ptrace" profile --for 300ms -o "$work/no.pb.gz" "$spinner"
nothing "perf and ptrace refused, to a file"
check "which is not there" test ! -e "$work/no.pb.gz"
some='i=0; while [ $i -lt 60000 ]; do i=$((i + 1)); done'
refused "perf ptrace" profile --no-preload -o "$work/no.folded" -- \
	sh -c "$some"
is "perf and ptrace refused: a command: our failure" 125 "$status"
refused "perf ptrace" profile --no-preload -o "$work/no.folded" -- \
	sh -c "$some; exit 3"
is "or its own status" 3 "$status"
refused perf profile --json -o "$work/yes.json" -- sh -c "$some; exit 4"
is "perf refused: a command is stopped for its samples" 4 "$status"
is "which is told" true "$(jq '[.profile.tiers[] |
	select(.used) | .name] | contains(["ptrace"])' "$work/yes.json")"

# A program that this user may run and not read cannot be looked into.
if [ "$(id -u)" != 0 ]; then
	cp "$workloads/spinners" "$work/closed"
	chmod 111 "$work/closed"
	mkfifo "$work/closed.in"
	"$work/closed" 2 <>"$work/closed.in" >"$work/closed.out" 2>&1 &
	closed=$!
	started="$started $closed"
	await "the closed one" grep -q ' ready$' "$work/closed.out"
	refused "" profile --for 300ms "$closed"
	nothing "ptrace access refused"
	refused "" profile --for 300ms --json "$closed"
	is "ptrace access refused, as JSON: no profile" 1 "$status"
	is "ptrace access refused, as JSON: why, and what would help" true \
		"$(json '.error | .code == "no_samples" and (.message |
		test("may not trace") and test("as the target.s user"))')"
	refused "" profile --for 300ms --view off "$closed"
	nothing "ptrace access refused, the waiting half"
	stop "$closed"
fi

# Another user's process: neither may be had.
if [ "$(id -u)" != 0 ] && [ "$(stat -c %u /proc/1)" = 0 ]; then
	refused "" profile --for 300ms 1
	nothing "root's process"
fi

# A program that is in the kernel alone: what this user may not see of it.
start profiled reads
if [ "$(id -u)" != 0 ]; then
	refused "" profile --for 300ms --view cpu "$pid"
	check "what is not sampled in the kernel: what would help" \
		grep -q perf_event_paranoid=1 "$work/out"
fi
done_testing
