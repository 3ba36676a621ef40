/*
 * expression.c - the evaluator of expression.h. Arithmetic is on 64 bits and
 * wraps; what C leaves undefined (shifts beyond the width, the one division
 * that overflows) has a value here or is malformed.
 */
#include "unwind/expression.h"

#include "unwind/cfi.h"

#include <assert.h>

struct evaluation {
	struct plimp_expression *about;
	struct plimp_cursor cursor;
	const uint8_t *begin;
	uint64_t stack[PLIMP_EXPRESSION_DEPTH];
	size_t depth;
};

static int evaluation_push(struct evaluation *run, uint64_t value)
{
	if (run->depth == PLIMP_EXPRESSION_DEPTH)
		return PLIMP_EXPRESSION_BAD;
	run->stack[run->depth++] = value;
	return PLIMP_EXPRESSION_OK;
}

static int evaluation_register(struct evaluation *run, uint64_t number,
			       int64_t offset)
{
	struct plimp_expression *about = run->about;

	if (number >= PLIMP_REGISTERS)
		return PLIMP_EXPRESSION_BAD;
	if (!(about->known >> number & 1)) {
		about->missed = number;
		return PLIMP_EXPRESSION_REGISTER;
	}
	return evaluation_push(run,
			       about->registers[number] + (uint64_t)offset);
}

/* Less than a word is cut out of the aligned word that holds it, so that no
 * byte behind the end of readable memory is asked for. */
static int evaluation_load(struct evaluation *run, uint64_t size)
{
	struct plimp_expression *about = run->about;
	uint64_t address, word;

	if (!run->depth || !size || size > 8)
		return PLIMP_EXPRESSION_BAD;
	address = run->stack[run->depth - 1];
	uint64_t inside = size < 8 ? address & 7 : 0;

	if (inside + size > 8)
		inside = 0;
	if (about->word(about->user, address - inside, &word)) {
		about->missed = address;
		return PLIMP_EXPRESSION_MEMORY;
	}
	word >>= 8 * inside;
	if (size < 8)
		word &= (UINT64_C(1) << 8 * size) - 1;
	run->stack[run->depth - 1] = word;
	return PLIMP_EXPRESSION_OK;
}

enum expression_code {
	OP_ADDR = 0x03,
	OP_DEREF = 0x06,
	OP_CONST1U = 0x08,
	OP_CONST8S = 0x0f,
	OP_CONSTU = 0x10,
	OP_CONSTS = 0x11,
	OP_DUP = 0x12,
	OP_DROP = 0x13,
	OP_OVER = 0x14,
	OP_PICK = 0x15,
	OP_SWAP = 0x16,
	OP_ROT = 0x17,
	OP_ABS = 0x19,
	OP_AND = 0x1a,
	OP_DIV = 0x1b,
	OP_MINUS = 0x1c,
	OP_MOD = 0x1d,
	OP_MUL = 0x1e,
	OP_NEG = 0x1f,
	OP_NOT = 0x20,
	OP_OR = 0x21,
	OP_PLUS = 0x22,
	OP_PLUS_UCONST = 0x23,
	OP_SHL = 0x24,
	OP_SHR = 0x25,
	OP_SHRA = 0x26,
	OP_XOR = 0x27,
	OP_BRA = 0x28,
	OP_EQ = 0x29,
	OP_GE = 0x2a,
	OP_GT = 0x2b,
	OP_LE = 0x2c,
	OP_LT = 0x2d,
	OP_NE = 0x2e,
	OP_SKIP = 0x2f,
	OP_LIT0 = 0x30,
	OP_BREG0 = 0x70,
	OP_BREGX = 0x92,
	OP_DEREF_SIZE = 0x94,
	OP_NOP = 0x96
};

static int evaluation_divide(uint64_t left, uint64_t right, uint64_t *value)
{
	int64_t dividend = (int64_t)left;
	int64_t divisor = (int64_t)right;

	if (!divisor)
		return PLIMP_EXPRESSION_BAD;
	/* The quotient that does not fit wraps to the dividend. */
	*value = dividend == INT64_MIN && divisor == -1
		     ? left
		     : (uint64_t)(dividend / divisor);
	return PLIMP_EXPRESSION_OK;
}

