#!/bin/sh
# test_gate_told.sh - what plim gate tells, in each of its formats: of a gate
# that was made by hand (gate_told.c), to the byte; of one whose names are as
# hostile as names get, well-formed; of one with very much to say, within the
# bounds of who reads it; and all of it in a locale with a decimal comma.
. "$(dirname -- "$0")/lib.sh"

told=$build/tests/cli/gate-told

# tell FORMAT [KIND]
tell() {
	timeout -k 5 60 "$told" "$@" >"$work/out" 2>"$work/err" </dev/null
	status=$?
}

valid() {
	"$python" "$source/tests/cli/gate_check.py" "$1" <"$work/out"
}

# --- to the byte ---------------------------------------------------------------
for format in table csv results junit bencher action github summary record; do
	tell "$format"
	golden "gate_$format"
done
tell table plain ascii
is "ASCII alone" "" "$(LC_ALL=C tr -d '\n -~' <"$work/out")"

# --- well-formed, whatever the names -------------------------------------------
for kind in plain hostile; do
	for format in junit bencher action github summary results; do
		tell "$format" "$kind"
		valid "$format" >"$work/found.$format.$kind" 2>&1
		is "$format, $kind: status of its reader" 0 $?
		is "$format, $kind: nothing on standard error" "" \
			"$(cat "$work/err")"
	done
	tell csv "$kind"
	check "csv, $kind: every row has every field" tool csv <"$work/out"
	check "csv, $kind: nothing that a terminal obeys" \
		tool clean crlf <"$work/out"
	tell table "$kind"
	check "table, $kind: nothing that a terminal obeys" \
		tool clean <"$work/out"
	is "table, $kind: no line that a workflow takes for a command" "" \
		"$(grep -E '^ *(::|##\[)' "$work/out")"
	if "$python" -c 'import jsonschema' 2>/dev/null; then
		tell json "$kind"
		check "json, $kind: the schema" \
			tool schema "$schema" gate <"$work/out"
	else
		skip "json, $kind: the schema" "python3-jsonschema is not installed"
	fi
	tell record "$kind"
	is "$kind: the lines are a record" 0 "$status"
	cp "$work/out" "$work/record.$kind"
done
check "record: hostile names change nothing" \
	cmp "$work/record.plain" "$work/record.hostile"
for format in junit bencher action github results; do
	check "$format: hostile names change nothing but names" \
		cmp "$work/found.$format.plain" "$work/found.$format.hostile"
done

# A runner listens to what is printed, and does not while the table is.
GITHUB_ACTIONS=true "$told" table hostile >"$work/out" 2>"$work/err"
token=$(sed -n '1s/^::stop-commands::\([0-9a-f]\{32\}\)$/\1/p' "$work/out")
check "table: commands are stopped" test -n "$token"
is "table: until a word that is nowhere else" "1
$(wc -l <"$work/out")" "$(grep -n "$token" "$work/out" | cut -d: -f1)"
is "table: and then are not" "::$token::" "$(tail -1 "$work/out")"
GITHUB_ACTIONS=true "$told" table >"$work/out" 2>"$work/err"
check "table: another word each time" test "$(head -1 "$work/out")" != \
	"::stop-commands::$token"

# --- what there is to say of each outcome --------------------------------------
is "junit: exceeded is a failure, what was not found out an error" \
	"wakeups failure exceeded
idle_cpu pass 
resident_warm pass 
disk_ops skipped 
private_dirty_end error unavailable
io_calls error inconclusive
children_started pass 
threads pass 
wakeups error inconclusive
wall error not_measured" "$(cat "$work/found.junit.plain")"
is "bencher: what is unavailable is absent" \
	"wakeups 3001
idle_cpu 0.5128
resident_warm 33554432
io_calls 1.0625
children_started 6
threads 11" "$(cat "$work/found.bencher.plain")"
is "action: and what has a floor alone" \
	"wakeups per_second 3001
idle_cpu percent 0.5128
resident_warm bytes 33554432
io_calls per_second 1.0625
threads count 11" "$(cat "$work/found.action.plain")"
is "github: the worst first, at the line of the limit" \
	"error 12 wakeups
