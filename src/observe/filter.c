/*
 * filter.c - compiling a filter: the language is core's, and needs of the
 * system only the number of a user.
 */
#include "core/filter_program.h"
#include "host/host.h"

int plim_filter_new(plim_filter **filter, const char *text,
		    const plim_allocator *allocator, plim_error *error)
{
	return plimp_filter_compile(filter, text, allocator,
				    plimp_system_find_user, error);
}
