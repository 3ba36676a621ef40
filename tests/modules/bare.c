/*
 * bare.c - a library of three functions, two of them with no name outside. It
 * is compiled without tables for unwinding at run time, and stripped; what a
 * debugger needs is in a file of its own. Each function notes where it returns
 * to, and has a frame of its own size.
 */
#include "bare.h"

#define APART __attribute__((noinline))

static APART int bare_inner(struct bare *bare)
{
	volatile char room[24] = {0};

	bare->returns[1] = __builtin_return_address(0);
	bare->bottom(bare);
	return room[3];
}

static APART int bare_middle(struct bare *bare)
{
	volatile char room[200] = {0};

	bare->returns[2] = __builtin_return_address(0);
	return bare_inner(bare) + room[100];
}

int bare_outer(struct bare *bare)
{
	volatile char room[72] = {0};

	bare->inner = (uint64_t)(uintptr_t)bare_inner;
	bare->middle = (uint64_t)(uintptr_t)bare_middle;
	bare->returns[3] = __builtin_return_address(0);
	return bare_middle(bare) + room[7];
}
