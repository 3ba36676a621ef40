/*
 * walk_tail.c - the last instructions of a function without rules. Where what
 * follows the pc does nothing but give the stack back and return, that is what
 * the thread will do: it tells where the return address and the saved
 * registers lie, whether or not the function keeps a frame pointer.
 *
 * So are left the trampolines that python makes of each function when it is
 * asked for names (-X perf): sub $8,%rsp; call *%rcx; add $8,%rsp; ret. They
 * are called by code that has rules and keeps no frame pointer, whose rbp is
 * anything. Only a straight line counts, and only where it leads to an address
 * that a call ends at: bytes may be anything else, too.
 */
#include "unwind/walk_code.h"

#include "elf/elf_bytes.h"

enum {
	TAIL_BYTES = 40,
	TAIL_POPS = 8,
	TAIL_MOST = 1 << 18 /* bytes of one frame: what a word has room for */
};

/* Where the line has come to: `depth` above rsp as it is at the pc, or above
 * rbp where `is_fp`. */
struct tail {
	int64_t depth;
	int64_t start; /* where rbp led first, if is_fp */
	int is_fp;
	int has_fp; /* rbp was popped, from fp_at */
	int64_t fp_at;
	unsigned count;
	struct {
		unsigned number;
		int64_t at;
	} pops[TAIL_POPS];
};

/* The numbers of DWARF are not those of the instruction for the first eight. */
static unsigned tail_register(uint8_t code, int is_extended)
{
	static const uint8_t low[8] = {0, 2, 1, 3, 7, 6, 4, 5};

	return is_extended ? 8u + (code & 7u) : low[code & 7];
}

static int tail_pop(struct tail *tail, unsigned number)
{
	if (number == PLIMP_X86_RSP || tail->count == TAIL_POPS)
		return 0;
	if (number == PLIMP_X86_RBP) {
		if (tail->has_fp)
			return 0;
		tail->has_fp = 1;
		tail->fp_at = tail->depth;
	} else {
		tail->pops[tail->count].number = number;
		tail->pops[tail->count++].at = tail->depth;
	}
	tail->depth += 8;
	return 1;
}

static int tail_by_fp(struct tail *tail, int64_t depth)
{
	if (tail->is_fp || tail->has_fp || tail->count)
		return 0;
	tail->is_fp = 1;
	tail->start = depth;
	tail->depth = depth;
	return 1;
}

static int64_t tail_number(const uint8_t *bytes, int is_long)
{
	if (is_long)
		return (int32_t)plimp_elf_u32(bytes);
	return (int8_t)bytes[0];
}

/* add or lea to rsp: how many bytes it has; 0: it is another instruction. */
static size_t tail_give_back(struct tail *tail, const uint8_t *at)
{
	const int is_long = at[1] == 0x81 || at[2] == 0xa5;
	const int64_t number = tail_number(at + 3, is_long);

	if (at[0] != 0x48 || number % 8 != 0)
		return 0;
	if ((at[1] == 0x83 || at[1] == 0x81) && at[2] == 0xc4) {
		if (number < 0)
			return 0;
		tail->depth += number;
	} else if (at[1] == 0x8d && (at[2] == 0x65 || at[2] == 0xa5)) {
		if (!tail_by_fp(tail, number))
			return 0;
	} else {
		return 0;
	}
	return is_long ? 7 : 4;
}

/* One instruction: how many bytes it has; 0: it ends the straight line. */
static size_t tail_step(struct tail *tail, const uint8_t *at)
{
	if ((at[0] & 0xf8) == 0x58)
		return tail_pop(tail, tail_register(at[0], 0)) ? 1 : 0;
	if (at[0] == 0x41 && (at[1] & 0xf8) == 0x58)
		return tail_pop(tail, tail_register(at[1], 1)) ? 2 : 0;
	if (at[0] == 0xc9)
		return tail_by_fp(tail, 0) && tail_pop(tail, PLIMP_X86_RBP);
	if (at[0] == 0x48 && ((at[1] == 0x89 && at[2] == 0xec) ||
			      (at[1] == 0x8b && at[2] == 0xe5)))
		return tail_by_fp(tail, 0) ? 3 : 0;
	if (at[0] == 0xc5 && at[1] == 0xf8 && at[2] == 0x77)
		return 3; /* vzeroupper */
	/* Java's: cmp n(%r15),%rsp; ja to where it waits for its collector. */
	if (at[0] == 0x49 && at[1] == 0x3b && at[2] == 0xa7)
		return 7;
	if (at[0] == 0x0f && at[1] == 0x87)
		return 6;
	return tail_give_back(tail, at);
}

