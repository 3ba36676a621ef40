/*
 * walk_code.c - what instructions say, where rules say nothing: whether a
 * return address follows a call and where that led, PLT stubs, the trampoline
 * that ends a signal handler, first and last instructions of functions.
 *
 * Bytes of code are hostile like all else: a pattern is only ever a reason to
 * try a step whose result is checked, or a proof that holds whatever else the
 * bytes are.
 */
#include "unwind/walk_code.h"

#include "elf/elf_bytes.h"

int plimp_trace_code(struct plimp_trace *walk, uint64_t address, void *bytes,
		     size_t size)
{
	const struct plimp_stack_bytes *stack = walk->stack;

	return stack->code && size <= UINT64_MAX - address &&
	       !stack->code(stack->user, address, bytes, size);
}

static uint64_t code_relative(uint64_t from, const uint8_t *bytes)
{
	return from + (plimp_elf_u32(bytes) ^ 0x80000000u) - 0x80000000u;
}

/* call *x by its ModRM byte: how many bytes the whole has behind the opcode;
 * 0: it is another instruction. */
static size_t code_indirect(const uint8_t *modrm)
{
	unsigned mode = modrm[0] >> 6;
	unsigned base = modrm[0] & 7;

	if ((modrm[0] >> 3 & 7) != 2)
		return 0;
	if (mode == 3)
		return 1;
	size_t size = base == 4 ? 2 : 1;

	if (mode == 0)
		return base == 5 || (base == 4 && (modrm[1] & 7) == 5)
			   ? size + 4
			   : size;
	return size + (mode == 1 ? 1 : 4);
}

/* A word of the process: the table that a PLT stub jumps by. */
static int code_word(struct plimp_trace *walk, uint64_t address,
		     uint64_t *value)
{
	const struct plimp_stack_bytes *stack = walk->stack;

	return stack->word && !stack->word(stack->user, address, value);
}

/* e8 is a call to an address; ff /2 one by a register or by memory, of which
 * only what lies beside the code (-fno-plt) can be followed. */
static int code_is_call_x86(struct plimp_trace *walk, uint64_t address,
			    uint64_t *target)
{
	uint8_t bytes[9] = {0};
	size_t have = 7;

	*target = 0;
	if (!plimp_trace_code(walk, address - 7, bytes, have)) {
		/* The first bytes of a mapping: the shortest two. */
		have = 2;
		if (!plimp_trace_code(walk, address - 2, bytes + 5, have))
			return 0;
	}
	if (have == 7 && bytes[2] == 0xe8) {
		*target = code_relative(address, bytes + 3);
		return 1;
	}
	if (have == 7 && bytes[1] == 0xff && bytes[2] == 0x15) {
		if (!code_word(walk, code_relative(address, bytes + 3), target))
			*target = 0;
		return 1;
	}
	for (size_t size = 2; size <= have; size++)
		if (bytes[7 - size] == 0xff &&
		    code_indirect(bytes + 8 - size) == size - 1)
			return 1;
	return 0;
}

static int code_is_call_arm(struct plimp_trace *walk, uint64_t address,
			    uint64_t *target)
{
	uint8_t bytes[4];

	*target = 0;
	if (!plimp_trace_code(walk, address - 4, bytes, 4))
		return 0;
	uint32_t code = plimp_elf_u32(bytes);

	if ((code & 0xfc000000u) == 0x94000000u) { /* bl */
		uint64_t by = (uint64_t)(code & 0x3ffffff) << 2;

		*target = address - 4 + ((by ^ 0x8000000) - 0x8000000);
		return 1;
	}
	return (code & 0xfffffc1fu) == 0xd63f0000u || /* blr */
	       (code & 0xfefff800u) == 0xd63f0800u;   /* blraa and its kin */
}

int plimp_trace_is_call(struct plimp_trace *walk, uint64_t address,
			uint64_t *target)
{
	return walk->is_x86 ? code_is_call_x86(walk, address, target)
			    : code_is_call_arm(walk, address, target);
}

