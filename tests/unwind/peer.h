/*
 * peer.h - libunwind over the same stopped program, as an independent answer.
 *
 * Its remote interface, with memory that comes from the same pages. It finds
 * the rules by itself, from each module's .eh_frame_hdr as it lies in the
 * program's memory; where modules are and where that header is, it is told
 * from here, by the system's own <elf.h> and nothing of the library.
 */
#ifndef UNWIND_PEER_H
#define UNWIND_PEER_H

#include "step.h"

#define PEER_FRAMES 512

struct peer_module {
	uint64_t start; /* of its executable range */
	uint64_t end;
	uint64_t bias;
	uint64_t header; /* address of .eh_frame_hdr, 0: none */
	uint64_t table;	 /* of its sorted table */
	uint64_t entries;
	char path[256];
};

struct peer;
struct peer *peer_open(void);
void peer_close(struct peer *peer);
/* Reads the program's mappings; 0. Cheap when nothing has changed. */
int peer_refresh(struct peer *peer, const struct step_stop *stop);
const struct peer_module *peer_module(const struct peer *peer,
				      uint64_t address);

/* frames[0] is the pc, then return addresses; how many. `end` is what
 * unw_step() gave at the end: 0, or an error below. */
size_t peer_unwind(struct peer *peer, const struct step_stop *stop,
		   uint64_t *frames, size_t capacity, int *end);

/* Empties its cache of rules: now and then it answers with another address's,
 * and right when it is asked again without. */
void peer_forget(struct peer *peer);

/* 1 where libunwind has rules for the instruction; where it has none it goes
 * by the frame pointer, which is a guess. */
int peer_has_rules(struct peer *peer, uint64_t address);

/* What its mappings look like, as maps has it, for who builds a map of them;
 * the text changes only where peer_generation() does. */
const char *peer_maps(const struct peer *peer);
uint64_t peer_generation(const struct peer *peer);

#endif
