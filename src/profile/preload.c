/*
 * preload.c - an object that is to be preloaded into a program: judged, with
 * memory for what it writes, and what is put into the program's environment.
 */
#include "profile/preload.h"

#include "core/fail.h"
#include "core/memory.h"
#include "unwind/preloadable.h"

#include <stdio.h>
#include <string.h>

struct plim_preload {
	plim_host *host;
	struct plimp_preload_memory *memory;
	char *variable; /* "LD_PRELOAD=OBJECT" */
	size_t size;
};

static int preload_make(plim_preload *made, const char *object,
			const char *others, plim_error *error)
{
	static const char name[] = "LD_PRELOAD=";
	int has_others = others != NULL && others[0] != '\0';
	size_t size = sizeof name + strlen(object) +
		      (has_others ? strlen(others) + 1 : 0);

	made->variable = plimp_allocate(&made->host->allocator, size, 1);
	if (made->variable == NULL)
		return plimp_fail(error, PLIM_ENOMEM, 0, "preload", NULL, NULL);
	made->size = size;
	snprintf(made->variable, size, "%s%s%s%s", name, object,
		 has_others ? ":" : "", has_others ? others : "");
	return plimp_system_preload_open(&made->memory, made->host, error);
}

int plim_preload_open(plim_preload **preload, plim_host *host,
		      const char *program, const char *object,
		      const char *others, plim_error *error)
{
	plim_preload *made;
	int code;

	if (preload == NULL || host == NULL || program == NULL ||
	    object == NULL)
		return plimp_fail(error, PLIM_EINVAL, 0, "preload", NULL, NULL);
	code = plimp_preloadable(host, program, object, error);
	if (code != PLIM_OK)
		return code;
	made = plimp_allocate(&host->allocator, 1, sizeof *made);
	if (made == NULL)
		return plimp_fail(error, PLIM_ENOMEM, 0, "preload", NULL, NULL);
	made->host = host;
	code = preload_make(made, object, others, error);
	if (code != PLIM_OK) {
		plim_preload_free(made);
		return code;
	}
	*preload = made;
	return PLIM_OK;
}

void plim_preload_free(plim_preload *preload)
{
	const plim_allocator *allocator;

	if (preload == NULL)
		return;
	allocator = &preload->host->allocator;
	plimp_system_preload_close(preload->memory);
	plimp_release(allocator, preload->variable, preload->size, 1);
	plimp_release(allocator, preload, 1, sizeof *preload);
}

const char *plim_preload_setting(const plim_preload *preload, size_t index)
{
	if (index == 0)
		return preload->variable;
	return index == 1 ? plimp_system_preload_setting(preload->memory)
			  : NULL;
}

struct plimp_preload_memory *plimp_preload_memory(plim_preload *preload)
{
	return preload != NULL ? preload->memory : NULL;
}
