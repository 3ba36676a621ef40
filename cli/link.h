/*
 * link.h - pipes from what we started, and calls to a port of this machine.
 *
 * The ends of a pipe are descriptors of the C library. Neither is handed on to
 * a command but by child_launch().
 */
#ifndef PLIM_LINK_H
#define PLIM_LINK_H

#include <stddef.h>

enum link_end { LINK_READS, LINK_WRITES };

/* Both ends: 0, or an error number. */
int link_open(int ends[2]);
/* Takes what there is: how much, 0 if it has ended or does not work, -1 if
 * there is nothing yet. It does not wait. */
int link_take(int end, char *bytes, size_t size);
/* And is none (-1) from then on. */
void link_close(int *end);

/* 1 if somebody takes calls on this port; asks for 100 ms at most. */
int link_answers(int port);

#endif
