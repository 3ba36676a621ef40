/*
 * fuzz_status.c - any bytes as /proc/PID/status: every part that is told
 * stands in a line of the text, digit by digit; a part that is not told is 0;
 * written again it decodes to the same; a failure stores nothing; a cut text
 * tells no more and nothing else; some parts alone are what they are among all;
 * so for the pid that a process knows itself by.
 */
#include "host/linux/decode.h"
#include "promise.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static int decode(plim_bytes text, struct plimp_status *status)
{
	struct plimp_status poison;

	memset(&poison, 0xa5, sizeof(poison));
	memcpy(status, &poison, sizeof(poison));
	int result = plimp_decode_status(text, status);
	PROMISE(result == PLIM_OK || result == PLIM_EMALFORMED);
	if (result)
		PROMISE(!memcmp(status, &poison, sizeof(poison)));
	return result == PLIM_OK;
}

struct part {
	uint32_t part;
	const char *key;
	uint64_t value;
	uint64_t scale; /* 0: the second of four; 2: hexadecimal */
};

/* The same table as in the decoder, written down from decode.h. */
static size_t list_parts(const struct plimp_status *s, struct part parts[15])
{
	const struct part all[15] = {
	    {PLIMP_STATUS_TGID, "Tgid:", (uint64_t)s->tgid, 1},
	    {PLIMP_STATUS_PID, "Pid:", (uint64_t)s->pid, 1},
	    {PLIMP_STATUS_PPID, "PPid:", (uint64_t)s->ppid, 1},
	    {PLIMP_STATUS_UID, "Uid:", s->uid, 0},
	    {PLIMP_STATUS_HWM, "VmHWM:", s->peak_bytes, 1024},
	    {PLIMP_STATUS_RSS, "VmRSS:", s->resident_bytes, 1024},
	    {PLIMP_STATUS_ANON, "RssAnon:", s->anonymous_bytes, 1024},
	    {PLIMP_STATUS_FILE, "RssFile:", s->file_bytes, 1024},
	    {PLIMP_STATUS_SHMEM, "RssShmem:", s->shmem_bytes, 1024},
	    {PLIMP_STATUS_SWAP, "VmSwap:", s->swap_bytes, 1024},
	    {PLIMP_STATUS_PTE, "VmPTE:", s->page_table_bytes, 1024},
	    {PLIMP_STATUS_THREADS, "Threads:", s->threads, 1},
	    {PLIMP_STATUS_IGNORED, "SigIgn:", s->ignored, 2},
	    {PLIMP_STATUS_VOLUNTARY, "voluntary_ctxt_switches:", s->voluntary,
	     1},
	    {PLIMP_STATUS_INVOLUNTARY,
	     "nonvoluntary_ctxt_switches:", s->involuntary, 1},
	};

	memcpy(parts, all, sizeof(all));
	return 15;
}

static void check_parts(plim_bytes text, const struct plimp_status *status)
{
	struct part parts[15];
	size_t count = list_parts(status, parts);
	uint32_t all = 0;

	for (size_t i = 0; i < count; i++) {
		all |= parts[i].part;
		if (!(status->has & parts[i].part)) {
			PROMISE(parts[i].value == 0);
		} else if (parts[i].scale == 1 || parts[i].scale == 1024) {
			PROMISE(parts[i].value % parts[i].scale == 0);
			PROMISE(promise_says(text, parts[i].key,
					     parts[i].value / parts[i].scale));
		}
	}
	PROMISE(!(status->has & ~all));
	PROMISE(status->tgid >= 0 && status->pid >= 0 && status->ppid >= 0);
}

static void round_trip(const struct plimp_status *status)
{
	struct plimp_status again;
	struct part parts[15];
	size_t count = list_parts(status, parts);
	char text[2048];
	size_t used = 0;

	/* Backwards, so that no order is taken for granted. */
	while (count--) {
		const struct part *part = &parts[count];
		if (!(status->has & part->part))
			continue;
		used += (size_t)snprintf(
		    text + used, sizeof(text) - used,
		    part->scale == 0	  ? "%s\t7\t%" PRIu64 "\t8\t9\n"
		    : part->scale == 2	  ? "%s\t%016" PRIx64 "\n"
		    : part->scale == 1024 ? "%s\t%8" PRIu64 " kB\n"
					  : "%s\t%" PRIu64 "\n",
		    part->key,
		    part->scale == 1024 ? part->value / 1024 : part->value);
	}
	PROMISE(decode((plim_bytes){text, used}, &again));
	PROMISE(!memcmp(status, &again, sizeof(again)));
}

/* Every part of the cut one is the same as that of the whole one. */
static void check_cut(const struct plimp_status *whole,
		      const struct plimp_status *cut)
{
	struct part a[15], b[15];
	size_t count = list_parts(whole, a);

	list_parts(cut, b);
	PROMISE(!(cut->has & ~whole->has));
	for (size_t i = 0; i < count; i++)
		PROMISE(!(cut->has & b[i].part) || a[i].value == b[i].value);
}

/* Those that a snapshot asks for, a thread's, and the bits of the text. */
static void check_some(plim_bytes text, const struct plimp_status *all)
{
	const uint32_t sets[] = {
	    PLIMP_STATUS_UID | PLIMP_STATUS_HWM | PLIMP_STATUS_ANON |
		PLIMP_STATUS_SWAP,
	    PLIMP_STATUS_VOLUNTARY | PLIMP_STATUS_INVOLUNTARY,
	    (uint32_t)text.size,
	    0,
	};

	for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]); i++) {
		struct plimp_status some = {.has = 0};
		int result = plimp_decode_status_parts(text, sets[i], &some);

		PROMISE((result == PLIM_OK) == ((all->has & sets[i]) != 0));
		PROMISE(result == PLIM_OK || result == PLIM_EMALFORMED);
		PROMISE(some.has == (all->has & sets[i]));
		if (result == PLIM_OK)
			check_cut(all, &some);
	}
}

/* It is one of the numbers of the line; alone it is found again, and nothing
 * is told by a failure. */
static void check_own_pid(plim_bytes text)
{
	char line[64];
	int32_t pid = -7;
	int32_t again = -7;
	int result = plimp_decode_own_pid(text, &pid);

	PROMISE(result == PLIM_OK || result == PLIM_EMALFORMED);
	PROMISE((result == PLIM_OK) == (pid > 0));
	if (result != PLIM_OK) {
		PROMISE(pid == -7);
		return;
	}
	PROMISE(promise_count(text, "NSpid:") > 0);
	int size =
	    snprintf(line, sizeof(line), "NSpid:\t77\t%" PRId32 "\n", pid);
	PROMISE(plimp_decode_own_pid((plim_bytes){line, (size_t)size},
				     &again) == PLIM_OK);
	PROMISE(again == pid);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	plim_bytes text = {.data = (const char *)data, .size = size};
	const struct plimp_status none = {.has = 0};
	struct plimp_status status, cut;

	check_own_pid(text);
	if (!decode(text, &status)) {
		check_some(text, &none);
		return 0;
	}
	check_some(text, &status);
	PROMISE(status.has != 0);
	check_parts(text, &status);
	round_trip(&status);
	for (size_t end = 0; end < size; end += size / 4 + 1) {
		if (decode((plim_bytes){text.data, end}, &cut))
			check_cut(&status, &cut);
	}
	return 0;
}
