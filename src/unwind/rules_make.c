/*
 * rules_make.c - rows of call frame information into the compact table: each
 * row into a rule (table.h), equal rules into one number, equal neighbours
 * into one row.
 */
#include "unwind/table.h"

#include "core/memory.h"
#include "unwind/cfi_row.h"

#include <assert.h>
#include <string.h>

enum {
	MAKE_ROWS = 1024,
	MAKE_RULES = 64,
	MAKE_BUCKETS = 2048,
	/* One bucket in four is taken at most, so that no honest table comes
	 * near this; rules that were made to meet in one bucket must not make
	 * each row cost a search of them all. */
	MAKE_PROBES = 64
};

int plimp_making_begin(struct plimp_making *making, uint16_t machine,
		       uint64_t base, const plim_allocator *allocator)
{
	*making = (struct plimp_making){.allocator = allocator};
	making->rules = plimp_allocate(allocator, 1, sizeof(*making->rules));
	if (!making->rules)
		return PLIM_ENOMEM;
	making->rules->machine = machine;
	making->rules->base = base;
	making->rules->rules =
	    plimp_allocate(allocator, MAKE_RULES, sizeof(struct plimp_rule));
	making->buckets =
	    plimp_allocate(allocator, MAKE_BUCKETS, sizeof(uint32_t));
	if (making->rules->rules)
		making->rules_room = MAKE_RULES;
	if (making->buckets)
		making->bucket_count = MAKE_BUCKETS;
	if (!making->rules->rules || !making->buckets) {
		plimp_making_drop(making);
		return PLIM_ENOMEM;
	}
	making->rules->rule_count = 1; /* NONE */
	making->sp =
	    machine == PLIMP_MACHINE_X86 ? PLIMP_X86_RSP : PLIMP_ARM_SP;
	making->fp =
	    machine == PLIMP_MACHINE_X86 ? PLIMP_X86_RBP : PLIMP_ARM_FP;
	making->least_ra = machine == PLIMP_MACHINE_X86;
	/* rbx rbp rsp r12-r15 rip; x19-x30 sp */
	making->preserved = machine == PLIMP_MACHINE_X86 ? UINT64_C(0x1f0c8)
							 : UINT64_C(0xfff80000);
	return PLIM_OK;
}

/* --- numbers of rules ----------------------------------------------------- */

/* Products that do not wait for each other: this is done for each row. */
static inline uint32_t make_hash(const struct plimp_rule *rule)
{
	uint64_t hash = (rule->word * UINT64_C(0x9e3779b97f4a7c15)) ^
			(rule->slots[0] * UINT64_C(0xc2b2ae3d27d4eb4f)) ^
			(rule->slots[1] * UINT64_C(0x165667b19e3779f9)) ^
			(rule->slots[2] * UINT64_C(0xd6e8feb86659fd93));

	return (uint32_t)((hash ^ hash >> 32) >> 7);
}

static inline int make_same_rule(const struct plimp_rule *one,
				 const struct plimp_rule *other)
{
	return one->word == other->word && one->slots[0] == other->slots[0] &&
	       one->slots[1] == other->slots[1] &&
	       one->slots[2] == other->slots[2];
}

/* The bucket that is free for a rule or has it; NULL: too many are taken. */
static inline uint32_t *make_bucket(const struct plimp_making *making,
				    const struct plimp_rule *rule)
{
	size_t last = making->bucket_count - 1;
	size_t at = make_hash(rule);

	for (size_t i = 0; i < MAKE_PROBES; i++, at++) {
		uint32_t *bucket = &making->buckets[at & last];

		if (!*bucket ||
		    make_same_rule(&making->rules->rules[*bucket], rule))
			return bucket;
	}
	return NULL;
}

static int make_more_buckets(struct plimp_making *making)
{
	size_t count = making->bucket_count * 2;
	uint32_t *buckets =
	    plimp_allocate(making->allocator, count, sizeof(*buckets));

	if (!buckets)
		return PLIM_ENOMEM;
	plimp_release(making->allocator, making->buckets, making->bucket_count,
		      sizeof(*buckets));
	making->buckets = buckets;
	making->bucket_count = count;
	for (size_t i = 1; i < making->rules->rule_count; i++) {
		uint32_t *bucket =
		    make_bucket(making, &making->rules->rules[i]);

		if (bucket)
			*bucket = (uint32_t)i;
	}
	return PLIM_OK;
}

