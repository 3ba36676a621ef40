/*
 * lens_file.c - the files behind mappings, and files of this machine.
 *
 * A target names its own files, so that a path of its may lead anywhere: to a
 * pipe whose opening waits, or to a device whose opening does something. So a
 * path is opened with O_PATH, which opens nothing, looked at, and only what is
 * found to be a regular file is then opened by that descriptor. What it is
 * proven by: the kernel's own link of the mapping (map_files, which takes
 * CAP_SYS_ADMIN or CAP_CHECKPOINT_RESTORE) needs no proof; a name below the
 * process's own root is believed when device and inode are those that maps
 * tells. Where a file system shows other numbers there (btrfs, overlayfs) a
 * mapping of our own is looked up in the same list.
 */
#include "host/linux/gnu.h"

#include "core/fail.h"
#include "core/memory.h"
#include "host/linux/lens.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* What a plimp_file holds. */
struct file_grip {
	plim_host *host;
	int descriptor;
	uint32_t page_bytes;
};

static int file_pages(void *user, uint64_t address, size_t count,
		      uint8_t *pages)
{
	struct file_grip *grip = user;
	struct stat status;
	size_t i;

	assert(address % grip->page_bytes == 0);
	if (plimp_call_fstat(grip->host, grip->descriptor, &status) != 0)
		return PLIM_ESYSTEM;
	for (i = 0; i < count; i++)
		pages[i] =
		    address / grip->page_bytes + i <
			    ((uint64_t)status.st_size + grip->page_bytes - 1) /
				grip->page_bytes
			? PLIMP_PAGE_READABLE
			: 0;
	return PLIM_OK;
}

static int file_read(void *user, uint64_t address, void *buffer, size_t size,
		     size_t *copied)
{
	struct file_grip *grip = user;
	size_t got = 0;

	while (got < size && address + got < (uint64_t)INT64_MAX) {
		ssize_t count;

		grip->host->bill.system_calls++;
		count = pread(grip->descriptor, (char *)buffer + got,
			      size - got, (off_t)(address + got));
		if (count < 0 && errno == EINTR)
			continue;
		if (count < 0)
			return PLIM_ESYSTEM;
		if (count == 0)
			break;
		grip->host->bill.bytes_read += (uint64_t)count;
		got += (size_t)count;
	}
	*copied = got;
	return PLIM_OK;
}

/* An O_PATH descriptor of a regular file, opened for reading; -1 and errno. The
 * numbers are the same by which the caller's own descriptors are named. */
static int file_reopen(plim_host *host, int path)
{
	char name[32];
	int root = host->system->live ? host->system->root : AT_FDCWD;

	snprintf(name, sizeof name, "%sself/fd/%d",
		 host->system->live ? "" : "/proc/", path);
	return plimp_call_open(host, root, name,
			       O_RDONLY | O_NONBLOCK | O_NOCTTY);
}

/* Takes over `path`, an O_PATH descriptor, and fills the file. 0 or the error;
 * EINVAL for what is no regular file. */
static int file_take(plim_host *host, int path, struct plimp_file *file)
{
	struct file_grip *grip;
	struct stat status;
	int problem = 0;
	int descriptor = -1;

	if (plimp_call_fstat(host, path, &status) != 0)
		problem = errno;
	else if (!S_ISREG(status.st_mode))
		problem = EINVAL;
	else if ((descriptor = file_reopen(host, path)) < 0)
		problem = errno;
	plimp_call_close(host, path);
	if (problem != 0)
		return problem;
	grip = plimp_allocate(&host->allocator, 1, sizeof *grip);
	if (grip == NULL) {
		plimp_call_close(host, descriptor);
		return ENOMEM;
	}
	grip->host = host;
	grip->descriptor = descriptor;
	grip->page_bytes = (uint32_t)host->system->page_bytes;
	file->reader.page_bytes = grip->page_bytes;
	file->reader.has_residency = 0;
	file->reader.pages = file_pages;
	file->reader.read = file_read;
	file->reader.user = grip;
	file->size = (uint64_t)status.st_size;
	file->device = (uint64_t)major(status.st_dev) << 32 |
		       (uint64_t)minor(status.st_dev);
	file->inode = (uint64_t)status.st_ino;
	file->system = grip;
	return 0;
}

void plimp_system_file_close(plim_host *host, struct plimp_file *file)
{
	struct file_grip *grip = file->system;

	if (grip != NULL) {
		plimp_call_close(host, grip->descriptor);
		plimp_release(&host->allocator, grip, 1, sizeof *grip);
	}
	memset(file, 0, sizeof *file);
}

static int file_fail(plim_error *error, int problem, const char *path)
{
	int code = PLIM_ESYSTEM;

	if (problem == EINVAL)
		return plimp_fail(error, PLIM_EINVAL, 0, "open", path,
				  "it is no regular file");
	if (problem == EACCES || problem == EPERM) {
		code = PLIM_EDENIED;
	} else if (problem == ENOMEM) {
		code = PLIM_ENOMEM;
	}
	return plimp_fail(error, code, problem, "open", path, NULL);
}

int plimp_system_file_open(plim_host *host, const char *path,
			   struct plimp_file *file, plim_error *error)
{
	int descriptor = plimp_call_open(host, AT_FDCWD, path, O_PATH);
	int problem =
	    descriptor < 0 ? errno : file_take(host, descriptor, file);

