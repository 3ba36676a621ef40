/*
 * lens_file.c - the files behind mappings, and files of this machine.
 *
 * A target names its own files, so that a path of its may lead anywhere: to a
 * pipe whose opening waits, or to a device whose opening does something. So a
 * path is opened with O_PATH, which opens nothing, looked at, and only what is
 * found to be a regular file is then opened by that descriptor; and it is
 * looked up below the target's own root, which no link leads out of
 * (lens_path.c).
 *
 * A file is found by the kernel's own link of the mapping (map_files, which
 * takes CAP_SYS_ADMIN or CAP_CHECKPOINT_RESTORE), which goes by what is mapped
 * there now, perhaps no longer what the list told; by its name, which may be
 * another file's by now; or, of the program, by exe. Each is believed when
 * device and inode are those that maps tells. Where a file system shows other
 * numbers there (btrfs, overlayfs) a mapping of our own is looked up in the
 * same list.
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

/* What a plimp_file holds. Headers, section names and single symbols are read
 * by the dozen, a few bytes at a time and mostly near each other: those come
 * out of the block that was read last. */
#define FILE_BLOCK 4096
struct file_grip {
	plim_host *host;
	int descriptor;
	uint32_t page_bytes;
	uint64_t size; /* when it was opened: there is no more of it */
	uint64_t place;
	size_t held;
	uint8_t block[FILE_BLOCK];
};

static int file_pages(void *user, uint64_t address, size_t count,
		      uint8_t *pages)
{
	const struct file_grip *grip = user;
	const uint64_t whole =
	    (grip->size + grip->page_bytes - 1) / grip->page_bytes;
	size_t i;

	assert(address % grip->page_bytes == 0);
	for (i = 0; i < count; i++)
		pages[i] = address / grip->page_bytes + i < whole
			       ? PLIMP_PAGE_READABLE
			       : 0;
	return PLIM_OK;
}