error 29 private_dirty_end
error 32 io_calls
error 50 never-quiet
error 70 left-out
warning 22 resident_warm
notice 25 disk_ops" "$(cat "$work/found.github.plain")"
tell json
is "json: what is unavailable is null" \
	'[null,null,null,null,"shared_cgroup"]' \
	"$(json '.targets[0].figures[3] | [.value.value, .least, .most,
		.headroom, .value.unavailable.reason]')"
is "json: every verdict" \
	"exceeded pass pass pass unavailable inconclusive pass pass inconclusive not_measured" \
	"$(json '[.targets[].figures[].verdict] | join(" ")')"

# --- very much to say ----------------------------------------------------------
tell github many
valid github >"$work/found"
is "github: ten annotations" 10 "$(wc -l <"$work/found")"
is "github: the tenth says how many more there are" 1 \
	"$(tail -1 "$work/out" | grep -c '::111 more; the step summary has all$')"
is "github: errors come first" "error" \
	"$(cut -d' ' -f1 "$work/found" | sort -u)"
tell summary many
is "summary: has all of them" 120 "$(valid summary | wc -l)"
tell summary huge
valid summary >"$work/found"
is "summary: ends below 1 MiB" 0 $?
is "summary: and says that it does" 1 "$(tail -1 "$work/out" |
	grep -c 'more than a step summary may hold')"

# --- recorded before -----------------------------------------------------------
tell results report
is "results: what was recorded is not recorded again as of this machine" \
	"gate gate_host gate_target gate_verdict thread_wakeups thread_wakeups_summary " \
	"$(valid results | sort -u | tr '\n' ' ')"
tell table report
is "table: where it was recorded" "  report       results.txt" \
	"$(grep '^  report ' "$work/out")"
tell json report
is "json: where it was recorded" results.txt "$(json '.targets[0].report')"

# --- nothing to say ------------------------------------------------------------
tell github pass
is "github: nothing of a pass" 0 "$(wc -c <"$work/out")"
tell junit pass
is "junit: a pass" "idle_cpu pass " "$(valid junit)"
is "junit: no failure, no error" 1 \
	"$(grep -c '<testsuites .* failures="0" errors="0"' "$work/out")"

# --- numbers, where the point is a comma ---------------------------------------
comma=
for name in de_DE.utf8 de_DE.UTF-8 fr_FR.utf8 nl_NL.utf8; do
	if locale -a 2>/dev/null | grep -qx "$name"; then
		comma=$name
	fi
done
if [ -z "$comma" ] && command -v localedef >/dev/null 2>&1 &&
	[ -e /usr/share/i18n/locales/de_DE ]; then
	mkdir "$work/locale"
	localedef -i de_DE -f UTF-8 "$work/locale/de_DE.utf8" >/dev/null 2>&1
	export LOCPATH="$work/locale"
	comma=de_DE.utf8
fi
for format in table csv results junit bencher action github summary record; do
	what="$format: the same in a locale with a comma"
	if [ "$(LC_ALL=$comma locale decimal_point 2>/dev/null)" = , ]; then
		tell "$format"
		cp "$work/out" "$work/wanted"
		LC_ALL=$comma timeout 60 "$told" "$format" >"$work/got" \
			2>"$work/err"
		check "$what" cmp "$work/wanted" "$work/got"
	else
		skip "$what" "no locale with a decimal comma is to be had"
	fi
done
if [ "$(LC_ALL=$comma locale decimal_point 2>/dev/null)" = , ]; then
	LC_ALL=$comma timeout 60 "$told" json >"$work/out" 2>"$work/err"
	is "json: the same in a locale with a comma" 0.5128 \
		"$(json '.targets[0].figures[1].value.value')"
fi

# --- nowhere to say it ---------------------------------------------------------
for format in table json csv results junit; do
	"$told" "$format" >/dev/full 2>"$work/err"
	is "$format: a full disk is no success" 1 $?
done

done_testing
