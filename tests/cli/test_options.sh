#!/bin/sh
# test_options.sh - the command line itself: help, versions, and every way to
# write it wrong: a message that names what and the nearest, status 2.
. "$(dirname -- "$0")/lib.sh"


# wrong MESSAGE ARGUMENT...: a usage error.
wrong() {
	message=$1
	shift
	run "$@"
	refuses "plim $(printf '%s ' "$@")" 2 "$message"
}

# --- help and version -------------------------------------------------------
for command in report ps show tree threads idle mem profile cmdline time gate \
	doctor help; do
	run "$command" --help
	golden "help-$command"
	check "help of $command ends with an example that names it" \
		grep -q "^example: plim $command" "$work/out"
	cp "$work/out" "$work/long"
	run "$command" -h
	check "-h of $command is the same" cmp -s "$work/long" "$work/out"
	run help "$command"
	check "help $command is the same" cmp -s "$work/long" "$work/out"
done
run --help
golden help
cp "$work/out" "$work/long"
run -h
check "-h is the same" cmp -s "$work/long" "$work/out"
run help
check "help alone is the same" cmp -s "$work/long" "$work/out"
run
is "without a command: status 2" 2 "$status"
check "without a command: the help, on standard error" \
	cmp -s "$work/long" "$work/err"
check "and nothing on standard output" test ! -s "$work/out"
run --version
is "--version" "plim $(sed -n "s/^  version: '\(.*\)',/\1/p" \
	"$source/meson.build")" "$(cat "$work/out")"
ends "--version ends well" 0
run -V
ends "-V" 0
for command in report ps show tree threads idle mem profile cmdline time gate \
	doctor help; do
	check "help lists $command" grep -q "^  $command " "$work/long"
done

