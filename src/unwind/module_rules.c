/*
 * module_rules.c - the rules of a module that has just been found.
 *
 * They are those of its own file. Code that was compiled without tables for
 * unwinding at run time has them in .debug_frame, which goes into the separate
 * debug file with all else that is for debuggers: where the module has no such
 * section its debug file's is read, if that proves itself by the build id. It
 * makes no difference where there is no such file, or nothing of use in it.
 */
#include "unwind/module_parts.h"

#include "core/memory.h"
#include "unwind/symbols.h"

int plimp_object_rules(plim_host *host, struct plimp_lens *lens,
		       plim_bytes path, struct plimp_object *object)
{
	const plim_allocator *allocator = &host->allocator;
	struct plimp_debug_file *debug = NULL;
	int is_found = 0;
	int code = PLIM_OK;

	if (path.size > 0 && object->build_id_size > 0) {
		debug = plimp_allocate(allocator, 1, sizeof *debug);
		code = debug == NULL
			   ? PLIM_ENOMEM
			   : plimp_debug_file_find(debug, host, lens,
						   &object->elf, path, NULL);
		is_found = code == PLIM_OK;
	}
	if (code != PLIM_ENOMEM)
		code = plimp_rules_build(&object->rules, &object->elf,
					 is_found ? &debug->elf : NULL,
					 allocator, NULL);
	if (is_found)
		plimp_debug_file_close(host, debug);
	plimp_release(allocator, debug, 1, sizeof *debug);
	return code;
}
