/*
 * walk.c - the walk over one stack: plimp_unwind() and its simple steps.
 *
 * A frame is left in the loop of trace_on() when its rule is simple and only
 * the stack pointer, the frame pointer and the return address matter, which is
 * nearly always: one look into the cache, two loads. Everything else goes out
 * to a function and comes back. Where a rule needs one of the other registers,
 * the walk is done once more from its beginning with all of them (is_full):
 * they are known where the first frame's are, and each rule says where the
 * caller's lie.
 */
#include "unwind/walk.h"

#include <assert.h>

size_t plimp_pc_cache_size(void)
{
	return sizeof(struct plimp_pc_cache);
}

int plimp_trace_missed(const struct plimp_trace *walk)
{
	const struct plimp_stack_bytes *stack = walk->stack;
	uint64_t address = walk->unwound->missed;

	/* In a word that begins in the copy and ends behind it, too. */
	return stack->is_cut && address >= stack->low &&
		       address - stack->low + 8 > stack->size
		   ? PLIM_STACK_CUT
		   : PLIM_STACK_BAD_MEMORY;
}

const struct plimp_code_range *plimp_trace_range(struct plimp_trace *walk,
						 uint64_t address)
{
	const struct plimp_code_range *range = walk->range;

	if (range && address >= range->start && address < range->end)
		return range;
	range = plimp_code_find(walk->map, address);
	if (range)
		walk->range = range;
	return range;
}

static inline struct plimp_pc_entry *trace_entry(struct plimp_pc_cache *cache,
						 uint64_t address)
{
	return &cache
		    ->entries[(address ^ address >> 12) & (PLIMP_PC_CACHE - 1)];
}

void plimp_trace_keep(struct plimp_trace *walk, uint64_t address, uint64_t word)
{
	if (walk->cache)
		*trace_entry(walk->cache, address) =
		    (struct plimp_pc_entry){address, word};
}

/* What the tables say of an address. Where they say nothing it is not kept:
 * who looks at the code (walk_bare.c) may keep what it found. */
static uint64_t trace_look_up(struct plimp_trace *walk, uint64_t address)
{
	const struct plimp_code_range *range = plimp_trace_range(walk, address);
	uint64_t word = PLIMP_RULE_NONE;

	if (!range)
		return PLIMP_RULE_NOWHERE;
	if (range->rules)
		word =
		    plimp_rules_find(range->rules, address - range->bias)->word;
	if (word != PLIMP_RULE_NONE)
		plimp_trace_keep(walk, address, word);
	return word;
}

static inline uint64_t trace_word(struct plimp_trace *walk, uint64_t address)
{
	if (walk->cache) {
		const struct plimp_pc_entry *entry =
		    trace_entry(walk->cache, address);

		if (entry->address == address && entry->word)
			return entry->word;
	}
	return trace_look_up(walk, address);
}

int plimp_trace_enter(struct plimp_trace *walk, uint64_t pc, uint64_t sp,
		      int is_exact)
{
	if (!pc)
		return PLIM_STACK_ROOT;
	walk->is_exact = is_exact;
	walk->lookup = is_exact ? pc : pc - 1;
	plimp_trace_set(walk, plimp_trace_sp(walk), sp);
	return PLIMP_TRACE_GOES_ON;
}

/* --- simple rules, one frame ---------------------------------------------- */

/* A register that was saved below the stack pointer was restored already: it
 * has the caller's value again, and its place may be overwritten any time. */
static int trace_restore(struct plimp_trace *walk, unsigned number,
			 uint64_t place)
{
	uint64_t value;

	if (place < walk->value[plimp_trace_sp(walk)])
		return PLIMP_TRACE_GOES_ON;
	if (plimp_trace_load(walk, place, &value))
		return plimp_trace_missed(walk);
	plimp_trace_set(walk, number, value);
	return PLIMP_TRACE_GOES_ON;
}

/* Where the rule has the return address: saved, or in the link register, which
 * only the innermost function of a stack, or of one that a signal found, can
 * still have there. */
static int trace_return(struct plimp_trace *walk, uint64_t cfa, uint64_t at,
			uint64_t *pc)
{
	if (!at) {
		if (walk->is_x86 || !walk->is_exact)
			return PLIM_STACK_BAD_RULES;
		if (!plimp_trace_knows(walk, PLIMP_ARM_LR))
			return PLIM_STACK_NO_POINTER;
		*pc = walk->value[PLIMP_ARM_LR];
	} else if (plimp_trace_load(walk, cfa - at, pc)) {
		return plimp_trace_missed(walk);
	}
	*pc &= ~walk->first->pointer_mask;
	return PLIMP_TRACE_GOES_ON;
}

