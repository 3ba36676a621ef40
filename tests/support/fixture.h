/*
 * fixture.h - a made-up proc file system in a temporary folder.
 *
 * Files are written byte by byte as the test wants them, removed, or made
 * unreadable. Everything is removed by fixture_free(), which never follows a
 * link out of the folder.
 */
#ifndef SUPPORT_FIXTURE_H
#define SUPPORT_FIXTURE_H

#include <stddef.h>
#include <sys/types.h>

struct fixture {
	char root[256];
};

/* An empty folder. */
void fixture_new(struct fixture *fixture);

/* What a recording of a host holds besides its processes: stat, uptime,
 * meminfo (swap: `swap_kb`), sys/kernel/random/boot_id and the like; waits
 * for storage are counted. */
void fixture_host(struct fixture *fixture, unsigned long swap_kb);

/* A plain process of uid 1000 and nice -5: 7 threads in its stat, 100 pages
 * resident, 40 of them anonymous, status and io to match, and one thread in
 * task/, which waited 5.55 ms for a CPU and 250 ms for storage. */
void fixture_process(struct fixture *fixture, long pid, const char *name,
		     size_t name_size);

/* Writes a file, with the folders on the way: "12/stat". */
void fixture_file(struct fixture *fixture, const char *path, const void *bytes,
		  size_t size);
void fixture_text(struct fixture *fixture, const char *path, const char *text);

void fixture_remove(struct fixture *fixture, const char *path);
void fixture_mode(struct fixture *fixture, const char *path, mode_t mode);
void fixture_free(struct fixture *fixture);

#endif
