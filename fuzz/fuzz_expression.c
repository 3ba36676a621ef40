/*
 * fuzz_expression.c - any bytes as an expression of call frame information:
 * it ends, with a value or with what it lacks, reads memory only through the
 * callback, and leaves the value alone where it fails.
 */
#include "promise.h"
#include "unwind/expression.h"

#include <string.h>

static uint64_t asked;

/* Memory is there where bit 3 of the address is not set. */
static int word(void *user, uint64_t address, uint64_t *value)
{
	(void)user;
	asked++;
	if (address & 8)
		return -1;
	*value = address * UINT64_C(0x9e3779b97f4a7c15);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint64_t registers[33];
	struct plimp_expression about = {.registers = registers,
					 .known = UINT64_C(0x0f0f0f0f),
					 .bias = 0x400000,
					 .word = word};
	uint64_t begin = 0x7000;
	uint64_t value = 0x5a5a;

	for (int i = 0; i < 33; i++)
		registers[i] = (uint64_t)i << 12;
	for (int given = 0; given < 2; given++) {
		asked = 0;
		value = 0x5a5a;
		int result = plimp_expression_run(
		    &about, data, size, given ? &begin : NULL, &value);

		PROMISE(result >= PLIMP_EXPRESSION_OK &&
			result <= PLIMP_EXPRESSION_MEMORY);
		PROMISE(!result || value == 0x5a5a);
		PROMISE(asked <= PLIMP_EXPRESSION_STEPS);
		if (result == PLIMP_EXPRESSION_REGISTER)
			PROMISE(about.missed < 33 &&
				!(about.known >> about.missed & 1));
	}
	return 0;
}
