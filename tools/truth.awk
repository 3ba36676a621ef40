# truth.awk - what the example workload counted for itself: the blocks of
# key=value lines that it prints, the first two of them around the report. The
# change between the two is shown per second, as the report shows it; the last
# block is its account of its whole life.
/^end$/ {
	block++
	next
}
/^[a-z_]+=[0-9]+$/ {
	split($0, part, "=")
	value[block + 0, part[1]] = part[2]
}
function change(key) {
	return value[1, key] - value[0, key]
}
END {
	if (block < 3) {
		print "the workload's account is incomplete"
		exit 1
	}
	seconds = change("monotonic_ns") / 1e9
	printf "The workload's own account of %.2f s around the report:\n", \
		seconds
	printf "  cpu           %.1f %% of one core\n", \
		100 * change("cpu_ns") / 1e9 / seconds
	printf "  wake-ups      %.0f/s\n", change("wakeups") / seconds
	printf "  written       %.0f bytes with fsync, %.0f/s\n", \
		change("disk_write_bytes"), \
		change("disk_write_bytes") / seconds
	printf "  memory held   %.1f MiB\n", \
		value[1, "anonymous_bytes"] / 1048576
	printf "  threads       %d\n", value[1, "threads"]
	printf "Of its whole life, as it ended:\n"
	printf "  cpu %.3f s, wake-ups %d, written %d bytes in %d fsyncs\n", \
		value[2, "cpu_ns"] / 1e9, value[2, "wakeups"], \
		value[2, "disk_write_bytes"], value[2, "fsyncs"]
}
