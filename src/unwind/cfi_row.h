/*
 * cfi_row.h - the rules of registers in a row of call frame information: most
 * are packed (cfi.h), and this is the one place that knows which. Each is read
 * and set for nearly every instruction of every program, so it is inline.
 */
#ifndef PLIMP_CFI_ROW_H
#define PLIMP_CFI_ROW_H

#include "unwind/cfi.h"

#include <assert.h>
#include <string.h>

/* 1 + the field of a register; 0: it has none. */
static inline unsigned plimp_cfi_field(uint16_t machine, unsigned number)
{
	static const uint8_t x86[PLIMP_REGISTERS] = {
	    [3] = 1,
	    [12] = 2,
	    [13] = 3,
	    [14] = 4,
	    [15] = 5,
	    [PLIMP_X86_RBP] = PLIMP_CFI_FIELD_FP + 1,
	    [PLIMP_X86_RIP] = PLIMP_CFI_FIELD_RA + 1};
	static const uint8_t arm[PLIMP_REGISTERS] = {
	    [19] = 1,
	    [20] = 2,
	    [21] = 3,
	    [22] = 4,
	    [23] = 5,
	    [24] = 6,
	    [25] = 7,
	    [26] = 8,
	    [27] = 9,
	    [28] = 10,
	    [PLIMP_ARM_FP] = PLIMP_CFI_FIELD_FP + 1,
	    [PLIMP_ARM_LR] = PLIMP_CFI_FIELD_RA + 1};

	assert(number < PLIMP_REGISTERS);
	return machine == PLIMP_MACHINE_X86 ? x86[number] : arm[number];
}

/* `words` is 0 where the register is not saved below the CFA. */
static inline void plimp_cfi_pack(struct plimp_cfi_row *row, unsigned field,
				  uint64_t words)
{
	unsigned shift = 16 * (field % 4);
	uint64_t *word = &row->packed[field / 4];

	*word = (*word & ~(UINT64_C(0xffff) << shift)) | words << shift;
}

static inline void plimp_cfi_set(struct plimp_cfi_row *row, uint16_t machine,
				 unsigned number,
				 const struct plimp_cfi_rule *rule)
{
	unsigned field = plimp_cfi_field(machine, number);
	uint64_t bit = UINT64_C(1) << number;
	uint64_t below = 0 - (uint64_t)rule->value;
	int is_saved = rule->how == PLIMP_CFI_OFFSET;
	int is_packed = is_saved && field &&
			below - 8 < 8 * PLIMP_CFI_LONGEST && below % 8 == 0;

	row->set |= bit;
	row->odd &= ~bit;
	if (field)
		plimp_cfi_pack(row, field - 1, is_packed ? below / 8 : 0);
	if (is_packed || rule->how == PLIMP_CFI_SAME)
		return;
	if (rule->how == PLIMP_CFI_UNSET) {
		row->set &= ~bit;
		return;
	}
	row->odd |= bit;
	row->rules[number] = *rule;
}

/* With no more of rules[] than has to be. */
static inline void plimp_cfi_copy(struct plimp_cfi_row *to,
				  const struct plimp_cfi_row *from)
{
	memcpy(to, from, offsetof(struct plimp_cfi_row, rules));
	if (from->odd)
		memcpy(to->rules, from->rules, sizeof(to->rules));
}

static inline unsigned plimp_cfi_packed(const struct plimp_cfi_row *row,
					unsigned field)
{
	return (unsigned)(row->packed[field / 4] >> 16 * (field % 4) & 0xffff);
}

/* The rule of a register, packed or not. */
static inline struct plimp_cfi_rule
plimp_cfi_rule(const struct plimp_cfi_row *row, uint16_t machine,
	       unsigned number)
{
	unsigned field = plimp_cfi_field(machine, number);
	uint64_t bit = UINT64_C(1) << number;
	unsigned words;

	if (row->odd & bit)
		return row->rules[number];
	words = field ? plimp_cfi_packed(row, field - 1) : 0;
	if (words)
		return (struct plimp_cfi_rule){PLIMP_CFI_OFFSET, 0,
					       -8 * (int64_t)words};
	return (struct plimp_cfi_rule){
	    row->set & bit ? PLIMP_CFI_SAME : PLIMP_CFI_UNSET, 0, 0};
}

#endif
