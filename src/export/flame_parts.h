/*
 * flame_parts.h - what the page of a profile (flame.c) and that of a
 * difference (flame_diff.c) share: the page's text, in the order in which it is
 * written (flame_page.h, by tools/gen-flame), and what its holes are filled by.
 */
#ifndef PLIMP_FLAME_PARTS_H
#define PLIMP_FLAME_PARTS_H

#include "core/buffer.h"
#include "export/sink.h"

extern const char plimp_flame_begin[];	/* up to its title */
extern const char plimp_flame_middle[]; /* up to its data */
extern const char plimp_flame_script[];
extern const char plimp_flame_diff[]; /* of a difference alone */
extern const char plimp_flame_end[];

/* A plim_write_fn for its data: JSON into `user`, a struct plimp_sink, in which
 * no byte ends the element. */
int plimp_flame_write(const char *data, size_t size, void *user);

/* Text of a process between tags. `text` is room for it; its failure is kept
 * in it. */
void plimp_flame_text(struct plimp_sink *sink, struct plimp_buffer *text,
		      plim_bytes value);

#endif
