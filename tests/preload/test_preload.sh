#!/bin/sh
# test_preload.sh - a command samples itself, by an object that is preloaded
# into it, where perf events and ptrace are refused: the times that it tells
# are those of the workload's own clock, the command is as it is without, and
# who cannot have it is named before it is started.
. "${PLIM_SOURCE:?}/tests/cli/lib.sh"

# LeakSanitizer, in a build that has it, looks by ptrace, and complains where
# that is refused.
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0
export ASAN_OPTIONS

refuse=$build/tests/support/refuse
preloaded=$workloads/preloaded
told=$work/told.json

# refused ARGUMENT...: plim profile, under a filter of system calls.
refused() {
	rm -f "$told"
	timeout -k 5 60 "$refuse" perf ptrace -- "$plim" profile "$@" \
		>"$work/out" 2>"$work/err" </dev/null
	status=$?
}

# of WORDS...: the profile of the workload, as JSON.
of() {
	refused --json -o "$told" -- "$preloaded" "$@"
}

# units N COUNT: the function that uses N units of 60 ms, called COUNT times,
# has that time: no more than it, but for two periods and a tenth, and half of
# it at least. Where a machine is loaded timers come late, and the time behind
# the last sample is no function's.
units() {
	got=$(jq "[.functions[] | select(.name == \"units_$1\") |
		.cpu.total_ns] | add / 1000000 | floor" "$told")
	echo "$got ms"
	[ "$got" -gt "$(($1 * 30 * $2))" ] &&
		[ "$got" -lt "$((($1 * 66 + 30) * $2))" ]
}

used() {
	jq -r '[.profile.tiers[] | select(.used) | .name] | join(" ")' "$told"
}

of shares
is "perf and ptrace refused: the command's own status" 7 "$status"
is "it sampled itself" "no_stop preload" "$(used)"
for units in 1 2 4 8; do
	check "what used $units units" units "$units" 1
done
# Of 900 ms; what each of four threads used between the last look at it and its
# end is in nobody's account: a period, and looks that came late or not at all,
# but not more than a tenth.
is "and the rest is what no sample covers" true "$(jq '([(4 +
	.metrics.ticks_late + .metrics.ticks_skipped) * .profile.period_ns,
	90000000] | min) as $unseen | [.threads[].times | .cpu_sampled_ns + .cpu_unsampled_ns] |
	add | . > 900000000 - $unseen and . < 1100000000' "$told")"
is "every thread has its time" "4" "$(jq '[.threads[] |
	select(.samples > 0 and .name == "preloaded")] | length' "$told")"
# One that finds a thread at its birth or its end may not be.
is "its stacks are whole, and look as without" true "$(jq '[.stacks[] |
	select(.activity == "running" and .samples > 0)] |
	([.[] | select(.end == "root") | .samples] | add) >=
	([.[].samples] | add) * 0.9' "$told")"
check "the object is in none of them" jq -e '[.functions[] |
	select(.name | test("object_|pthread_create"))] | length == 0' "$told"
is "that it did is said" true "$(jq '.profile.lacks[0] |
	test("preloaded") and test("perf_event_paranoid")' "$told")"
is "system calls disturbed" 0 "$(jq .metrics.system_calls_disturbed "$told")"

# Whatever ends it, what was sampled is there.
of leaves
is "gone by _exit()" 9 "$status"
check "its time" units 4 1
of killed
is "killed" 137 "$status"
check "its time" units 4 1
of closes
is "without a descriptor" 3 "$status"
check "its time" units 4 1

# The signal is the program's own where it wants it: it sees none of ours.
of handles
is "it handles the signal, and gets none of ours" 125 "$status"
check "that is why there is no profile" grep -q \
	'handles the signal that samples' "$work/out"
of blocks
is "it blocks the signal, and none of ours is pending" 125 "$status"
check "that is why there is no profile" grep -q 'blocks the signal' \
	"$work/out"

of refused
is "a mask that is refused changes nothing" 6 "$status"
check "its time" units 4 1

# Children, and what they execute.
refused --tree --json -o "$told" -- "$preloaded" chain
is "a tree: its status" 5 "$status"
for units in 2 4 8; do
	check "a tree: what used $units units" units "$units" 1
done
is "a tree: its programs" 3 "$(jq '.programs | length' "$told")"
refused --tree --json -o "$told" -- "$preloaded" lingers
is "a child that is found before it executes anything: its status" 5 "$status"
check "its time, by its own names" units 8 1
refused --json -o "$told" -- "$preloaded" chain
is "without: its status" 5 "$status"
check "without: the parent alone" units 4 1
is "without: no child" "" "$(jq -r '.functions[] |
	select(.name == "units_2" or .name == "units_8") | .name' "$told")"

of becomes
is "it executes another program: its status" 5 "$status"
check "what it was before" units 4 1
is "and that the other one is not sampled is said" true "$(jq \
	'.profile.lacks | any(test("executed another program"))' "$told")"

# Also where it did so before anybody had looked, as #!/usr/bin/env does.
refused --json -o "$told" -- sh -c "exec '$preloaded' leaf"
is "it executes another program at once: its status" 5 "$status"
check "and that is said" grep -qs "executed another program" "$told" \
	"$work/out" "$work/err"
