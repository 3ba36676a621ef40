/*
 * fuzz_stat.c - any bytes as /proc/PID/stat. What is told can be written down
 * as such a line again and decodes to the same; the name lies inside the
 * text; a failure stores nothing; a cut text tells nothing else than the
 * whole one.
 */
#include "host/linux/decode.h"
#include "promise.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int decode(plim_bytes text, struct plimp_stat *stat)
{
	struct plimp_stat poison;

	memset(&poison, 0xa5, sizeof(poison));
	memcpy(stat, &poison, sizeof(poison));
	int result = plimp_decode_stat(text, stat);
	PROMISE(result == PLIM_OK || result == PLIM_EMALFORMED);
	if (result)
		PROMISE(!memcmp(stat, &poison, sizeof(poison)));
	return result == PLIM_OK;
}

static int same_bytes(plim_bytes a, plim_bytes b)
{
	return a.size == b.size && !memcmp(a.data, b.data, a.size);
}

static int same_body(const struct plimp_stat *a, const struct plimp_stat *b)
{
	return a->pid == b->pid && a->state == b->state && a->ppid == b->ppid &&
	       a->flags == b->flags && a->faults_minor == b->faults_minor &&
	       a->faults_major == b->faults_major &&
	       a->user_ticks == b->user_ticks &&
	       a->system_ticks == b->system_ticks &&
	       a->children_user_ticks == b->children_user_ticks &&
	       a->children_system_ticks == b->children_system_ticks &&
	       a->nice == b->nice && a->threads == b->threads &&
	       a->start_ticks == b->start_ticks;
}

static int same_tail(const struct plimp_stat *a, const struct plimp_stat *b)
{
	return a->has == b->has && a->block_io_ticks == b->block_io_ticks &&
	       a->stack_start == b->stack_start &&
	       a->arguments_start == b->arguments_start &&
	       a->arguments_end == b->arguments_end &&
	       a->exit_code == b->exit_code;
}

/* Writes the fields behind the name; a field that is not known as what the
 * kernel writes for "not told", an x where it never does, and no last field
 * without an exit code. */
static int write_fields(const struct plimp_stat *s, char *line, size_t size)
{
	char block_io[32] = "x";

	if (s->has & PLIMP_STAT_BLOCK_IO)
		snprintf(block_io, sizeof(block_io), "%" PRIu64,
			 s->block_io_ticks);
	int used = snprintf(
	    line, size,
	    ") %c %" PRId32 " -1 2 3 -4 %" PRIu64 " %" PRIu64 " 0 %" PRIu64
	    " 0 %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " -2 %" PRId32
	    " %" PRIu64 " 0 %" PRIu64 " 1 2 3 4 5 %" PRIu64
	    " 29 30 31 32 33 34 35 36 37 -1 39 40 41 %s 43 44 45 46 47 %" PRIu64
	    " %" PRIu64 " 50 51",
	    s->state, s->ppid, s->flags, s->faults_minor, s->faults_major,
	    s->user_ticks, s->system_ticks, s->children_user_ticks,
	    s->children_system_ticks, s->nice, s->threads, s->start_ticks,
	    s->stack_start, block_io, s->arguments_start, s->arguments_end);
	if (s->has & PLIMP_STAT_EXIT_CODE)
		used += snprintf(line + used, size - (size_t)used, " %" PRId32,
				 s->exit_code);
	return used + snprintf(line + used, size - (size_t)used, "\n");
}

/* Written again under a name; it decodes to the same, with that name. */
static void round_trip(const struct plimp_stat *stat, plim_bytes name)
{
	struct plimp_stat again;
	size_t room = name.size + 1024;
	char *line = malloc(room);

	if (!line)
		return;
	int used = snprintf(line, room, "%" PRId32 " (", stat->pid);
	memcpy(line + used, name.data, name.size);
	used += (int)name.size;
	used += write_fields(stat, line + used, room - (size_t)used);
	PROMISE(decode((plim_bytes){line, (size_t)used}, &again));
	PROMISE(same_body(stat, &again));
	PROMISE(same_tail(stat, &again));
	PROMISE(same_bytes(name, again.name));
	free(line);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	plim_bytes text = {.data = (const char *)data, .size = size};
	struct plimp_stat stat, cut;

	if (!decode(text, &stat))
		return 0;
	PROMISE(promise_inside(text, stat.name));
	PROMISE(stat.name.data[-1] == '(');
	PROMISE(stat.name.data[stat.name.size] == ')');
	PROMISE(stat.pid >= 0 && stat.ppid >= 0 && stat.state > ' ');
	PROMISE(!(stat.has & PLIMP_STAT_ARGUMENTS) ==
		!(stat.arguments_start && stat.arguments_end));
	PROMISE(!(stat.has & PLIMP_STAT_STACK) == !stat.stack_start);
	round_trip(&stat, stat.name);
	/* A name that looks like the fields behind one. */
	round_trip(&stat, (plim_bytes){") R 1\n2 (", 9});

	/* Cuts behind the name. */
	size_t first = (size_t)(stat.name.data - text.data) + stat.name.size;
	PROMISE(!memchr(text.data + first + 1, ')', size - first - 1));
	size_t step = (size - first) / 32 + 1;
	for (size_t end = first + 1; end < size; end += step) {
		if (!decode((plim_bytes){text.data, end}, &cut))
			continue;
		PROMISE(same_body(&stat, &cut));
		PROMISE(!(cut.has & ~stat.has));
		PROMISE(same_bytes(stat.name, cut.name));
	}
	return 0;
}
