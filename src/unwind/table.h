/*
 * table.h - the compact table of a module's rules, as it is built and walked.
 *
 * A row says which rule holds from an offset into the text on, up to the next
 * row. Rules are numbered per module. Nearly every rule fits into one word:
 * the caller's stack pointer (CFA) is the stack pointer or the frame pointer
 * and an offset, and the frame pointer and the return address lie at fixed
 * distances below it. Where the other registers lie that a function must
 * preserve stands beside the word; it is looked at only on the rare walks that
 * come to a rule that needs one of them. What is not simple is a side rule.
 */
#ifndef PLIMP_TABLE_H
#define PLIMP_TABLE_H

#include "unwind/cfi.h"
#include "unwind/rules.h"

/*
 * The word of a rule:
 *   bits 0-2    enum plimp_rule_kind
 *   bits 3-7    flags, see below
 *   bits 8-33   SP, FP: CFA - register, in words (8 bytes)
 *   bits 34-48  CFA - place of the saved frame pointer, in words; 0: not saved
 *   bits 49-63  the same of the return address; 0: in the link register
 *   bits 8-39   SIDE: index of the side rule's first word
 */
enum plimp_rule_kind {
	PLIMP_RULE_NONE = 0, /* no rule: between functions, malformed */
	PLIMP_RULE_SP = 1,
	PLIMP_RULE_FP = 2,
	PLIMP_RULE_SIDE = 3,
	PLIMP_RULE_ROOT = 4, /* no return address: the first function */
	/* Never in a table, of code without rules that was looked at: it keeps
	 * a frame pointer; its last instructions are next (walk_tail.c). */
	PLIMP_RULE_POINTER = 5,
	PLIMP_RULE_TAIL = 7
};
#define PLIMP_RULE_KIND(word)	 ((unsigned)(word)&7u)
#define PLIMP_RULE_CFA(word)	 (((word) >> 8 & 0x3ffffff) << 3)
#define PLIMP_RULE_FP_AT(word)	 (((word) >> 34 & 0x7fff) << 3)
#define PLIMP_RULE_RA_AT(word)	 (((word) >> 49) << 3)
#define PLIMP_RULE_SIDE_AT(word) ((uint32_t)((word) >> 8))

static inline uint64_t plimp_rule_word(int kind, uint64_t cfa, uint64_t fp,
				       uint64_t ra)
{
	return (uint64_t)(unsigned)kind | cfa >> 3 << 8 | fp >> 3 << 34 |
	       ra >> 3 << 49;
}

/* Registers that a function preserves, but stack and frame pointer: rbx r12
 * to r15; x19 to x28. */
#define PLIMP_RULE_SLOTS 10
struct plimp_rule {
	uint64_t word;
	/* CFA - place of each of them, in words; 0: not saved. Four to a word
	 * of ours, the first lowest. */
	uint64_t slots[3];
};

static inline uint64_t plimp_rule_slot(const struct plimp_rule *rule,
				       unsigned slot)
{
	return (rule->slots[slot / 4] >> 16 * (slot % 4) & 0xffff) << 3;
}

/* The number of the register of a slot, or -1 for one that is none. */
static inline int plimp_rule_register(uint16_t machine, unsigned slot)
{
	if (machine == PLIMP_MACHINE_X86)
		return slot == 0 ? 3 : slot < 5 ? (int)slot + 11 : -1;
	return slot < 10 ? (int)slot + 19 : -1;
}

/*
 * A side rule: words in `side`. The first: bits 0-7 enum plimp_cfi_cfa, bit 8
 * signal frame, bits 16-31 the CFA's register, bits 32-39 how many registers
 * follow, bits 40-55 size of the CFA's expression. The second: the offset, or
 * where the expression lies in `expressions`. Then two words per register:
 * bits 0-7 number, bits 8-15 enum plimp_cfi_how, bits 32-47 size of the
 * expression; and the value.
 */
#define PLIMP_SIDE_SIGNAL (UINT64_C(1) << 8)

struct plimp_rules {
	uint16_t machine;
	unsigned shift;	  /* bytes of text per entry of the index, as a power */
	uint64_t base;	  /* address in the file of offset 0 */
	uint64_t entry;	  /* where the file's program begins; 0: nowhere */
	uint64_t span;	  /* offsets are below it; the last row ends there */
	uint32_t *at;	  /* rows: ascending offsets */
	uint16_t *number; /* their rules; the top bit: a function begins */
	size_t row_count;
	uint32_t *index; /* first row at or behind each block; one more */
	size_t index_count;
	struct plimp_rule *rules; /* [0] is NONE */
	size_t rule_count;
	uint64_t *side;
	size_t side_count;
	uint8_t *expressions;
	size_t expression_bytes;
	struct plimp_rules_facts facts;
};
#define PLIMP_ROW_BEGINS 0x8000u
#define PLIMP_ROW_RULE	 0x7fffu

/* The row that holds at an address of the file; row_count: none. */
size_t plimp_rules_row(const struct plimp_rules *rules, uint64_t address);
/* The rule there; that of number 0 where there is none. */
const struct plimp_rule *plimp_rules_find(const struct plimp_rules *rules,
					  uint64_t address);

/* --- building ------------------------------------------------------------ */

/* A function of a section: where it is from the module's base on, and places
 * of its program and its CIE in the section. */
struct plimp_function {
	uint32_t start;
	uint32_t end;
	uint32_t program;
	uint32_t program_end;
	uint32_t cie;
	uint32_t source; /* index of the section */
};

/* A table that grows. */
struct plimp_making {
	const plim_allocator *allocator;
	struct plimp_rules *rules;
	size_t at_room, number_room, rules_room, side_room, expressions_room;
	uint32_t *buckets; /* numbers of rules by their hash; 0: free */
	size_t bucket_count;
	/* Of the machine. What is said about registers that are not preserved,
	 * which a caller cannot expect to survive a call, changes nothing. */
	uint64_t preserved;
	unsigned sp, fp;
	unsigned least_ra; /* 1: a return address must be saved */
	/* Of the function whose rows come. */
	const struct plimp_cfi *cfi;
	const struct plimp_cfi_cie *cie;
	uint32_t end;
	unsigned begins; /* PLIMP_ROW_BEGINS of its first row, then 0 */
	int is_signal;
	int is_elsewhere; /* the return address: not where the ABI has it */
};
int plimp_making_begin(struct plimp_making *making, uint16_t machine,
		       uint64_t base, const plim_allocator *allocator);
/* The rows that come are of a function of this CIE; what begins at `end` or
 * behind it is left out. */
void plimp_making_function(struct plimp_making *making,
			   const struct plimp_cfi *cfi,
			   const struct plimp_cfi_cie *cie, uint32_t end);
/* From the address on, this row holds: a plimp_cfi_emit_fn, whose user is the
 * table. */
int plimp_making_row(void *making, uint64_t address,
		     const struct plimp_cfi_row *row);
/* From `offset` on, there is none. */
int plimp_making_gap(struct plimp_making *making, uint32_t offset);
/* Cuts the arrays to size and makes the index; the rules are the caller's then,
 * and what made them is dropped. There must be a row. */
int plimp_making_end(struct plimp_making *making, uint64_t span,
		     struct plimp_rules **rules);
void plimp_making_drop(struct plimp_making *making);

#endif