/* (endbr64) (bnd) jmp *x(%rip): how many bytes stand before x, or 0. */
static size_t code_jump(const uint8_t *bytes, size_t size)
{
	size_t at = 0;

	if (size >= 4 && plimp_elf_u32(bytes) == 0xfa1e0ff3)
		at = 4;
	if (at < size && bytes[at] == 0xf2)
		at++;
	return at + 6 <= size && bytes[at] == 0xff && bytes[at + 1] == 0x25
		   ? at + 2
		   : 0;
}

uint64_t plimp_trace_through_stub(struct plimp_trace *walk, uint64_t target)
{
	uint8_t bytes[11];
	uint64_t value;
	size_t at;

	if (!walk->is_x86 ||
	    !plimp_trace_code(walk, target, bytes, sizeof(bytes)))
		return target;
	at = code_jump(bytes, sizeof(bytes));
	if (!at || !code_word(walk, code_relative(target + at + 4, bytes + at),
			      &value))
		return target;
	return value;
}

/* mov $15,%rax; syscall - mov x8,#139; svc #0. */
static int code_is_trampoline(struct plimp_trace *walk, uint64_t pc)
{
	static const uint8_t x86[9] = {0x48, 0xc7, 0xc0, 0x0f, 0,
				       0,    0,	   0x0f, 0x05};
	static const uint8_t arm[8] = {0x68, 0x11, 0x80, 0xd2,
				       0x01, 0,	   0,	 0xd4};
	size_t size = walk->is_x86 ? sizeof(x86) : sizeof(arm);
	uint8_t bytes[9];

	return plimp_trace_code(walk, pc, bytes, size) &&
	       !memcmp(bytes, walk->is_x86 ? x86 : arm, size);
}

/* The registers in the frame that the kernel made (struct ucontext of
 * asm/ucontext.h, struct sigcontext of asm/sigcontext.h): of x86-64 the
 * context lies at the stack pointer, and in it r8 to r15, rdi, rsi, rbp, rbx,
 * rdx, rax, rcx, rsp, rip from byte 40 on; of aarch64 behind 128 bytes of
 * siginfo, x0 to x30, sp and pc from byte 184 on. */
int plimp_trace_trampoline(struct plimp_trace *walk)
{
	static const uint8_t x86[17] = {8, 9, 10, 11, 12, 13, 14, 15, 5,
					4, 6, 3,  1,  0,  2,  7,  16};
	uint64_t pc = walk->lookup + !walk->is_exact;
	unsigned count = walk->is_x86 ? 17 : 33;
	uint64_t at =
	    walk->value[plimp_trace_sp(walk)] + (walk->is_x86 ? 40 : 128 + 184);

	if (!code_is_trampoline(walk, pc))
		return 0;
	for (unsigned i = 0; i < count; i++)
		if (plimp_trace_load(walk, at + 8 * i,
				     &walk->value[walk->is_x86 ? x86[i] : i]))
			return -1;
	return 1;
}

/* --- functions without rules ---------------------------------------------- */

/* Stubs of a PLT, from any of their instructions: the return address lies at
 * the stack pointer, above one number, above two. */
static uint64_t code_plt(const uint8_t *before, const uint8_t *at)
{
	/* push x(%rip); jmp *y(%rip): the table's first entry. */
	if (at[0] == 0xff && at[1] == 0x35 && code_jump(at + 6, 7))
		return 16;
	if (code_jump(at, 11))
		return before[10] == 0xff && before[11] == 0x35 ? 24 : 8;
	/* push $n; jmp to that one. */
	if (at[0] == 0x68 &&
	    (at[5] == 0xe9 || (at[5] == 0xf2 && at[6] == 0xe9)))
		return 8;
	if ((at[0] == 0xe9 || (at[0] == 0xf2 && at[1] == 0xe9)) &&
	    before[11] == 0x68)
		return 16;
	return 0;
}

