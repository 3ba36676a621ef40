/*
 * walk_code.h - instructions, where rules say nothing (walk_code.c).
 */
#ifndef PLIMP_TRACE_CODE_H
#define PLIMP_TRACE_CODE_H

#include "unwind/walk.h"

/* Where a call to `target` arrives: through a PLT stub, if it is one. */
uint64_t plimp_trace_through_stub(struct plimp_trace *walk, uint64_t target);

/* Whether the pc is where a signal handler returns to: 1, and the registers
 * that the kernel had saved are loaded, all of them; -1 where one is missing;
 * 0: it is not. The pc is the last of them, as number 16 or 32. */
int plimp_trace_trampoline(struct plimp_trace *walk);

/* The rule of an exact pc by its instructions: stubs of a PLT, first and last
 * ones of functions; PLIMP_RULE_NONE: it cannot be told. */
uint64_t plimp_trace_edge(struct plimp_trace *walk);

/* Leaves a frame whose next instructions are its last (walk_tail.c): 0 where
 * they are not. */
int plimp_trace_tail(struct plimp_trace *walk, int *end);
/* The same by the word that was kept of an address. */
int plimp_trace_tail_kept(struct plimp_trace *walk, uint64_t word, int *end);

/* Frames of Java's interpreter (walk_java.c). */
struct plimp_java_frame {
	uint64_t
	    sender;    /* the caller's stack pointer, when it is returned to */
	uint64_t last; /* its own, when it called out; 0: it has not */
};
enum {
	PLIMP_JAVA_NOT,	 /* the frame pointer leads to none */
	PLIMP_JAVA_OWN,	 /* to that of the pc */
	PLIMP_JAVA_OUTER /* to one that has called what has no frame pointer */
};
/* What the frame pointer `at` of code that was made at run time leads to. */
int plimp_trace_java(struct plimp_trace *walk, uint64_t at,
		     struct plimp_java_frame *frame);
/* 1 if the frame pointer `caller` is that of an interpreted method which has
 * called the frame whose caller's stack pointer is `sp`. */
int plimp_trace_java_calls(struct plimp_trace *walk, uint64_t caller,
			   uint64_t sp);
/* 1 if there is code of compiled methods before the pc that keeps no frame
 * pointer: all of it does, or none. */
int plimp_trace_java_without(struct plimp_trace *walk);

/* 1 if the code before the pc ends the chain of frame pointers. */
int plimp_trace_is_start(struct plimp_trace *walk);

#endif
