/*
 * decode_perf_sample.c - one record of a ring that samples threads.
 *
 * A record is struct perf_event_header of include/uapi/linux/perf_event.h (u32
 * type, u16 misc, u16 size), then what its type says, in the byte order of the
 * machine; the order of the parts of a sample is that of
 * perf_output_sample() in kernel/events/core.c. All events of a sampler are
 * opened alike, so that one layout holds for whatever a ring has: samples of
 * TID, TIME, ID, CPU, READ (where this kernel lets inherited events have it:
 * the count and, since 6.0, how many records of the event were lost),
 * REGS_USER and STACK_USER, and behind every other record a trailer of TID,
 * TIME, ID and CPU. Nothing is taken from a record that lies outside of it.
 */
#include "host/linux/decode.h"

#include <assert.h>
#include <string.h>

#define SAMPLE_HEADER  8u
#define SAMPLE_TRAILER 32u

/* enum perf_event_type, and bits of `misc`. */
#define SAMPLE_TYPE_LOST	 2u
#define SAMPLE_TYPE_COMM	 3u
#define SAMPLE_TYPE_EXIT	 4u
#define SAMPLE_TYPE_THROTTLE	 5u
#define SAMPLE_TYPE_FORK	 7u
#define SAMPLE_TYPE_SAMPLE	 9u
#define SAMPLE_TYPE_MMAP2	 10u
#define SAMPLE_TYPE_LOST_SAMPLES 13u
#define SAMPLE_MISC_CPUMODE	 7u
#define SAMPLE_MISC_KERNEL	 1u
#define SAMPLE_MISC_EXEC	 0x2000u
#define SAMPLE_MISC_BUILD_ID	 0x4000u

/* enum perf_sample_regs_abi */
#define SAMPLE_ABI_64 2u

/*
 * The registers of perf, in its own order, by their DWARF numbers:
 * arch/x86/include/uapi/asm/perf_regs.h has ax bx cx dx si di bp sp ip flags cs
 * ss ds es fs gs r8..r15, of which those up to ip and from r8 on are asked for;
 * arch/arm64's has x0..x29, lr, sp, pc, which is DWARF's order.
 */
static const uint8_t sample_x86[PLIMP_PERF_X86_COUNT] = {
    0, 3, 2, 1, 4, 5, 6, 7, 16, 8, 9, 10, 11, 12, 13, 14, 15};

static uint64_t sample_word(const char *at)
{
	uint64_t word;

	memcpy(&word, at, sizeof word);
	return word;
}

static uint32_t sample_half(const char *at)
{
	uint32_t half;

	memcpy(&half, at, sizeof half);
	return half;
}

/* What is left of a record: moved on by each part that is taken. */
struct sample_rest {
	const char *at;
	size_t size;
};

/* The next `size` bytes, or NULL where there are not so many. */
static const char *sample_take(struct sample_rest *rest, uint64_t size)
{
	const char *taken = rest->at;

	if (size > rest->size)
		return NULL;
	rest->at += size;
	rest->size -= (size_t)size;
	return taken;
}

static int sample_registers(const struct plimp_perf_layout *layout,
			    struct sample_rest *rest,
			    struct plimp_perf_capture *found)
{
	const char *abi = sample_take(rest, 8);
	const char *words;
	size_t count = layout->machine == PLIMP_MACHINE_X86
			   ? PLIMP_PERF_X86_COUNT
			   : PLIMP_PERF_ARM_COUNT;
	size_t i;

	if (abi == NULL)
		return 0;
	/* None, of a thread of the kernel: then there are no registers. */
	if (sample_word(abi) == 0)
		return 1;
	words = sample_take(rest, count * 8);
	if (words == NULL)
		return 0;
	if (sample_word(abi) != SAMPLE_ABI_64)
		return 1;
	for (i = 0; i < count; i++) {
		size_t number =
		    layout->machine == PLIMP_MACHINE_X86 ? sample_x86[i] : i;

		assert(number < PLIMP_REGISTERS);
		found->registers.value[number] = sample_word(words + i * 8);
		found->registers.known |= UINT64_C(1) << number;
	}
	return 1;
}