/* A module of more different rules than numbers is none that a compiler made:
 * what is too many has no rule. */
static int make_new_number(struct plimp_making *making,
			   const struct plimp_rule *rule, uint32_t *bucket,
			   unsigned *number)
{
	struct plimp_rules *rules = making->rules;
	void *array = rules->rules;
	int failed;

	*number = 0;
	if (rules->rule_count > PLIMP_ROW_RULE)
		return PLIM_OK;
	failed =
	    plimp_reserve(making->allocator, &array, &making->rules_room,
			  rules->rule_count + 1, MAKE_RULES, sizeof(*rule));
	rules->rules = array;
	if (failed)
		return failed;
	*number = (unsigned)rules->rule_count;
	rules->rules[rules->rule_count++] = *rule;
	if (bucket)
		*bucket = *number;
	if (rules->rule_count * 4 > making->bucket_count)
		return make_more_buckets(making);
	return PLIM_OK;
}

/* The number of a rule, old or new. */
static inline int make_number(struct plimp_making *making,
			      const struct plimp_rule *rule, unsigned *number)
{
	uint32_t *bucket = make_bucket(making, rule);

	if (!bucket || !*bucket)
		return make_new_number(making, rule, bucket, number);
	*number = *bucket;
	return PLIM_OK;
}

/* --- simple rules --------------------------------------------------------- */

static unsigned make_return(uint16_t machine)
{
	return machine == PLIMP_MACHINE_X86 ? PLIMP_X86_RIP : PLIMP_ARM_LR;
}

/* What a row packs is what a simple rule holds. On x86-64 a return address
 * that is not saved is no simple rule; nowhere is a stack pointer that is not
 * the CFA. */
static inline int make_simple(const struct plimp_making *making,
			      const struct plimp_cfi_row *row,
			      struct plimp_rule *rule)
{
	uint64_t cfa = (uint64_t)row->cfa_value;
	uint64_t fp = plimp_cfi_packed(row, PLIMP_CFI_FIELD_FP);
	uint64_t ra = plimp_cfi_packed(row, PLIMP_CFI_FIELD_RA);
	int kind =
	    row->cfa_register == making->sp ? PLIMP_RULE_SP : PLIMP_RULE_FP;

	if (row->cfa != PLIMP_CFA_REGISTER || making->is_signal || cfa % 8 ||
	    cfa > UINT64_C(0x3ffffff) * 8 ||
	    (kind == PLIMP_RULE_FP && row->cfa_register != making->fp) ||
	    (row->odd & making->preserved) || ra < making->least_ra)
		return 0;
	rule->word = plimp_rule_word(kind, cfa, 8 * fp, 8 * ra);
	rule->slots[0] = row->packed[0];
	rule->slots[1] = row->packed[1];
	rule->slots[2] = row->packed[2] & 0xffffffff; /* two fields of four */
	return 1;
}

/* --- side rules ----------------------------------------------------------- */

static int make_expression(struct plimp_making *making,
			   const struct plimp_cfi *cfi, int64_t place,
			   uint32_t size, uint64_t *at)
{
	struct plimp_rules *rules = making->rules;
	void *array = rules->expressions;
	int failed;

	*at = 0;
	if (!size)
		return PLIM_OK;
	failed =
	    plimp_reserve(making->allocator, &array, &making->expressions_room,
			  rules->expression_bytes + size, 256, 1);

	rules->expressions = array;
	if (failed)
		return failed;
	/* Most expressions are those of other rows: PLTs, realigned stacks. */
	for (size_t i = 0; i + size <= rules->expression_bytes && i < 4096; i++)
		if (rules->expressions[i] == cfi->bytes[place] &&
		    !memcmp(rules->expressions + i, cfi->bytes + place, size)) {
			*at = i;
			return PLIM_OK;
		}
	*at = rules->expression_bytes;
	memcpy(rules->expressions + rules->expression_bytes, cfi->bytes + place,
	       size);
	rules->expression_bytes += size;
	return PLIM_OK;
}

