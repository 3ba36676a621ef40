#!/bin/sh
# test_groups.sh - processes by control group, unit, container and user: of a
# recording whose groups are written here, and of processes that live.
. "$(dirname -- "$0")/lib.sh"

# --- a recording, with groups ---------------------------------------------------
cp -R "$fixture" "$work/proc"
recording=$work/proc
id=0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef
while read -r pid path; do
	printf '0::%b\n' "$path" >"$recording/$pid/cgroup"
done <<END
10 /system.slice/ssh.service
11 /system.slice/ssh.service
12 /system.slice/ssh.service/below
13 /system.slice/cron.service
14 /system.slice-and-more
15 /system.slice/docker-$id.scope
16 /
17 /a\\033[2Jb\\0377
18 /user.slice/user-1000.slice/session-2.scope
END
for by in cgroup unit container user; do
	run tree --proc "$recording" --$by -o threads,resident,wakeups
	golden "groups-$by"
	check "by $by: the table is clean" tool clean <"$work/out"
done
run tree --proc "$recording" --cgroup --ascii -o resident
golden groups-ascii
run tree --proc "$recording" --cgroup --sort resident --limit 5 -o resident
golden groups-sort "the largest first, with those in it"
run tree --proc "$recording" --cgroup --csv -o resident,wakeups
golden groups-csv
run tree --proc "$recording" --cgroup -o threads 'pid >= 10 and pid <= 12'
golden groups-filter "of what a filter selects"
for by in cgroup unit container user; do
	run tree --proc "$recording" --$by --json
	check "by $by: JSON is valid" tool schema "$schema" tree <"$work/out"
	check "by $by: JSON is clean" tool clean <"$work/out"
done
run tree --proc "$recording" --cgroup --json
is "members of a group are those of the groups in it" \
	'[5,0,[10,11,12,13,15]]' "$(json '.groups[] |
	select(.key == "/system.slice") | [.members, .own, (.pids | sort)]')"
is "a group stands below the one that it is in" /system.slice/ssh.service \
	"$(json '.groups as $g | $g[] |
	select(.key == "/system.slice/ssh.service/below") | $g[.parent].key')"
is "what is no UTF-8 is told in bytes, too" "2f611b5b324a62ff" \
	"$(json '.groups[] | select(.key_bytes).key_bytes')"
is "a sum is of all members" true "$(json '.groups |
	all(.members as $m | .sums | .cpu_ns.known + .cpu_ns.missing == $m and
	all(.known + .missing <= $m))')"
is "whose group is not known stands last, with the reason" \
	'["no_such_file",7]' \
	"$(json '.groups[-1] | [.unavailable.reason, .members]')"

# --- those that live ----------------------------------------------------------------
start family "$work"
root=$pid
child=$(ask "$root" "child 30" | value child)
ask "$root" "nested 20" >"$work/news"
family="ppid = $root or pid = $root or pid = $(value child <"$work/news")"
run tree --user --json "$family"
is "a family has one user" "[\"$(id -u)\",4]" \
	"$(json '.groups | map(.key, .members)')"
within_burnt=$(json '.groups[0].sums.cpu_ns.value / 1e6')
check "who burnt what it burnt" tool near "$within_burnt" 50 35
run tree --user "$family"
is "a table has its name" "$(id -un)" "$(awk 'NR == 2 { print $NF }' "$work/out")"
run tree --cgroup --json "$family"
cut -d: -f3- "/proc/$child/cgroup" >"$work/paths"
json '.groups | map(select(.own == 4).key) | .[]' >"$work/path"
if [ -s "$work/paths" ]; then
	check "and one control group, which the kernel names" \
		grep -qxF -f "$work/path" "$work/paths"
else
	skip "and one control group" "this kernel has no cgroups"
fi
run tree --user --for 200ms --json "$family"
check "JSON with rates is valid" tool schema "$schema" tree <"$work/out"
is "and has rates" true "$(json \
	'.groups[0].sums.cpu_percent.value != null')"
run tree --user --watch --rounds 2 --every 50ms --json "$family"
check "rounds are valid, line by line" \
	tool schema "$schema" tree --lines <"$work/out"
is "two of them" 2 "$(wc -l <"$work/out")"
stop "$root"
# What was burnt before the first round is in no rate.
start spin
ask "$pid" "spin 400" >"$work/news"
run tree --user --for 200ms --json -o cpu_percent,cpu "pid = $pid"
is "a rate is of what was added" '[true,true]' "$(json '.groups[0].sums |
	[.cpu_ns.value >= 400000000, .cpu_percent.value < 50]')"
stop "$pid"

# --- what is wrong -------------------------------------------------------------------
run tree --cgroup --unit
refuses "groups by two things" 2 "tree: groups are made by one of --cgroup,\
 --unit, --container and --user"
run tree --cgroup -o pid
refuses "no sum" 2 "column pid: no such name, at byte 0; groups show what can\
 be summed"
run tree --user 'cpu_percent > 3%'
refuses "a rate in the filter" 2 "filter: no such name, at byte 0; who belongs\
 to a group is judged without rates"
run tree --user 'nme = 3'
is "a wrong filter: status" 2 "$status"
done_testing
