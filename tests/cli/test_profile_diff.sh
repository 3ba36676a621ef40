#!/bin/sh
# test_profile_diff.sh - plim profile diff: profiles whose truth is written
# out, to the byte; files of every form, and what is none; one word that is
# the name of a process as well.
. "$(dirname -- "$0")/lib.sh"
told=$build/tests/cli/profile-told

# make FORM FILE [FUNCTION=SAMPLES...]
make() {
	form=$1
	file=$work/$2
	shift 2
	"$python" "$source/tests/cli/profile_made.py" "$form" "$@" >"$file" ||
		echo "# cannot make $file"
}

cd "$work" || exit 1
# A fifth of the time made a fifth slower; all the time there is was used.
make json before.json main/parse=3000 main/render=7500 main/hash=3000 \
	main/idle/tick=1690 main/rare=10
make json after.json main/parse=3461 main/render=7212 main/hash=2885 \
	main/idle/tick=1625 main/rare=10
make pprof before.pb.gz main/parse=3000 main/render=7500 main/hash=3000 \
	main/idle/tick=1690 main/rare=10
make pprof after.pb.gz main/parse=3461 main/render=7212 main/hash=2885 \
	main/idle/tick=1625 main/rare=10

run profile diff before.json after.json
golden profile_diff "a function that became slower"
run profile diff before.json after.json --limit 1 --ascii --detect 10%
golden profile_diff_short "one row, another size"
run profile diff --csv before.json after.json
golden profile_diff_csv
run profile diff before.json before.json
is "nothing changed in what is the same" \
	"compared     shares of CPU time: 0 changed, 5 the same within noise, 2 with not enough samples" \
	"$(head -1 "$work/out")"
is "its status" 0 "$status"

# Whatever the form is, the answer is one.
for pair in "before.pb.gz after.pb.gz" "before.json after.pb.gz" \
	"before.pb.gz after.json"; do
	# shellcheck disable=SC2086
	run profile diff $pair --csv
	check "$pair say the same" cmp "$golden_folder/profile_diff_csv.out" \
		"$work/out"
done
gzip -dc before.pb.gz >before.pb
gzip -c after.json >after.json.gz
run profile diff before.pb after.json.gz --csv
check "compressed or not" cmp "$golden_folder/profile_diff_csv.out" "$work/out"
if command -v jq >/dev/null 2>&1; then
	jq -S . <before.json >sorted.json
	run profile diff sorted.json after.json --csv
	check "members in any order" cmp \
		"$golden_folder/profile_diff_csv.out" "$work/out"
else
	skip "members in any order" "jq is not installed"
fi

run profile diff before.json before.json -- after.json after.pb.gz --json
is "a file behind -- is a file" 2 "$status"
run profile diff --json before.json before.pb.gz -- after.json after.pb.gz
if "$python" -c 'import jsonschema' 2>/dev/null; then
	check "JSON is valid" tool schema "$schema" profile_diff <"$work/out"
else
	skip "JSON against the schema" "python3-jsonschema is not installed"
fi
is "two profiles a side" "2 30400 2 1 changed parse" "$("$python" -c '
import json, sys
d = json.load(sys.stdin)["diff"]
row = d["functions"][0]
print(d["before"]["profiles"], d["before"]["samples"], d["after"]["profiles"],
      d["changed"], row["verdict"], row["name"])' <"$work/out")"

# What plim writes it reads: every form has the same shares.
timeout 60 "$told" json cpu >told.json </dev/null
timeout 60 "$told" pprof cpu >told.pb.gz </dev/null
run profile diff --json told.json told.pb.gz
is "plim's own JSON and pprof are one" "True 0" "$("$python" -c '
import json, sys
d = json.load(sys.stdin)["diff"]
print(all(r["before"] == r["after"] for r in d["functions"]), d["changed"])
' <"$work/out")"

# --- the page ------------------------------------------------------------------

# page NAME BEFORE AFTER: the page of a comparison, and its JSON.
page() {
	run profile diff --json "$2" "$3"
	cp "$work/out" "$1.json"
	run profile diff "$2" "$3" -o "$1.html"
}

run profile diff before.json after.json -o diff.html
is "the text is told besides" \
	"compared     shares of CPU time: 1 changed, 4 the same within noise, 2 with not enough samples" \
	"$(head -1 "$work/out")"