/* Sizes fit into their fields: at most 0xffff by the reader of programs, and
 * 33 registers. */
static int make_side_words(struct plimp_making *making,
			   const struct plimp_cfi_row *row,
			   uint64_t words[2 + 2 * PLIMP_REGISTERS],
			   size_t *count)
{
	const struct plimp_cfi *cfi = making->cfi;
	uint64_t registers = 0;
	size_t at = 2;
	int failed = 0;

	words[1] = (uint64_t)row->cfa_value;
	if (row->cfa == PLIMP_CFA_EXPRESSION)
		failed = make_expression(making, cfi, row->cfa_value,
					 row->cfa_size, &words[1]);
	for (unsigned i = 0; !failed && i < PLIMP_REGISTERS; i++) {
		struct plimp_cfi_rule rule =
		    plimp_cfi_rule(row, cfi->machine, i);

		if (rule.how == PLIMP_CFI_UNSET || rule.how == PLIMP_CFI_SAME)
			continue;
		words[at] =
		    i | (uint64_t)rule.how << 8 | (uint64_t)rule.size << 32;
		words[at + 1] = (uint64_t)rule.value;
		if (rule.how == PLIMP_CFI_EXPRESSION ||
		    rule.how == PLIMP_CFI_VAL_EXPRESSION)
			failed = make_expression(making, cfi, rule.value,
						 rule.size, &words[at + 1]);
		at += 2;
		registers++;
	}
	words[0] = row->cfa | (making->is_signal ? PLIMP_SIDE_SIGNAL : 0) |
		   (uint64_t)row->cfa_register << 16 | registers << 32 |
		   (uint64_t)row->cfa_size << 40;
	*count = at;
	return failed;
}

/* Most are like one of late. A table with many would make looking for equal
 * ones long: only the last few hundred words are looked through. */
static uint32_t make_find_side(const struct plimp_rules *rules,
			       const uint64_t *words, size_t count)
{
	size_t first = rules->side_count > 512 ? rules->side_count - 512 : 0;

	for (size_t i = rules->side_count; i >= first + count; i--)
		if (rules->side[i - count] == words[0] &&
		    !memcmp(rules->side + i - count, words,
			    count * sizeof(*words)))
			return (uint32_t)(i - count);
	return UINT32_MAX;
}

static int make_side(struct plimp_making *making,
		     const struct plimp_cfi_row *row, struct plimp_rule *rule)
{
	struct plimp_rules *rules = making->rules;
	uint64_t words[2 + 2 * PLIMP_REGISTERS];
	size_t count = 0;
	int failed = make_side_words(making, row, words, &count);

	if (failed)
		return failed;
	uint32_t at = make_find_side(rules, words, count);

	if (at == UINT32_MAX) {
		void *array = rules->side;

		at = (uint32_t)rules->side_count;
		failed = plimp_reserve(
		    making->allocator, &array, &making->side_room,
		    rules->side_count + count, 64, sizeof(*words));
		rules->side = array;
		if (failed)
			return failed;
		memcpy(rules->side + at, words, count * sizeof(*words));
		rules->side_count += count;
		rules->facts.side_rules++;
	}
	rule->word = PLIMP_RULE_SIDE | (uint64_t)at << 8;
	return PLIM_OK;
}

/* --- rows ----------------------------------------------------------------- */

/* For one more row, of which both halves grow. */
static int make_room(struct plimp_making *making)
{
	struct plimp_rules *rules = making->rules;
	void *at = rules->at;
	void *numbers = rules->number;
	int failed =
	    plimp_reserve(making->allocator, &at, &making->at_room,
			  rules->row_count + 1, MAKE_ROWS, sizeof(*rules->at));

	rules->at = at;
	if (!failed)
		failed = plimp_reserve(
		    making->allocator, &numbers, &making->number_room,
		    rules->row_count + 1, MAKE_ROWS, sizeof(*rules->number));
	rules->number = numbers;
	return failed;
}

