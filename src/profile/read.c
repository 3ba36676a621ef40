/*
 * read.c - the tables of a profile, row by row.
 */
#include "profile/session.h"

plim_profile_facts plim_profile_about(const plim_profile *profile)
{
	return profile->facts;
}

plim_profile_times plim_profile_total(const plim_profile *profile)
{
	return profile->total;
}

size_t plim_profile_process_count(const plim_profile *profile)
{
	return profile->store.processes.count;
}

const plim_profile_process *plim_profile_process_at(const plim_profile *profile,
						    size_t index)
{
	const plim_profile_process *items = profile->store.processes.items;

	return index < profile->store.processes.count ? items + index : NULL;
}

size_t plim_profile_thread_count(const plim_profile *profile)
{
	return profile->store.threads.count;
}

const plim_profile_thread *plim_profile_thread_at(const plim_profile *profile,
						  size_t index)
{
	const plim_profile_thread *items = profile->store.threads.items;

	return index < profile->store.threads.count ? items + index : NULL;
}

size_t plim_profile_module_count(const plim_profile *profile)
{
	return profile->store.modules.count;
}

const plim_profile_module *plim_profile_module_at(const plim_profile *profile,
						  size_t index)
{
	const plim_profile_module *items = profile->store.modules.items;

	return index < profile->store.modules.count ? items + index : NULL;
}

size_t plim_profile_function_count(const plim_profile *profile)
{
	return profile->store.functions.count;
}

const plim_profile_function *
plim_profile_function_at(const plim_profile *profile, size_t index)
{
	const plim_profile_function *items = profile->store.functions.items;

	return index < profile->store.functions.count ? items + index : NULL;
}

size_t plim_profile_line_count(const plim_profile *profile)
{
	return profile->store.lines.count;
}

const plim_profile_line *plim_profile_line_at(const plim_profile *profile,
					      size_t index)
{
	const plim_profile_line *items = profile->store.lines.items;

	return index < profile->store.lines.count ? items + index : NULL;
}

size_t plim_profile_frame_count(const plim_profile *profile)
{
	return profile->store.frames.count;
}

const plim_profile_frame *plim_profile_frame_at(const plim_profile *profile,
						size_t index)
{
	const plim_profile_frame *items = profile->store.frames.items;

	return index < profile->store.frames.count ? items + index : NULL;
}

size_t plim_profile_stack_count(const plim_profile *profile)
{
	return profile->store.stacks.count;
}

const plim_profile_stack *plim_profile_stack_at(const plim_profile *profile,
						size_t index)
{
	const plim_profile_stack *items = profile->store.stacks.items;

	return index < profile->store.stacks.count ? items + index : NULL;
}

size_t plim_profile_sample_count(const plim_profile *profile)
{
	return profile->store.samples.count;
}

const plim_profile_sample *plim_profile_sample_at(const plim_profile *profile,
						  size_t index)
{
	const plim_profile_sample *items = profile->store.samples.items;

	return index < profile->store.samples.count ? items + index : NULL;
}

size_t plim_profile_tier_count(const plim_profile *profile)
{
	size_t all = sizeof(profile->tier_rows) / sizeof(profile->tier_rows[0]);

	/* Of another process none of the own process's. */
	return profile->is_inside ? all
				  : 3 + (profile->request.preload != NULL);
}

const plim_profile_tier *plim_profile_tier_at(const plim_profile *profile,
					      size_t index)
{
	return index < plim_profile_tier_count(profile)
		   ? profile->tier_rows + index
		   : NULL;
}

size_t plim_profile_lack_count(const plim_profile *profile)
{
	return profile->lack_count;
}

const char *plim_profile_lack(const plim_profile *profile, size_t index)
{
	return index < profile->lack_count ? profile->lacks[index] : NULL;
}