run profile diff before.json after.json --format flame
check "or the page alone" cmp diff.html "$work/out"
run profile diff --csv before.json after.json -o both.html
check "or CSV besides" cmp "$golden_folder/profile_diff_csv.out" "$work/out"
check "and the same page" cmp diff.html both.html
if [ -n "$(find_browser)" ]; then
	make json less.json main/parse=3000 main/render=5000 main/hash=3000 \
		main/idle/tick=1690 main/rare=10
	make json two.json main/parse=5000 main/render=5000
	make json other.json main/parse=5000 main/render=6000
	page slower before.json after.json
	page faster before.json less.json
	page either two.json other.json
	page hostile told.json told.pb.gz
	timeout -k 5 100 "$python" "$source/tests/cli/diff_opened.py" \
		slower faster either hostile >opened.out 2>&1
	is "red, blue, neither, and hostile names" \
		"slower: few more same
faster: few less same
either: few open
hostile: few" "$(cat opened.out)"
else
	skip "the page in a browser" "chromium is not installed"
fi

# --- what runs -----------------------------------------------------------------

# A second of CPU time each, of a program with eight functions; fifth(), which
# has 20 of 100, does 2.5 times as much. One comparison in 100 may name another
# beside it, but not one that is five errors out.
parts=$build/tests/workloads/parts
"$plim" profile -F 999 --for 200s -o quick.json -- "$parts" 1 \
	>/dev/null 2>quick.err &
quick=$!
"$plim" profile -F 999 --for 200s -o slow.json -- "$parts" 1 150 \
	>/dev/null 2>slow.err
slow=$?
if wait "$quick" && [ "$slow" = 0 ]; then
	run profile diff --json quick.json slow.json
	is "a function that was made slower is found, and no other" \
		"fifth self False near []" "$("$python" -c '
import json, sys
rows = json.load(sys.stdin)["diff"]["functions"]
row = rows[0]
near = abs(row["change"] - 1.5) < 5 * row["change_error"]
print(row["name"], row["of"], row["open"], "near" if near else row["change"],
      [one["name"] for one in rows[1:] if one["verdict"] == "changed" and
       abs(one["z"]) > 5])' <"$work/out")"
	run profile diff --json slow.json quick.json
	is "also the other way round" "fifth less" "$("$python" -c '
import json, sys
row = json.load(sys.stdin)["diff"]["functions"][0]
print(row["name"], "less" if row["change"] < 0 else row["change"])' \
		<"$work/out")"
elif grep -q perf quick.err slow.err; then
	skip "profiles of what runs" "perf events are refused to this user"
else
	is "profiles of what runs" "" "$(cat quick.err slow.err)"
fi

# --- what is none --------------------------------------------------------------

# refuse WHAT STATUS MESSAGE WORD...
refuse() {
	what=$1
	wanted=$2
	message=$3
	shift 3
	run "$@"
	is "$what" "$wanted $message" "$status $(head -1 "$work/err")"
}

printf '{"a": 1}' >other.json
printf 'hello' >text
: >empty
head -c 60 before.pb.gz >cut.pb.gz
refuse "other JSON" 2 \
	"plim: other.json: no profile that can be read: this JSON is no profile of plim, at byte 8" \
	profile diff before.json other.json
refuse "a text" 2 \
	"plim: text: no profile that can be read: this is no profile.proto, at byte 3" \
	profile diff text before.json
refuse "nothing" 2 \
	"plim: empty: no profile that can be read: it is empty, at byte 0" \
	profile diff empty before.json
refuse "half a file" 2 \
	"plim: cut.pb.gz: no profile that can be read: its compression is broken, at byte 0" \
	profile diff before.json cut.pb.gz
refuse "no file" 2 "plim: none: ENOENT" profile diff before.json none
refuse "an option of sampling" 2 \
	"plim: profile diff: it samples nothing; --detect, --limit, --json, --csv and -o FILE.html are its options" \
	profile diff --for 3s before.json after.json
refuse "another form" 2 \
	"plim: profile diff: a flame graph is what it writes to a file: -o FILE.html" \
	profile diff before.json after.json -o diff.txt
check "and nothing is written" test ! -e diff.txt
refuse "two things on standard output" 2 \
	"plim: profile diff: --json or --csv and the page cannot both be printed" \
	profile diff --csv before.json after.json -o flame:-
refuse "three files and no --" 2 \
	"plim: usage: plim profile diff BEFORE AFTER, or BEFORE ... -- AFTER ..." \
	profile diff before.json after.json after.json
refuse "no change at all" 2 \
	"plim: --detect: '0%' is no change: write 20%" \
	profile diff before.json after.json --detect 0%
run profile diff
is "one word is a process" 1 "$status"
done_testing