static inline int make_append(struct plimp_making *making, uint32_t offset,
			      unsigned number)
{
	struct plimp_rules *rules = making->rules;
	size_t count = rules->row_count;

	assert(!count || rules->at[count - 1] <= offset);
	if (count && rules->at[count - 1] == offset) {
		/* Nothing lies between: the later one holds. */
		if (number)
			number |= rules->number[count - 1] & PLIMP_ROW_BEGINS;
		rules->row_count = --count;
	}
	if (count && !(number & PLIMP_ROW_BEGINS) &&
	    (rules->number[count - 1] & PLIMP_ROW_RULE) == number)
		return PLIM_OK;
	/* The other half has grown before. */
	if (count == making->number_room) {
		int failed = make_room(making);

		if (failed)
			return failed;
	}
	rules->at[count] = offset;
	rules->number[count] = (uint16_t)number;
	rules->row_count = count + 1;
	return PLIM_OK;
}

/* A row that no simple rule says. */
static int make_odd(struct plimp_making *making,
		    const struct plimp_cfi_row *row, struct plimp_rule *rule)
{
	unsigned ra = make_return(making->rules->machine);

	*rule = (struct plimp_rule){.word = PLIMP_RULE_NONE};
	if ((row->odd >> ra & 1) && row->rules[ra].how == PLIMP_CFI_UNDEFINED) {
		rule->word = PLIMP_RULE_ROOT;
		return PLIM_OK;
	}
	if (row->cfa == PLIMP_CFA_NONE)
		return PLIM_OK;
	making->rules->facts.side_rows++;
	return make_side(making, row, rule);
}

/* Some functions that are called in ways of their own have the return address
 * in another register than the ABI's (aarch64's x15): the rule of that one is
 * taken for it. */
static int make_elsewhere(struct plimp_making *making,
			  const struct plimp_cfi_row *row,
			  struct plimp_rule *rule)
{
	uint16_t machine = making->rules->machine;
	unsigned column = (unsigned)making->cie->return_column;
	struct plimp_cfi_row other = *row;
	struct plimp_cfi_rule from = plimp_cfi_rule(row, machine, column);

	if (from.how == PLIMP_CFI_UNSET || from.how == PLIMP_CFI_SAME)
		from = (struct plimp_cfi_rule){PLIMP_CFI_REGISTER, 0, column};
	plimp_cfi_set(&other, machine, make_return(machine), &from);
	return make_simple(making, &other, rule)
		   ? PLIM_OK
		   : make_odd(making, &other, rule);
}

void plimp_making_function(struct plimp_making *making,
			   const struct plimp_cfi *cfi,
			   const struct plimp_cfi_cie *cie, uint32_t end)
{
	making->cfi = cfi;
	making->cie = cie;
	making->end = end;
	making->begins = PLIMP_ROW_BEGINS;
	making->is_signal = cie->is_signal;
	making->is_elsewhere =
	    cie->return_column != make_return(making->rules->machine);
}

int plimp_making_row(void *user, uint64_t address,
		     const struct plimp_cfi_row *row)
{
	struct plimp_making *making = user;
	uint32_t offset = (uint32_t)(address - making->rules->base);
	unsigned begins = making->begins;
	struct plimp_rule rule;
	unsigned number = 0;
	int failed = PLIM_OK;

	/* What begins inside of this function holds from there. */
	if (offset >= making->end)
		return PLIM_OK;
	making->begins = 0;
	if (!making->is_elsewhere) {
		if (!make_simple(making, row, &rule))
			failed = make_odd(making, row, &rule);
	} else if (making->cie->return_column < PLIMP_REGISTERS) {
		failed = make_elsewhere(making, row, &rule);
	} else {
		begins = 0;
		rule.word = PLIMP_RULE_NONE;
	}
	if (!failed && rule.word != PLIMP_RULE_NONE)
		failed = make_number(making, &rule, &number);
	if (!failed)
		failed = make_append(making, offset, number | begins);
	return failed;
}

int plimp_making_gap(struct plimp_making *making, uint32_t offset)
{
	return make_append(making, offset, 0);
}

/* --- the end -------------------------------------------------------------- */

static int make_fit(struct plimp_making *making, void **array, size_t *room,
		    size_t count, size_t size)
{
	if (*room == count)
		return PLIM_OK;
	void *fitted =
	    plimp_resize(making->allocator, *array, *room, count, size);

	if (!fitted)
		return PLIM_ENOMEM;
	*array = fitted;
	*room = count;
	return PLIM_OK;
}

