/*
 * code_name.c - what a frame of a plim_code is called. The namer is opened when
 * the first name is wanted: who only walks stacks never reads a symbol.
 */
#include "core/fail.h"
#include "unwind/code.h"
#include "unwind/symbols.h"

#include <assert.h>
#include <string.h>

static void name_tell(const plim_code *code, uint32_t module, uint64_t address,
		      const struct plimp_frame_name *told,
		      plim_frame_name *name)
{
	const struct plimp_module *at =
	    plimp_modules_item(code->modules, module);

	memset(name, 0, sizeof *name);
	name->function = told->function;
	name->linkage = told->linkage;
	name->file = told->file;
	name->line = told->line;
	name->is_inlined = told->is_inlined != 0;
	name->start = told->start;
	name->module = at != NULL ? module : SIZE_MAX;
	name->offset = at != NULL ? address - at->bias : address;
}

/* The namer, with the map of jitted code as of the last look at the process or
 * later. */
static int name_begin(plim_code *code, plim_error *error)
{
	int failed = PLIM_OK;

	if (code->namer == NULL)
		failed =
		    plimp_namer_open(&code->namer, code->host, code->lens,
				     code->modules, PLIMP_NAMER_LINES, error);
	if (failed == PLIM_OK && !code->map_is_read) {
		failed = plimp_namer_refresh(code->namer, error);
		code->map_is_read = failed == PLIM_OK;
	}
	return failed;
}

int plim_code_name(plim_code *code, uint64_t address, plim_frame_name *names,
		   size_t capacity, size_t *count, plim_error *error)
{
	const struct plimp_frame_name *told = NULL;
	uint32_t module;
	size_t found = 0;
	int failed;

	if (code == NULL || (names == NULL && capacity > 0) || count == NULL)
		return plimp_fail(error, PLIM_EINVAL, 0, "name a frame", NULL,
				  NULL);
	failed = name_begin(code, error);
	module = plimp_modules_at(code->modules, address, 0);
	if (failed == PLIM_OK)
		failed = plimp_namer_find(code->namer, module, address, 0,
					  &told, &found, error);
	if (failed != PLIM_OK)
		return failed;
	assert(found > 0);
	for (size_t i = 0; i < found && i < capacity; i++)
		name_tell(code, module, address, &told[i], &names[i]);
	*count = found;
	return PLIM_OK;
}
