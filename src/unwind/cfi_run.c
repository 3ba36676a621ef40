/*
 * cfi_run.c - the programs of call frame information (DWARF 5, 6.4.2): each
 * instruction moves on in the code or changes the row that holds from there.
 *
 * A program makes at most one row per byte, so that what a file can cost is
 * bounded by its size; what it remembers is bounded by PLIMP_CFI_REMEMBERED.
 * Registers that are not followed (vectors) are read and passed over.
 */
#include "unwind/cfi_row.h"

#include <assert.h>
#include <string.h>

struct run {
	const struct plimp_cfi *cfi;
	const struct plimp_cfi_cie *cie;
	struct plimp_cfi_state *state;
	struct plimp_cursor cursor;
	uint64_t location;
	uint64_t end;
	int is_initial; /* the CIE's own program */
	plimp_cfi_emit_fn *emit;
	void *user;
	int changed; /* the row differs from the one last emitted */
};

/* Registers that are followed; the rest has no place in a row. */
static inline uint64_t run_registers(uint16_t machine)
{
	return machine == PLIMP_MACHINE_X86 ? PLIMP_X86_RIP + 1
					    : PLIMP_ARM_SP + 1;
}

static inline void run_set(struct run *run, uint64_t number, int how,
			   int64_t value, uint32_t size)
{
	struct plimp_cfi_rule rule = {(uint32_t)how, size, value};

	if (number >= run_registers(run->cfi->machine))
		return;
	plimp_cfi_set(&run->state->row, run->cfi->machine, (unsigned)number,
		      &rule);
	run->changed = 1;
}

static void run_restore(struct run *run, uint64_t number)
{
	struct plimp_cfi_rule was;

	if (number >= run_registers(run->cfi->machine))
		return;
	was = plimp_cfi_rule(&run->state->initial, run->cfi->machine,
			     (unsigned)number);
	run_set(run, number, (int)was.how, was.value, was.size);
}

/* A factored offset; products wrap, as a hostile one may. */
static int64_t run_factored(const struct run *run, uint64_t offset)
{
	return (int64_t)(offset * (uint64_t)run->cie->data_align);
}

static void run_cfa(struct run *run, uint64_t number, int64_t value)
{
	struct plimp_cfi_row *row = &run->state->row;

	row->cfa = PLIMP_CFA_REGISTER;
	row->cfa_register = number < 0xffff ? (uint16_t)number : 0xffff;
	row->cfa_value = value;
	row->cfa_size = 0;
	run->changed = 1;
}

/* The block of an expression: its place in the section and its size. */
static int run_block(struct run *run, int64_t *place, uint32_t *size)
{
	struct plimp_cursor *cursor = &run->cursor;
	uint64_t length = plimp_cursor_uleb(cursor);

	if (cursor->is_bad || length > (uint64_t)(cursor->end - cursor->at) ||
	    length > 0xffff)
		return -1;
	*place = cursor->at - run->cfi->bytes;
	*size = (uint32_t)length;
	cursor->at += length;
	return 0;
}

/* The row so far holds up to the new place: it is given out. A place that is
 * behind the function ends the program; one further back is malformed. */
static int run_move(struct run *run, uint64_t to)
{
	int failed = 0;

	if (run->is_initial || to < run->location)
		return -1;
	if (to == run->location)
		return 0;
	if (run->changed) {
		failed = run->emit(run->user, run->location, &run->state->row);
		run->changed = 0;
	}
	run->location = to;
	if (to >= run->end)
		run->cursor.at = run->cursor.end;
	return failed;
}

static int run_advance(struct run *run, uint64_t delta)
{
	uint64_t align = run->cie->code_align;

	if (align > 1) {
		if (delta > UINT64_MAX / align)
			return -1;
		delta *= align;
	} else if (!align) {
		delta = 0;
	}
	if (delta > UINT64_MAX - run->location)
		return -1;
	return run_move(run, run->location + delta);
}

