/*
 * module_parts.h - what the files of the module history share: objects
 * (module_objects.c), copies of memory (module_copy.c), what stands behind one
 * executable mapping (module_file.c), and the history itself (modules.c), which
 * module_look.c brings up to date.
 */
#ifndef PLIMP_MODULE_PARTS_H
#define PLIMP_MODULE_PARTS_H

#include "unwind/modules.h"

/* Pages of a process's memory that were copied, read at their addresses. */
struct plimp_module_copy {
	struct plimp_reader reader;
	uint64_t base;
	size_t page_count; /* from `base` on */
	uint32_t *places;  /* of each: 1 + its place in `bytes`; 0: not there */
	uint8_t *bytes;	   /* pages */
	size_t bytes_count; /* pages in it */
	size_t bytes_room;
};

/*
 * Copies what is resident of the mappings of `space` that lie within [base,
 * end) and may be read; of those that may be executed nothing unless
 * `with_code`. No page becomes resident by it. PLIM_ELIMIT for more than
 * PLIMP_MODULE_SPAN; PLIM_ENOMEM, or what the reader failed with.
 */
#define PLIMP_MODULE_SPAN 0x40000000u
int plimp_module_copy(struct plimp_module_copy **copy,
		      const plim_allocator *allocator,
		      const struct plimp_reader *reader,
		      const struct plimp_space *space, uint64_t base,
		      uint64_t end, int with_code);
void plimp_module_copy_free(struct plimp_module_copy *copy,
			    const plim_allocator *allocator);

/*
 * Builds the rules of an object whose ELF and build id are read, also out of
 * its debug file, which is looked for as plimp_debug_file_find() says unless
 * the path is empty. Errors as for plimp_rules_build().
 */
int plimp_object_rules(plim_host *host, struct plimp_lens *lens,
		       plim_bytes path, struct plimp_object *object);

/*
 * The object of an open file, which is taken over in any case: the one that the
 * store has of it, or a new one. The path is the target's; below its root is
 * looked for a debug file. PLIM_OK and NULL where it is no ELF file that can be
 * read: `*why` says so. PLIM_ENOMEM.
 */
int plimp_object_of_file(struct plimp_module_store *store,
			 struct plimp_lens *lens, plim_bytes path,
			 struct plimp_file *file, uint64_t device,
			 uint64_t inode, struct plimp_object **object, int *why,
			 plim_error *error);
/* The same of copied memory, which is taken over; always a new one. */
int plimp_object_of_copy(struct plimp_module_store *store,
			 struct plimp_module_copy *copy, uint64_t device,
			 uint64_t inode, struct plimp_object **object, int *why,
			 plim_error *error);

/*
 * The vDSO of this process as an object, all of it: what a process of the same
 * kernel has is nearly always the same, but few of its pages are resident.
 * Made once per store; NULL where it cannot be had. PLIM_ENOMEM.
 */
int plimp_object_of_vdso(struct plimp_module_store *store,
			 struct plimp_object **object, plim_error *error);
/* 1 if the pages of [start, end) that are resident are the object's, byte for
 * byte, and one is; 0 if not. */
int plimp_object_is_vdso(const struct plimp_object *object,
			 const struct plimp_reader *reader, uint64_t start,
			 uint64_t end);

/* An executable range, and when it was there (modules.h, plimp_module). */
struct plimp_module_range {
	uint64_t start;
	uint64_t end;
	uint64_t offset;
	uint64_t device;
	uint64_t inode;
	uint32_t module;
	uint64_t since_ns;
	uint64_t first_ns;
	uint64_t last_ns;
	uint64_t until_ns;
};

/* The store's own vDSO, as plimp_object_of_vdso() found it. */
struct plimp_module_vdso {
	struct plimp_object *object;
	int is_tried;
};
struct plimp_module_vdso *
plimp_module_store_vdso(struct plimp_module_store *store, plim_host **host);

struct plimp_module_map; /* a published one */

struct plimp_modules {
	plim_host *host;
	struct plimp_lens *lens;
	struct plimp_reader reader; /* of the lens */
	struct plimp_module_store *store;
	int own_store;
	int is_told;		  /* what the kernel tells is all there is */
	struct plimp_space space; /* as last read */
	uint16_t machine;
	uint64_t looked_ns; /* when; 0: never */
	struct plimp_module **items;
	size_t count;
	size_t capacity;
	struct plimp_module_range *now; /* ascending */
	size_t now_count;
	size_t now_capacity;
	struct plimp_module_range *old; /* by until_ns, ascending */
	size_t old_count;
	size_t old_capacity;
	struct plimp_module_map *map; /* the newest; behind it older ones */
};

/* An executable range as maps or the kernel tells it. */
struct plimp_module_sight {
	uint64_t start;
	uint64_t end;
	uint64_t offset;
	uint64_t device;
	uint64_t inode;
	plim_bytes name;
	/* In the space, of the first mapping of it. */
	const struct plimp_mapping *mapping;
};

/*
 * Finds out what stands behind a sight, all but its times: the file, or its
 * memory, and the bias. `path` is in the memory of the space. PLIM_OK also
 * where nothing can be had; else PLIM_ENOMEM, PLIM_ENOPROCESS,
 * PLIM_EREPLACED, PLIM_EIMAGE.
 */
int plimp_module_identify(struct plimp_modules *modules,
			  const struct plimp_module_sight *sight,
			  struct plimp_module *module, plim_error *error);

/* 1 if the sight is of the same load as the module's object: of another of its
 * segments, with the same bias. */
int plimp_module_is_load(const struct plimp_module *module,
			 const struct plimp_module_sight *sight);
/* 1 if the name says that the file is deleted, 0 if not; the path is without
 * that. */
int plimp_module_name(struct plimp_modules *modules, plim_bytes name,
		      plim_bytes *path);

/* What is there from now on, and what has ended, before it is settled. */
struct plimp_module_change {
	struct plimp_module_range *now; /* ascending, none overlapping */
	size_t now_count;
	size_t now_capacity;
	struct plimp_module_range *ended; /* their times are set */
	size_t ended_count;
	size_t ended_capacity;
	size_t made; /* modules from there on are new */
};
/* PLIM_ENOMEM, PLIM_ELIMIT. */
int plimp_module_change_add(struct plimp_modules *modules,
			    struct plimp_module_change *change, int ended,
			    const struct plimp_module_range *range,
			    plim_error *error);
/* Publishes the change, and takes it over; on failure nothing has changed but
 * that the new modules are dropped. */
int plimp_modules_settle(struct plimp_modules *modules,
			 struct plimp_module_change *change, plim_error *error);
/* Forgets the change and its new modules. */
void plimp_module_change_drop(struct plimp_modules *modules,
			      struct plimp_module_change *change);

/* The module of a sight that has none yet: another segment of one that is
 * there, or one that was and is the same, or a new one. PLIM_ELIMIT, and as
 * plimp_module_identify(). */
int plimp_modules_assign(struct plimp_modules *modules,
			 const struct plimp_module_change *change,
			 const struct plimp_module_sight *sight,
			 uint32_t *index, plim_error *error);

#endif
