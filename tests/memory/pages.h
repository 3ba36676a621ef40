/*
 * pages.h - what the kernel has for a process, read without the library: to
 * see that looking at it changed nothing.
 */
#ifndef TESTS_MEMORY_PAGES_H
#define TESTS_MEMORY_PAGES_H

#include <stdint.h>
#include <sys/types.h>

/* Pages of all private writable mappings, by their pagemap entries. */
struct pages {
	uint64_t present; /* the shared zero page included */
	uint64_t swapped;
	uint64_t exclusive; /* mapped by this process alone */
};
/* 0, or -1 with errno. */
int pages_count(pid_t pid, struct pages *pages);

/* A line `Key: N kB` of /proc/PID/FILE, in bytes; UINT64_MAX: there is none.
 */
uint64_t pages_bytes(pid_t pid, const char *file, const char *key);

/* Major faults of the process, by its stat file; UINT64_MAX: not to be had. */
uint64_t pages_major_faults(pid_t pid);

#endif
