/*
 * sink.h - the bytes on their way to a writer's callback.
 *
 * Bytes are gathered and handed out a chunk at a time. The first failure of
 * the callback is kept, and nothing is handed out after it, so that a writer
 * needs to look once, at the end.
 */
#ifndef PLIMP_SINK_H
#define PLIMP_SINK_H

#include <plimsoll/export.h>

#define PLIMP_SINK_SIZE 4096

struct plimp_sink {
	plim_write_fn *write;
	void *user;
	int failed; /* PLIM_EOUTPUT, or PLIM_OK */
	int system; /* what the callback returned when it failed */
	size_t used;
	char data[PLIMP_SINK_SIZE];
};

void plimp_sink_init(struct plimp_sink *sink, plim_write_fn *write, void *user);
void plimp_sink_put(struct plimp_sink *sink, const char *data, size_t size);
void plimp_sink_string(struct plimp_sink *sink, const char *string);
void plimp_sink_fill(struct plimp_sink *sink, char byte, size_t count);
void plimp_sink_whole(struct plimp_sink *sink, uint64_t value);

/* Escapes text of any length (plim_escape), except in the form of a CSV field,
 * whose quotes depend on the whole. */
void plimp_sink_escaped(struct plimp_sink *sink, int form, plim_bytes text);

/* Hands out what is left; PLIM_OK or PLIM_EOUTPUT. */
int plimp_sink_flush(struct plimp_sink *sink);

#endif