static int run_set_location(struct run *run)
{
	struct plimp_cursor *cursor = &run->cursor;
	struct plimp_cfi_bases bases = {
	    run->cfi->address + (uint64_t)(cursor->at - run->cfi->bytes), 0, 0};
	uint64_t to = plimp_cfi_pointer(
	    cursor, run->cfi->is_debug ? 0 : run->cie->encoding, &bases);

	return cursor->is_bad ? -1 : run_move(run, to);
}

static int run_remember(struct run *run)
{
	struct plimp_cfi_state *state = run->state;

	if (state->depth == PLIMP_CFI_REMEMBERED)
		return -1;
	plimp_cfi_copy(&state->remembered[state->depth++], &state->row);
	return 0;
}

static int run_recall(struct run *run)
{
	struct plimp_cfi_state *state = run->state;

	if (!state->depth)
		return -1;
	plimp_cfi_copy(&state->row, &state->remembered[--state->depth]);
	run->changed = 1;
	return 0;
}

enum cfi_code {
	CFI_SET_LOC = 0x01,
	CFI_ADVANCE_1 = 0x02,
	CFI_ADVANCE_2 = 0x03,
	CFI_ADVANCE_4 = 0x04,
	CFI_OFFSET_EXTENDED = 0x05,
	CFI_RESTORE_EXTENDED = 0x06,
	CFI_MAKE_UNDEFINED = 0x07,
	CFI_SAME_VALUE = 0x08,
	CFI_IN_REGISTER = 0x09,
	CFI_REMEMBER = 0x0a,
	CFI_RECALL = 0x0b,
	CFI_DEF_CFA = 0x0c,
	CFI_DEF_CFA_REGISTER = 0x0d,
	CFI_DEF_CFA_OFFSET = 0x0e,
	CFI_DEF_CFA_EXPRESSION = 0x0f,
	CFI_AT_EXPRESSION = 0x10,
	CFI_OFFSET_EXTENDED_SF = 0x11,
	CFI_DEF_CFA_SF = 0x12,
	CFI_DEF_CFA_OFFSET_SF = 0x13,
	CFI_VALUE_OFFSET = 0x14,
	CFI_VALUE_OFFSET_SF = 0x15,
	CFI_VALUE_EXPRESSION = 0x16,
	CFI_ADVANCE_8 = 0x1d,	    /* MIPS */
	CFI_NEGATE_RA_PC = 0x2c,    /* aarch64: negate_ra_state_with_pc */
	CFI_NEGATE_RA = 0x2d,	    /* aarch64: negate_ra_state */
	CFI_ARGUMENTS = 0x2e,	    /* GNU_args_size */
	CFI_NEGATIVE_OFFSET = 0x2f, /* GNU_negative_offset_extended */
	CFI_ADVANCE = 0x40,
	CFI_OFFSET = 0x80,
	CFI_RESTORE = 0xc0
};

/* def_cfa_register and def_cfa_offset change one half of a rule that must be
 * there. */
static int run_half(struct run *run, int is_offset, int64_t value)
{
	struct plimp_cfi_row *row = &run->state->row;

	if (row->cfa != PLIMP_CFA_REGISTER)
		return -1;
	if (is_offset)
		run_cfa(run, row->cfa_register, value);
	else
		run_cfa(run, (uint64_t)value, row->cfa_value);
	return 0;
}

static int run_expression(struct run *run, int code)
{
	struct plimp_cfi_row *row = &run->state->row;
	uint64_t number = 0;
	uint32_t size = 0;
	int64_t place = 0;

	if (code != CFI_DEF_CFA_EXPRESSION)
		number = plimp_cursor_uleb(&run->cursor);
	if (run_block(run, &place, &size))
		return -1;
	if (code == CFI_DEF_CFA_EXPRESSION) {
		row->cfa = PLIMP_CFA_EXPRESSION;
		row->cfa_value = place;
		row->cfa_size = size;
		row->cfa_register = 0;
		run->changed = 1;
	} else {
		run_set(run, number,
			code == CFI_AT_EXPRESSION ? PLIMP_CFI_EXPRESSION
						  : PLIMP_CFI_VAL_EXPRESSION,
			place, size);
	}
	return 0;
}

