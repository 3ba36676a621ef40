/*
 * walk_side.c - frames whose rule is not simple: the CFA by another register
 * or an expression, registers saved in other ways, and signal frames, which
 * restore every register and lead to the very instruction that was
 * interrupted, on whatever stack that was.
 */
#include "unwind/walk.h"

#include "unwind/expression.h"

static int side_word(void *user, uint64_t address, uint64_t *value)
{
	return plimp_trace_load(user, address, value);
}

/* Once with all registers, if the first frame's were known at all. */
static int side_needs(const struct plimp_trace *walk)
{
	uint64_t told = UINT64_C(1) << plimp_trace_fp(walk) |
			UINT64_C(1) << plimp_trace_sp(walk) |
			UINT64_C(1) << PLIMP_X86_RIP |
			UINT64_C(1) << PLIMP_ARM_PC;

	if (walk->is_x86)
		told |= ~UINT64_C(0) << (PLIMP_X86_RIP + 1);
	if (!walk->is_full && (walk->first->known & ~told))
		return PLIMP_TRACE_AGAIN;
	return PLIM_STACK_NO_POINTER;
}

static int side_failed(const struct plimp_trace *walk, int result)
{
	if (result == PLIMP_EXPRESSION_REGISTER)
		return side_needs(walk);
	if (result == PLIMP_EXPRESSION_MEMORY)
		return plimp_trace_missed(walk);
	return PLIM_STACK_BAD_RULES;
}

struct side {
	struct plimp_trace *walk;
	const struct plimp_rules *rules;
	struct plimp_expression expression;
	uint64_t cfa;
	int is_signal;
};

/* An expression lies where the table says: that is ours, not the file's. */
static int side_run(struct side *side, uint64_t at, uint64_t size,
		    const uint64_t *begin, uint64_t *value)
{
	/* Where all are empty there is no memory of them. */
	if (!size)
		return PLIMP_EXPRESSION_BAD;
	return plimp_expression_run(&side->expression,
				    side->rules->expressions + at, (size_t)size,
				    begin, value);
}

static int side_cfa(struct side *side, const uint64_t *words)
{
	struct plimp_trace *walk = side->walk;
	unsigned number = (unsigned)(words[0] >> 16 & 0xffff);
	int result;

	if ((words[0] & 0xff) == PLIMP_CFA_EXPRESSION) {
		result = side_run(side, words[1], words[0] >> 40 & 0xffff, NULL,
				  &side->cfa);
		return result ? side_failed(walk, result) : PLIMP_TRACE_GOES_ON;
	}
	if (number >= PLIMP_REGISTERS)
		return PLIM_STACK_BAD_RULES;
	if (!plimp_trace_knows(walk, number))
		return side_needs(walk);
	side->cfa = walk->value[number] + words[1];
	return PLIMP_TRACE_GOES_ON;
}

/* One register of the caller: 1 if its value is known. */
static int side_register(struct side *side, const uint64_t *words,
			 uint64_t *value, int *result)
{
	struct plimp_trace *walk = side->walk;
	unsigned number = (unsigned)words[0] & 0xff;
	uint64_t place = side->cfa + words[1];
	uint64_t sp = walk->value[plimp_trace_sp(walk)];

	*result = PLIMP_EXPRESSION_OK;
	switch (words[0] >> 8 & 0xff) {
	case PLIMP_CFI_VAL_OFFSET:
		*value = place;
		return 1;
	case PLIMP_CFI_REGISTER:
		if (words[1] >= PLIMP_REGISTERS ||
		    !plimp_trace_knows(walk, (unsigned)words[1])) {
			*result = PLIMP_EXPRESSION_REGISTER;
			return 0;
		}
		*value = walk->value[words[1]];
		return 1;
	case PLIMP_CFI_VAL_EXPRESSION:
		*result = side_run(side, words[1], words[0] >> 32 & 0xffff,
				   &side->cfa, value);
		return *result == PLIMP_EXPRESSION_OK;
	case PLIMP_CFI_EXPRESSION:
		*result = side_run(side, words[1], words[0] >> 32 & 0xffff,
				   &side->cfa, &place);
		if (*result)
			return 0;
		break;
	case PLIMP_CFI_OFFSET:
		/* Restored already, as in plimp_trace_simple(). */
		if (place < sp && !side->is_signal) {
			if (number == PLIMP_X86_RIP && walk->is_x86) {
				*result = PLIMP_EXPRESSION_BAD;
				return 0;
			}
			*value = walk->value[number];
			return plimp_trace_knows(walk, number);
		}
		break;
	default: /* undefined */
		return 0;
	}
	if (plimp_trace_load(walk, place, value)) {
		*result = PLIMP_EXPRESSION_MEMORY;
		return 0;
	}
	return 1;
}