	return problem == 0 ? PLIM_OK : file_fail(error, problem, path);
}

/* What maps of our own tells of one page of the file: 0 and its numbers. This
 * is how the kernel numbers it there, whatever fstat() says. */
static int file_as_mapped(struct plimp_lens *lens,
			  const struct plimp_file *file, uint64_t *device,
			  uint64_t *inode)
{
	struct file_grip *grip = file->system;
	struct plimp_space space = {NULL, 0, 0, {NULL, 0, 0}};
	const struct plimp_mapping *mapping;
	struct plimp_lens *own;
	void *memory;
	int found = -1;

	if (plimp_system_lens_open(lens->host, NULL, &own, NULL) != PLIM_OK)
		return -1;
	lens->host->bill.system_calls += 2;
	memory = mmap(NULL, grip->page_bytes, PROT_NONE, MAP_PRIVATE,
		      grip->descriptor, 0);
	if (memory != MAP_FAILED) {
		if (plimp_system_lens_maps(own, &space, NULL) == PLIM_OK) {
			mapping = plimp_space_find(&space,
						   (uint64_t)(uintptr_t)memory);
			if (mapping != NULL) {
				*device = mapping->device;
				*inode = mapping->inode;
				found = 0;
			}
		}
		munmap(memory, grip->page_bytes);
	}
	plimp_space_release(lens->host, &space);
	plimp_system_lens_close(own);
	return found;
}

/* 1 if the open file is the one that the mapping is of. */
static int file_is_mapped(struct plimp_lens *lens,
			  const struct plimp_file *file,
			  const struct plimp_mapping *mapping)
{
	uint64_t device, inode;

	if (file->device == mapping->device && file->inode == mapping->inode)
		return 1;
	return file_as_mapped(lens, file, &device, &inode) == 0 &&
	       device == mapping->device && inode == mapping->inode;
}

/* By the kernel's own link: 0 or the error. */
static int file_by_link(struct plimp_lens *lens,
			const struct plimp_mapping *mapping,
			struct plimp_file *file)
{
	char path[96];
	int descriptor;

	if (!lens->host->system->live)
		return ENOENT;
	/* The link goes by the mapping as it is now. */
	snprintf(path, sizeof path, "%smap_files/%llx-%llx", lens->folder,
		 (unsigned long long)mapping->start,
		 (unsigned long long)mapping->end);
	descriptor = plimp_call_open(lens->host, lens->directory, path, O_PATH);
	if (descriptor < 0)
		return errno;
	return file_take(lens->host, descriptor, file);
}

/* By its name below the root of the process, and proven: 0 or the error, ESTALE
 * for another file of the name. */
static int file_by_name(struct plimp_lens *lens, plim_bytes name,
			const struct plimp_mapping *mapping,
			struct plimp_file *file)
{
	char path[PLIMP_TEXT_SIZE + 8];
	struct plimp_file found;
	int descriptor;
	int problem;

	if (name.size == 0 || name.data[0] != '/' ||
	    name.size >= PLIMP_TEXT_SIZE || memchr(name.data, 0, name.size))
		return ENOENT;
	memcpy(path, "root", 4);
	memcpy(path + 4, name.data, name.size);
	path[4 + name.size] = '\0';
	descriptor = plimp_call_open(lens->host, lens->directory, path, O_PATH);
	if (descriptor < 0)
		return errno;
	memset(&found, 0, sizeof found);
	problem = file_take(lens->host, descriptor, &found);
	if (problem != 0)
		return problem;
	if (!file_is_mapped(lens, &found, mapping)) {
		plimp_system_file_close(lens->host, &found);
		return ESTALE;
	}
	*file = found;
	return 0;
}

int plimp_system_lens_file(struct plimp_lens *lens,
			   const struct plimp_space *space,
			   const struct plimp_mapping *mapping,
			   struct plimp_file *file, plim_error *error)
{
	plim_bytes name = plimp_space_name(space, mapping);
	char path[64];
	int problem = ENOENT;
	int code;

	snprintf(path, sizeof path, "%d/map_files/%llx-%llx",
		 lens->target != NULL ? (int)lens->target->identity.pid
				      : (int)lens->host->system->self.pid,
		 (unsigned long long)mapping->start,
		 (unsigned long long)mapping->end);
	if (mapping->inode != 0) {
		problem = file_by_link(lens, mapping, file);
		if (problem != 0 && problem != EINVAL && problem != ENOMEM)
			problem = file_by_name(lens, name, mapping, file);
	}
	if (problem == 0) {
		code = plimp_system_lens_check(lens, error);
		if (code != PLIM_OK)
			plimp_system_file_close(lens->host, file);
		return code;
	}
	code = plimp_system_lens_check(lens, error);
	if (code != PLIM_OK)
		return code;
	if (problem == ENOMEM)
		return plimp_fail(error, PLIM_ENOMEM, 0, "open", path, NULL);
	if (problem == EACCES || problem == EPERM)
		return plimp_fail(error, PLIM_EDENIED, problem, "open", path,
				  NULL);
	return plimp_fail(error, PLIM_EUNSUPPORTED, 0, "open", path, "%s",
			  problem == EINVAL ? "it is no regular file"
					    : "the file is deleted, or another "
					      "one has its name now");
}
