/*
 * stack.h - what a thread was doing when it was looked at: its registers, and
 * a copy of the bytes of its stack. The host folder fills both (it captures),
 * the unwinder walks them; neither includes the other's headers, so that they
 * meet here.
 *
 * Nothing is said of what the bytes mean. They are hostile: the thread wrote
 * them, and the copy may end anywhere.
 */
#ifndef PLIMP_STACK_H
#define PLIMP_STACK_H

#include <plimsoll/base.h>

/* The red zone of x86-64: bytes below the stack pointer that a leaf may use.
 * aarch64's has none, and a copy from there is right for it, too. */
#define PLIMP_RED_ZONE 128u

/*
 * Registers by their DWARF number. x86-64: 0..15 are rax rdx rcx rbx rsi rdi
 * rbp rsp r8..r15, and 16 is the pc. aarch64: 0..30 are x0..x30, 31 is the
 * stack pointer and 32 the pc.
 */
#define PLIMP_REGISTERS	  33u
#define PLIMP_X86_RBP	  6u
#define PLIMP_X86_RSP	  7u
#define PLIMP_X86_RIP	  16u
#define PLIMP_ARM_FP	  29u
#define PLIMP_ARM_LR	  30u
#define PLIMP_ARM_SP	  31u
#define PLIMP_ARM_PC	  32u
#define PLIMP_MACHINE_X86 62u  /* EM_X86_64 */
#define PLIMP_MACHINE_ARM 183u /* EM_AARCH64 */

struct plimp_registers {
	uint64_t value[PLIMP_REGISTERS];
	uint64_t known; /* bit n: value[n] is known; others are not read */

	/* aarch64: the bits of a return address that are its signature, to be
	 * cleared; 0: none are (x86-64), or it is not known. */
	uint64_t pointer_mask;
};

/* The bytes of a stack, from the copy or, outside it, from `word`. */
struct plimp_stack_bytes {
	/* The address of bytes[0]: sp - PLIMP_RED_ZONE or less where memory was
	 * read, sp itself where the kernel dumped it (perf). */
	uint64_t low;
	const unsigned char *bytes; /* NULL where size is 0 */
	size_t size;

	/* The stack goes on above low + size, but was not copied: a word that
	 * is missing there is cut off, not bad memory. */
	int is_cut;

	/* The 8 bytes at an address outside the copy, in the byte order of the
	 * machine: 0, or nonzero where they cannot be had. NULL: none can. */
	int (*word)(void *user, uint64_t address, uint64_t *value);

	/* `size` bytes of code, all or none: 0, or nonzero. NULL: none can. */
	int (*code)(void *user, uint64_t address, void *bytes, size_t size);
	void *user;
};

#endif
