/*
 * programs.h - what is stepped through: programs of the tests that do what is
 * hard to unwind, and programs of the system that nobody wrote for this.
 */
#ifndef UNWIND_PROGRAMS_H
#define UNWIND_PROGRAMS_H

#include <stddef.h>

struct program {
	const char *name;
	const char *argv[16]; /* argv[0]: a path, or a name of our own */
	unsigned skip_us;     /* before the first look */
	unsigned run_us;      /* at most between looks */
	int is_heavy;	      /* for the long trial alone */
	/* Its first function has no rules (the loader's), so that stacks may
	 * end there in both. */
	int has_bare_root;
};
extern const struct program programs[];
extern const size_t program_count;

/* argv with paths: those of our own are in `folder`, compilers' passes where
 * the compiler says, sources in `sources`. NULL where it is not installed;
 * static storage until the next call. */
const char *const *program_argv(const struct program *program,
				const char *folder, const char *sources);

#endif
