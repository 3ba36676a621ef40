#!/bin/sh
# test_places.sh - a process in namespaces of its own: with other numbers for
# its threads, with another C library at the path of ours, and with debug files
# that this machine has not got. Threads, names and figures are the target's.
. "$(dirname -- "$0")/cases.sh"

# As root alone, or as the root of a user namespace.
spaces="unshare --pid --fork --mount-proc --kill-child"
mounts="unshare --mount --propagation private"
if [ "$(id -u)" != 0 ]; then
	spaces="unshare --user --map-root-user --pid --fork --mount-proc
		--kill-child"
	mounts="unshare --user --map-root-user --mount --propagation private"
fi

# below PID NAME: the process of that name below it.
below() {
	for child in $(cat "/proc/$1/task/$1/children" 2>/dev/null); do
		if [ "$(cat "/proc/$child/comm" 2>/dev/null)" = "$2" ]; then
			echo "$child"
		else
			below "$child" "$2"
		fi
	done
}

# inside NAME COMMAND...: a workload in there; its pid as it is here in $pid.
inside() {
	name=$1
	shift
	rm -f "$work/in.$name" "$work/in.$name.out"
	mkfifo "$work/in.$name" || exit 1
	"$@" <>"$work/in.$name" >"$work/in.$name.out" 2>&1 &
	outer=$!
	started="$started $outer"
	await "$name to start" grep -q ' ready$' "$work/in.$name.out" ||
		return 1
	pid=$outer
	[ "$(cat "/proc/$outer/comm")" = "$name" ] ||
		pid=$(below "$outer" "$name")
	started="$started $pid"
}

# --- pids ----------------------------------------------------------------------
if ! $spaces true 2>/dev/null; then
	skip "a nested pid namespace" "a pid namespace is refused here"
elif ! perf_works; then
	skip "a nested pid namespace" "perf events are refused to this user"
else
	inside profiled $spaces "$workloads/profiled" shares
	check "its number in there is another one" \
		grep -q '^pid=1 ready' "$work/in.profiled.out"
	profile -F 500 --for 2s "$pid"
	made "a nested pid namespace"
	is "its threads are those that the kernel has here" \
		"$(ls "/proc/$pid/task" | sort -n | tr '\n' ' ')" \
		"$(look threads) "
	is "with their names" "profiled share-0 share-1 share-2 share-3" \
		"$(look names)"
	within "it computes in hot()" 900 1000 "$(look per_mille cpu hot)"
	share3=$(grep -lx share-3 "/proc/$pid/task/"*/comm | cut -d/ -f5)
	profile --tid "$share3" --for 500ms "$pid"
	made "one thread of it"
	is "and no other" "$share3" "$(look threads)"
	kill -KILL "$pid" "$outer" 2>/dev/null

	# And from within, where numbers are those of the namespace.
	$spaces sh -c "'$workloads/profiled' hot <'$work/in.profiled' >/dev/null &
		sleep 0.3
		'$plim' profile --json -o '$work/p.json' --for 500ms \$!
		echo \$? >'$work/status'
		kill -KILL \$!" <>"$work/in.profiled" >"$work/out" 2>"$work/err"
	status=$(cat "$work/status")
	made "from within"
	within "it computes in hot() and cool()" 850 1000 $(($(look per_mille \
		cpu hot) + $(look per_mille cpu cool)))
fi

# --- another library at the same path -----------------------------------------------
# other OLD NEW FROM TO: a copy of a file with other bytes for some.
other() {
	"$python" - "$@" <<-'END'
		import sys
		old, new, *words = sys.argv[1:]
		data = open(old, "rb").read()
		for one, two in zip(words[::2], words[1::2]):
		    one, two = (bytes.fromhex(word[1:]) if word[0] == "=" else
		                word.encode() for word in (one, two))
		    assert len(one) == len(two) and one in data
		    data = data.replace(one, two)
		open(new, "wb").write(data)
	END
}

libc=$(ldd "$workloads/profiled" 2>/dev/null |
	sed -n 's/.*libc\.so\.6 => \([^ ]*\).*/\1/p')
id=$(readelf -n "$libc" 2>/dev/null | sed -n 's/.*Build ID: //p')
if ! $mounts true 2>/dev/null; then
	skip "a namespace with another libc" "a mount namespace takes root"
elif [ -z "$id" ] || ! perl -e 1 2>/dev/null; then
	skip "a namespace with another libc" \
		"no libc with a build id, or no perl"
else
	# The same code with other names, and so that no debug file of the
	# one that is here fits, another build id.
	libc=$(readlink -f "$libc")
	other "$libc" "$work/libc" nanosleep nanoslept \
		"=$id" "=$(echo "$id" | tr 0123456789abcdef 123456789abcdef0)"
	chmod 755 "$work" "$work/libc"
	inside perl $mounts sh -c "mount --bind '$work/libc' '$libc' &&
		exec perl -e '\$| = 1; print \"pid ready\\n\"; sleep 50'"
	perl -e '$| = 1; print "ready\n"; sleep 50' >"$work/here" &
	here=$!
	started="$started $here"
	await "the one that is here" test -s "$work/here"
	profile --view off --for 300ms "$here"
	made "a sleeper with the libc of this place"
	is "it sleeps in a function that there is" "clock_nanosleep" \
		"$(look leaves blocked sleep | tr ' ' '\n' | sed 's/^__//' |
			grep '^clock_nanosle' | sort -u)"
	profile --view off --for 300ms "$pid"
	made "a sleeper with a libc of its own"
	is "it sleeps in a function of its own libc" "clock_nanoslept" \
		"$(look leaves blocked sleep | tr ' ' '\n' | sed 's/^__//' |
			grep '^clock_nanosle' | sort -u)"
	is "whose build id is told" true "$(fact \
		'[.modules[] | select(.path ==
		"'"$libc"'")][0].build_id | . != null and . != "'"$id"'"')"
	kill -KILL "$pid" "$outer" "$here" 2>/dev/null
fi

# --- debug files ------------------------------------------------------------------
# deep's own functions stand in its table of symbols, which is split off; the
# program has a link to it, which leads to .debug beside it.
split() {
	mkdir "$work/split" "$work/.debug" &&
		objcopy --only-keep-debug "$workloads/deep" \
			"$work/split/deep.debug" &&
		objcopy --strip-all \
			--add-gnu-debuglink="$work/split/deep.debug" \
			"$workloads/deep" "$work/deep"
}

if ! $mounts true 2>/dev/null; then
	skip "debug files below its root" "a mount namespace takes root"
elif ! split 2>/dev/null; then
	skip "debug files below its root" "objcopy is not installed"
else
	chmod 755 "$work" "$work/deep"
	inside deep "$work/deep" 10 sleep
	profile --view off --for 300ms "$pid"
	made "stripped"
	is "without its debug file its functions have no names" "" \
		"$(look leaves blocked bottom)"
	kill -KILL "$pid" 2>/dev/null
	inside deep $mounts sh -c "mount -t tmpfs none '$work/.debug' &&
		cp '$work/split/deep.debug' '$work/.debug/deep.debug' &&
		exec '$work/deep' 10 sleep"
	check "its debug file is not here" test ! -e "$work/.debug/deep.debug"
	profile --view off --for 300ms "$pid"
	made "with a debug file below its root"
	is "its functions have the names of that" 10 \
		"$(look depths blocked descend root)"
	kill -KILL "$pid" "$outer" 2>/dev/null
fi
done_testing
