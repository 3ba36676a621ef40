/*
 * rules.h - how to get from a frame to its caller: compact rules of a module,
 * the map of a process's code, and the walk over one stack.
 *
 * Rules are made once per module from its call frame information, when nobody
 * waits: sorted rows of a 32-bit offset into the text and a 16-bit number of a
 * rule, of which a module has some hundred. They are read-only from then on,
 * so that a walk takes no lock, allocates nothing and asks nobody: it may run
 * in a signal handler, in the thread whose stack it is.
 *
 * All input is hostile: the file, the stack, and what lies in code. The walk
 * ends after `capacity` frames at the latest, every step makes progress, and
 * it says why it ended. Design: docs/design/unwinding.md.
 */
#ifndef PLIMP_RULES_H
#define PLIMP_RULES_H

#include "core/stack.h"
#include "elf/elf.h"

#include <plimsoll/unwind.h>

/* Of one module. Immutable once built, and shared by any number of threads and
 * signal handlers. */
struct plimp_rules;

struct plimp_rules_facts {
	uint64_t entries;    /* functions (FDEs) that have rows */
	uint64_t rows;	     /* after equal neighbours were merged */
	uint64_t rules;	     /* different ones among them */
	uint64_t side_rows;  /* rows of rules that are not simple */
	uint64_t side_rules; /* different ones among those */
	uint64_t bytes;	     /* of memory that the table takes */
	uint64_t text_bytes; /* that rows with a rule cover */
	uint64_t rejected;   /* entries that were malformed, outside of the
			      * code, or covered by others, and left out */
	int has_debug_frame; /* 1: some are of .debug_frame */
	int unsupported;     /* 1: a .debug_frame was left out, since it is
			      * compressed in a way that this build cannot read */
};

/* The largest .eh_frame or .debug_frame that is read, and rules per module. */
#define PLIMP_RULES_SECTION 0x20000000u

/*
 * Builds the rules of `elf` from .eh_frame, and, for what that does not cover,
 * from the .debug_frame of `elf` or else of `debug`, its separate debug file
 * (NULL: none). An image in memory (plimp_elf_open_loaded: the vDSO, a file
 * that is gone) has no sections: there the header of .eh_frame leads to it.
 * Addresses are those of the file. Neither ELF is needed afterwards.
 *
 * PLIM_ENAME: there are no rules at all; walks go by the frame pointer there.
 * PLIM_EUNSUPPORTED: another machine than x86-64 or aarch64, or all rules are
 * compressed in a way that this build cannot read. PLIM_EMALFORMED,
 * PLIM_ELIMIT, PLIM_ENOMEM, or what a reader failed with. Entries that are
 * malformed are left out and counted, and are no failure.
 */
int plimp_rules_build(struct plimp_rules **rules, const struct plimp_elf *elf,
		      const struct plimp_elf *debug,
		      const plim_allocator *allocator, plim_error *error);
/* NULL is allowed. No walk may be using them. */
void plimp_rules_free(struct plimp_rules *rules,
		      const plim_allocator *allocator);
struct plimp_rules_facts plimp_rules_facts(const struct plimp_rules *rules);
/* Where the function begins that holds the address, as its entry says; 0: none
 * is known to. A part that a compiler moved away (".cold") is one by itself. */
int plimp_rules_function(const struct plimp_rules *rules, uint64_t address,
			 uint64_t *start);

enum plimp_code_flag {
	PLIMP_CODE_NO_FILE = 1, /* made at run time: a JIT's */
	PLIMP_CODE_VDSO = 2
};

/* An executable range of addresses. */
struct plimp_code_range {
	uint64_t start;
	uint64_t end;			 /* first address behind it */
	uint64_t bias;			 /* address in the file + bias */
	const struct plimp_rules *rules; /* NULL: none, frame pointer only */
	uint32_t module;		 /* index among plimp_modules */
	uint32_t flags;			 /* enum plimp_code_flag */
};

/* The code of a process at a time. Immutable while walks use it. */
struct plimp_code_map {
	/* Ascending, none empty, none overlapping another. */
	const struct plimp_code_range *ranges;
	size_t count;
	/* Different from that of every other map that ever was in this
	 * process, and not 0: caches are valid for one. */
	uint64_t generation;
	uint16_t machine; /* PLIMP_MACHINE_X86, PLIMP_MACHINE_ARM */
};

/* The range that holds the address, or NULL. */
const struct plimp_code_range *plimp_code_find(const struct plimp_code_map *map,
					       uint64_t address);

/*
 * What was found for addresses before, so that a walk need not look it up
 * again. Memory of the caller, plimp_pc_cache_size() bytes aligned to 8,
 * zeroed when it is new; used by one walk at a time. It empties itself when it
 * meets a map of another generation, so who walks stacks of several processes
 * in turn has a cache for each.
 */
struct plimp_pc_cache;
size_t plimp_pc_cache_size(void);

struct plimp_unwound {
	size_t count;	     /* frames written */
	int end;	     /* enum plim_stack_end */
	uint64_t missed;     /* the address of the bytes that were missing,
			      * where the end is CUT or BAD_MEMORY, else 0 */
	uint32_t scanned;    /* frames whose frame pointer was found by a
			      * search of the stack, and proven */
	uint32_t by_pointer; /* frames without rules, left by frame pointer */
};

/*
 * Walks one stack. frames[0] is the pc; of a caller it is an address INSIDE
 * the call instruction, the return address less 1, and where a signal
 * interrupted it is the exact pc. Look names up for the addresses as they are.
 * `exact`, which may be NULL, gets a byte per frame: 1 where frames[] is the
 * pc itself.
 *
 * `registers` must know pc and stack pointer; a thread that is blocked in the
 * kernel tells no more. Where a rule then needs the frame pointer, the stack
 * is searched for it, and what is found counts only if it is proven: the call
 * before its return address must lead to the start of the very function; or,
 * of calls that do not say where they lead, it must be the one place from
 * which rules lead on to the thread's first function.
 *
 * The bytes of the stack come from `stack`: first from the copy, which may be
 * the stack itself (in place), then by its word(). code() reads instructions,
 * for PLT stubs and signal trampolines without rules, the frame pointer's
 * check and the search. Both must be async-signal-safe if the walk is to be.
 *
 * `cache` may be NULL. At least one frame of capacity. Safe in signal
 * handlers; takes less than 2 KiB of stack, and half of one more where the
 * frame pointer has to be searched for, which no handler needs.
 */
void plimp_unwind(const struct plimp_code_map *map,
		  struct plimp_pc_cache *cache,
		  const struct plimp_registers *registers,
		  const struct plimp_stack_bytes *stack, uint64_t *frames,
		  unsigned char *exact, size_t capacity,
		  struct plimp_unwound *unwound);

#endif
