#!/bin/sh
# test_plim.sh - the command on a made-up Mac (scene.c): it is the same command
# as on Linux, so that what is looked at is that the backend's answers come out
# whole, with a reason for each figure that is missing, in the same JSON.
. "${PLIM_SOURCE:?is not set}/tests/cli/lib.sh"
plim=$build/tests/host_macos/plim-fake-macos

run ps --columns pid,ppid,name,state,wakeups,private_bytes
is "ps: status" 0 "$status"
check "ps: wake-ups of the user's own" grep -q '200 .*Mail .*4711' "$work/out"
check "ps: other users' are no number" \
	grep -q '300 .*WindowServer  *-  *-  *-$' "$work/out"

run cmdline 200
ends "cmdline" 0
is "cmdline: all arguments" "Mail --inbox 'a b'" "$(cat "$work/out")"
run cmdline 300
check "cmdline: another user's is refused" test "$status" != 0

run tree 200
ends "tree" 0
check "tree: has the child" grep -q 'MailHelper' "$work/out"
check "tree: names are escaped" grep -q 'MailHelper\\x0a' "$work/out"

run doctor
check "doctor: identity" grep -q 'unique ids' "$work/out"
check "doctor: other users" grep -q "name, parent, user, path, identity" "$work/out"

run threads 200
check "threads: a name is escaped" grep -q 'wor\\x1b\[31mker' "$work/out"

run ps --proc /somewhere
check "another proc root is refused" grep -q 'no proc file system' "$work/err"

if ! "$python" -c 'import jsonschema' 2>/dev/null; then
	skip "JSON against the schema" "python3-jsonschema is not installed"
	done_testing
	exit 0
fi

valid() {
	part=$1
	shift
	run "$@"
	check "plim $* is valid" "$python" "$source/tests/cli/tool.py" schema \
		"$schema" "$part" <"$work/out"
}
valid ps ps --json
for target in 200 202 300 1; do
	valid show show --json "$target"
	valid cmdline cmdline --json "$target"
done
valid threads threads --json 200
valid tree tree --json 200
valid doctor doctor --json
done_testing