/* The registers that are followed in this walk, and those that any caller can
 * rely on; a signal frame restores the rest as well. */
static uint64_t side_kept(const struct side *side)
{
	const struct plimp_trace *walk = side->walk;
	uint64_t three = UINT64_C(1) << plimp_trace_fp(walk) |
			 UINT64_C(1) << plimp_trace_sp(walk);

	if (!walk->is_x86 && side->is_signal)
		three |= UINT64_C(1) << PLIMP_ARM_LR;
	if (!walk->is_full)
		return three;
	if (side->is_signal)
		return UINT64_MAX;
	return walk->is_x86 ? UINT64_C(0xf0c8) : UINT64_C(0xbff80000);
}

/* The frame itself is no call: its address is where the handler returns to. */
static void side_is_trampoline(struct plimp_trace *walk)
{
	size_t last = walk->unwound->count - 1;

	if (walk->is_exact)
		return;
	walk->frames[last]++;
	if (walk->exact)
		walk->exact[last] = 1;
}

static int side_leave(struct side *side, const uint64_t *words)
{
	struct plimp_trace *walk = side->walk;
	const unsigned sp = plimp_trace_sp(walk);
	const unsigned ra = walk->is_x86 ? PLIMP_X86_RIP : PLIMP_ARM_LR;
	uint64_t values[PLIMP_REGISTERS];
	uint64_t known = walk->known;
	uint64_t listed = 0;
	int pc_result = PLIMP_EXPRESSION_BAD;
	int result;

	memcpy(values, walk->value, sizeof(values));
	values[sp] = side->cfa;
	for (uint64_t left = words[0] >> 32 & 0xff; left; left--) {
		words += 2;
		unsigned number = (unsigned)words[0] & 0xff;

		listed |= UINT64_C(1) << number;
		known &= ~(UINT64_C(1) << number);
		if (side_register(side, words, &values[number], &result))
			known |= UINT64_C(1) << number;
		if (number == ra)
			pc_result = result;
	}
	/* Not saved: in the link register still. */
	if (!(listed >> ra & 1) && !walk->is_x86 && walk->is_exact)
		pc_result = known >> ra & 1 ? PLIMP_EXPRESSION_OK
					    : PLIMP_EXPRESSION_REGISTER;
	if (!(known >> ra & 1))
		return side_failed(walk, pc_result);
	if (!(known >> sp & 1))
		return PLIM_STACK_BAD_RULES;
	uint64_t was = walk->value[sp];
	uint64_t pc = values[ra] & ~walk->first->pointer_mask;

	if (pc_result)
		return side_failed(walk, pc_result);
	if (values[sp] <= was) {
		/* The innermost function may have taken its return address
		 * off the stack already (eh_return's end does). */
		if (!side->is_signal && (values[sp] < was || !walk->is_exact))
			return PLIM_STACK_BAD_RULES;
		if (side->is_signal && ++walk->jumps > PLIMP_TRACE_JUMPS)
			return PLIM_STACK_BAD_RULES;
	}
	memcpy(walk->value, values, sizeof(values));
	walk->known = known & side_kept(side);
	walk->by_pointer = 0;
	return plimp_trace_enter(walk, pc, values[sp], side->is_signal);
}

int plimp_trace_side(struct plimp_trace *walk, uint64_t word)
{
	const struct plimp_code_range *range =
	    plimp_trace_range(walk, walk->lookup);
	struct side side = {.walk = walk};
	int end;

	if (!range || !range->rules)
		return PLIM_STACK_BAD_RULES;
	side.rules = range->rules;
	const uint64_t *words = side.rules->side + PLIMP_RULE_SIDE_AT(word);

	side.is_signal = (words[0] & PLIMP_SIDE_SIGNAL) != 0;
	/* The rules of aarch64's trampoline lead to the pc alone: the kernel
	 * says that its instructions are to be looked at (vdso/sigreturn.S). */
	if (side.is_signal && !walk->is_x86) {
		int found;

		end = plimp_trace_signal(walk, &found);
		if (found)
			return end;
	}
	if (side.is_signal)
		side_is_trampoline(walk);
	/* An expression may ask for the pc (PLTs do). */
	plimp_trace_set(walk, walk->is_x86 ? PLIMP_X86_RIP : PLIMP_ARM_PC,
			walk->lookup + !walk->is_exact);
	side.expression = (struct plimp_expression){
	    .registers = walk->value,
	    .known = walk->known,
	    .bias = range->bias,
	    .word = side_word,
	    .user = walk,
	};
	end = side_cfa(&side, words);
	return end ? end : side_leave(&side, words);
}
