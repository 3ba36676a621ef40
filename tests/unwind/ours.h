/*
 * ours.h - the library's unwinder over the same stopped program: a map of its
 * code is built from the text of its mappings, each file's rules once.
 */
#ifndef UNWIND_OURS_H
#define UNWIND_OURS_H

#include "step.h"
#include "unwind/rules.h"

struct ours;
struct ours *ours_open(void);
void ours_close(struct ours *ours);

/* The map for these mappings (the text of maps); `memory` holds the vDSO. 0. */
int ours_refresh(struct ours *ours, const char *maps,
		 struct step_memory *memory);
const struct plimp_code_map *ours_map(const struct ours *ours);

/* All registers of the stop, or those two that a blocked thread tells. */
void ours_registers(const struct step_stop *stop, int only_two,
		    struct plimp_registers *registers);

/* Walks it. Addresses as libunwind has them: return addresses, not the calls
 * before them. */
void ours_unwind(struct ours *ours, const struct step_stop *stop, int only_two,
		 uint64_t *frames, size_t capacity,
		 struct plimp_unwound *unwound);

#endif
