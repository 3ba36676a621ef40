/*
 * step.h - runs a program to random moments and then instruction by
 * instruction.
 *
 * The program is a child that is traced: it runs for a random time, is stopped
 * and takes 20 to 40 single steps, after each of which the caller looks at its
 * registers and its memory. A program that ends early is started again. Only
 * its first thread is traced; the others run on, on stacks of their own.
 */
#ifndef UNWIND_STEP_H
#define UNWIND_STEP_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

/* Bytes of the stopped program, each page read once a stop. */
#define STEP_PAGES 256
struct step_memory {
	int descriptor; /* of its mem file */
	uint64_t stop;	/* number of the stop, never 0 */
	struct step_page {
		uint64_t address;
		uint64_t stop; /* in which it was read */
		int is_there;
		unsigned char bytes[4096];
	} * pages;
};
/* Copies `size` bytes: 0, or -1 where they are not all there. */
int step_read(struct step_memory *memory, uint64_t address, void *bytes,
	      size_t size);

struct step_stop {
	pid_t pid;
	struct user_regs_struct registers;
	struct step_memory *memory;
	int is_new_program;  /* the first stop of this process */
	int may_have_mapped; /* its mappings may have changed since the last */
};
/* 0: go on. */
typedef int step_fn(void *user, const struct step_stop *stop);

struct step_plan {
	const char *const *argv;
	const char *input; /* file; NULL: /dev/null */
	size_t stops;	   /* wanted in all */
	unsigned run_us;   /* it runs at most so long between two bursts */
	unsigned skip_us;  /* and so long before the first */
	uint32_t seed;
	double seconds; /* at most */
};
struct step_done {
	size_t stops;
	size_t bursts;
	size_t starts;
	const char *trouble; /* NULL: none */
};
/* 0; or -1 and the trouble. */
int step_program(const struct step_plan *plan, step_fn *function, void *user,
		 struct step_done *done);

/* The same for any 32 bits in turn. */
uint32_t step_random(uint32_t *state);

#endif
