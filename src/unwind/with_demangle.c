/*
 * with_demangle.c - C++ and Rust names by libiberty (binutils and gdb use the
 * same), where the build has it.
 *
 * A name is any bytes that somebody wrote into a file. libiberty bounds its
 * recursion, but not what comes out: a kilobyte of references to itself stands
 * for more text than there is room in the world. So the forms are used that
 * hand the text out in pieces and allocate nothing, and when enough has come
 * the way out is a jump past them, of which nothing is left behind. A name is
 * tried as Rust first, since a legacy Rust name is a C++ name as well, but with
 * a hash that nobody wants to read.
 */
#include "unwind/symbols.h"

#ifdef PLIM_WITH_DEMANGLE

#include <libiberty/demangle.h>

#include <setjmp.h>
#include <string.h>

struct demangled {
	char *buffer;
	size_t capacity;
	size_t size;
	jmp_buf enough;
};

static void demangled_piece(const char *text, size_t size, void *user)
{
	struct demangled *demangled = user;

	if (size > demangled->capacity - demangled->size)
		longjmp(demangled->enough, 1);
	if (size > 0) /* it gives empty pieces as NULL */
		memcpy(demangled->buffer + demangled->size, text, size);
	demangled->size += size;
}

static int demangle_one(const char *name, struct demangled *demangled)
{
	if (setjmp(demangled->enough))
		return PLIM_ELIMIT;
	if (rust_demangle_callback(name, DMGL_NO_OPTS, demangled_piece,
				   demangled))
		return PLIM_OK;
	/* It may have handed out a beginning before it gave up. */
	demangled->size = 0;
	if (cplus_demangle_v3_callback(name, DMGL_NO_OPTS, demangled_piece,
				       demangled))
		return PLIM_OK;
	return PLIM_ENAME;
}

int plimp_demangle(plim_bytes name, char *buffer, size_t size, size_t *length)
{
	char text[PLIMP_DEMANGLE_INPUT + 1];
	struct demangled demangled = {.buffer = buffer, .capacity = size};
	int failed;

	/* _Z, _R, and what the ABI puts before: nothing else is mangled. */
	if (name.size < 3 || name.data[0] != '_' ||
	    memchr(name.data, 0, name.size))
		return PLIM_ENAME;
	if (name.size > PLIMP_DEMANGLE_INPUT)
		return PLIM_ELIMIT;
	memcpy(text, name.data, name.size);
	text[name.size] = '\0';
	if (demangled.capacity > PLIMP_DEMANGLE_OUTPUT)
		demangled.capacity = PLIMP_DEMANGLE_OUTPUT;
	failed = demangle_one(text, &demangled);
	if (!failed && !demangled.size)
		failed = PLIM_ENAME;
	if (!failed)
		*length = demangled.size;
	return failed;
}

#else

int plimp_demangle(plim_bytes name, char *buffer, size_t size, size_t *length)
{
	(void)name;
	(void)buffer;
	(void)size;
	(void)length;
	return PLIM_EUNSUPPORTED;
}

#endif
