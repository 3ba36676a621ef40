#!/bin/sh
# test_profile_told.sh - a profile that was made by hand (tests/support/
# invented.h), by every writer: to the byte where people read it, and by a
# reader of each format where programs do. All of them say the same.
. "$(dirname -- "$0")/lib.sh"
told=$build/tests/cli/profile-told

# tell FORMAT [OPTION...]
tell() {
	timeout -k 5 60 "$told" "$@" >"$work/out" 2>"$work/err" </dev/null
	status=$?
}

for view in cpu off wall; do
	tell text "$view"
	golden "profile_text_$view" "the page of the view $view"
done
tell text cpu ascii limit=2 width=70
golden profile_text_narrow "the page in ASCII, of two rows, 70 columns wide"
tell text cpu no-inlines
golden profile_text_plain "the page without inlined functions"
tell head wall
golden profile_head "the head alone"
tell collapsed wall
golden profile_collapsed "collapsed stacks"
tell csv off
golden profile_csv "CSV of functions"
tell text wall
is "what it cost" \
	"cost         0 stops of the process, 0 signals, 0 system calls disturbed" \
	"$(grep '^cost ' "$work/out")"
check "nothing in the page that a terminal obeys" \
	tool clean <"$work/out"

for view in cpu off wall; do
	for how in '' no-inlines; do
		# shellcheck disable=SC2086
		{
			tell json "$view" $how
			cp "$work/out" "$work/json"
			tell collapsed "$view" $how
			cp "$work/out" "$work/collapsed"
			check "collapsed stacks of $view: no control byte" \
				tool clean <"$work/collapsed"
			tell pprof "$view" $how
			cp "$work/out" "$work/pprof.pb.gz"
			tell speedscope "$view" $how
			cp "$work/out" "$work/speedscope"
			tell flame "$view" $how
			cp "$work/out" "$work/flame"
			tell firefox "$view" $how
			cp "$work/out" "$work/firefox"
		}
		check "$view${how:+, $how}: all exports say the same" \
			"$python" "$source/tests/cli/profile_check.py" \
			json="$work/json" collapsed="$work/collapsed" \
			pprof="$work/pprof.pb.gz" \
			speedscope="$work/speedscope" flame="$work/flame" \
			firefox="$work/firefox"
	done
done
command -v go >/dev/null 2>&1 ||
	skip "go tool pprof opens them" "golang-go is not installed"
tell pprof cpu plain
check "bare protobuf says the same" sh -c "
	'$told' json cpu >'$work/json' &&
	'$python' '$source/tests/cli/profile_check.py' json='$work/json' \
		pprof='$work/out'"
tell json cpu
is "of equal profiles equal bytes" "$("$told" json cpu | cksum)" \
	"$(cksum <"$work/out")"
is "also of pprof" "$("$told" pprof cpu | cksum)" "$("$told" pprof cpu | cksum)"
if "$python" -c 'import jsonschema' 2>/dev/null; then
	"$plim" doctor --json >"$work/doctor"
	if command -v jq >/dev/null 2>&1; then
		jq -s '{plimsoll: .[0].plimsoll, command: "profile",
			host: .[0].host, cost: .[0].cost} + .[1]' \
			"$work/doctor" "$work/out" >"$work/whole"
		check "JSON is valid" tool schema "$schema" profile \
			<"$work/whole"
	else
		skip "JSON is valid" "jq is not installed"
	fi
else
	skip "JSON is valid" "python3-jsonschema is not installed"
fi
done_testing
