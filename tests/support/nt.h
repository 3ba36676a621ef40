/*
 * nt.h - tables of processes as Windows makes them, for tests: entries one
 * behind the other, threads behind each, then its name, and the distance to
 * the next. The bytes are made for an address that is not theirs, since the
 * names in a table are pointers into it.
 */
#ifndef PLIMT_NT_H
#define PLIMT_NT_H

#include "host/windows/decode.h"

#define NT_BASE UINT64_C(0x7ff612340000)

struct nt_thread {
	uint64_t tid;
	uint64_t create_time;
	uint32_t switches;
	uint64_t user_time;
	uint64_t kernel_time;
	uint32_t state;
	uint32_t wait_reason;
};

/* What the decoder finds of the other figures is made of `seed`: member after
 * member (see nt_add) one more, none of them zero. */
struct nt_process {
	uint64_t pid;
	uint64_t parent;
	uint64_t create_time;
	const char *name; /* ASCII; NULL: none */
	const struct nt_thread *threads;
	size_t thread_count;
	uint32_t seed;
};

struct nt_table {
	char *bytes;
	size_t size;
	size_t capacity;
	size_t last; /* where the last entry begins */
	size_t count;
	const struct plimp_nt_layout *layout;
};

void nt_begin(struct nt_table *table, const struct plimp_nt_layout *layout);
void nt_add(struct nt_table *table, const struct nt_process *process);
void nt_free(struct nt_table *table);
plim_bytes nt_bytes(const struct nt_table *table);

/* A little-endian number at a place. */
void nt_put(char *bytes, size_t at, unsigned size, uint64_t value);

/* ASCII as UTF-16; `to` has room for twice the length. Returns the size. */
size_t nt_utf16(char *to, const char *ascii);

#endif