/* Gives back what the arrays have more than they need. */
static int make_fit_all(struct plimp_making *making)
{
	struct plimp_rules *rules = making->rules;
	void *arrays[5] = {rules->at, rules->number, rules->rules, rules->side,
			   rules->expressions};
	size_t *const rooms[5] = {&making->at_room, &making->number_room,
				  &making->rules_room, &making->side_room,
				  &making->expressions_room};
	const size_t counts[5] = {rules->row_count, rules->row_count,
				  rules->rule_count, rules->side_count,
				  rules->expression_bytes};
	const size_t sizes[5] = {sizeof(*rules->at), sizeof(*rules->number),
				 sizeof(*rules->rules), sizeof(*rules->side),
				 1};
	int failed = PLIM_OK;

	for (int i = 0; i < 5 && !failed; i++)
		failed =
		    make_fit(making, &arrays[i], rooms[i], counts[i], sizes[i]);
	rules->at = arrays[0];
	rules->number = arrays[1];
	rules->rules = arrays[2];
	rules->side = arrays[3];
	rules->expressions = arrays[4];
	return failed;
}

/* Blocks of 256 bytes; larger where a hostile file has few rows in a wide
 * text, so that the index is no larger than the rows are. */
static int make_index(struct plimp_making *making, uint64_t span)
{
	struct plimp_rules *rules = making->rules;
	unsigned shift = 8;
	size_t row = 0;

	while ((span >> shift) > 4 * (uint64_t)rules->row_count + 1024)
		shift++;
	rules->shift = shift;
	rules->index_count = (size_t)((span - 1) >> shift) + 2;
	rules->index = plimp_allocate(making->allocator, rules->index_count,
				      sizeof(*rules->index));
	if (!rules->index) {
		rules->index_count = 0;
		return PLIM_ENOMEM;
	}
	for (size_t i = 0; i < rules->index_count; i++) {
		while (row < rules->row_count && rules->at[row] < (uint64_t)i
								      << shift)
			row++;
		rules->index[i] = (uint32_t)row;
	}
	return PLIM_OK;
}

int plimp_making_end(struct plimp_making *making, uint64_t span,
		     struct plimp_rules **out)
{
	struct plimp_rules *rules = making->rules;
	int failed;

	assert(span && span <= UINT64_C(0x100000000) && rules->row_count);
	rules->span = span;
	failed = make_fit_all(making);
	if (!failed)
		failed = make_index(making, span);
	if (failed)
		return failed;
	rules->facts.rows = rules->row_count;
	rules->facts.rules = rules->rule_count - 1;
	rules->facts.bytes =
	    sizeof(*rules) +
	    rules->row_count * (sizeof(*rules->at) + sizeof(*rules->number)) +
	    rules->index_count * sizeof(*rules->index) +
	    rules->rule_count * sizeof(*rules->rules) +
	    rules->side_count * sizeof(*rules->side) + rules->expression_bytes;
	*out = rules;
	making->rules = NULL;
	plimp_making_drop(making);
	return PLIM_OK;
}

void plimp_making_drop(struct plimp_making *making)
{
	struct plimp_rules *rules = making->rules;
	const plim_allocator *allocator = making->allocator;

	plimp_release(allocator, making->buckets, making->bucket_count,
		      sizeof(*making->buckets));
	making->buckets = NULL;
	if (!rules)
		return;
	plimp_release(allocator, rules->at, making->at_room,
		      sizeof(*rules->at));
	plimp_release(allocator, rules->number, making->number_room,
		      sizeof(*rules->number));
	plimp_release(allocator, rules->rules, making->rules_room,
		      sizeof(*rules->rules));
	plimp_release(allocator, rules->side, making->side_room,
		      sizeof(*rules->side));
	plimp_release(allocator, rules->expressions, making->expressions_room,
		      1);
	plimp_release(allocator, rules->index, rules->index_count,
		      sizeof(*rules->index));
	plimp_release(allocator, rules, 1, sizeof(*rules));
	making->rules = NULL;
}
