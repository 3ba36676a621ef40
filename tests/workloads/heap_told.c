/*
 * heap_told.c - what the process knows about its own memory (heap.h).
 *
 * mallinfo2 is glibc's own account; smaps_rollup is the kernel's, exact where
 * the counters in status may lag behind by a batch. Nothing here allocates,
 * so that asking does not change the answer.
 */
#include "heap.h"
#include "workload.h"

#include <fcntl.h>
#include <malloc.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

void heap_tell_mallinfo(void)
{
	struct mallinfo2 info = mallinfo2();

	workload_number("arena", info.arena);
	workload_number("ordblks", info.ordblks);
	workload_number("smblks", info.smblks);
	workload_number("hblks", info.hblks);
	workload_number("hblkhd", info.hblkhd);
	workload_number("usmblks", info.usmblks);
	workload_number("fsmblks", info.fsmblks);
	workload_number("uordblks", info.uordblks);
	workload_number("fordblks", info.fordblks);
	workload_number("keepcost", info.keepcost);
}

static void told_read(const char *path, char *text, size_t size)
{
	int file = open(path, O_RDONLY | O_CLOEXEC);
	size_t used = 0;

	if (file < 0)
		workload_fail(path);
	while (used + 1 < size) {
		ssize_t got = read(file, text + used, size - 1 - used);

		if (got < 0)
			workload_fail(path);
		if (got == 0)
			break;
		used += (size_t)got;
	}
	close(file);
	text[used] = '\0';
}

/* The bytes of a line `Key:   N kB`; 0 where there is none. */
static uint64_t told_bytes(const char *text, const char *key)
{
	const char *found = strstr(text, key);
	uint64_t value = 0;

	if (found == NULL)
		return 0;
	found += strlen(key);
	while (*found == ' ' || *found == '\t')
		found++;
	for (; *found >= '0' && *found <= '9'; found++)
		value = value * 10 + (uint64_t)(*found - '0');
	return value * 1024;
}

uint64_t heap_anonymous(void)
{
	static char text[4096];

	told_read("/proc/self/smaps_rollup", text, sizeof(text));
	return told_bytes(text, "\nAnonymous:");
}

void heap_tell_memory(void)
{
	static char text[8192];
	struct rusage usage;

	told_read("/proc/self/smaps_rollup", text, sizeof(text));
	workload_number("anonymous_bytes", told_bytes(text, "\nAnonymous:"));
	workload_number("pss_bytes", told_bytes(text, "\nPss:"));
	workload_number("huge_bytes", told_bytes(text, "\nAnonHugePages:"));
	workload_number("swap_bytes", told_bytes(text, "\nSwap:"));
	told_read("/proc/self/status", text, sizeof(text));
	workload_number("rss_anon_bytes", told_bytes(text, "\nRssAnon:"));
	workload_number("page_table_bytes", told_bytes(text, "\nVmPTE:"));
	if (getrusage(RUSAGE_SELF, &usage) != 0)
		workload_fail("getrusage");
	workload_number("faults_minor", (uint64_t)usage.ru_minflt);
	workload_number("faults_major", (uint64_t)usage.ru_majflt);
}
