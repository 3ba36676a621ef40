/*
 * walk_bare.c - frames of code that has no rules: made at run time, by Go, by
 * hand. First what its instructions prove (PLT stubs, the end of a signal
 * handler, first and last instructions), then the frame pointer, which is
 * believed where the word above the saved one is a return address: it lies in
 * code, and a call ends there. That is asked once per address of code and
 * kept; where it is not so the walk ends rather than guess.
 */
#include "unwind/walk_code.h"

static int bare_is_code(struct plimp_trace *walk, uint64_t address)
{
	return plimp_trace_range(walk, address) != NULL;
}

int plimp_trace_signal(struct plimp_trace *walk, int *is_signal)
{
	const unsigned sp = plimp_trace_sp(walk);
	const unsigned pc = walk->is_x86 ? PLIMP_X86_RIP : PLIMP_ARM_PC;
	size_t last = walk->unwound->count - 1;
	uint64_t was = walk->value[sp];
	int found = plimp_trace_trampoline(walk);

	*is_signal = found != 0;
	if (!found)
		return PLIMP_TRACE_GOES_ON;
	if (!walk->is_exact) {
		walk->frames[last]++;
		if (walk->exact)
			walk->exact[last] = 1;
	}
	if (found < 0)
		return plimp_trace_missed(walk);
	if (walk->value[sp] <= was && ++walk->jumps > PLIMP_TRACE_JUMPS)
		return PLIM_STACK_BAD_RULES;
	walk->known = UINT64_C(1) << sp | UINT64_C(1) << plimp_trace_fp(walk);
	if (!walk->is_x86)
		walk->known |= UINT64_C(1) << PLIMP_ARM_LR;
	if (walk->is_full)
		walk->known = UINT64_MAX;
	walk->by_pointer = 0;
	return plimp_trace_enter(walk, walk->value[pc], walk->value[sp], 1);
}

/* The function was called by an instruction that leads into the same stretch
 * without rules, at or before the pc, and has pushed nothing: then what lies
 * on top of the stack is its return address. */
static int bare_is_leaf(struct plimp_trace *walk)
{
	const struct plimp_code_range *range =
	    plimp_trace_range(walk, walk->lookup);
	uint64_t pc, target;

	if (!walk->is_x86 ||
	    plimp_trace_load(walk, walk->value[PLIMP_X86_RSP], &pc) ||
	    !bare_is_code(walk, pc) ||
	    !plimp_trace_is_call(walk, pc, &target) || !target)
		return 0;
	target = plimp_trace_through_stub(walk, target);
	if (target > walk->lookup || target < range->start ||
	    walk->lookup - target > 65536)
		return 0;
	return !range->rules ||
	       plimp_rules_row(range->rules, target - range->bias) ==
		   plimp_rules_row(range->rules, walk->lookup - range->bias);
}

/* Nobody says where the frame pointer is, or it ends here. */
static int bare_ends(struct plimp_trace *walk)
{
	unsigned fp = plimp_trace_fp(walk);

	if (!plimp_trace_knows(walk, fp))
		return PLIM_STACK_NO_POINTER;
	if (walk->value[fp])
		return PLIMP_TRACE_GOES_ON;
	return walk->by_pointer || plimp_trace_is_start(walk)
		   ? PLIM_STACK_ROOT
		   : PLIM_STACK_NO_RULES;
}

/* Whether the frame pointer of code that was not looked at yet is believed:
 * where `pc` is, a call ends, or Java's interpreter has made it. */
static int bare_believes(struct plimp_trace *walk, uint64_t at, uint64_t next,
			 uint64_t pc)
{
	uint64_t target;

	if (walk->stack->code && !plimp_trace_is_call(walk, pc, &target) &&
	    !plimp_trace_java_calls(walk, next, at + 16))
		return 0;
	return !plimp_trace_java_without(walk);
}

/* The pair that the frame pointer leads to: the caller's, and the return
 * address. */
static int bare_pointer(struct plimp_trace *walk, uint64_t word)
{
	const unsigned fp = plimp_trace_fp(walk);
	uint64_t at = walk->value[fp];
	uint64_t sp = at + 16;
	struct plimp_java_frame frame;
	uint64_t next, pc;
	int java;

	if (at < walk->value[plimp_trace_sp(walk)] || at % 8 ||
	    at > UINT64_MAX - 16)
		return PLIM_STACK_NO_RULES;
	if (plimp_trace_load(walk, at, &next) ||
	    plimp_trace_load(walk, at + 8, &pc))
		return plimp_trace_missed(walk);
	pc &= ~walk->first->pointer_mask;
	java = plimp_trace_java(walk, at, &frame);
	if ((pc && !bare_is_code(walk, pc - 1)) || java == PLIMP_JAVA_OUTER)
		return PLIM_STACK_NO_RULES;
	if (java == PLIMP_JAVA_OWN) {
		sp = frame.sender;
	} else if (pc && PLIMP_RULE_KIND(word) != PLIMP_RULE_POINTER) {
		if (!bare_believes(walk, at, next, pc))
			return PLIM_STACK_NO_RULES;
		plimp_trace_keep(walk, walk->lookup, PLIMP_RULE_POINTER);
	}
	walk->known = 0;
	plimp_trace_set(walk, fp, next);
	walk->by_pointer = 1;
	walk->unwound->by_pointer++;
	return plimp_trace_enter(walk, pc, sp, 0);
}

/* In the few instructions that a file begins with, which call and do not come
 * back: the dynamic linker's have no rules. */
static int bare_is_first(struct plimp_trace *walk)
{
	const struct plimp_code_range *range =
	    plimp_trace_range(walk, walk->lookup);

	return range->rules && range->rules->entry &&
	       walk->lookup - range->bias - range->rules->entry < 16;
}

int plimp_trace_bare(struct plimp_trace *walk, uint64_t word)
{
	int is_signal;
	int end;

	if (plimp_trace_tail_kept(walk, word, &end))
		return end;
	if (PLIMP_RULE_KIND(word) != PLIMP_RULE_POINTER) {
		if (bare_is_first(walk))
			return PLIM_STACK_ROOT;
		end = plimp_trace_signal(walk, &is_signal);
		if (is_signal)
			return end;
		word =
		    walk->is_exact ? plimp_trace_edge(walk) : PLIMP_RULE_NONE;
		if (word == PLIMP_RULE_NONE && plimp_trace_tail(walk, &end))
			return end;
		if (word == PLIMP_RULE_NONE && walk->is_exact &&
		    bare_is_leaf(walk))
			word = plimp_rule_word(PLIMP_RULE_SP, 8, 0, 8);
		if (word != PLIMP_RULE_NONE)
			return plimp_trace_simple(walk, word);
	}
	end = bare_ends(walk);
	return end ? end : bare_pointer(walk, word);
}
