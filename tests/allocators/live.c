/*
 * live.c - an image of a live process for tests (live.h).
 *
 * A page is resident if pagemap says present (bit 63) and swapped by bit 62;
 * the zero page is told by its number where root may see it. Every read of a
 * page that pagemap did not call present ends the test: that is what no reader
 * may do.
 */
#include "live.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int live_page_of(uint64_t entry)
{
	int page = 0;

	if (entry >> 63 & 1)
		page = PLIMP_PAGE_READABLE | PLIMP_PAGE_RESIDENT;
	else if (entry >> 62 & 1)
		page = PLIMP_PAGE_SWAPPED;
	if (page != 0 && (entry >> 61 & 1))
		page |= PLIMP_PAGE_FILE;
	if (page != 0 && (entry >> 56 & 1))
		page |= PLIMP_PAGE_EXCLUSIVE;
	return page;
}

static int live_pages(void *user, uint64_t address, size_t count,
		      uint8_t *pages)
{
	struct live_image *live = user;

	memset(pages, 0, count);
	for (size_t i = 0; i < count;) {
		uint64_t entries[512];
		size_t part = count - i < 512 ? count - i : 512;
		ssize_t got = pread(live->pagemap, entries, part * 8,
				    (off_t)((address / 4096 + i) * 8));

		if (got <= 0)
			return PLIM_OK; /* nobody has such an address */
		for (size_t j = 0; j < (size_t)got / 8; j++)
			pages[i + j] = (uint8_t)live_page_of(entries[j]);
		i += (size_t)got / 8;
	}
	return PLIM_OK;
}

static int live_read(void *user, uint64_t address, void *buffer, size_t size,
		     size_t *copied)
{
	struct live_image *live = user;
	uint64_t first = address / 4096;
	uint64_t last = (address + size - 1) / 4096;
	ssize_t got;

	for (uint64_t page = first; page <= last; page++) {
		uint8_t flags;

		live_pages(live, page * 4096, 1, &flags);
		if (!(flags & PLIMP_PAGE_READABLE)) {
			fprintf(stderr, "read of a page that is not there\n");
			abort();
		}
	}
	got = pread(live->memory, buffer, size, (off_t)address);
	if (got < 0)
		return PLIM_ESYSTEM;
	live->reads++;
	live->bytes += (uint64_t)got;
	*copied = (size_t)got;
	return PLIM_OK;
}

/* --- files ------------------------------------------------------------------
 */

static int live_file_pages(void *user, uint64_t address, size_t count,
			   uint8_t *pages)
{
	struct plimp_file *file = user;

	for (size_t i = 0; i < count; i++)
		pages[i] =
		    address + i * 4096 < file->size ? PLIMP_PAGE_READABLE : 0;
	return PLIM_OK;
}

static int live_file_read(void *user, uint64_t address, void *buffer,
			  size_t size, size_t *copied)
{
	struct plimp_file *file = user;
	ssize_t got = pread((int)(intptr_t)file->system - 1, buffer, size,
			    (off_t)address);

	if (got < 0)
		return PLIM_ESYSTEM;
	*copied = (size_t)got;
	return PLIM_OK;
}

static int live_open_file(void *user, const struct plimp_mapping *mapping,
			  struct plimp_file *file)
{
	struct live_image *live = user;
	char path[4096];
	struct stat state;
	int descriptor;

	snprintf(path, sizeof(path), "/proc/%d/map_files/%llx-%llx", live->pid,
		 (unsigned long long)mapping->start,
		 (unsigned long long)mapping->end);
	/* That needs CAP_CHECKPOINT_RESTORE; by its name it is not proven. */
	descriptor = open(path, O_RDONLY | O_CLOEXEC);
	if (descriptor < 0) {
		snprintf(path, sizeof(path), "%.*s", (int)mapping->name_size,
			 live->space.texts.bytes + mapping->name_start);
		descriptor = open(path, O_RDONLY | O_CLOEXEC);
	}
	if (descriptor < 0)
		return PLIM_EUNSUPPORTED;
	if (fstat(descriptor, &state) != 0 || !S_ISREG(state.st_mode) ||
	    state.st_ino != mapping->inode) {
		close(descriptor);
		return PLIM_EUNSUPPORTED;
	}
	memset(file, 0, sizeof(*file));
	file->reader.page_bytes = 4096;
	file->reader.pages = live_file_pages;
	file->reader.read = live_file_read;
	file->reader.user = file;
	file->size = (uint64_t)state.st_size;
	file->system = (void *)(intptr_t)(descriptor + 1);
	return PLIM_OK;
}

