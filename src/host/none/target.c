/*
 * target.c - memory of the host that knows nothing: no lens can be opened, so
 * that nothing else is ever asked. It is a whole implementation of
 * host/target.h, as none.c is one of host/host.h.
 */
#include "core/fail.h"
#include "host/target.h"

#include <string.h>

static int none_target_fail(plim_error *error, const char *operation)
{
	return plimp_fail(error, PLIM_EUNSUPPORTED, 0, operation, NULL,
			  "memory is looked into on Linux alone so far");
}

int plimp_system_lens_open(plim_host *host, plim_target *target,
			   struct plimp_lens **lens, plim_error *error)
{
	(void)host;
	(void)target;
	(void)lens;
	return none_target_fail(error, "read memory");
}

void plimp_system_lens_close(struct plimp_lens *lens)
{
	(void)lens;
}

struct plimp_lens_bill plimp_system_lens_bill(const struct plimp_lens *lens)
{
	const struct plimp_lens_bill none = {0, 0, 0, 0, 0, ""};

	(void)lens;
	return none;
}

int plimp_system_lens_check(struct plimp_lens *lens, plim_error *error)
{
	(void)lens;
	return none_target_fail(error, "read memory");
}

int plimp_system_lens_status(struct plimp_lens *lens, plim_count *figures,
			     plim_error *error)
{
	(void)lens;
	(void)figures;
	return none_target_fail(error, "read memory");
}

plim_count plimp_system_lens_predict(struct plimp_lens *lens)
{
	(void)lens;
	return plim_count_missing(PLIM_REASON_NO_BACKEND, 0);
}

int plimp_system_lens_rollup(struct plimp_lens *lens, plim_count *figures,
			     plim_error *error)
{
	(void)lens;
	(void)figures;
	return none_target_fail(error, "read memory");
}

int plimp_system_lens_maps(struct plimp_lens *lens, struct plimp_space *space,
			   plim_error *error)
{
	(void)lens;
	(void)space;
	return none_target_fail(error, "read mappings");
}

int plimp_system_lens_smaps(struct plimp_lens *lens, struct plimp_space *space,
			    plim_error *error)
{
	(void)lens;
	(void)space;
	return none_target_fail(error, "read mappings");
}

int plimp_system_lens_resident(struct plimp_lens *lens,
			       struct plimp_space *space, plim_error *error)
{
	(void)lens;
	(void)space;
	return none_target_fail(error, "read memory");
}

static int none_target_pages(void *user, uint64_t address, size_t count,
			     uint8_t *pages)
{
	(void)user;
	(void)address;
	(void)count;
	(void)pages;
	return PLIM_EUNSUPPORTED;
}

static int none_target_read(void *user, uint64_t address, void *buffer,
			    size_t size, size_t *copied)
{
	(void)user;
	(void)address;
	(void)buffer;
	(void)size;
	(void)copied;
	return PLIM_EUNSUPPORTED;
}

void plimp_system_lens_reader(struct plimp_lens *lens,
			      struct plimp_reader *reader)
{
	reader->page_bytes = 4096;
	reader->has_residency = 0;
	reader->pages = none_target_pages;
	reader->read = none_target_read;
	reader->user = lens;
}

int plimp_system_lens_stacks(struct plimp_lens *lens,
			     struct plimp_stacks *stacks, plim_error *error)
{
	(void)lens;
	(void)stacks;
	return none_target_fail(error, "read stacks");
}

int plimp_system_lens_file(struct plimp_lens *lens,
			   const struct plimp_space *space,
			   const struct plimp_mapping *mapping,
			   struct plimp_file *file, plim_error *error)
{
	(void)lens;
	(void)space;
	(void)mapping;
	(void)file;
	return none_target_fail(error, "open");
}

int plimp_system_lens_path(struct plimp_lens *lens, const char *path, int flags,
			   struct plimp_file *file, plim_error *error)
{
	(void)lens;
	(void)path;
	(void)flags;
	(void)file;
	return none_target_fail(error, "open");
}

void plimp_system_lens_hold(struct plimp_lens *lens)
{
	(void)lens;
}

size_t plimp_system_lens_outside(struct plimp_lens *lens, const char *path)
{
	(void)lens;
	(void)path;
	return 0;
}

int32_t plimp_system_lens_inner_pid(struct plimp_lens *lens)
{
	(void)lens;
	return 0;
}

int plimp_system_file_open(plim_host *host, const char *path,
			   struct plimp_file *file, plim_error *error)
{
	(void)host;
	(void)path;
	(void)file;
	return none_target_fail(error, "open");
}

void plimp_system_file_close(plim_host *host, struct plimp_file *file)
{
	(void)host;
	memset(file, 0, sizeof *file);
}