/* Registers that a call leaves as they were. */
static uint64_t trace_preserved(const struct plimp_trace *walk)
{
	return walk->is_x86 ? UINT64_C(0xf0c8)	    /* rbx rbp rsp r12-r15 */
			    : UINT64_C(0xbff80000); /* x19-x29 sp */
}

/* The other registers of a rule, where all of them are followed. */
static int trace_slots(struct plimp_trace *walk, uint64_t cfa)
{
	const struct plimp_code_range *range =
	    plimp_trace_range(walk, walk->lookup);
	const struct plimp_rule *rule;
	int end = PLIMP_TRACE_GOES_ON;

	if (!range || !range->rules)
		return end;
	rule = plimp_rules_find(range->rules, walk->lookup - range->bias);
	for (unsigned i = 0; !end && i < PLIMP_RULE_SLOTS; i++) {
		int number = plimp_rule_register(walk->map->machine, i);
		uint64_t at = plimp_rule_slot(rule, i);

		if (number >= 0 && at)
			end = trace_restore(walk, (unsigned)number, cfa - at);
	}
	return end;
}

int plimp_trace_simple(struct plimp_trace *walk, uint64_t word)
{
	unsigned fp = plimp_trace_fp(walk);
	unsigned sp = plimp_trace_sp(walk);
	uint64_t fp_at = PLIMP_RULE_FP_AT(word);
	uint64_t pc = 0;
	int end = PLIMP_TRACE_GOES_ON;

	if (PLIMP_RULE_KIND(word) == PLIMP_RULE_FP &&
	    !plimp_trace_knows(walk, fp))
		end = plimp_trace_scan(walk, word);
	if (end)
		return end;
	uint64_t cfa =
	    PLIMP_RULE_CFA(word) +
	    walk->value[PLIMP_RULE_KIND(word) == PLIMP_RULE_FP ? fp : sp];

	if (cfa < walk->value[sp] ||
	    (cfa == walk->value[sp] && (walk->is_x86 || !walk->is_exact)))
		return PLIM_STACK_BAD_RULES;
	end = trace_return(walk, cfa, PLIMP_RULE_RA_AT(word), &pc);
	if (!end && walk->is_full)
		end = trace_slots(walk, cfa);
	if (!end && fp_at)
		end = trace_restore(walk, fp, cfa - fp_at);
	if (end)
		return end;
	walk->known &= trace_preserved(walk);
	walk->by_pointer = 0;
	return plimp_trace_enter(walk, pc, cfa, 0);
}

/* --- the walk ------------------------------------------------------------- */

static int trace_other(struct plimp_trace *walk, uint64_t word)
{
	switch (PLIMP_RULE_KIND(word)) {
	case PLIMP_RULE_ROOT:
		return PLIM_STACK_ROOT;
	case PLIMP_RULE_NOWHERE:
		return PLIM_STACK_UNKNOWN_CODE;
	case PLIMP_RULE_SIDE:
		return plimp_trace_side(walk, word);
	case PLIMP_RULE_NONE:
	case PLIMP_RULE_POINTER:
	case PLIMP_RULE_TAIL:
		return plimp_trace_bare(walk, word);
	default:
		return plimp_trace_simple(walk, word);
	}
}

int plimp_trace_step(struct plimp_trace *walk)
{
	return trace_other(walk, trace_word(walk, walk->lookup));
}

static void trace_begin(struct plimp_trace *walk)
{
	const struct plimp_registers *first = walk->first;
	unsigned pc = walk->is_x86 ? PLIMP_X86_RIP : PLIMP_ARM_PC;
	uint64_t followed = UINT64_C(1) << plimp_trace_fp(walk) |
			    UINT64_C(1) << plimp_trace_sp(walk);

	if (!walk->is_x86)
		followed |= UINT64_C(1) << PLIMP_ARM_LR;
	if (walk->is_full)
		followed = UINT64_MAX;
	walk->known = first->known & followed;
	memcpy(walk->value, first->value, sizeof(walk->value));
	walk->lookup = first->value[pc];
	walk->is_exact = 1;
	walk->by_pointer = 0;
	walk->jumps = 0;
	walk->unwound->count = 0;
	walk->unwound->scanned = 0;
	walk->unwound->by_pointer = 0;
}

/* Takes frames until there is an end. x86-64's steps are made here: the return
 * address is the word below the CFA, always. */