static uint64_t evaluation_shift_signed(uint64_t left, uint64_t by)
{
	uint64_t sign = left >> 63 ? UINT64_MAX : 0;

	if (by > 63)
		return sign;
	return by ? left >> by | sign << (64 - by) : left;
}

static int evaluation_compare(unsigned code, uint64_t left, uint64_t right)
{
	int64_t one = (int64_t)left;
	int64_t other = (int64_t)right;

	switch (code) {
	case OP_EQ:
		return one == other;
	case OP_GE:
		return one >= other;
	case OP_GT:
		return one > other;
	case OP_LE:
		return one <= other;
	case OP_LT:
		return one < other;
	default:
		return one != other;
	}
}

/* Two values off the stack, one onto it. */
static int evaluation_binary(struct evaluation *run, unsigned code)
{
	uint64_t left, right, value = 0;
	int failed = PLIMP_EXPRESSION_OK;

	if (run->depth < 2)
		return PLIMP_EXPRESSION_BAD;
	right = run->stack[--run->depth];
	left = run->stack[run->depth - 1];
	switch (code) {
	case OP_AND:
		value = left & right;
		break;
	case OP_DIV:
		failed = evaluation_divide(left, right, &value);
		break;
	case OP_MINUS:
		value = left - right;
		break;
	case OP_MOD:
		if (!right)
			return PLIMP_EXPRESSION_BAD;
		value = left % right;
		break;
	case OP_MUL:
		value = left * right;
		break;
	case OP_OR:
		value = left | right;
		break;
	case OP_PLUS:
		value = left + right;
		break;
	case OP_SHL:
		value = right > 63 ? 0 : left << right;
		break;
	case OP_SHR:
		value = right > 63 ? 0 : left >> right;
		break;
	case OP_SHRA:
		value = evaluation_shift_signed(left, right);
		break;
	case OP_XOR:
		value = left ^ right;
		break;
	default:
		value = (uint64_t)evaluation_compare(code, left, right);
	}
	run->stack[run->depth - 1] = value;
	return failed;
}

/* dup drop over pick swap rot. */
static int evaluation_order(struct evaluation *run, unsigned code)
{
	uint64_t *top = run->stack + run->depth;
	size_t needed = code == OP_DUP || code == OP_DROP    ? 1
			: code == OP_OVER || code == OP_SWAP ? 2
			: code == OP_ROT		     ? 3
							     : 0;
	uint64_t index, value;

	if (run->depth < needed)
		return PLIMP_EXPRESSION_BAD;
	switch (code) {
	case OP_DUP:
		return evaluation_push(run, top[-1]);
	case OP_DROP:
		run->depth--;
		return PLIMP_EXPRESSION_OK;
	case OP_OVER:
		return evaluation_push(run, top[-2]);
	case OP_PICK:
		index = plimp_cursor_unsigned(&run->cursor, 1);
		if (index >= run->depth)
			return PLIMP_EXPRESSION_BAD;
		return evaluation_push(run, run->stack[run->depth - 1 - index]);
	case OP_SWAP:
		value = top[-1];
		top[-1] = top[-2];
		top[-2] = value;
		return PLIMP_EXPRESSION_OK;
	default: /* the first becomes the third */
		value = top[-1];
		top[-1] = top[-2];
		top[-2] = top[-3];
		top[-3] = value;
		return PLIMP_EXPRESSION_OK;
	}
}

/* The const operations of 1, 2, 4 and 8 bytes, unsigned and signed in turn. */
static uint64_t evaluation_constant(struct evaluation *run, unsigned code)
{
	unsigned size = 1u << (code - OP_CONST1U) / 2;
	uint64_t value = plimp_cursor_unsigned(&run->cursor, size);
	uint64_t sign = UINT64_C(1) << (8 * size - 1);

	return code & 1 ? (value ^ sign) - sign : value;
}

static int evaluation_jump(struct evaluation *run, int is_taken)
{
	struct plimp_cursor *cursor = &run->cursor;
	int64_t by = (int64_t)plimp_cursor_unsigned(cursor, 2);

	if (!is_taken || cursor->is_bad)
		return PLIMP_EXPRESSION_OK;
	by = (by ^ 0x8000) - 0x8000;
	if (by < run->begin - cursor->at || by > cursor->end - cursor->at)
		return PLIMP_EXPRESSION_BAD;
	cursor->at += by;
	return PLIMP_EXPRESSION_OK;
}

