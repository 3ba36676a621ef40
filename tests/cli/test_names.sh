#!/bin/sh
# test_names.sh - hostile names of processes: no byte of theirs reaches a
# terminal, JSON or CSV raw, and none is lost.
. "$(dirname -- "$0")/lib.sh"

# Escapes as printf %b takes them. The kernel keeps 15 bytes.
names='plain
two\nlines
a\rb\tc\0177d
\033[31mred\a
\0302\0233 2Jc1
a\0342\0200\0256gpj.exe
a\0342\0200\0213b\0357\0273\0277
\0342\0201\0246iso\0342\0201\0251
raw\0377\0376
half\0303
x\0360\0237\0230
\0355\0240\0200sur
a) R 1\n2 (
=cmd|'\'' /C calc'\''
+1-2
@sum(1)
q"uote,co\\\\mma
"},{"pid":1
</script><b>
%s%n%d
\0346\0227\0245\0346\0234\0254\0303\0251
 blank ends 
'

# everywhere WHAT PID HEX ROOT...: one process in every form of output.
everywhere() {
	what=$1
	id=$2
	bytes=$3
	shift 3
	run ps "$@" -o pid,name "pid = $id"
	check "$what: ps ends well" test "$status" = 0
	check "$what: the table is clean" tool clean <"$work/out"
	is "$what: the table has three lines" 3 "$(wc -l <"$work/out")"
	run ps "$@" --ascii -o pid,name "pid = $id"
	is "$what: --ascii leaves nothing above" "" \
		"$(LC_ALL=C tr -d '\n -~' <"$work/out")"
	run show "$@" "$id"
	check "$what: show is clean" tool clean <"$work/out"
	run report "$@" -d 2ms "$id"
	check "$what: report is clean" tool clean <"$work/out"
	for words in "ps -opid,name" "show"; do
		if [ "$words" = show ]; then
			run show "$@" --json "$id"
		else
			# shellcheck disable=SC2086
			run $words "$@" --json "pid = $id"
		fi
		check "$what: JSON of $words is clean" tool clean <"$work/out"
		check "$what: jq reads it" jq -e . "$work/out"
		is "$what: and the name is whole" "$id $bytes" \
			"$(tool names <"$work/out")"
	done
	run tree "$@" -o pid,name "$id"
	check "$what: the tree is clean" tool clean <"$work/out"
	run tree "$@" --json "$id"
	check "$what: JSON of tree is clean" tool clean <"$work/out"
	is "$what: and the name is whole there" "$id $bytes" \
		"$(jq .tree "$work/out" | tool names)"
	run ps "$@" --csv -o pid,name "pid = $id"
	check "$what: CSV is clean" tool clean crlf <"$work/out"
	is "$what: CSV has one row" "$id" \
		"$(tool csv <"$work/out" | jq -r .pid)"
	is "$what: no field begins as a formula does" "" \
		"$(tool csv <"$work/out" | jq -r .name | grep '^[=+@-]')"
}

start renamer
renamer=$pid
printf '%s' "$names" >"$work/names"
while IFS= read -r name; do
	bytes=$(hex "$name")
	ask "$renamer" "name $bytes"
	everywhere "$(printf '%s' "$name" | tr '#' '?')" "$renamer" "$bytes"
done <"$work/names"

# A name of one's own is found by exactly its bytes.
ask "$renamer" "name $(hex "a) R $$\\n (")"
run show --json "$(printf 'a) R %s\n (' "$$")"
is "a hostile name finds its process" "0 $renamer" \
	"$status $(json .process.pid)"

# The recording: all of them beside each other.
run ps --proc "$fixture" --json
check "recording: JSON" tool clean <"$work/out"
tool names <"$work/out" | sed -n 's/^1\([0-9]\) /\1 /p' >"$work/got"
for id in 10 11 12 13 14 15 16 17 18 19; do
	LC_ALL=C sed -n 'H; ${ x; s/^[^(]*(\(.*\)) [A-Z] .*/\1/; p; }' \
		"$fixture/$id/stat" >"$work/name"
	echo "${id#1} $(head -c -1 "$work/name" | od -An -v -tx1 |
		tr -d ' \n')"
done >"$work/wanted"
is "recording: every name is whole" "$(cat "$work/wanted")" \
	"$(cat "$work/got")"
run ps --proc "$fixture" --csv
check "recording: CSV" tool clean crlf <"$work/out"
is "recording: one row for each process" \
	"$(ls "$fixture" | grep -c '^[0-9]')" "$(tool csv <"$work/out" | wc -l)"
run ps --proc "$fixture"
check "recording: table" tool clean <"$work/out"
run ps --proc "$fixture" --tree
check "recording: forest" tool clean <"$work/out"
run ps --proc "$fixture" --tree --csv
check "recording: CSV of the forest" tool clean crlf <"$work/out"
run tree --proc "$fixture" --csv 16
check "recording: CSV of a tree" tool clean crlf <"$work/out"

# Arguments are as hostile as names.
start idle "$(printf 'a\033[2Jb\n\377\342\200\256x')" "it's" '' '$(id)' plain
run cmdline "$pid"
is "cmdline: arguments as a shell would need them, and clean" \
	"$workloads/idle"' '\''a\x1b[2Jb\x0a\xff\xe2\x80\xaex'\'\
' '\''it'\''\'\'''\''s'\'' '\'''\'' '\''$(id)'\'' plain' "$(cat "$work/out")"
run cmdline --json "$pid"
check "cmdline: JSON is clean" tool clean <"$work/out"
is "cmdline: JSON has each argument" \
	'["a\u001b[2Jb\n\\xff\u202ex","it'\''s","","$(id)","plain"]' \
	"$(jq -c -a '.arguments[1:]' "$work/out")"
done_testing
