/*
 * inside_context.h - the registers that a signal found, and the thread pointer,
 * of each machine; for the handler alone.
 */
#ifndef PLIMP_LINUX_INSIDE_CONTEXT_H
#define PLIMP_LINUX_INSIDE_CONTEXT_H

#include "core/stack.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#if defined(__x86_64__) && defined(__LP64__)

#define PLIMP_CONTEXT_KNOWN 1
#define PLIMP_CONTEXT_SP    PLIMP_X86_RSP
#define PLIMP_CONTEXT_PC    PLIMP_X86_RIP

static inline void plimp_context_registers(const ucontext_t *context,
					   struct plimp_registers *registers)
{
	static const uint8_t places[17] = {
	    REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI,
	    REG_RBP, REG_RSP, REG_R8,  REG_R9,	REG_R10, REG_R11,
	    REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP};

	for (unsigned i = 0; i < 17; i++)
		registers->value[i] =
		    (uint64_t)context->uc_mcontext.gregs[places[i]];
	registers->known = 0x1ffff;
	registers->pointer_mask = 0;
}

/* Where a system call stands that may just have failed by EINTR; 0: none. */
#define PLIMP_CONTEXT_CALL_BYTES 2u
static inline uint64_t plimp_context_interrupted(const ucontext_t *context)
{
	const greg_t *registers = context->uc_mcontext.gregs;

	return registers[REG_RAX] == -EINTR
		   ? (uint64_t)registers[REG_RIP] - PLIMP_CONTEXT_CALL_BYTES
		   : 0;
}

/* The instruction syscall. */
static inline int plimp_context_is_call(const unsigned char *bytes)
{
	return bytes[0] == 0x0f && bytes[1] == 0x05;
}

/* By a call: a thread without one has the base 0, from which no word can be
 * read. ARCH_GET_FS is 0x1003. */
static inline uint64_t plimp_context_thread(void)
{
	unsigned long base = 0;

	return syscall(SYS_arch_prctl, 0x1003, &base) == 0 ? base : 0;
}

#elif defined(__aarch64__)

#define PLIMP_CONTEXT_KNOWN 1
#define PLIMP_CONTEXT_SP    PLIMP_ARM_SP
#define PLIMP_CONTEXT_PC    PLIMP_ARM_PC

static inline void plimp_context_registers(const ucontext_t *context,
					   struct plimp_registers *registers)
{
	for (unsigned i = 0; i < 31; i++)
		registers->value[i] = context->uc_mcontext.regs[i];
	registers->value[PLIMP_ARM_SP] = context->uc_mcontext.sp;
	registers->value[PLIMP_ARM_PC] = context->uc_mcontext.pc;
	registers->known = UINT64_C(0x1ffffffff);
	/* Above 48 bits of an address: its signature, if it has one. */
	registers->pointer_mask = UINT64_C(0xff7f) << 48;
}

#define PLIMP_CONTEXT_CALL_BYTES 4u
static inline uint64_t plimp_context_interrupted(const ucontext_t *context)
{
	return (int64_t)context->uc_mcontext.regs[0] == -EINTR
		   ? context->uc_mcontext.pc - PLIMP_CONTEXT_CALL_BYTES
		   : 0;
}

/* svc #0 */
static inline int plimp_context_is_call(const unsigned char *bytes)
{
	return bytes[0] == 0x01 && bytes[1] == 0x00 && bytes[2] == 0x00 &&
	       bytes[3] == 0xd4;
}

static inline uint64_t plimp_context_thread(void)
{
	uint64_t pointer;

	__asm__("mrs %0, tpidr_el0" : "=r"(pointer));
	return pointer;
}

#else

#define PLIMP_CONTEXT_KNOWN 0
#define PLIMP_CONTEXT_SP    0
#define PLIMP_CONTEXT_PC    0

static inline void plimp_context_registers(const ucontext_t *context,
					   struct plimp_registers *registers)
{
	(void)context;
	memset(registers, 0, sizeof *registers);
}

#define PLIMP_CONTEXT_CALL_BYTES 1u
static inline uint64_t plimp_context_interrupted(const ucontext_t *context)
{
	(void)context;
	return 0;
}

static inline int plimp_context_is_call(const unsigned char *bytes)
{
	(void)bytes;
	return 0;
}

static inline uint64_t plimp_context_thread(void)
{
	return 0;
}

#endif
#endif