# --- commands ---------------------------------------------------------------
wrong "unknown command 'pss'; did you mean 'ps'?" pss
wrong "unknown command 'reprot'; did you mean 'report'?" reprot 1
wrong "unknown command 'docter'; did you mean 'doctor'?" docter
wrong "unknown command 'frobnicate'; 'plim --help' lists them" frobnicate
wrong "unknown command ''; 'plim --help' lists them" ''
wrong 'unknown command '\''\x1b[31m'\''; '\''plim --help'\'' lists them' \
	"$(printf '\033[31m')"
wrong "help: unknown command 'pss'; did you mean 'ps'?" help pss

# --- options ----------------------------------------------------------------
wrong "ps: unknown option '--jsn'; did you mean '--json'?" ps --jsn
wrong "ps: unknown option '--colum'; did you mean '--columns'?" ps --colum pid
wrong "show: unknown option '--frobnicate'; see 'plim show --help'" \
	show --frobnicate 1
wrong "ps: unknown option '-q'; see 'plim ps --help'" ps -q
wrong "show: unknown option '--sort'; see 'plim show --help'" show --sort pid
wrong "cmdline: unknown option '--csv'; see 'plim cmdline --help'" \
	cmdline --csv 1
wrong "show: unknown option '-1'; see 'plim show --help'" show -1
wrong "--json takes no value" ps --json=1
wrong "--for needs D" show --for
wrong "-d needs D" show -d
wrong "--sort needs FIELD" ps --sort
wrong "--proc needs DIR" ps --proc
wrong "--color: 'blue' is none of auto, always, never" ps --color=blue
run ps --json --columns=pid --limit=1 --proc="$fixture"
ends "long options take = as well" 0
run ps -jopid -l1 --proc "$fixture"
ends "letters can be joined, the last with its value" 0
is "and mean the same" 1 "$(json '.processes | length')"

# --- durations and numbers --------------------------------------------------
for bad in 3x 3 '' -1s 1e3s '1 x' 0x10s nan inf 99999999999999999999s; do
	wrong "--for: '$bad' is no duration: write 3s, 500ms or 2m" \
		show --for "$bad" 1
done
for bad in 0s 0ms 1us 8d 1000h; do
	wrong "--every: '$bad' is not between 1ms and 7d" \
		ps --every "$bad"
done
for bad in 0 -1 1.5 1k x '' 18446744073709551616; do
	wrong "--limit: '$bad' is no number from 1 up" ps --limit "$bad"
	wrong "--rounds: '$bad' is no number from 1 up" ps --rounds "$bad"
done
for good in 1ms 0.001s 20ms; do
	run show --proc "$fixture" --for "$good" 30
	ends "--for $good" 0
done

# --- profiles ---------------------------------------------------------------
wrong "--view: 'cpus' is none of cpu, off, wall" profile --view cpus 1
wrong "--event: 'x' is none of cpu, cycles" profile -e x 1
wrong "--format: 'svg' is none of text, pprof, collapsed, json, csv, speedscope, flame, firefox" \
	profile --format svg 1
wrong "--output: the end of 'p.gz' is none of .pb.gz, .pprof, .folded, .collapsed, .speedscope.json, .firefox.json, .html, .json, .csv and .txt; say --format, or FORMAT:FILE" \
	profile -o p.gz 1
wrong "profile: --csv and --format text cannot both be meant" \
	profile --csv --format text 1
wrong "--tid: '0' is no number from 1 up" profile --tid 0 1
wrong "--tid: '2147483648' is the id of no thread" profile --tid 2147483648 1
wrong "--thread: no thread is called ''" profile --thread '' 1
wrong "--frequency: '0' is no number from 1 up" profile -F 0 1
wrong "--budget: '101%' is no share of its time: write 1%" \
	profile --budget 101% 1
wrong "--budget: '1' is no share of its time: write 1%" profile --budget 1 1
wrong "--pause is the worst pause of --budget: give both" \
	profile --pause 2ms 1
wrong "profile: a command that is not started has no threads to name; --tid is of a process" \
	profile --tid 1 -- true
wrong "usage: plim profile [options] PID | -- CMD [ARG ...] | diff A ... [--] B ..." profile

# --- operands ---------------------------------------------------------------
wrong "usage: plim show [options] PID" show
wrong "usage: plim cmdline [options] PID" cmdline
wrong "usage: plim report [options] PID | -- CMD [ARG ...]" report
wrong "usage: plim time [options] -- CMD [ARG ...]" time
wrong "time: what is 'true' for? usage: plim time [options] -- CMD [ARG ...]" \
	time true
wrong "show: what is '2' for? usage: plim show [options] PID" show 1 2
wrong "doctor: what is '1' for? usage: plim doctor [options]" doctor 1
wrong "help: what is 'show' for? usage: plim help [COMMAND]" help ps show
wrong "time: no command stands behind '--'" time --
wrong "report: no command stands behind '--'" report --
wrong "report takes a process or a command, not both" report 1 -- true
wrong "show: what is 'true' for? usage: plim show [options] PID" show 1 -- true
run ps --proc "$fixture" --json -- 'pid = 35'
is "behind -- stand operands where no command does" 35 \
	"$(json '.processes[].pid')"

# --- fields and filters -----------------------------------------------------
wrong "column nme: no such name, at byte 0; did you mean 'name'?" ps -o pid,nme
wrong "column resdent: no such name, at byte 0; did you mean 'resident'?" \
	ps --sort resdent
wrong "column cpu_percnt: no such name, at byte 0; did you mean 'cpu_percent'?" \
	ps --sort cpu_percnt
wrong "column zzzzzzzz: no such name, at byte 0; plim(1) lists the fields" ps -o zzzzzzzz
wrong "column: no such name, at byte 0; a name is missing between two commas" \
	ps -o pid,,name
wrong "column resident_per_second: no such name, at byte 0; plim(1) lists the fields" \
	ps -o resident_per_second
wrong "filter resdent: no such name, at byte 0; did you mean resident?" \
	ps 'resdent > 1MiB'
wrong "filter: the text cannot be understood, at byte 10; expected a quantity" \
	ps 'resident >'
for bad in '(' 'resident > 1MiB and' 'name ~' 'pid = 1 1' 'resident > 1parsec' \
	'not' '"' "$(printf '\377')"; do
	run ps "$bad"
	is "plim ps '$bad': status 2" 2 "$status"
	is "plim ps '$bad': one line of message" 1 "$(wc -l <"$work/err")"
	check "plim ps '$bad': that is clean" tool clean <"$work/err"
	check "plim ps '$bad': and begins so" \
		grep -q '^plim: filter' "$work/err"
done
many=$(printf '%5000s' '' | sed 's/ / or pid = 1/g')
run ps "pid = 1$many"
is "a filter beyond the bound: status 2" 2 "$status"
check "a filter beyond the bound: one short line" \
	test "$(wc -c <"$work/err")" -lt 1000
wrong "column pid: an inventory is larger than its documented bound, at byte 0;\
 that is one column too many" \
	ps -o "$(printf '%300s' '' | sed 's/ /pid,/g')pid"

# --- usage errors with --json -----------------------------------------------
for words in '--jsn' '--for 3x' '1 2' ''; do
	# shellcheck disable=SC2086
	run show --json $words
	is "plim show --json $words: status 2" 2 "$status"
	is "plim show --json $words: an error object on standard output" \
		'["object","string"]' \
		"$(json '[(.error | type), (.error.message | type)]')"
	check "plim show --json $words: nothing on standard error" \
		test ! -s "$work/err"
done
run ps --json 'resdent > 1'
is "a wrong filter with --json: status 2" 2 "$status"
is "a wrong filter with --json: code, path and position" \
	'["unknown_name","resdent",0]' \
	"$(json '.error | [.code, .path, .position]')"
run time -- sh -c 'echo "$1"; exit 3' sh --json
is "--json behind -- is the command's own" "--json 3" \
	"$(cat "$work/out") $status"
done_testing
