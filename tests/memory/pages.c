/*
 * pages.c - the kernel's account of a process's pages (pages.h).
 *
 * pagemap: 8 bytes a page; bit 63 present, bit 62 swapped, bit 56 exclusively
 * mapped (Documentation/admin-guide/mm/pagemap.rst). A blind read of a page
 * that is absent maps the shared zero page: it shows as present here, and in
 * no resident figure.
 */
#include "pages.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PAGES_SIZE 4096u

static int pages_range(int pagemap, uint64_t start, uint64_t end,
		       struct pages *pages)
{
	uint64_t entries[4096];

	while (start < end) {
		uint64_t wanted = (end - start) / PAGES_SIZE;
		ssize_t got;

		if (wanted > 4096)
			wanted = 4096;
		got = pread(pagemap, entries, (size_t)wanted * 8,
			    (off_t)(start / PAGES_SIZE * 8));
		if (got <= 0)
			return -1;
		for (ssize_t i = 0; i < got / 8; i++) {
			pages->present += entries[i] >> 63;
			pages->swapped += entries[i] >> 62 & 1;
			pages->exclusive += entries[i] >> 56 & 1;
		}
		start += (uint64_t)got / 8 * PAGES_SIZE;
	}
	return 0;
}

int pages_count(pid_t pid, struct pages *pages)
{
	struct pages sum = {0};
	char path[64];
	char line[4352];
	int result = 0;
	int pagemap;
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%ld/maps", (long)pid);
	maps = fopen(path, "re");
	if (maps == NULL)
		return -1;
	snprintf(path, sizeof(path), "/proc/%ld/pagemap", (long)pid);
	pagemap = open(path, O_RDONLY | O_CLOEXEC);
	if (pagemap < 0)
		result = -1;
	while (result == 0 && fgets(line, sizeof(line), maps) != NULL) {
		uint64_t start;
		uint64_t end;
		char protection[5];

		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s", &start, &end,
			   protection) == 3 &&
		    strcmp(protection, "rw-p") == 0)
			result = pages_range(pagemap, start, end, &sum);
	}
	fclose(maps);
	if (pagemap >= 0)
		close(pagemap);
	if (result == 0)
		*pages = sum;
	return result;
}

uint64_t pages_bytes(pid_t pid, const char *file, const char *key)
{
	size_t length = strlen(key);
	uint64_t value = UINT64_MAX;
	char path[64];
	char line[256];
	FILE *stream;

	snprintf(path, sizeof(path), "/proc/%ld/%s", (long)pid, file);
	stream = fopen(path, "re");
	if (stream == NULL)
		return value;
	while (fgets(line, sizeof(line), stream) != NULL) {
		uint64_t kib;

		if (strncmp(line, key, length) != 0 || line[length] != ':' ||
		    sscanf(line + length + 1, "%" SCNu64, &kib) != 1)
			continue;
		value = kib * 1024;
		break;
	}
	fclose(stream);
	return value;
}

uint64_t pages_major_faults(pid_t pid)
{
	char path[64];
	char line[1024];
	const char *behind;
	uint64_t faults = UINT64_MAX;
	FILE *stream;

	snprintf(path, sizeof(path), "/proc/%ld/stat", (long)pid);
	stream = fopen(path, "re");
	if (stream == NULL)
		return faults;
	/* The name may hold anything, a parenthesis included. */
	if (fgets(line, sizeof(line), stream) != NULL &&
	    (behind = strrchr(line, ')')) != NULL &&
	    sscanf(behind + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %" SCNu64,
		   &faults) != 1)
		faults = UINT64_MAX;
	fclose(stream);
	return faults;
}