/* The room for the stack is as large as was asked for; how much of it is
 * filled is told behind it. */
static int sample_stack(struct sample_rest *rest,
			struct plimp_perf_capture *found)
{
	const char *size = sample_take(rest, 8);
	const char *bytes;
	const char *filled;

	if (size == NULL)
		return 0;
	if (sample_word(size) == 0)
		return 1;
	bytes = sample_take(rest, sample_word(size));
	filled = sample_take(rest, 8);
	if (bytes == NULL || filled == NULL ||
	    sample_word(filled) > sample_word(size))
		return 0;
	found->stack.data = bytes;
	found->stack.size = (size_t)sample_word(filled);
	found->is_cut = sample_word(filled) == sample_word(size);
	return 1;
}

static int sample_sample(const struct plimp_perf_layout *layout,
			 struct sample_rest rest,
			 struct plimp_perf_capture *found)
{
	const char *fixed = sample_take(&rest, 32);
	const char *count;

	if (fixed == NULL)
		return 0;
	found->pid = (int32_t)sample_half(fixed);
	found->tid = (int32_t)sample_half(fixed + 4);
	found->time_ns = sample_word(fixed + 8);
	found->id = sample_word(fixed + 16);
	found->cpu = sample_half(fixed + 24);
	if (layout->has_count) {
		count = sample_take(&rest, 8);
		if (count == NULL)
			return 0;
		found->count = sample_word(count);
		if (layout->has_lost && sample_take(&rest, 8) == NULL)
			return 0;
	}
	return sample_registers(layout, &rest, found) &&
	       sample_stack(&rest, found);
}

/* Of the texts of COMM and MMAP2, which are filled up with NULs. */
static plim_bytes sample_text(struct sample_rest rest)
{
	const char *end = memchr(rest.at, '\0', rest.size);
	plim_bytes text = {rest.at, rest.size};

	if (end != NULL)
		text.size = (size_t)(end - rest.at);
	return text;
}

static int sample_mapped(struct sample_rest rest, uint16_t misc,
			 struct plimp_perf_capture *found)
{
	const char *fixed = sample_take(&rest, 64);
	uint64_t size;

	if (fixed == NULL)
		return 0;
	found->pid = (int32_t)sample_half(fixed);
	found->tid = (int32_t)sample_half(fixed + 4);
	found->start = sample_word(fixed + 8);
	size = sample_word(fixed + 16);
	if (size == 0 || size > UINT64_MAX - found->start)
		return 0;
	found->end = found->start + size;
	found->offset = sample_word(fixed + 24);
	if ((misc & SAMPLE_MISC_BUILD_ID) == 0) {
		found->device = (uint64_t)sample_half(fixed + 32) << 32 |
				sample_half(fixed + 36);
		found->inode = sample_word(fixed + 40);
	}
	found->name = sample_text(rest);
	return 1;
}

static int sample_task(struct sample_rest rest,
		       struct plimp_perf_capture *found)
{
	const char *fixed = sample_take(&rest, 24);

	if (fixed == NULL)
		return 0;
	found->pid = (int32_t)sample_half(fixed);
	found->ppid = (int32_t)sample_half(fixed + 4);
	found->tid = (int32_t)sample_half(fixed + 8);
	found->ptid = (int32_t)sample_half(fixed + 12);
	found->time_ns = sample_word(fixed + 16);
	return 1;
}

static int sample_named(struct sample_rest rest,
			struct plimp_perf_capture *found)
{
	const char *fixed = sample_take(&rest, 8);

	if (fixed == NULL)
		return 0;
	found->pid = (int32_t)sample_half(fixed);
	found->tid = (int32_t)sample_half(fixed + 4);
	found->name = sample_text(rest);
	return 1;
}

