#!/bin/sh
# test_status.sh - exit statuses: done 0, and the command's own of plim time.
. "$(dirname -- "$0")/lib.sh"

for words in "ps" "ps --json" "show 30" "report -d 2ms 30" "cmdline 20" \
	"doctor"; do
	# shellcheck disable=SC2086
	run $words --proc "$fixture"
	ends "plim $words: 0" 0
done
for code in 0 1 2 3 77 125 126 127 255; do
	run time --json -- sh -c "exit $code"
	is "time: the command's $code" "$code $code" \
		"$status $(json .exit_status)"
	run report --json -- sh -c "exit $code"
	is "report: 0, whatever the command's is; it is told" "0 $code" \
		"$status $(json .exit_status)"
done
for signal in 1 2 3 6 9 10 13 15; do
	run time --json -- sh -c "ulimit -c 0; kill -$signal \$\$"
	is "time: 128 + $signal" "$((128 + signal)) $signal" \
		"$status $(json .signal)"
done

cp "$source/NEWS.md" "$work/text"
chmod 644 "$work/text"
mkdir "$work/folder"
for command in time report; do
	run "$command" -- "$work/none"
	refuses "$command: a command that is not there: 127" 127 \
		"$work/none: no such command"
	run_with PATH=/usr/bin:/bin "$command" -- plim-has-no-such-command
	refuses "$command: nor in PATH: 127" 127 \
		"plim-has-no-such-command: no such command"
	run "$command" -- "$work/text"
	refuses "$command: one that cannot be executed: 126" 126 \
		"$work/text: EACCES"
	run "$command" -- "$work/folder"
	refuses "$command: a folder: 126" 126 \
		"$work/folder: EACCES"
	run "$command" -- ''
	is "$command: an empty name: 127" 127 "$status"
done
run time --proc "$fixture" -- true
is "time takes no --proc: 2" 2 "$status"

# The command's own output is its own.
run time -- sh -c 'echo out; echo err >&2; exit 5'
is "time: standard output is the command's" "5 out" \
	"$status $(cat "$work/out")"
check "and the account follows on standard error" \
	grep -q '^exit_status  *5$' "$work/err"
is "behind the command's" err "$(head -1 "$work/err")"
run time --json -- sh -c 'echo out'
is "time --json: the object follows the command's output" "out {" \
	"$(head -2 "$work/out" | tr '\n' ' ' | sed 's/ $//')"
run time --csv -- sh -c 'exit 5'
is "time --csv: a row" 5,1 "$status,$(tool csv <"$work/out" | wc -l)"
echo input >"$work/in"
is "time: standard input is the command's" input \
	"$("$plim" time -- cat <"$work/in" 2>/dev/null)"
run time -- sh -c 'kill -PIPE $$; echo survived'
is "time: the command's SIGPIPE is as it was for us" 141 "$status"
done_testing
