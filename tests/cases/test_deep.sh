#!/bin/sh
# test_deep.sh - recursion, from 10 to 100,000 calls deep, of a thread that
# computes and of one that sleeps: the innermost part is right, shallow ones
# are whole, and of deeper ones it is said what cut them.
. "$(dirname -- "$0")/cases.sh"

# The most frames of a stack, and the most bytes that a sample copies.
frames=1024
bytes=64000

perf_works
has_perf=$?

for depth in 10 100 1000 10000 100000; do
	for way in running blocked; do
		[ $way = running ] && [ $has_perf != 0 ] && {
			skip "$depth deep, $way" \
				"perf events are refused to this user"
			continue
		}
		if [ $way = blocked ]; then
			start deep $depth sleep
			profile --view off --for 500ms "$pid"
		else
			start deep $depth
			profile -F 500 --for 1500ms "$pid"
		fi
		what="$depth deep, $way"
		made "$what"
		ask "$pid" where >"$work/where"
		size=$(value stack_bytes <"$work/where")
		stop "$pid"
		ways=$(look ends $way bottom)
		if [ $way = running ]; then
			is "$what: the innermost function" bottom \
				"$(look leaves running bottom)"
			within "$what: in each sample" 0 20 \
				"$(look without running bottom)"
		fi
		case $way:$(look leaves $way bottom) in
		*bottom* | blocked:*pause*) pass "$what: the leaf" ;;
		*) fail "$what: the leaf" "$work/p.json" ;;
		esac
		if [ "$depth" -lt $((frames - 16)) ] &&
			{ [ "$size" -lt $((bytes - 2000)) ] ||
				[ $way = blocked ]; }; then
			check "$what: whole stacks" sh -c \
				"echo '$ways' | grep -q 'root=[0-9]'"
			is "$what: which have each call" "$depth" \
				"$(look depths $way descend root)"
		else
			check "$what: it says what cut it, and nothing else" \
				sh -c "echo '$ways' |
				grep -Eqx '((depth_cap|copy_cap)=[0-9]+ ?)+'"
			is "$what: none is taken for whole" "" \
				"$(look depths $way descend root)"
			within "$what: in the metrics, too" 1 1000000 "$(fact \
				'.metrics | .stacks_depth_cap + .stacks_copy_cap')"
		fi
	done
done

start deep 100000
run profile --for 500ms "$pid"
if [ $has_perf = 0 ]; then
	ends "100,000 deep: a page" 0
	check "which says what cut the stacks" grep -Eq \
		'stacks (deeper than is kept|larger than the copy)' \
		"$work/out"
fi
stop "$pid"
done_testing