/* What has operands of a register and an offset. */
static void run_saved(struct run *run, int code)
{
	struct plimp_cursor *cursor = &run->cursor;
	uint64_t number = plimp_cursor_uleb(cursor);
	int is_value = code == CFI_VALUE_OFFSET || code == CFI_VALUE_OFFSET_SF;
	int64_t value;

	if (code == CFI_OFFSET_EXTENDED_SF || code == CFI_VALUE_OFFSET_SF)
		value = run_factored(run, (uint64_t)plimp_cursor_sleb(cursor));
	else
		value = run_factored(run, plimp_cursor_uleb(cursor));
	if (code == CFI_NEGATIVE_OFFSET)
		value = (int64_t) - (uint64_t)value;
	run_set(run, number, is_value ? PLIMP_CFI_VAL_OFFSET : PLIMP_CFI_OFFSET,
		value, 0);
}

static int run_define(struct run *run, int code)
{
	struct plimp_cursor *cursor = &run->cursor;
	uint64_t number;

	switch (code) {
	case CFI_DEF_CFA:
		number = plimp_cursor_uleb(cursor);
		run_cfa(run, number, (int64_t)plimp_cursor_uleb(cursor));
		return 0;
	case CFI_DEF_CFA_SF:
		number = plimp_cursor_uleb(cursor);
		run_cfa(run, number,
			run_factored(run, (uint64_t)plimp_cursor_sleb(cursor)));
		return 0;
	case CFI_DEF_CFA_REGISTER:
		number = plimp_cursor_uleb(cursor);
		return run_half(run, 0,
				number < 0xffff ? (int64_t)number : 0xffff);
	case CFI_DEF_CFA_OFFSET:
		return run_half(run, 1, (int64_t)plimp_cursor_uleb(cursor));
	default:
		return run_half(
		    run, 1,
		    run_factored(run, (uint64_t)plimp_cursor_sleb(cursor)));
	}
}

static int run_negate(struct run *run)
{
	if (run->cfi->machine != PLIMP_MACHINE_ARM)
		return -1;
	run->state->row.is_signed ^= 1;
	run->changed = 1;
	return 0;
}

static int run_other(struct run *run, unsigned code)
{
	struct plimp_cursor *cursor = &run->cursor;
	uint64_t number;

	if ((code & 0xc0) == CFI_RESTORE) {
		run_restore(run, code & 0x3f);
		return 0;
	}
	if ((code & 0xc0) == CFI_OFFSET) {
		number = plimp_cursor_uleb(cursor);
		run_set(run, code & 0x3f, PLIMP_CFI_OFFSET,
			run_factored(run, number), 0);
		return 0;
	}
	switch (code) {
	case 0: /* nop */
		return 0;
	case CFI_SET_LOC:
		return run_set_location(run);
	case CFI_ADVANCE_1:
		return run_advance(run, plimp_cursor_unsigned(cursor, 1));
	case CFI_ADVANCE_2:
		return run_advance(run, plimp_cursor_unsigned(cursor, 2));
	case CFI_ADVANCE_4:
		return run_advance(run, plimp_cursor_unsigned(cursor, 4));
	case CFI_ADVANCE_8:
		return run_advance(run, plimp_cursor_unsigned(cursor, 8));
	case CFI_RESTORE_EXTENDED:
		run_restore(run, plimp_cursor_uleb(cursor));
		return 0;
	case CFI_MAKE_UNDEFINED:
		run_set(run, plimp_cursor_uleb(cursor), PLIMP_CFI_UNDEFINED, 0,
			0);
		return 0;
	case CFI_SAME_VALUE:
		run_set(run, plimp_cursor_uleb(cursor), PLIMP_CFI_SAME, 0, 0);
		return 0;
	case CFI_IN_REGISTER:
		number = plimp_cursor_uleb(cursor);
		run_set(run, number, PLIMP_CFI_REGISTER,
			(int64_t)plimp_cursor_uleb(cursor), 0);
		return 0;
	case CFI_REMEMBER:
		return run_remember(run);
	case CFI_RECALL:
		return run_recall(run);
	case CFI_DEF_CFA_EXPRESSION:
	case CFI_AT_EXPRESSION:
	case CFI_VALUE_EXPRESSION:
		return run_expression(run, (int)code);
	case CFI_OFFSET_EXTENDED:
	case CFI_OFFSET_EXTENDED_SF:
	case CFI_VALUE_OFFSET:
	case CFI_VALUE_OFFSET_SF:
	case CFI_NEGATIVE_OFFSET:
		run_saved(run, (int)code);
		return 0;
	case CFI_DEF_CFA:
	case CFI_DEF_CFA_SF:
	case CFI_DEF_CFA_REGISTER:
	case CFI_DEF_CFA_OFFSET:
	case CFI_DEF_CFA_OFFSET_SF:
		return run_define(run, (int)code);
	case CFI_NEGATE_RA:
	case CFI_NEGATE_RA_PC:
		return run_negate(run);
	case CFI_ARGUMENTS:
		plimp_cursor_uleb(cursor);
		return 0;
	default:
		return -1;
	}
}

