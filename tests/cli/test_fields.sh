#!/bin/sh
# test_fields.sh - fields on request, selectors, names of users: what the
# command says of processes whose truth this script knows.
. "$(dirname -- "$0")/lib.sh"

me=$(id -un)
uid=$(id -u)
# Whoever runs this may be nice already.
base=$(nice)
more=$((base < 13 ? base + 7 : 19))
nice -n 7 sleep 60 &
kind=$!
sleep 60 &
plain=$!
started="$kind $plain"
# Until both are what they will be.
for _ in 1 2 3 4 5 6 7 8 9 10; do
	[ "$(cat "/proc/$kind/comm")$(cat "/proc/$plain/comm")" = sleepsleep ] &&
		break
	sleep 0.2
done
both="pid = $kind or pid = $plain"

# rows: the table without its title and its last line.
rows() {
	sed -e 1d -e '$d' "$work/out" | sed 's/^ *//; s/  */ /g'
}

# --- numbers below zero and above -------------------------------------------
run ps -o pid,nice --sort nice "$both"
is "sorted by nice, the most urgent first" "$plain $base
$kind $more" "$(rows)"
run ps -o pid,nice --sort nice --reverse "$both"
is "and the other way round" "$kind $more
$plain $base" "$(rows)"
run ps -o pid,nice "($both) and nice > $base"
is "a filter by nice" "$kind $more" "$(rows)"
run ps -o pid,nice "($both) and nice > -20 and nice <= $base"
is "a limit below zero" "$plain $base" "$(rows)"
run ps --csv -o pid,nice "pid = $kind"
is "nice in CSV" "pid,nice
$kind,$more" "$(tr -d '\r' <"$work/out")"
run ps --json -o nice "pid = $kind"
is "nice in JSON" "$more" "$(jq .processes[0].nice "$work/out")"
run ps --proc "$fixture" --csv -o nice,pid 'nice < 0' --limit 1
ends "no process of the recording is below zero" 0
if renice -n -5 -p "$plain" >"$work/log" 2>&1; then
	run ps -o pid,nice --sort nice "$both"
	is "below zero in a table, and its order" "$plain -5
$kind $more" "$(rows)"
	run ps --json -o nice "pid = $plain and nice < 0"
	is "below zero in JSON" -5 "$(jq .processes[0].nice "$work/out")"
	run ps --csv -o nice "pid = $plain"
	is "below zero in CSV" "nice
-5" "$(tr -d '\r' <"$work/out")"
	run show "$plain"
	is "below zero in the detail view" "-5 stat" \
		"$(sed -n 's/^nice  *//p' "$work/out" | sed 's/  */ /')"
else
	run ps -o pid,nice "($both) and nice < 0"
	is "nobody is below zero" "" "$(rows)"
fi

# --- texts ------------------------------------------------------------------
program=$(readlink "/proc/$kind/exe")
run ps --json -o exe,cgroup,unit,container "pid = $kind"
is "exe" "$program" "$(jq -r .processes[0].exe "$work/out")"
path=$(jq -r .processes[0].cgroup "$work/out")
check "cgroup is that of a line of the file" \
	grep -qxF ":$path" <<-END
	$(sed 's/^[0-9]*:[^:]*//' "/proc/$kind/cgroup")
	END
run ps -o pid "pid = $kind and exe = \"$program\""
is "a filter by exe" "$kind" "$(rows)"
run ps -o pid "pid = $kind and exe ~ \"*/${program##*/}\""
is "by a pattern" "$kind" "$(rows)"

# --- selectors --------------------------------------------------------------
run ps -o pid "pid = $kind and cgroup:\"$path\""
is "cgroup: the group itself" "$kind" "$(rows)"
run ps -o pid "pid = $kind and cgroup:/"
is "cgroup: the root" "$kind" "$(rows)"
run ps -o pid "pid = $kind and cgroup:\"${path}x\""
is "cgroup: another name that begins so" "" "$(rows)"
run ps -o pid "pid = $kind and user:$me"
is "user: by name" "$kind" "$(rows)"
run ps -o pid "pid = $kind and user:$uid"
is "user: by number" "$kind" "$(rows)"
run ps -o pid "pid = $kind and not user:$me"
is "user: not" "" "$(rows)"
run ps -o pid --proc "$fixture" user:1000
is "user: in a recording, by number" 20 "$(rows)"
run ps user:no-such-user-1
refuses "user: nobody" 2 "filter no-such-user-1: no such name, at byte 5;\
 this machine has no user of this name; a number is taken, too"
run ps container:0123
refuses "container: too few digits" 2 "filter 0123: the text cannot be\
 understood, at byte 10; expected 6 digits of an id at least, or a whole name;\
 a name that looks like digits goes by container ="
run ps unit:
refuses "unit: nothing" 2 "filter: the text cannot be understood, at byte 5;\
 expected a word or a \"quoted text\""

# --- names of users ---------------------------------------------------------
run ps -o pid,user "pid = $kind"
is "the column user" "$kind $me" "$(rows)"
run ps -o pid,user --proc "$fixture" 'pid = 30'
is "root is root" "30 root" "$(rows)"
run ps --json -o user "pid = $kind"
is "in JSON it is the number" "$uid" "$(jq .processes[0].uid "$work/out")"
run ps -o usr
refuses "a slip" 2 "column usr: no such name, at byte 0; did you mean 'user'?"
done_testing
