/*
 * walk.h - a walk over one stack, between the files that make it: walk.c takes
 * the steps that are simple, walk_side.c those by side rules and with all
 * registers, walk_bare.c those through code without rules, walk_scan.c looks
 * for a frame pointer that nobody told.
 *
 * Everything here is async-signal-safe and total over hostile stacks and code.
 */
#ifndef PLIMP_TRACE_H
#define PLIMP_TRACE_H

#include "unwind/table.h"

#include <string.h>

#define PLIMP_PC_CACHE 4096u

struct plimp_pc_entry {
	uint64_t address; /* that was looked up */
	uint64_t word;	  /* table.h */
};
struct plimp_pc_cache {
	uint64_t generation;
	uint64_t unused;
	struct plimp_pc_entry entries[PLIMP_PC_CACHE];
};

/* Addresses are looked up in no range at all: a kind beside those of rules. */
#define PLIMP_RULE_NOWHERE 6

/* Signal frames may lead down to where the stack was before, since handlers
 * have stacks of their own; so often, but not for ever. */
#define PLIMP_TRACE_JUMPS 16

struct plimp_trace {
	const struct plimp_code_map *map;
	struct plimp_pc_cache *cache; /* or NULL */
	const struct plimp_registers *first;
	const struct plimp_stack_bytes *stack;
	const struct plimp_code_range *range; /* the last one found, or NULL */
	uint64_t *frames;
	unsigned char *exact; /* or NULL */
	size_t capacity;
	struct plimp_unwound *unwound;

	/* The frame that is being left. Registers by DWARF number; those of
	 * the stack pointer, the frame pointer and the link register count. */
	uint64_t lookup;
	int is_exact;
	int is_x86;
	/* Every register that is preserved is followed. Else only those three
	 * are, and `known` tells of no other. */
	int is_full;
	int is_dry;	/* only to see where it leads (walk_scan.c) */
	int by_pointer; /* the last step was one by frame pointer */
	unsigned jumps;
	uint64_t known;
	uint64_t value[PLIMP_REGISTERS];
};

#define PLIMP_TRACE_GOES_ON 0
/* Not an end: once more from the first frame, with all registers. */
#define PLIMP_TRACE_AGAIN (-1)

static inline unsigned plimp_trace_fp(const struct plimp_trace *walk)
{
	return walk->is_x86 ? PLIMP_X86_RBP : PLIMP_ARM_FP;
}
static inline unsigned plimp_trace_sp(const struct plimp_trace *walk)
{
	return walk->is_x86 ? PLIMP_X86_RSP : PLIMP_ARM_SP;
}
static inline int plimp_trace_knows(const struct plimp_trace *walk,
				    unsigned number)
{
	return (int)(walk->known >> number & 1);
}
static inline void plimp_trace_set(struct plimp_trace *walk, unsigned number,
				   uint64_t value)
{
	walk->value[number] = value;
	walk->known |= UINT64_C(1) << number;
}

/* The 8 bytes at an address, out of the copy or by word(); nonzero where they
 * are not to be had, with the address kept. */
static inline int plimp_trace_load(struct plimp_trace *walk, uint64_t address,
				   uint64_t *value)
{
	const struct plimp_stack_bytes *stack = walk->stack;
	uint64_t at = address - stack->low;

	if (stack->size >= 8 && at <= stack->size - 8) {
		memcpy(value, stack->bytes + at, 8);
		return 0;
	}
	if (stack->word && !stack->word(stack->user, address, value))
		return 0;
	walk->unwound->missed = address;
	return 1;
}
/* Why it was not there: an end. */
int plimp_trace_missed(const struct plimp_trace *walk);

/* The range of an address; it is remembered. */
const struct plimp_code_range *plimp_trace_range(struct plimp_trace *walk,
						 uint64_t address);
void plimp_trace_keep(struct plimp_trace *walk, uint64_t address,
		      uint64_t word);

/* The caller is at `pc` with this stack pointer: its frame is the one to be
 * left next. An end where it is the last one. */
int plimp_trace_enter(struct plimp_trace *walk, uint64_t pc, uint64_t sp,
		      int is_exact);

/* Whatever the rule is. */
int plimp_trace_step(struct plimp_trace *walk);
/* Each leaves one frame: PLIMP_TRACE_GOES_ON, PLIMP_TRACE_AGAIN or an end. */
int plimp_trace_simple(struct plimp_trace *walk, uint64_t word);
int plimp_trace_side(struct plimp_trace *walk, uint64_t word);
int plimp_trace_bare(struct plimp_trace *walk, uint64_t word);

/* Leaves a signal frame by its instructions, whatever rules it has; is_signal
 * says whether it was one. */
int plimp_trace_signal(struct plimp_trace *walk, int *is_signal);

/* Finds the frame pointer for a rule that needs it: 0, and it is known. */
int plimp_trace_scan(struct plimp_trace *walk, uint64_t word);

/* Instructions: 1 if the one that ends at `address` is a call. `target` is
 * where it leads, or 0 where that is not in its bytes. */
int plimp_trace_is_call(struct plimp_trace *walk, uint64_t address,
			uint64_t *target);
/* 1 if all of the bytes could be read. */
int plimp_trace_code(struct plimp_trace *walk, uint64_t address, void *bytes,
		     size_t size);

#endif