refused --tree --json -o "$told" -- sh -c "exec '$preloaded' leaf"
is "a tree: its status" 5 "$status"
check "what it executed" units 8 1

# In a namespace of pids of its own a child's number is another process's here.
if unshare -rpf true 2>"$work/err"; then
	refused --tree --json -o "$told" -- unshare -rpf "$preloaded" leaf
	is "a child with other pids: its status" 5 "$status"
	is "no other process is taken for it" 0 "$(jq '[.programs[] |
		select(.pid == 1)] | length' "$told")"
else
	skip "a child with other pids" "a pid namespace is refused here"
fi

# Asked for, and not.
timeout -k 5 60 "$plim" profile --preload --json -o "$told" -- \
	"$preloaded" leaves >"$work/out" 2>"$work/err"
is "asked for, where nothing is refused" 9 "$?"
check "its time" units 4 1
is "then by nothing else" "" "$(used | tr ' ' '\n' | grep -v preload |
	grep -v no_stop)"
refused --no-preload -o "$work/no.folded" -- "$preloaded" leaves
is "not wanted: its own status" 9 "$status"
check "not wanted: what is refused" grep -q perf_event_paranoid "$work/err"
check "and no file" test ! -e "$work/no.folded"
run profile --preload 1
is "of a process that runs there is none" 2 "$status"
run profile --preload --no-preload -- true
is "both are neither" 2 "$status"

# The command is as it is without: environment, descriptors, limits.
see='env | grep -v "^_="; ls /proc/self/fd; ulimit -a; trap'
timeout -k 5 60 sh -c "$see" >"$work/without" 2>"$work/err" </dev/null
timeout -k 5 60 "$plim" profile --preload -o "$work/see.folded" -- \
	sh -c "$see" >"$work/with" 2>"$work/err" </dev/null
check "it sees what it sees without" diff "$work/without" "$work/with"
LD_PRELOAD=libc.so.6 timeout -k 5 60 "$plim" profile --preload \
	-o "$work/see.folded" -- sh -c 'echo "<$LD_PRELOAD>"' \
	>"$work/out" 2>"$work/err"
is "what else is preloaded stays" "<libc.so.6>" "$(cat "$work/out")"
# A child that was followed, and began when plim had ended.
object=$build/preload/libplimsoll-preload.so
for list in "$object" "$object:libc.so.6" "libc.so.6:$object" \
	"libc.so.6 $object:libc.so.6"; do
	others=$(echo "$list" | sed "s|$object:||; s|[ :]*$object||")
	is "what is left of it among others: <$others>" "<$others>" "$(
		PLIMSOLL_PRELOAD=$work/gone LD_PRELOAD=$list sh -c \
			'echo "<$LD_PRELOAD>$PLIMSOLL_PRELOAD"')"
done

# Who cannot have it is not started where it was asked for.
# denied WHY COMMAND...
denied() {
	why=$1
	shift
	timeout -k 5 60 "$plim" profile --preload -o "$work/no.json" -- "$@" \
		>"$work/out" 2>"$work/err" </dev/null
	is "$why: our failure" 125 "$?"
	check "$why: is named" grep -q "$why" "$work/err"
	check "$why: on one line" test "$(wc -l <"$work/err")" = 1
	check "$why: not started" test ! -s "$work/out"
	check "$why: no file" test ! -e "$work/no.json"
}
if [ -x "$workloads/keeper-static" ]; then
	denied "linked statically" "$workloads/keeper-static"
	printf '#! %s\n' "$workloads/keeper-static" >"$work/script"
	chmod 755 "$work/script"
	denied "linked statically" "$work/script"
	# Of one line, which has no end: the kernel executes it all the same.
	printf '#!%s' "$workloads/keeper-static" >"$work/script"
	denied "linked statically" "$work/script"
else
	skip "a static program" "no static C library"
fi
if [ -x "$workloads/keeper-musl" ]; then
	denied "another C library" "$workloads/keeper-musl"
else
	skip "a program with another C library" "no musl-gcc"
fi
printf '\177ELF\001\001\001' >"$work/narrow"
chmod 755 "$work/narrow"
denied "32 bits" "$work/narrow"
"$python" "$source/tests/preload/programs.py" "$work" || exit 1
denied "sanitizer" "$work/sanitized"
denied "another machine" "$work/other-machine"
denied "Go runtime" "$work/go"
denied "cannot be read as a program" "$work/cut"
run profile --preload -- "$work/plain"
check "one that has nothing of these is started" test "$status" != 125
privileged=
for path in /usr/bin/passwd /usr/bin/su /usr/bin/mount /usr/bin/newgrp; do
	[ -u "$path" ] && privileged=$path
done
if [ "$(id -u)" = 0 ]; then
	cp "$preloaded" "$work/other"
	chown 65534 "$work/other"
	chmod 4755 "$work/other"
	privileged=$work/other
fi
if [ -n "$privileged" ]; then
	denied "set-uid" "$privileged"
else
	skip "a set-uid program" "there is none on this machine"
fi

# Where it was not asked for, a command that cannot have it runs all the same.
if [ -x "$workloads/keeper-static" ]; then
	refused -o "$work/no.folded" -- "$workloads/keeper-static" none
	check "it is named, and started" grep -q "nothing is preloaded: .*static" \
		"$work/err"
fi
done_testing
