/*
 * decode_proc_event.c - what the process connector's socket gives.
 *
 * Each message is struct nlmsghdr (include/uapi/linux/netlink.h: u32 length,
 * u16 type, u16 flags, u32 sequence, u32 sender), struct cn_msg (connector.h:
 * u32 idx, u32 val, u32 sequence, u32 acknowledged, u16 length, u16 flags) and
 * struct proc_event (cn_proc.h: u32 what, u32 cpu, u64 time, then the parts
 * of the event), in the byte order of the machine. Messages stand on
 * multiples of 4 bytes. One of another subsystem, or of a kind that is not
 * asked for, is passed on as OTHER.
 */
#include "host/linux/decode.h"

#include <assert.h>
#include <string.h>

#define PROC_NETLINK_SIZE 16
#define PROC_HEADERS_SIZE 36 /* of both */
#define PROC_EVENT_AT	  52 /* where the parts of the event begin */
#define PROC_IDX	  1u /* CN_IDX_PROC, CN_VAL_PROC */
#define PROC_NLMSG_DONE	  3u
#define PROC_NLMSG_LOST	  4u /* NLMSG_OVERRUN */

#define PROC_WHAT_NONE 0u
#define PROC_WHAT_FORK 1u
#define PROC_WHAT_EXIT 0x80000000u

static uint32_t proc_word(const char *message, size_t at)
{
	uint32_t word;

	memcpy(&word, message + at, sizeof word);
	return word;
}

static uint16_t proc_half(const char *message, size_t at)
{
	uint16_t half;

	memcpy(&half, message + at, sizeof half);
	return half;
}

static int32_t proc_pid(const char *message, size_t at)
{
	int32_t pid;

	memcpy(&pid, message + at, sizeof pid);
	return pid;
}

/* A message of the connector, whose event is whole up to its known parts. */
static void proc_event(const char *message, size_t size,
		       struct plimp_proc_event *event)
{
	uint32_t what = proc_word(message, PROC_HEADERS_SIZE);
	const size_t at = PROC_EVENT_AT;

	if (what == PROC_WHAT_NONE && size >= at + 4) {
		event->type = PLIMP_PROC_ANSWER;
		event->error = proc_word(message, at);
	} else if (what == PROC_WHAT_FORK && size >= at + 16) {
		event->type = PLIMP_PROC_FORK;
		event->ppid = proc_pid(message, at + 4);
		event->tid = proc_pid(message, at + 8);
		event->pid = proc_pid(message, at + 12);
	} else if (what == PROC_WHAT_EXIT && size >= at + 8) {
		event->type = PLIMP_PROC_EXIT;
		event->tid = proc_pid(message, at);
		event->pid = proc_pid(message, at + 4);
	}
}

int plimp_decode_proc_event(plim_bytes bytes, size_t *offset,
			    struct plimp_proc_event *event)
{
	struct plimp_proc_event found = {.type = PLIMP_PROC_OTHER};
	const char *message = bytes.data + *offset;
	size_t left = bytes.size - *offset;
	uint32_t size;
	size_t step;

	assert(*offset <= bytes.size);
	if (left == 0)
		return 0;
	if (left < PROC_NETLINK_SIZE)
		return PLIM_EMALFORMED;
	size = proc_word(message, 0);
	if (size < PROC_NETLINK_SIZE || size > left)
		return PLIM_EMALFORMED;
	if (proc_half(message, 4) == PROC_NLMSG_LOST)
		found.type = PLIMP_PROC_OVERRUN;
	else if (proc_half(message, 4) == PROC_NLMSG_DONE &&
		 size >= PROC_EVENT_AT && proc_word(message, 16) == PROC_IDX &&
		 proc_word(message, 20) == PROC_IDX &&
		 proc_half(message, 32) <= size - PROC_HEADERS_SIZE)
		proc_event(message, PROC_HEADERS_SIZE + proc_half(message, 32),
			   &found);
	step = ((size_t)size + 3) & ~(size_t)3;
	*offset += step < left ? step : left;
	*event = found;
	return 1;
}
