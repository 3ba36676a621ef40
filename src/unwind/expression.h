/*
 * expression.h - DWARF expressions as call frame information has them (DWARF
 * 5, 2.5): a stack machine over registers and memory, bounded in steps and in
 * depth, total over any bytes.
 */
#ifndef PLIMP_EXPRESSION_H
#define PLIMP_EXPRESSION_H

#include <stddef.h>
#include <stdint.h>

/* Branches may lead back: more operations than this are no expression. */
#define PLIMP_EXPRESSION_STEPS 1000
#define PLIMP_EXPRESSION_DEPTH 32

enum plimp_expression_result {
	PLIMP_EXPRESSION_OK = 0,
	PLIMP_EXPRESSION_BAD = 1,      /* malformed, or too long */
	PLIMP_EXPRESSION_REGISTER = 2, /* needs one that is not known */
	PLIMP_EXPRESSION_MEMORY = 3    /* needs memory that is not there */
};

struct plimp_expression {
	const uint64_t *registers;
	uint64_t known; /* bit n: registers[n] is known */
	uint64_t bias;	/* what is added to addresses of the file */
	/* 8 bytes at an address; nonzero: not there. */
	int (*word)(void *user, uint64_t address, uint64_t *value);
	void *user;
	uint64_t missed; /* the address, or the register, of the failure */
};

/* Begins with `count` values (0 or 1) on the stack, gives what lies on top. */
int plimp_expression_run(struct plimp_expression *expression,
			 const uint8_t *bytes, size_t size,
			 const uint64_t *begin, uint64_t *value);

#endif
