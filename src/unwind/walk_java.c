/*
 * walk_java.c - what is told of frames of HotSpot's code, which has no rules.
 *
 * Its interpreter jumps to methods with a return address that it made, so that
 * no call ends there; but its frames have a shape of their own: below the saved
 * frame pointer lie the stack pointer of who called (behind the return), the
 * one that the frame itself had when it called out, or 0, then a few pointers,
 * and the lower end of its fixed part. The second tells whether the frame is
 * the one that is left or that of somebody further out, in compiled code that
 * does not preserve the frame pointer (-XX:+PreserveFramePointer is off unless
 * asked for), where a chain of frame pointers would leave callers out and look
 * whole. Compiled methods show the same by their first instructions: they touch
 * the stack below them, push rbp, and move rsp to it or do not.
 *
 * frame_x86.hpp of JDK 11 to 21; places are words from the frame pointer on.
 */
#include "unwind/walk_code.h"

#include "elf/elf_bytes.h"

enum {
	JAVA_SENDER = -1,  /* the caller's stack pointer */
	JAVA_LAST = -2,	   /* its own, when it called out; 0: it has not */
	JAVA_FIXED = -9,   /* where its monitors and operands begin, below */
	JAVA_MOST = 65536, /* words of one frame */
	JAVA_HANDED = 128, /* bytes */
	JAVA_ENTRY = 11,   /* bytes: mov %eax,-n(%rsp); push %rbp; mov or sub */
	JAVA_CHUNK = 240,
	JAVA_BEFORE = 34 * JAVA_CHUNK /* of code that is looked at */
};

/* Since JDK 21 or 22 they are counts of words from the frame pointer on. */
static uint64_t java_place(uint64_t at, uint64_t value)
{
	const int64_t words = (int64_t)value;

	return words < 0 && words >= -JAVA_MOST ? at - 8 * (0 - value) : value;
}

static int java_is_below(uint64_t place, uint64_t at)
{
	return place <= at && at - place <= 8 * JAVA_MOST && place % 8 == 0;
}

/* 1 if a frame of the interpreter has its frame pointer there. */
static int java_shape(struct plimp_trace *walk, uint64_t at,
		      struct plimp_java_frame *frame)
{
	uint64_t fixed;

	if (at % 8 || at < 8 * JAVA_MOST || at > UINT64_MAX - 16 * JAVA_MOST ||
	    plimp_trace_load(walk, at + 8 * (uint64_t)JAVA_SENDER,
			     &frame->sender) ||
	    plimp_trace_load(walk, at + 8 * (uint64_t)JAVA_LAST,
			     &frame->last) ||
	    plimp_trace_load(walk, at + 8 * (uint64_t)JAVA_FIXED, &fixed))
		return 0;
	frame->last = java_place(at, frame->last);
	fixed = java_place(at, fixed);
	return frame->sender >= at + 16 && frame->sender % 8 == 0 &&
	       frame->sender - at <= 8 * JAVA_MOST &&
	       java_is_below(fixed, at + 8 * (uint64_t)JAVA_FIXED) &&
	       (!frame->last || java_is_below(frame->last, fixed));
}

/* The return address of a call lies below where the stack pointer was, and
 * what compiled code is handed on the stack between them. */
static int java_has_called(const struct plimp_java_frame *frame, uint64_t sp)
{
	return frame->last >= sp && frame->last - sp <= JAVA_HANDED;
}

/* A frame that has called out is left behind what it called. The address that
 * is returned to is no call's: those are compiled code's. */
static int java_is_own(struct plimp_trace *walk,
		       const struct plimp_java_frame *frame)
{
	uint64_t target;

	if (!frame->last)
		return 1;
	return !walk->is_exact &&
	       java_has_called(frame, walk->value[PLIMP_X86_RSP]) &&
	       !plimp_trace_is_call(walk, walk->lookup + 1, &target);
}

/* The range of code that was made at run time, or NULL. */
static const struct plimp_code_range *java_range(struct plimp_trace *walk)
{
	const struct plimp_code_range *range =
	    plimp_trace_range(walk, walk->lookup);

	return walk->is_x86 && range && range->flags & PLIMP_CODE_NO_FILE
		   ? range
		   : NULL;
}

int plimp_trace_java(struct plimp_trace *walk, uint64_t at,
		     struct plimp_java_frame *frame)
{
	if (!java_range(walk) || !java_shape(walk, at, frame))
		return PLIMP_JAVA_NOT;
	return java_is_own(walk, frame) ? PLIMP_JAVA_OWN : PLIMP_JAVA_OUTER;
}

int plimp_trace_java_calls(struct plimp_trace *walk, uint64_t caller,
			   uint64_t sp)
{
	struct plimp_java_frame frame;

	return java_range(walk) && java_shape(walk, caller, &frame) &&
	       java_has_called(&frame, sp);
}

/* A method's first instructions, without a frame pointer: mov %eax,-n(%rsp),
 * then push %rbp; sub n,%rsp, or that alone. */
static int java_is_entry_without(const uint8_t *at)
{
	const size_t next = at[7] == 0x55 ? 8 : 7;

	return at[0] == 0x89 && at[1] == 0x84 && at[2] == 0x24 &&
	       plimp_elf_u32(at + 3) >= 0xfff00000u &&
	       plimp_elf_u32(at + 3) <= 0xfffff000u && at[next] == 0x48 &&
	       (at[next + 1] == 0x81 || at[next + 1] == 0x83) &&
	       at[next + 2] == 0xec;
}

int plimp_trace_java_without(struct plimp_trace *walk)
{
	const struct plimp_code_range *range = java_range(walk);
	uint8_t bytes[JAVA_CHUNK + JAVA_ENTRY];
	uint64_t end = walk->lookup;

	if (!range)
		return 0;
	for (size_t gone = 0; gone < JAVA_BEFORE; gone += JAVA_CHUNK) {
		if (end - range->start < sizeof(bytes) ||
		    !plimp_trace_code(walk, end - sizeof(bytes), bytes,
				      sizeof(bytes)))
			return 0;
		for (size_t i = 0; i < JAVA_CHUNK; i++)
			if (java_is_entry_without(bytes + i))
				return 1;
		end -= JAVA_CHUNK;
	}
	return 0;
}