/* The three that have their operand in the same byte are nearly all, with
 * those that say where the CFA is; nearly all numbers have one byte. What is
 * neither goes by run_other(). */
static int run_program(struct run *run)
{
	struct plimp_cursor *cursor = &run->cursor;
	const uint8_t *const end = cursor->end;
	int failed = 0;

	while (!failed && cursor->at < end) {
		const uint8_t *at = cursor->at;
		unsigned code = *at++;
		unsigned low = code & 0x3f;
		int is_short = at < end && *at < 0x80;

		cursor->at = at;
		if ((code & 0xc0) == CFI_ADVANCE) {
			failed = run_advance(run, low);
		} else if (code == CFI_DEF_CFA_OFFSET && is_short) {
			cursor->at = at + 1;
			failed = run_half(run, 1, *at);
		} else if ((code & 0xc0) == CFI_OFFSET && is_short) {
			cursor->at = at + 1;
			run_set(run, low, PLIMP_CFI_OFFSET,
				run_factored(run, *at), 0);
		} else {
			failed = run_other(run, code);
			if (cursor->is_bad)
				return -1;
		}
	}
	return failed;
}

int plimp_cfi_begin(const struct plimp_cfi *cfi,
		    const struct plimp_cfi_cie *cie,
		    struct plimp_cfi_state *state)
{
	struct run run = {.cfi = cfi,
			  .cie = cie,
			  .state = state,
			  .cursor = {cfi->bytes + cie->program,
				     cfi->bytes + cie->program_end, 0},
			  .is_initial = 1};
	int failed;

	memset(&state->row, 0, offsetof(struct plimp_cfi_row, rules));
	state->depth = 0;
	failed = run_program(&run);
	plimp_cfi_copy(&state->initial, &state->row);
	return failed;
}

int plimp_cfi_run(const struct plimp_cfi *cfi, const struct plimp_cfi_cie *cie,
		  const struct plimp_cfi_fde *fde,
		  struct plimp_cfi_state *state, plimp_cfi_emit_fn *emit,
		  void *user)
{
	struct run run = {.cfi = cfi,
			  .cie = cie,
			  .state = state,
			  .cursor = {cfi->bytes + fde->program,
				     cfi->bytes + fde->program_end, 0},
			  .location = fde->start,
			  .end = fde->end,
			  .emit = emit,
			  .user = user,
			  .changed = 1};
	int failed;

	assert(fde->start < fde->end);
	plimp_cfi_copy(&state->row, &state->initial);
	state->depth = 0;
	failed = run_program(&run);
	if (!failed && run.changed && run.location < run.end)
		failed = emit(user, run.location, &state->row);
	return failed;
}