static int evaluation_unary(struct evaluation *run, unsigned code)
{
	uint64_t *top;

	if (!run->depth)
		return PLIMP_EXPRESSION_BAD;
	top = &run->stack[run->depth - 1];
	if (code == OP_NOT)
		*top = ~*top;
	else if (code == OP_NEG || *top >> 63)
		*top = -*top;
	return PLIMP_EXPRESSION_OK;
}

static int evaluation_step(struct evaluation *run, unsigned code)
{
	struct plimp_cursor *cursor = &run->cursor;
	uint64_t number;

	if (code >= OP_LIT0 && code < OP_LIT0 + 32)
		return evaluation_push(run, code - OP_LIT0);
	if (code >= OP_BREG0 && code < OP_BREG0 + 32)
		return evaluation_register(run, code - OP_BREG0,
					   plimp_cursor_sleb(cursor));
	if (code >= OP_CONST1U && code <= OP_CONST8S)
		return evaluation_push(run, evaluation_constant(run, code));
	switch (code) {
	case OP_ADDR:
		return evaluation_push(run, plimp_cursor_unsigned(cursor, 8) +
						run->about->bias);
	case OP_DEREF:
		return evaluation_load(run, 8);
	case OP_CONSTU:
		return evaluation_push(run, plimp_cursor_uleb(cursor));
	case OP_CONSTS:
		return evaluation_push(run,
				       (uint64_t)plimp_cursor_sleb(cursor));
	case OP_DUP:
	case OP_DROP:
	case OP_OVER:
	case OP_PICK:
	case OP_SWAP:
	case OP_ROT:
		return evaluation_order(run, code);
	case OP_ABS:
	case OP_NEG:
	case OP_NOT:
		return evaluation_unary(run, code);
	case OP_PLUS_UCONST:
		if (!run->depth)
			return PLIMP_EXPRESSION_BAD;
		run->stack[run->depth - 1] += plimp_cursor_uleb(cursor);
		return PLIMP_EXPRESSION_OK;
	case OP_AND:
	case OP_DIV:
	case OP_MINUS:
	case OP_MOD:
	case OP_MUL:
	case OP_OR:
	case OP_PLUS:
	case OP_SHL:
	case OP_SHR:
	case OP_SHRA:
	case OP_XOR:
	case OP_EQ:
	case OP_GE:
	case OP_GT:
	case OP_LE:
	case OP_LT:
	case OP_NE:
		return evaluation_binary(run, code);
	case OP_BRA:
		if (!run->depth)
			return PLIMP_EXPRESSION_BAD;
		return evaluation_jump(run, run->stack[--run->depth] != 0);
	case OP_SKIP:
		return evaluation_jump(run, 1);
	case OP_BREGX:
		number = plimp_cursor_uleb(cursor);
		return evaluation_register(run, number,
					   plimp_cursor_sleb(cursor));
	case OP_DEREF_SIZE:
		return evaluation_load(run, plimp_cursor_unsigned(cursor, 1));
	case OP_NOP:
		return PLIMP_EXPRESSION_OK;
	default:
		return PLIMP_EXPRESSION_BAD;
	}
}

int plimp_expression_run(struct plimp_expression *about, const uint8_t *bytes,
			 size_t size, const uint64_t *begin, uint64_t *value)
{
	struct evaluation run;

	if (!size)
		return PLIMP_EXPRESSION_BAD;
	run.about = about;
	run.cursor = (struct plimp_cursor){bytes, bytes + size, 0};
	run.begin = bytes;
	run.depth = 0;
	if (begin)
		run.stack[run.depth++] = *begin;
	for (int steps = 0; run.cursor.at < run.cursor.end; steps++) {
		int failed;

		if (steps == PLIMP_EXPRESSION_STEPS)
			return PLIMP_EXPRESSION_BAD;
		failed = evaluation_step(&run, *run.cursor.at++);
		if (failed)
			return failed;
		if (run.cursor.is_bad)
			return PLIMP_EXPRESSION_BAD;
	}
	assert(run.depth <= PLIMP_EXPRESSION_DEPTH);
	if (!run.depth)
		return PLIMP_EXPRESSION_BAD;
	*value = run.stack[run.depth - 1];
	return PLIMP_EXPRESSION_OK;
}