static int code_is(const uint8_t *at, const char *bytes, size_t size)
{
	return !memcmp(at, bytes, size);
}

/* push %rbp; mov %rsp,%rbp is how code begins that keeps a frame pointer, and
 * ret is how it ends. `before` is the 16 bytes before the pc. */
static uint64_t code_edge_x86(const uint8_t *before, const uint8_t *at)
{
	uint64_t plt = code_plt(before, at);

	if (plt)
		return plimp_rule_word(PLIMP_RULE_SP, plt, 0, 8);
	if (at[0] == 0xc3 || (at[0] == 0xf3 && at[1] == 0xc3) ||
	    (at[0] == 0x55 && at[1] == 0x48 &&
	     ((at[2] == 0x89 && at[3] == 0xe5) ||
	      (at[2] == 0x8b && at[3] == 0xec))))
		return plimp_rule_word(PLIMP_RULE_SP, 8, 0, 8);
	/* Java's methods touch the stack before: mov %eax,-n(%rsp). */
	if (code_is(at, "\x89\x84\x24", 3) && at[6] == 0xff && at[7] == 0x55)
		return plimp_rule_word(PLIMP_RULE_SP, 8, 0, 8);
	/* _init and _fini of crti.o: sub $8,%rsp ... add $8,%rsp; ret. */
	if (code_is(at, "\x48\x83\xec\x08", 4) ||
	    code_is(at, "\xf3\x0f\x1e\xfa\x48\x83\xec\x08", 8))
		return plimp_rule_word(PLIMP_RULE_SP, 8, 0, 8);
	if (code_is(at, "\x48\x83\xc4\x08\xc3", 5) ||
	    code_is(before + 12, "\x48\x83\xec\x08", 4))
		return plimp_rule_word(PLIMP_RULE_SP, 16, 0, 8);
	if (before[15] == 0x55 && at[0] == 0x48 &&
	    ((at[1] == 0x89 && at[2] == 0xe5) ||
	     (at[1] == 0x8b && at[2] == 0xec)))
		return plimp_rule_word(PLIMP_RULE_SP, 16, 16, 8);
	return PLIMP_RULE_NONE;
}

/* stp x29,x30,[sp,#-n]! before it has stored, and ret: the return address is
 * in the link register. */
static uint64_t code_edge_arm(const uint8_t *at)
{
	uint32_t code = plimp_elf_u32(at);

	if (code == 0xd65f03c0u || (code & 0xffc07fffu) == 0xa9807bfdu)
		return plimp_rule_word(PLIMP_RULE_SP, 0, 0, 0);
	return PLIMP_RULE_NONE;
}

uint64_t plimp_trace_edge(struct plimp_trace *walk)
{
	uint64_t pc = walk->lookup;
	uint8_t before[16] = {0};
	uint8_t at[16] = {0};

	if (!walk->is_x86)
		return plimp_trace_code(walk, pc, at, 4) ? code_edge_arm(at)
							 : PLIMP_RULE_NONE;
	/* What lies behind the end of a mapping reads as nothing. */
	if (!plimp_trace_code(walk, pc, at, sizeof(at)) &&
	    !plimp_trace_code(walk, pc, at, 1))
		return PLIMP_RULE_NONE;
	(void)plimp_trace_code(walk, pc - 16, before, sizeof(before));
	return code_edge_x86(before, at);
}

/* xor %ebp,%ebp is what the first function of a process or thread does, so
 * that the chain of frame pointers ends there (System V ABI, 3.4.1). */
int plimp_trace_is_start(struct plimp_trace *walk)
{
	uint8_t bytes[64];

	if (!walk->is_x86 ||
	    !plimp_trace_code(walk, walk->lookup - sizeof(bytes), bytes,
			      sizeof(bytes)))
		return 0;
	for (size_t i = 0; i + 1 < sizeof(bytes); i++)
		if (bytes[i] == 0x31 && bytes[i + 1] == 0xed)
			return 1;
	return 0;
}
