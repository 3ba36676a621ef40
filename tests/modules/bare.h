/*
 * bare.h - calls through functions that nothing but a debug file tells of.
 */
#ifndef TESTS_MODULES_BARE_H
#define TESTS_MODULES_BARE_H

#include <stdint.h>

struct bare {
	void (*bottom)(struct bare *bare); /* called by the innermost */
	/* Where `bottom` (which notes that itself), the inner, the middle and
	 * the outer one return to. */
	void *returns[4];
	uint64_t inner; /* where they start */
	uint64_t middle;
};

int bare_outer(struct bare *bare);

#endif