static int sample_lost(struct sample_rest rest, uint64_t skipped,
		       struct plimp_perf_capture *found)
{
	const char *fixed = sample_take(&rest, skipped + 8);

	if (fixed == NULL)
		return 0;
	found->lost = sample_word(fixed + skipped);
	return 1;
}

/* The trailer, whose thread and time are those of a record that has none. */
static int sample_trailer(struct sample_rest *rest,
			  struct plimp_perf_capture *found)
{
	const char *trailer;

	if (rest->size < SAMPLE_TRAILER)
		return 0;
	rest->size -= SAMPLE_TRAILER;
	trailer = rest->at + rest->size;
	found->pid = (int32_t)sample_half(trailer);
	found->tid = (int32_t)sample_half(trailer + 4);
	found->time_ns = sample_word(trailer + 8);
	found->id = sample_word(trailer + 16);
	found->cpu = sample_half(trailer + 24);
	return 1;
}

static int sample_kind(const struct plimp_perf_layout *layout, uint32_t type,
		       uint16_t misc, struct sample_rest rest,
		       struct plimp_perf_capture *found)
{
	if (type == SAMPLE_TYPE_SAMPLE) {
		found->type = PLIMP_PERF_TAKEN;
		found->in_kernel =
		    (misc & SAMPLE_MISC_CPUMODE) == SAMPLE_MISC_KERNEL;
		return sample_sample(layout, rest, found);
	}
	if (!sample_trailer(&rest, found))
		return 0;
	switch (type) {
	case SAMPLE_TYPE_LOST:
		found->type = PLIMP_PERF_LOST;
		return sample_lost(rest, 8, found);
	case SAMPLE_TYPE_LOST_SAMPLES:
		found->type = PLIMP_PERF_LOST;
		return sample_lost(rest, 0, found);
	case SAMPLE_TYPE_COMM:
		found->type = PLIMP_PERF_NAMED;
		found->is_exec = (misc & SAMPLE_MISC_EXEC) != 0;
		return sample_named(rest, found);
	case SAMPLE_TYPE_EXIT:
		found->type = PLIMP_PERF_EXIT;
		return sample_task(rest, found);
	case SAMPLE_TYPE_FORK:
		found->type = PLIMP_PERF_FORK;
		return sample_task(rest, found);
	case SAMPLE_TYPE_THROTTLE:
		found->type = PLIMP_PERF_THROTTLED;
		return 1;
	case SAMPLE_TYPE_MMAP2:
		found->type = PLIMP_PERF_MAPPED;
		return sample_mapped(rest, misc, found);
	default:
		return 1;
	}
}

int plimp_decode_perf_size(plim_bytes bytes, uint32_t *size)
{
	uint16_t told;

	if (bytes.size < SAMPLE_HEADER)
		return PLIM_EMALFORMED;
	memcpy(&told, bytes.data + 6, sizeof told);
	if (told < SAMPLE_HEADER || told % 8 != 0)
		return PLIM_EMALFORMED;
	*size = told;
	return PLIM_OK;
}

int plimp_decode_perf_sample(const struct plimp_perf_layout *layout,
			     plim_bytes bytes,
			     struct plimp_perf_capture *capture)
{
	struct plimp_perf_capture found;
	struct sample_rest rest;
	uint32_t size;
	uint16_t misc;

	assert(layout->machine == PLIMP_MACHINE_X86 ||
	       layout->machine == PLIMP_MACHINE_ARM);
	if (plimp_decode_perf_size(bytes, &size) != PLIM_OK ||
	    size > bytes.size)
		return PLIM_EMALFORMED;
	memset(&found, 0, sizeof found);
	memcpy(&misc, bytes.data + 4, sizeof misc);
	rest.at = bytes.data + SAMPLE_HEADER;
	rest.size = size - SAMPLE_HEADER;
	if (!sample_kind(layout, sample_half(bytes.data), misc, rest, &found))
		return PLIM_EMALFORMED;
	found.size = size;
	*capture = found;
	return PLIM_OK;
}
