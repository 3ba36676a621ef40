#!/bin/sh
# with-system.sh [--swap MIB] [--huge PAGES] COMMAND [ARGUMENT]...
#
# Runs a command while the machine has a swap file of so many MiB and so many
# reserved huge pages more, as root, and takes both back. Some tests of heaps
# are skipped without them. They are the whole machine's: nothing does this
# unasked.
set -u

swap=0
huge=0
while :; do
	case ${1:-} in
	--swap) swap=$2 ;;
	--huge) huge=$2 ;;
	*) break ;;
	esac
	shift 2
done
[ $# -gt 0 ] || {
	echo "usage: with-system.sh [--swap MIB] [--huge PAGES] COMMAND..." >&2
	exit 2
}

file=
pages=/proc/sys/vm/nr_hugepages
before=$(cat "$pages") || exit 1

undo() {
	status=$?
	trap - EXIT
	[ "$huge" = 0 ] || echo "$before" >"$pages"
	if [ -n "$file" ]; then
		swapoff "$file"
		rm -f -- "$file"
	fi
	exit "$status"
}
trap undo EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

if [ "$swap" != 0 ]; then
	file=$(mktemp /var/tmp/plimsoll-swap.XXXXXX) || exit 1
	chmod 600 "$file"
	dd if=/dev/zero of="$file" bs=1M count="$swap" 2>/dev/null &&
		mkswap "$file" >/dev/null && swapon "$file" || exit 1
fi
[ "$huge" = 0 ] || echo $((before + huge)) >"$pages" || exit 1
"$@"
