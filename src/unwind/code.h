/*
 * code.h - what a plim_code is inside.
 */
#ifndef PLIMP_UNWIND_CODE_H
#define PLIMP_UNWIND_CODE_H

#include "unwind/modules.h"

#include <plimsoll/unwind.h>

struct plim_code {
	plim_host *host;
	plim_target *target; /* NULL: ourselves */
	struct plimp_lens *lens;
	struct plimp_reader reader;
	struct plimp_modules *modules;
	struct plimp_pc_cache *cache;
	struct plimp_namer *namer; /* NULL before the first use */
	int map_is_read;	   /* of jitted code, since the last look */
};

/* One walk, whose result is told as the public one. */
void plimp_code_walk(plim_code *code, const struct plimp_registers *registers,
		     const struct plimp_stack_bytes *bytes, uint64_t *frames,
		     size_t capacity, plim_stack *stack);

#endif
