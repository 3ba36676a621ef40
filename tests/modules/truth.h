/*
 * truth.h - what a process's own loader tells of its modules, and the history
 * under test beside it.
 */
#ifndef TESTS_MODULES_TRUTH_H
#define TESTS_MODULES_TRUTH_H

#include "owner.h"

#include "unwind/modules.h"

/* What dl_iterate_phdr() tells of one. */
struct truth {
	uint64_t bias;
	uint64_t start; /* of its executable segment, first and last page */
	uint64_t end;
	size_t id_size;
	uint8_t id[PLIMP_ELF_ID];
	char path[256];
};

struct truths {
	struct truth items[64];
	size_t count;
};

/* Of the calling process. */
void truth_read(struct truths *truths);
/* The one whose path ends so; aborts if there is none. */
const struct truth *truth_find(const struct truths *truths, const char *end);

/* Reads a byte of each page of it that may be read. */
void truth_touch(const struct truth *truth);

/* Memory that a child fills and its parent reads. */
struct truths *truth_shared(void);

/* A library of this folder by its name ("one"). */
void library_path(char *path, size_t size, const char *name);

/* A history of what a view looks at. */
struct plimp_modules *history_open(struct view *view);
void history_refresh(struct plimp_modules *modules);
/* The module that holds the address now; aborts where none does. */
const struct plimp_module *history_at(const struct plimp_modules *modules,
				      uint64_t address);
/* It is what the loader says, with rules and the map's range for it. */
void history_expect(const struct plimp_modules *modules,
		    const struct truth *truth);

#endif