static int file_copy(struct file_grip *grip, uint64_t address, void *buffer,
		     size_t size, size_t *copied)
{
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

static int file_read(void *user, uint64_t address, void *buffer, size_t size,
		     size_t *copied)
{
	struct file_grip *grip = user;
	const uint64_t place = address - address % FILE_BLOCK;
	const size_t skip = (size_t)(address % FILE_BLOCK);
	int failed;

	if (size > FILE_BLOCK - skip)
		return file_copy(grip, address, buffer, size, copied);
	if (grip->held == 0 || place != grip->place) {
		grip->held = 0;
		failed = file_copy(grip, place, grip->block, FILE_BLOCK,
				   &grip->held);
		if (failed != PLIM_OK)
			return failed;
		grip->place = place;
	}
	if (skip >= grip->held)
		size = 0;
	else if (size > grip->held - skip)
		size = grip->held - skip;
	memcpy(buffer, grip->block + skip, size);
	*copied = size;
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
	grip->size = (uint64_t)status.st_size;
	grip->held = 0;
	file->reader.page_bytes = grip->page_bytes;
	file->reader.has_residency = 0;
	file->reader.pages = file_pages;
	file->reader.read = file_read;
	file->reader.user = grip;
	file->size = (uint64_t)status.st_size;
	file->device = (uint64_t)major(status.st_dev) << 32 |
		       (uint64_t)minor(status.st_dev);
	file->inode = (uint64_t)status.st_ino;
	file->owner = (uint32_t)status.st_uid;
	file->system = grip;
	return 0;
}

int plimp_file_descriptor(const struct plimp_file *file)
{
	const struct file_grip *grip = file->system;

	assert(grip != NULL);
	return grip->descriptor;
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

/* Takes over an O_PATH descriptor and believes it if it is what is mapped: 0 or
 * the error, ESTALE for another file. */
static int file_proven(struct plimp_lens *lens, int descriptor,
		       const struct plimp_mapping *mapping,
		       struct plimp_file *file)
{
	struct plimp_file found;
	int problem;

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

/* By the kernel's own link: 0 or the error. */
static int file_by_link(struct plimp_lens *lens,
			const struct plimp_mapping *mapping,
			struct plimp_file *file)
{
	char path[96];

	if (!lens->host->system->live)
		return ENOENT;
	snprintf(path, sizeof path, "%smap_files/%llx-%llx", lens->folder,
		 (unsigned long long)mapping->start,
		 (unsigned long long)mapping->end);
	return file_proven(
	    lens, plimp_call_open(lens->host, lens->directory, path, O_PATH),
	    mapping, file);
}

/* By its name below the root of the process, or below ours: 0 or the error. */
static int file_by_name(struct plimp_lens *lens, plim_bytes name,
			const struct plimp_mapping *mapping,
			struct plimp_file *file)
{
	char path[PLIMP_TEXT_SIZE];
	int problem;

	if (name.size == 0 || name.data[0] != '/' ||
	    name.size >= PLIMP_TEXT_SIZE || memchr(name.data, 0, name.size))
		return ENOENT;
	memcpy(path, name.data, name.size);
	path[name.size] = '\0';
	problem = file_proven(lens, plimp_lens_below_root(lens, path, 1),
			      mapping, file);
	/* Mapped before a chroot, perhaps. */
	if ((problem == ENOENT || problem == ESTALE) &&
	    file_proven(lens, plimp_lens_below_ours(lens, path), mapping,
			file) == 0)
		problem = 0;
	return problem;
}

/* The program's own file, whose link outlives its name: 0 or the error. */
static int file_by_exe(struct plimp_lens *lens,
		       const struct plimp_mapping *mapping,
		       struct plimp_file *file)
{
	char path[48];

	if (!lens->host->system->live)
		return ENOENT;
	snprintf(path, sizeof path, "%sexe", lens->folder);
	return file_proven(
	    lens, plimp_call_open(lens->host, lens->directory, path, O_PATH),
	    mapping, file);
}

/* What one way failed with is told unless a better one failed for want of
 * memory, or found that it is no regular file. */
static int file_find(struct plimp_lens *lens, plim_bytes name,
		     const struct plimp_mapping *mapping,
		     struct plimp_file *file)
{
	int problem = file_by_link(lens, mapping, file);
	int other;

	if (problem != 0 && problem != EINVAL && problem != ENOMEM)
		problem = file_by_name(lens, name, mapping, file);
	if (problem != 0 && problem != EINVAL && problem != ENOMEM) {
		other = file_by_exe(lens, mapping, file);
		if (other == 0 || other == ENOMEM)
			problem = other;
	}
	return problem;
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
	if (mapping->inode != 0)
		problem = file_find(lens, name, mapping, file);
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

/* What a lookup of a path of the target's came to. */
static int path_fail(plim_error *error, int problem, const char *path)
{
	if (problem == ENOENT || problem == ENOTDIR)
		return plimp_fail(error, PLIM_ENAME, problem, "open", path,
				  NULL);
	if (problem == EINVAL)
		return plimp_fail(error, PLIM_EUNSUPPORTED, 0, "open", path,
				  "it is no regular file");
	return file_fail(error, problem, path);
}

/* 1 if the file is the target's user's. */
static int path_is_own(struct plimp_lens *lens, const struct plimp_file *file)
{
	uint32_t user;

	return plimp_lens_user(lens, &user) && user == file->owner;
}

/* A start is told in ticks and the time of boot to 10 ms, and files have the
 * time of the kernel's last tick. */
#define PATH_SLACK_MS 30

/* 1 if the file was written last before the target began: a clock that was set
 * back meanwhile makes it look so, too. */
static int path_is_older(struct plimp_lens *lens, const struct plimp_file *file)
{
	const struct plimp_system *system = lens->host->system;
	const plim_target *target = lens->target;
	struct stat status;
	uint64_t began_ms;

	if (target == NULL || !system->boot_known ||
	    (target->identity.has & PLIM_IDENTITY_START) == 0 ||
	    plimp_call_fstat(lens->host, plimp_file_descriptor(file),
			     &status) != 0)
		return 0;
	began_ms = system->boot_unix_ms +
		   plimp_ticks_to_ns(lens->host, target->identity.start_ticks) /
		       1000000;
	return status.st_mtim.tv_sec < 0 ||
	       (uint64_t)status.st_mtim.tv_sec * 1000 +
		       (uint64_t)status.st_mtim.tv_nsec / 1000000 +
		       PATH_SLACK_MS <
		   began_ms;
}

int plimp_system_lens_path(struct plimp_lens *lens, const char *path, int flags,
			   struct plimp_file *file, plim_error *error)
{
	struct plimp_file found;
	int descriptor;
	int problem;
	int code;

	if (path[0] != '/')
		return plimp_fail(error, PLIM_EINVAL, 0, "open", path,
				  "it is no absolute path");
	memset(&found, 0, sizeof found);
	descriptor = plimp_lens_below_root(lens, path, 0);
	problem =
	    descriptor < 0 ? errno : file_take(lens->host, descriptor, &found);
	code = plimp_system_lens_check(lens, error);
	if (code == PLIM_ENOPROCESS && lens->root >= 0)
		code = PLIM_OK;
	if (code == PLIM_OK && problem != 0)
		return path_fail(error, problem, path);
	if (code == PLIM_OK && (flags & PLIMP_PATH_OWN) != 0 &&
	    !path_is_own(lens, &found))
		code = plimp_fail(error, PLIM_EDENIED, 0, "open", path,
				  "it is not of the target's user");
	if (code == PLIM_OK && (flags & PLIMP_PATH_WRITTEN) != 0 &&
	    path_is_older(lens, &found))
		code = plimp_fail(error, PLIM_ENAME, 0, "open", path,
				  "it is older than the target");
	if (code != PLIM_OK) {
		plimp_system_file_close(lens->host, &found);
		return code;
	}
	*file = found;
	return PLIM_OK;
}
