#!/bin/sh
# test_systems.sh - results of one system before the gate of another: a
# baseline of another system, or of a figure that was measured in another way,
# is refused, and says what differs; a recorded result is judged by what it
# says. tests/fixtures/results/ has what plim gate --record printed elsewhere.
. "$(dirname -- "$0")/lib.sh"

script=$workloads/script
budget=$work/budget.toml
results=$source/tests/fixtures/results

# budget TARGET-LINE LIMIT-LINES...: each limit is a table of its own.
budget() {
	{
		echo 'schema = 1'
		echo '[target.it]'
		echo 'scope = "synthetic"'
		echo 'load = { statement = "none", unit = "things", count = 1 }'
		case $1 in run*)
			echo 'quiet = { cpu = "20 %", for = "200ms", limit = "3s" }'
			echo 'window = "500ms"'
			echo 'repeats = 1'
			;;
		esac
		printf '%s\n' "$1"
		shift
		for limit; do
			echo "[target.it.limit.${limit%%:*}]"
			printf '%s\n' "${limit#*:}" | tr ';' '\n'
		done
	} >"$budget"
}

it="run = [\"$script\", \"wait\", \"60000\"]"

# refused WHAT STATUS TEXT: by the verdict's own line, and in the table.
refused() {
	run gate --result "$budget"
	if [ "$status" = "$2" ] &&
		grep '^RESULT gate_verdict ' "$work/out" |
		grep -qF -e "$3"; then
		pass "$1"
	else
		echo "# status $status instead of $2"
		fail "$1" "$work/out" "$work/err"
	fi
}

# versus FILE FIGURE
versus() {
	budget "$it" "$2:versus = \"$1\";rise = \"50 %\";also_above = \"1 MiB\""
}

# --- the system --------------------------------------------------------------

budget "$it" 'resident_end:max = "64 MiB"' 'wakeups:max = "1000/s"'
run gate --record "$work/here.txt" "$budget"
is "recorded here" 0 "$status"
versus "$work/here.txt" resident_end
run gate "$budget"
is "it is a baseline here" 0 "$status"
for other in windows macos none; do
	sed "s/^RESULT gate_host system=linux /RESULT gate_host system=$other /" \
		"$work/here.txt" >"$work/there.txt"
	versus "$work/there.txt" resident_end
	refused "a baseline of $other: 3" 3 \
		"the baseline: it is of another system ($other, this is linux)"
done
run gate --json "$budget"
is "as JSON, too: 3" 3 "$status"
check "with the reason" grep -q 'of another system (none, this is linux)' \
	"$work/out"
grep -v '^RESULT gate_host ' "$work/here.txt" >"$work/there.txt"
versus "$work/there.txt" resident_end
refused "one that does not say of which: 3" 3 \
	'it does not say of which machine it is'
{
	cat "$work/here.txt"
	sed -n 's/^RESULT gate_host system=linux /RESULT gate_host system=windows /p' \
		"$work/here.txt"
} >"$work/there.txt"
versus "$work/there.txt" resident_end
run gate "$budget"
is "one of two systems is no record: 2" 2 "$status"
check "and it says so" grep -q 'the record is of two machines' "$work/err"

# --- the method --------------------------------------------------------------

word=$(sed -n 's/^RESULT gate_figure .*figure=resident_end .*method=\([^ ]*\).*/\1/p' \
	"$work/here.txt")
for other in getrusage no_such_method; do
	sed "/figure=resident_end /s/ method=$word / method=$other /" \
		"$work/here.txt" >"$work/there.txt"
	versus "$work/there.txt" resident_end
	case $other in
	getrusage) says="the baseline was measured by getrusage and this by" ;;
	*) says="the baseline was measured by" ;;
	esac
	refused "a figure by $other: 3" 3 "$says"
done

# --- what was recorded elsewhere ---------------------------------------------

for record in "$results"/*.txt; do
	[ -e "$record" ] || continue
	name=$(basename "$record" .txt)
	versus "$record" resident_end
	refused "$name is no baseline here: 3" 3 'it is of another system'
	budget "report = \"$record\"" 'resident_end:max = "1 GiB"'
	run gate "$budget"
	is "$name is a result that is judged" 0 "$status"
	budget "report = \"$record\"" 'resident_end:max = "1 B"'
	run gate "$budget"
	is "$name and exceeded" 1 "$status"
done

done_testing
