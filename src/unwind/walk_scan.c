/*
 * walk_scan.c - finding a frame pointer that nobody told. A thread that is
 * blocked in the kernel shows its stack pointer and its pc; where the rule of
 * a frame then needs the frame pointer, it is looked for on the stack.
 *
 * A stack is full of what earlier calls left, so that a pair that merely looks
 * like one is wrong half of the time. A place counts if the return address
 * that the rule would have there follows a call that leads to the start of the
 * very function: directly, through a PLT stub, or by a word beside the code.
 *
 * A call by a register (of main(), of a thread's function, of a callback) does
 * not say where it leads. There a place counts only if rules lead on from it to
 * the thread's first function, past every other place of which the same is
 * true: the true one is among those that were looked at, so that two which do
 * not lie on one walk leave it open.
 */
#include "unwind/walk_code.h"

enum {
	SCAN_WORDS = 8192, /* of the stack: 64 KiB */
	SCAN_CALLS = 512,  /* places that look like a return address */
	SCAN_TRIES = 64,   /* of those, walks from calls of a register */
	SCAN_FRAMES = 128  /* that such a walk has */
};

/* The frame pointer, were the return address at this place. */
static uint64_t scan_pointer(uint64_t place, uint64_t word)
{
	return place + PLIMP_RULE_RA_AT(word) - PLIMP_RULE_CFA(word);
}

/* Walks on from here as if the return address were at `place`, and writes
 * nothing: 1 if that comes to the thread's first function, and, where there is
 * an `other` place, if that is the return address of one of its frames. */
static int scan_leads_home(const struct plimp_trace *walk, uint64_t word,
			   uint64_t place, uint64_t other)
{
	struct plimp_trace dry = *walk;
	struct plimp_unwound unwound = {.count = 1};
	uint64_t frame = 0;
	int passed = !other;
	int end;

	dry.is_dry = 1;
	dry.cache = NULL;
	dry.unwound = &unwound;
	dry.frames = &frame;
	dry.exact = NULL;
	plimp_trace_set(&dry, PLIMP_X86_RBP, scan_pointer(place, word));
	end = plimp_trace_simple(&dry, word);
	for (int i = 0; !end && i < SCAN_FRAMES; i++) {
		end = plimp_trace_step(&dry);
		if (dry.value[PLIMP_X86_RSP] == other + 8)
			passed = 1;
	}
	return end == PLIM_STACK_ROOT && !unwound.by_pointer && passed;
}

struct scan {
	uint64_t start; /* of the function */
	uint64_t word;
	uint64_t place; /* looked at */
	uint64_t home;	/* the first that leads home, or 0 */
	int is_doubtful;
	unsigned calls;
	unsigned tries;
};

/* Another place that may be the one is no contradiction where the first one's
 * walk home comes by: then it is an outer frame's. */
static void scan_compare(const struct plimp_trace *walk, struct scan *scan)
{
	if (!scan_leads_home(walk, scan->word, scan->home, scan->place))
		scan->is_doubtful = 1;
}

/* One place: 1 if it is proven; -1 where it is no use to go on. */
static int scan_place(struct plimp_trace *walk, struct scan *scan)
{
	uint64_t pc, target;

	if (plimp_trace_load(walk, scan->place, &pc))
		return -1;
	if (!plimp_code_find(walk->map, pc))
		return 0;
	if (scan->calls++ == SCAN_CALLS)
		return -1;
	if (!plimp_trace_is_call(walk, pc, &target))
		return 0;
	if (target)
		return target == scan->start ||
		       plimp_trace_through_stub(walk, target) == scan->start;
	/* At a call the stack is aligned to 16 bytes (System V ABI, 3.2.2). */
	if (scan->place % 16 != 8)
		return 0;
	if (scan->tries++ == SCAN_TRIES)
		return -1;
	if (!scan_leads_home(walk, scan->word, scan->place, 0))
		return 0;
	if (scan->home)
		scan_compare(walk, scan);
	else
		scan->home = scan->place;
	return scan->is_doubtful ? -1 : 0;
}

/* Where the search ended early not all places were looked at: then only what
 * is proven counts. */
int plimp_trace_scan(struct plimp_trace *walk, uint64_t word)
{
	const struct plimp_code_range *range =
	    plimp_trace_range(walk, walk->lookup);
	uint64_t sp = walk->value[plimp_trace_sp(walk)];
	struct scan scan = {.word = word, .place = (sp + 7) & ~UINT64_C(7)};
	unsigned words = 0;
	int proven = 0;

	if (!walk->is_x86 || walk->is_dry || !range || !range->rules ||
	    !plimp_rules_function(range->rules, walk->lookup - range->bias,
				  &scan.start))
		return PLIM_STACK_NO_POINTER;
	scan.start += range->bias;
	for (; words < SCAN_WORDS; words++, scan.place += 8) {
		proven = scan_place(walk, &scan);
		if (proven)
			break;
	}
	/* A function that calls itself: the proven one is an outer call's. */
	if (proven > 0 && scan.home)
		scan_compare(walk, &scan);
	else if (proven > 0)
		scan.home = scan.place;
	if (!scan.home || scan.is_doubtful || scan.calls > SCAN_CALLS ||
	    scan.tries > SCAN_TRIES)
		return PLIM_STACK_NO_POINTER;
	plimp_trace_set(walk, PLIMP_X86_RBP, scan_pointer(scan.home, word));
	walk->unwound->scanned++;
	return PLIMP_TRACE_GOES_ON;
}
