/*
 * preload_shared.h - the memory that a preloaded object and the sampler share
 * (docs/design/preload.md): a page that says how, and entries of one size.
 *
 * An entry is claimed by a signal handler of the target, filled, and given; the
 * sampler copies it, judges the copy (decode_preload.c), and frees it. Who dies
 * in between leaves what was given, since the memory is the sampler's. The file
 * is sealed, so that neither side can shorten it under the other; everything in
 * it but its size is as hostile as the target. This header is all that the
 * object (preload/object.c) has of the library.
 */
#ifndef PLIMP_PRELOAD_SHARED_H
#define PLIMP_PRELOAD_SHARED_H

#include "core/stack.h"

#include <stdatomic.h>

#define PLIMP_PRELOAD_VARIABLE "PLIMSOLL_PRELOAD"
#define PLIMP_PRELOAD_PIDS     "/proc/self/ns/pid"
/* Another number whenever anything below changes. */
#define PLIMP_PRELOAD_MAGIC UINT64_C(0x706c696d70726502)

/* Offsets: of the first entry, and in an entry, of its stack. */
#define PLIMP_PRELOAD_FIRST 4096u
#define PLIMP_PRELOAD_STACK 512u
/* From the red zone on. */
#define PLIMP_PRELOAD_STACK_MOST 65536u
#define PLIMP_PRELOAD_STRIDE	 (PLIMP_PRELOAD_STACK + PLIMP_PRELOAD_STACK_MOST)
/* Claims that are tried before a sample is dropped. */
#define PLIMP_PRELOAD_TRIES 64u
/* So long without a sign of the sampler, and the target samples no more. */
#define PLIMP_PRELOAD_SILENCE_NS UINT64_C(10000000000)

enum plimp_preload_state {
	PLIMP_PRELOAD_FREE = 0,
	PLIMP_PRELOAD_CLAIMED = 1,
	PLIMP_PRELOAD_GIVEN = 2
};

enum plimp_preload_kind {
	/* The object is in a program now, which is about to begin. */
	PLIMP_PRELOAD_LOADED = 1,
	/* A child that was forked goes on with it. */
	PLIMP_PRELOAD_FORKED = 2,
	/* A thread while it runs. */
	PLIMP_PRELOAD_SAMPLE = 3,
	/* The program has a handler of its own for the signal: no more. */
	PLIMP_PRELOAD_TAKEN = 4
};

enum plimp_preload_flag { /* bits of plimp_preload_head.flags */
			  PLIMP_PRELOAD_FOLLOW = 1 /* children, too */
};

struct plimp_preload_head {
	uint64_t magic;
	uint32_t entry_count;
	uint32_t flags;
	/* What the sampler may change while it runs. */
	_Atomic uint64_t period_ns;
	_Atomic uint32_t stack_bytes; /* above the stack pointer */
	_Atomic uint32_t is_over;
	_Atomic uint64_t alive_ns; /* CLOCK_MONOTONIC, of its last look */
	/* The inode of its namespace of pids: no number of another one is told.
	 * 0: this kernel has none. */
	uint64_t pid_space;
	/* What the target counts. */
	_Atomic uint32_t next; /* where to claim */
	_Atomic uint32_t reserved;
	_Atomic uint64_t dropped;
	_Atomic uint64_t uncovered; /* threads without a timer */
};

struct plimp_preload_entry {
	_Atomic uint32_t state;
	uint32_t kind;
	int32_t pid;
	int32_t tid;
	int32_t parent; /* pid */
	uint32_t stack_size;
	uint64_t time_ns;  /* CLOCK_MONOTONIC */
	uint64_t cpu_ns;   /* of the thread since its birth */
	uint64_t spent_ns; /* in the handler */
	struct plimp_registers registers;
};

#endif
