/*
 * corefile.h - writes an ELF core of 64 bits piece by piece, in the order of
 * the kernel's: header, table of segments, notes, memory. For tests, which
 * also break what comes out of it. Needs ISO C alone.
 */
#ifndef SUPPORT_COREFILE_H
#define SUPPORT_COREFILE_H

#include <stddef.h>
#include <stdint.h>

#define COREFILE_SEGMENTS 2048
#define COREFILE_FILES	  2048

struct corefile_segment {
	uint64_t start;
	uint64_t end;
	unsigned flags; /* 4 readable, 2 writable, 1 executable */
	uint64_t held;
	void *bytes; /* owned */
};

struct corefile_file {
	uint64_t start;
	uint64_t end;
	uint64_t offset; /* bytes */
	char name[256];
};

struct corefile {
	int machine;
	int pid;
	int signal;
	unsigned threads;
	uint64_t page_size; /* of NT_AUXV; 0: there is none */
	uint64_t unit;	    /* of NT_FILE: 4096 the kernel's, 1 gdb's; 0 none */
	uint64_t vdso;
	int many; /* the count of segments is in section 0, as beyond 65,534 */
	const char *name;
	size_t segment_count;
	struct corefile_segment segments[COREFILE_SEGMENTS];
	size_t file_count;
	struct corefile_file files[COREFILE_FILES];
};

/* As the kernel of x86-64 writes it, of one thread; free it. */
struct corefile *corefile_new(void);
void corefile_free(struct corefile *core);

/* Memory, of which the first `held` bytes are copied and dumped. */
void corefile_segment(struct corefile *core, uint64_t start, uint64_t end,
		      unsigned flags, const void *bytes, uint64_t held);
void corefile_file(struct corefile *core, uint64_t start, uint64_t end,
		   uint64_t offset, const char *name);

/* The whole file: free() it. Segments begin at pages. */
uint8_t *corefile_write(const struct corefile *core, size_t *size);

#endif
