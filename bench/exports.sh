#!/bin/sh
# exports.sh - all exports of one run of redis under load, 30 s at 499 Hz, each
# opened by the program that people open it with; what they say of every
# thread, function and library is compared (tests/cli/profile_six.py).
# BENCH_QUICK=1 samples for 3 s. Ends with 1 if anything differs.
#
# packages: redis-server redis-tools golang-go nodejs npm python3
set -u
plim=$PLIM_BUILD_DIR/cli/plim
npm=${PLIM_NPM:-$PLIM_BUILD_DIR/../npm}/node_modules
window=30s
[ -z "${BENCH_QUICK:-}" ] || window=3s
work=$(mktemp -d) || exit 1
server=
load=
end_all() {
	status=$?
	trap - EXIT
	for pid in $load $server; do
		kill "$pid" 2>/dev/null
	done
	rm -rf "$work"
	exit "$status"
}
trap end_all EXIT
trap 'exit 130' INT TERM

redis-server --port 0 --unixsocket "$work/socket" --save '' --dir "$work" \
	--io-threads 2 >/dev/null &
server=$!
while [ ! -S "$work/socket" ]; do
	kill -0 "$server" 2>/dev/null || exit 1
	sleep 0.1
done
redis-benchmark -s "$work/socket" -t get,set,lrange,zadd -c 20 -P 4 \
	-n 1000000 -r 10000 -l -q >/dev/null 2>&1 &
load=$!
sleep 1
"$plim" profile -F 499 --for "$window" -V wall -o "$work/p.html" \
	-o "$work/p.pb.gz" -o "$work/p.folded" -o "$work/p.speedscope.json" \
	-o "$work/p.firefox.json" -o "$work/p.json" "$server" || exit 1
PYTHONDONTWRITEBYTECODE=1 python3 tests/cli/profile_six.py "$npm" \
	json="$work/p.json" collapsed="$work/p.folded" \
	speedscope="$work/p.speedscope.json" flame="$work/p.html" \
	firefox="$work/p.firefox.json" pprof="$work/p.pb.gz"