static int tail_returns(const uint8_t *at)
{
	return at[0] == 0xc3 || (at[0] == 0xf3 && at[1] == 0xc3);
}

/* The lowest place, from rbp or the stack pointer on: not above it. */
static int64_t tail_start(const struct tail *tail)
{
	return tail->start < 0 ? tail->start : 0;
}

/* `bytes` has some more behind `size`, which are 0. */
static int tail_read(struct tail *tail, const uint8_t *bytes, size_t size)
{
	size_t at = 0;

	while (at < size && !tail_returns(bytes + at)) {
		size_t step = tail_step(tail, bytes + at);

		if (!step)
			return 0;
		at += step;
	}
	return at < size && tail->depth >= 0 &&
	       tail->depth - tail_start(tail) < TAIL_MOST - 16;
}

/* An address behind a call, which is what a return leads to. */
static int tail_leads_to_call(struct plimp_trace *walk, uint64_t at)
{
	uint64_t pc, target;

	return !plimp_trace_load(walk, at, &pc) && pc &&
	       plimp_trace_range(walk, pc - 1) &&
	       plimp_trace_is_call(walk, pc, &target);
}

/* Registers that were popped, where all are followed. */
static int tail_restore(struct plimp_trace *walk, const struct tail *tail,
			uint64_t base)
{
	for (unsigned i = 0; walk->is_full && i < tail->count; i++) {
		uint64_t value;

		if (plimp_trace_load(walk, base + (uint64_t)tail->pops[i].at,
				     &value))
			return plimp_trace_missed(walk);
		plimp_trace_set(walk, tail->pops[i].number, value);
	}
	return PLIMP_TRACE_GOES_ON;
}

/* The rule of a frame that nothing but the stack pointer tells of is kept. */
static int tail_leave(struct plimp_trace *walk, const struct tail *tail)
{
	const uint64_t cfa = (uint64_t)tail->depth + 8;
	const uint64_t fp_at =
	    tail->has_fp ? (uint64_t)(tail->depth + 8 - tail->fp_at) : 0;

	if (!tail->is_fp && !tail->count)
		plimp_trace_keep(
		    walk, walk->lookup,
		    plimp_rule_word(PLIMP_RULE_TAIL, cfa, fp_at, 8));
	return plimp_trace_simple(
	    walk, plimp_rule_word(tail->is_fp ? PLIMP_RULE_FP : PLIMP_RULE_SP,
				  cfa, fp_at, 8));
}

/* Other code may stand there by now: what it leads to is asked as at first. */
int plimp_trace_tail_kept(struct plimp_trace *walk, uint64_t word, int *end)
{
	if (PLIMP_RULE_KIND(word) != PLIMP_RULE_TAIL ||
	    !tail_leads_to_call(walk, walk->value[PLIMP_X86_RSP] +
					  PLIMP_RULE_CFA(word) - 8))
		return 0;
	*end = plimp_trace_simple(walk, word);
	return 1;
}

int plimp_trace_tail(struct plimp_trace *walk, int *end)
{
	const uint64_t pc = walk->lookup + !walk->is_exact;
	uint8_t bytes[TAIL_BYTES + 8] = {0};
	struct tail tail = {0};
	size_t size = TAIL_BYTES;
	uint64_t base;

	if (!walk->is_x86)
		return 0;
	/* What lies behind the end of a mapping reads as nothing. */
	while (size && !plimp_trace_code(walk, pc, bytes, size))
		size /= 2;
	if (!tail_read(&tail, bytes, size) ||
	    (tail.is_fp && !plimp_trace_knows(walk, PLIMP_X86_RBP)))
		return 0;
	base = walk->value[tail.is_fp ? PLIMP_X86_RBP : PLIMP_X86_RSP];
	/* What it takes from the stack is not below it. */
	if (base < walk->value[PLIMP_X86_RSP] || base % 8 ||
	    base - walk->value[PLIMP_X86_RSP] < (uint64_t)-tail_start(&tail) ||
	    base > UINT64_MAX - 2 * TAIL_MOST ||
	    !tail_leads_to_call(walk, base + (uint64_t)tail.depth))
		return 0;
	*end = tail_restore(walk, &tail, base);
	if (!*end)
		*end = tail_leave(walk, &tail);
	return 1;
}
