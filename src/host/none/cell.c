/*
 * cell.c - cells of the host that knows nothing: none can be made, so that
 * nothing else is ever asked. A whole implementation of host/cell.h.
 */
#include "core/fail.h"
#include "host/cell.h"

int plimp_system_cell_start(plim_host *host, plimp_cell_fn *run, void *user,
			    const struct plimp_file *const *files, size_t count,
			    const struct plimp_cell_limits *limits,
			    struct plimp_cell **cell, plim_error *error)
{
	(void)host;
	(void)run;
	(void)user;
	(void)files;
	(void)count;
	(void)limits;
	(void)cell;
	return plimp_fail(error, PLIM_EUNSUPPORTED, 0, "start cell", NULL,
			  "this build of the library starts no processes");
}

int plimp_system_cell_give(struct plimp_cell *cell, const void *bytes,
			   size_t size, uint64_t deadline_ns)
{
	(void)cell;
	(void)bytes;
	(void)size;
	(void)deadline_ns;
	return PLIM_EUNSUPPORTED;
}

int plimp_system_cell_take(struct plimp_cell *cell, void *bytes, size_t size,
			   uint64_t deadline_ns)
{
	(void)cell;
	(void)bytes;
	(void)size;
	(void)deadline_ns;
	return PLIM_EUNSUPPORTED;
}

int plimp_system_cell_take_some(struct plimp_cell *cell, void *bytes,
				size_t least, size_t most, size_t *taken,
				uint64_t deadline_ns)
{
	(void)cell;
	(void)bytes;
	(void)least;
	(void)most;
	(void)taken;
	(void)deadline_ns;
	return PLIM_EUNSUPPORTED;
}

void plimp_system_cell_stop(struct plimp_cell *cell)
{
	(void)cell;
}

int plimp_system_cell_tell(const struct plimp_cell_inside *inside,
			   const void *bytes, size_t size)
{
	(void)inside;
	(void)bytes;
	(void)size;
	return 0;
}

int plimp_system_cell_hear(const struct plimp_cell_inside *inside, void *bytes,
			   size_t size)
{
	(void)inside;
	(void)bytes;
	(void)size;
	return 0;
}

size_t plimp_system_cell_hear_some(const struct plimp_cell_inside *inside,
				   void *bytes, size_t most)
{
	(void)inside;
	(void)bytes;
	(void)most;
	return 0;
}
