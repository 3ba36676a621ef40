#!/bin/sh
# test_threads.sh - threads that come and go by the thousand each second, and
# threads that sleep and wake rarely: what is told adds up to what the kernel
# has counted, and nobody is shown busy who is not.
. "$(dirname -- "$0")/cases.sh"
needs_perf

# --- thousands of births a second ---------------------------------------------
start swarm 2
ask "$pid" truth >"$work/before"
profile -F 1000 --for 2s "$pid"
ask "$pid" truth >"$work/after"
stop "$pid"
# difference KEY
difference() {
	echo $(($(value "$1" <"$work/after") - $(value "$1" <"$work/before")))
}
made "threads that are born and end all the time"
births=$(difference births)
echo "# $births births in 2 s"
kernel=$(fact '.metrics.target_cpu_ns / 1000000 | floor')
within "CPU time: the kernel's account of the process" \
	$((kernel * 95 / 100)) $((kernel * 105 / 100)) \
	"$(fact '.views.times.cpu_ns / 1000000 | floor')"
within "births: no more than there were" 1 "$((births + 100))" \
	"$(fact .metrics.threads_born)"
within "and no thread ends that was not" 0 "$(fact .metrics.threads_seen)" \
	"$(fact .metrics.threads_ended)"
is "coverage is told" true "$(fact '.metrics.thread_coverage > 0')"

# --- rare wake-ups -----------------------------------------------------------
"$workloads/script" wake 40 4 100 wait 20000 >"$work/script" &
pid=$!
started="$started $pid"
await "four threads" sh -c "[ \$(ls /proc/$pid/task | wc -l) = 5 ]"
before=$(cat "/proc/$pid/task/"*/schedstat | awk '{ s += $1 } END { print s }')
profile -F 1000 --view wall --for 2s "$pid"
after=$(cat "/proc/$pid/task/"*/schedstat | awk '{ s += $1 } END { print s }')
made "threads that wake rarely"
is "all of them" 5 "$(fact '.threads | length')"
most=$(((after - before) / 1000 + 2000))
within "their CPU time is no more than the kernel's" 0 "$most" \
	"$(fact '.views.times.cpu_ns / 1000 | floor')"
is "each was blocked nearly all the time" true "$(fact '.threads |
	all(.times.blocked_ns > .times.wall_ns * 0.9)')"
is "none is shown busy" true "$(fact '.threads |
	all(.times.cpu_ns < .times.wall_ns * 0.05)')"
is "no thread has more time than there was" true "$(fact \
	'.profile.duration_ns as $all | .threads | all(.times.wall_ns <= $all)')"
stop "$pid"
done_testing
