#!/bin/sh
# test_profile_six.sh - all exports of one run of a program whose threads,
# functions, file and perf map have hostile names, each opened by the program
# that people open it with: what they say of every thread, function and library
# is the same, and every name is there. speedscope and profiler-cli come from
# npm (tools/npm, put beside the build folder by ./dev test, or into PLIM_NPM).
. "$(dirname -- "$0")/lib.sh"
npm=${PLIM_NPM:-$build/../npm}/node_modules

# Its path is the name of a library.
program="$work/li;b \"<&'\\
$(printf '\377') x"
"$python" "$source/tests/cli/hostile.py" "$workloads/hostile" "$program"
chmod 755 "$program"
mkfifo "$work/in"
"$program" <>"$work/in" >"$work/in.out" 2>&1 &
hostile=$!
started="$started $hostile"
await "the program to start" grep -q ' ready$' "$work/in.out"

(
	cd "$work" && timeout -k 5 60 "$plim" profile -F 499 --for 1s \
		-V wall -o p.html -o p.pb.gz -o p.folded -o p.speedscope.json \
		-o p.firefox.json -o p.json "$hostile" >out 2>err </dev/null
)
status=$?
rm -f "/tmp/perf-$hostile.map"
stop "$hostile"
if [ "$status" != 0 ] && grep -q 'perf' "$work/err"; then
	skip "profiles" "perf events are refused to this user"
	done_testing
	exit 0
fi
ends "six files of one run" 0
check "names, which none of them has lost" "$python" \
	"$source/tests/cli/hostile.py" --check "$work/p.json"
set -- json="$work/p.json" collapsed="$work/p.folded" \
	speedscope="$work/p.speedscope.json" flame="$work/p.html" \
	firefox="$work/p.firefox.json" pprof="$work/p.pb.gz"
check "all files say the same" "$python" \
	"$source/tests/cli/profile_check.py" "$@"
if [ -z "$(find_browser)" ]; then
	skip "all programs say the same" "chromium is not installed"
elif [ ! -d "$npm/speedscope" ] || [ ! -d "$npm/@firefox-devtools" ]; then
	skip "all programs say the same" "npm has not brought speedscope"
elif ! command -v go >/dev/null 2>&1; then
	skip "all programs say the same" "golang-go is not installed"
else
	check "all programs say the same" timeout -k 5 150 "$python" \
		"$source/tests/cli/profile_six.py" "$npm" "$@"
fi
done_testing