static int trace_on(struct plimp_trace *walk)
{
	const struct plimp_stack_bytes *stack = walk->stack;
	const unsigned char *bytes = stack->bytes;
	const uint64_t low = stack->low;
	const uint64_t room = stack->size >= 8 ? stack->size - 7 : 0;
	const int is_fast = walk->is_x86 && !walk->is_full;
	size_t count = 0;
	int end = PLIMP_TRACE_GOES_ON;

	for (;;) {
		uint64_t lookup = walk->lookup;
		uint64_t word;

		if (count == walk->capacity) {
			end = PLIM_STACK_DEPTH;
			break;
		}
		walk->frames[count] = lookup;
		if (walk->exact)
			walk->exact[count] = (unsigned char)walk->is_exact;
		walk->unwound->count = ++count;
		word = trace_word(walk, lookup);
		unsigned kind = PLIMP_RULE_KIND(word);
		uint64_t sp = walk->value[PLIMP_X86_RSP];
		uint64_t fp = walk->value[PLIMP_X86_RBP];
		uint64_t cfa =
		    PLIMP_RULE_CFA(word) + (kind == PLIMP_RULE_FP ? fp : sp);
		uint64_t ra_at = cfa - 8 - low;
		uint64_t pc;

		if (!is_fast || kind - PLIMP_RULE_SP > 1u || ra_at >= room ||
		    cfa <= sp ||
		    (kind == PLIMP_RULE_FP &&
		     !plimp_trace_knows(walk, PLIMP_X86_RBP))) {
			end = trace_other(walk, word);
			if (end)
				break;
			continue;
		}
		memcpy(&pc, bytes + ra_at, 8);
		if (PLIMP_RULE_FP_AT(word)) {
			uint64_t place = cfa - PLIMP_RULE_FP_AT(word);

			if (place >= sp) {
				/* Between stack pointer and return address:
				 * within the copy if that is at or below the
				 * stack pointer. */
				if (place - low >= room) {
					end = plimp_trace_simple(walk, word);
					if (end)
						break;
					continue;
				}
				memcpy(&fp, bytes + (place - low), 8);
				walk->value[PLIMP_X86_RBP] = fp;
				walk->known |= UINT64_C(1) << PLIMP_X86_RBP;
			}
		}
		if (!pc) {
			end = PLIM_STACK_ROOT;
			break;
		}
		walk->lookup = pc - 1;
		walk->is_exact = 0;
		walk->by_pointer = 0;
		walk->value[PLIMP_X86_RSP] = cfa;
	}
	return end;
}

/* Only the pc: a thread that was seen between two states. */
static int trace_has_stack(const struct plimp_trace *walk)
{
	return (int)(walk->first->known >> plimp_trace_sp(walk) & 1);
}

void plimp_unwind(const struct plimp_code_map *map,
		  struct plimp_pc_cache *cache,
		  const struct plimp_registers *registers,
		  const struct plimp_stack_bytes *stack, uint64_t *frames,
		  unsigned char *exact, size_t capacity,
		  struct plimp_unwound *unwound)
{
	struct plimp_trace walk;
	int end;

	assert(capacity > 0 && map->generation != 0);
	assert(map->machine == PLIMP_MACHINE_X86 ||
	       map->machine == PLIMP_MACHINE_ARM);
	if (cache && cache->generation != map->generation) {
		memset(cache, 0, sizeof(*cache));
		cache->generation = map->generation;
	}
	walk.map = map;
	walk.cache = cache;
	walk.first = registers;
	walk.stack = stack;
	walk.range = NULL;
	walk.frames = frames;
	walk.exact = exact;
	walk.capacity = capacity;
	walk.unwound = unwound;
	walk.is_x86 = map->machine == PLIMP_MACHINE_X86;
	walk.is_full = 0;
	walk.is_dry = 0;
	unwound->missed = 0;
	trace_begin(&walk);
	if (!trace_has_stack(&walk)) {
		frames[0] = walk.lookup;
		if (exact)
			exact[0] = 1;
		unwound->count = 1;
		unwound->end = PLIM_STACK_NO_STACK;
		return;
	}
	end = trace_on(&walk);
	if (end == PLIMP_TRACE_AGAIN) {
		walk.is_full = 1;
		trace_begin(&walk);
		end = trace_on(&walk);
		assert(end != PLIMP_TRACE_AGAIN);
	}
	if (end != PLIM_STACK_CUT && end != PLIM_STACK_BAD_MEMORY)
		unwound->missed = 0;
	unwound->end = end;
}
