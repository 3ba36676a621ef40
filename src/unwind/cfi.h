/*
 * cfi.h - call frame information: .eh_frame and .debug_frame, taken apart.
 *
 * Sources: the Linux Standard Base 5.0, "Exception Frames", and DWARF 5,
 * section 6.4; for what aarch64 adds, "DWARF for the Arm 64-bit Architecture".
 * A section is a list of entries: CIEs, which say what many functions have in
 * common, and FDEs, one per function, with a program that builds a table of
 * rows. All of it is hostile: no offset leads out of the section, no program
 * makes more rows than it has bytes, what is malformed is told as that and
 * never guessed at.
 */
#ifndef PLIMP_CFI_H
#define PLIMP_CFI_H

#include "core/stack.h"

#include <stddef.h>
#include <stdint.h>

/* A section's bytes; they outlive every entry of it. */
struct plimp_cfi {
	const uint8_t *bytes;
	size_t size;
	uint64_t address; /* of bytes[0] in the file, for relative pointers */
	uint16_t machine;
	int is_debug;	/* .debug_frame */
	int is_cut_off; /* where it ends is not known: at an empty entry */
};

/* Reading forward; `is_bad` stays once something did not fit. */
struct plimp_cursor {
	const uint8_t *at;
	const uint8_t *end;
	int is_bad;
};
uint64_t plimp_cursor_unsigned(struct plimp_cursor *cursor, size_t size);
uint64_t plimp_cursor_uleb(struct plimp_cursor *cursor);
int64_t plimp_cursor_sleb(struct plimp_cursor *cursor);

/* What a pointer of an encoding (DW_EH_PE_...) may be relative to. */
struct plimp_cfi_bases {
	uint64_t field; /* address of the pointer itself */
	uint64_t data;	/* of the section, for the header's table */
	int has_data;
};
/* 0 and a bad cursor where the encoding is not one that can be read without
 * the process: indirect, relative to what is not known. */
uint64_t plimp_cfi_pointer(struct plimp_cursor *cursor, unsigned encoding,
			   const struct plimp_cfi_bases *bases);

struct plimp_cfi_cie {
	size_t offset;
	uint64_t code_align;
	int64_t data_align;
	uint64_t return_column;
	unsigned encoding; /* of an FDE's addresses */
	int has_size;	   /* augmentation 'z' */
	int is_signal;	   /* 'S' */
	size_t program;	   /* offsets of its first instruction and the end */
	size_t program_end;
};

struct plimp_cfi_fde {
	size_t cie; /* offset */
	uint64_t start;
	uint64_t end;
	size_t program;
	size_t program_end;
};

/* The entry at an offset: its kind, and where the next one is. */
enum plimp_cfi_kind {
	PLIMP_CFI_END = 0, /* nothing, or nothing readable, from here on */
	PLIMP_CFI_CIE = 1,
	PLIMP_CFI_FDE = 2,
	PLIMP_CFI_EMPTY = 3, /* length 0: the end of one object's entries */
	PLIMP_CFI_BAD = 4    /* malformed, but the next one can be found */
};
struct plimp_cfi_entry {
	int kind;
	size_t next;
	size_t body;  /* behind the id */
	size_t cie;   /* an FDE's */
	int is_64bit; /* the 64-bit form of DWARF */
};
struct plimp_cfi_entry plimp_cfi_entry(const struct plimp_cfi *cfi,
				       size_t offset);

/* 0 if it is a CIE that is understood; else nonzero. */
int plimp_cfi_cie(const struct plimp_cfi *cfi, size_t offset,
		  struct plimp_cfi_cie *cie);
/* 0 and the FDE of an entry; `cie` is the one it names. */
int plimp_cfi_fde(const struct plimp_cfi *cfi,
		  const struct plimp_cfi_entry *entry,
		  const struct plimp_cfi_cie *cie, struct plimp_cfi_fde *fde);

/* How a register of the caller is found. */
enum plimp_cfi_how {
	PLIMP_CFI_UNSET = 0,	  /* nothing said: by the ABI */
	PLIMP_CFI_UNDEFINED = 1,  /* not at all */
	PLIMP_CFI_SAME = 2,	  /* unchanged */
	PLIMP_CFI_OFFSET = 3,	  /* at CFA + value */
	PLIMP_CFI_VAL_OFFSET = 4, /* it is CFA + value */
	PLIMP_CFI_REGISTER = 5,	  /* in register number value */
	PLIMP_CFI_EXPRESSION = 6, /* at the address an expression gives */
	PLIMP_CFI_VAL_EXPRESSION = 7
};
struct plimp_cfi_rule {
	uint32_t how;
	uint32_t size; /* of the expression */
	int64_t value; /* or the offset of the expression in the section */
};

enum plimp_cfi_cfa {
	PLIMP_CFA_NONE = 0, /* no rule was given */
	PLIMP_CFA_REGISTER = 1,
	PLIMP_CFA_EXPRESSION = 2
};
/*
 * A row: how the caller's registers are found at a place. Nearly all that rows
 * say is that a register which a function must preserve lies some words below
 * the CFA: that is packed, so that a row is made, kept and looked up in a few
 * words. It is read and changed by cfi_row.h.
 */
#define PLIMP_CFI_FIELDS  12
#define PLIMP_CFI_LONGEST 0x7fff
struct plimp_cfi_row {
	uint8_t cfa;	   /* enum plimp_cfi_cfa */
	uint8_t is_signed; /* aarch64: the return address is */
	uint16_t cfa_register;
	uint32_t cfa_size; /* of the expression */
	int64_t cfa_value; /* offset, or place of the expression */
	uint64_t set;	   /* a bit for each register that is not UNSET */
	uint64_t odd;	   /* and for each whose rule is in rules[] */
	/* CFA - place in words, 16 bits a field, four to a word of ours, the
	 * first lowest; 0: not saved. */
	uint64_t packed[PLIMP_CFI_FIELDS / 4];
	/* Of registers that are odd; the rest is not even initialized. */
	struct plimp_cfi_rule rules[PLIMP_REGISTERS];
};
/* Fields 0 to 9 are rbx and r12 to r15, or x19 to x28. */
enum { PLIMP_CFI_FIELD_FP = 10, PLIMP_CFI_FIELD_RA = 11 };
/* Rows that one program may have remembered at a time. */
#define PLIMP_CFI_REMEMBERED 32
struct plimp_cfi_state {
	struct plimp_cfi_row row;
	struct plimp_cfi_row initial; /* what the CIE begins with */
	uint32_t depth;
	struct plimp_cfi_row remembered[PLIMP_CFI_REMEMBERED];
};

/* Runs the CIE's program into state->initial. 0, or nonzero: malformed. */
int plimp_cfi_begin(const struct plimp_cfi *cfi,
		    const struct plimp_cfi_cie *cie,
		    struct plimp_cfi_state *state);
/*
 * Runs the FDE's program and gives each row with the address from which it
 * holds; the last one holds to the end of the function. Nonzero where the
 * program is malformed: the rows so far are right, but what follows the last
 * of them is not known. An emit that returns nonzero ends it with that.
 */
typedef int plimp_cfi_emit_fn(void *user, uint64_t address,
			      const struct plimp_cfi_row *row);
int plimp_cfi_run(const struct plimp_cfi *cfi, const struct plimp_cfi_cie *cie,
		  const struct plimp_cfi_fde *fde,
		  struct plimp_cfi_state *state, plimp_cfi_emit_fn *emit,
		  void *user);

#endif