static void live_close_file(void *user, struct plimp_file *file)
{
	(void)user;
	close((int)(intptr_t)file->system - 1);
	memset(file, 0, sizeof(*file));
}

/* --- maps -------------------------------------------------------------------
 */

static void live_add_name(struct plimp_space *space,
			  struct plimp_mapping *mapping, const char *name)
{
	struct plimp_text_list *texts = &space->texts;
	size_t size = strlen(name);

	texts->bytes = realloc(texts->bytes, texts->size + size + 1);
	if (texts->bytes == NULL)
		abort();
	memcpy(texts->bytes + texts->size, name, size);
	mapping->name_start = texts->size;
	mapping->name_size = size;
	texts->size += size;
	texts->capacity = texts->size + 1;
}

static void live_add_line(struct plimp_space *space, char *line)
{
	struct plimp_mapping mapping = {0};
	unsigned long long start, end, offset, inode;
	unsigned major, minor;
	char bits[5];
	int name = 0;

	line[strcspn(line, "\n")] = '\0';
	if (sscanf(line, "%llx-%llx %4s %llx %x:%x %llu %n", &start, &end, bits,
		   &offset, &major, &minor, &inode, &name) != 7)
		abort();
	mapping.start = start;
	mapping.end = end;
	mapping.offset = offset;
	mapping.inode = inode;
	mapping.device = (uint64_t)major << 32 | minor;
	mapping.protection = (bits[0] == 'r' ? PLIMP_MAY_READ : 0u) |
			     (bits[1] == 'w' ? PLIMP_MAY_WRITE : 0u) |
			     (bits[2] == 'x' ? PLIMP_MAY_EXECUTE : 0u) |
			     (bits[3] == 's' ? PLIMP_IS_SHARED : 0u);
	live_add_name(space, &mapping, line + name);
	space->items =
	    realloc(space->items, (space->count + 1) * sizeof(*space->items));
	if (space->items == NULL)
		abort();
	space->items[space->count++] = mapping;
	space->capacity = space->count;
}

static int live_maps(struct live_image *live)
{
	char path[64];
	char line[8192];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/maps", live->pid);
	file = fopen(path, "re");
	if (file == NULL)
		return -1;
	while (fgets(line, sizeof(line), file) != NULL)
		live_add_line(&live->space, line);
	fclose(file);
	return 0;
}

static int live_descriptor(int pid, const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	return open(path, O_RDONLY | O_CLOEXEC);
}

int live_open(struct live_image *live, int pid)
{
	static const plim_allocator allocator = {0};

	memset(live, 0, sizeof(*live));
	live->pid = pid;
	live->memory = live_descriptor(pid, "mem");
	live->pagemap = live_descriptor(pid, "pagemap");
	if (live->memory < 0 || live->pagemap < 0 || live_maps(live) != 0) {
		int error = errno;

		live_close(live);
		errno = error;
		return -1;
	}
	live->image.allocator = &allocator;
	live->image.space = &live->space;
	live->image.machine = 62;
	live->image.reader.page_bytes = 4096;
	live->image.reader.has_residency = 1;
	live->image.reader.pages = live_pages;
	live->image.reader.read = live_read;
	live->image.reader.user = live;
	live->image.open_file = live_open_file;
	live->image.close_file = live_close_file;
	live->image.user = live;
	return 0;
}

void live_close(struct live_image *live)
{
	if (live->memory >= 0)
		close(live->memory);
	if (live->pagemap >= 0)
		close(live->pagemap);
	free(live->space.items);
	free(live->space.texts.bytes);
	memset(&live->space, 0, sizeof(live->space));
}
