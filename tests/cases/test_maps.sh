#!/bin/sh
# test_maps.sh - code that was made at run time, and the map of it that a
# process may leave in /tmp: read if it is a regular file of the process's own
# user, and else neither read nor waited for.
. "$(dirname -- "$0")/cases.sh"
needs_perf

start jitted
user=$(id -u)
if [ "$user" = 0 ]; then
	# One of another user's, who would have root read root's files.
	stop "$pid"
	cp "$workloads/jitted" "$work/jitted"
	chmod 755 "$work" "$work/jitted"
	mkfifo "$work/in.jitted"
	setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all \
		"$work/jitted" <>"$work/in.jitted" >"$work/in.jitted.out" &
	pid=$!
	started="$started $pid"
	ln -s "$work/in.jitted" "$work/of.$pid"
	await "jitted to start" grep -q ' ready$' "$work/in.jitted.out"
	user=65534
fi
ask "$pid" where >"$work/where"
line=$(printf '%x %x made_at_run_time' "$(value code <"$work/where")" \
	"$(value size <"$work/where")")
map=/tmp/perf-$pid.map
trap 'status=$?; rm -rf -- "$map"; (exit "$status"); end_all' EXIT

# named WHAT WANTED: per mille of the samples that have the name.
named() {
	profile -F 500 --for 300ms "$pid"
	made "$1"
	if [ "$2" = yes ]; then
		within "$1: it has its name" 600 1000 \
			"$(look per_mille cpu made_at_run_time)"
	else
		is "$1: it has no name" 0 \
			"$(look per_mille cpu made_at_run_time)"
		within "$1: and is there all the same" 600 1000 \
			"$(look per_mille_unnamed cpu)"
	fi
	rm -rf -- "$map"
}

rm -rf -- "$map"
named "no map" no
echo "$line" >"$map"
chown "$user" "$map"
named "a map" yes
echo "$line" >"$map"
chown "$user" "$map"
touch -d '1 hour ago' "$map"
named "a map of an earlier process of that pid" no
mkfifo "$map"
chown "$user" "$map"
named "a pipe that nobody writes to" no
mkdir "$map"
chown "$user" "$map"
named "a folder" no
ln -s /dev/zero "$map"
named "a device, by a link" no
truncate -s 1T "$map" && chown "$user" "$map" &&
	named "a map without end" no
{
	echo "$line"
	head -c 100000 /dev/urandom
} >"$map"
chown "$user" "$map"
named "a map with rubbish behind its line" yes
if [ "$(id -u)" = 0 ]; then
	echo "$line" >"$work/ours"
	ln -s "$work/ours" "$map"
	named "a link to a file of ours" no
	echo "$line" >"$map"
	named "a map that is root's" no
fi
done_testing
