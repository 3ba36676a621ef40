/*
 * glibc_locate.h - between the files that find glibc's malloc: the modules of
 * a process that may hold it (glibc_module.c), what a record must look like to
 * be believed (glibc_judge.c), the ways to it (glibc_ways.c), and what picks
 * among them (glibc_locate.c).
 */
#ifndef PLIMP_GLIBC_LOCATE_H
#define PLIMP_GLIBC_LOCATE_H

#include "memory/glibc.h"
#include "memory/image.h"

/* A page of data that a search may take in, and how many of them: the data of
 * libc has two, a static program's may have thousands. */
#define PLIMP_GLIBC_DATA_MOST 0x4000000u
/* Arenas of one process; glibc makes 8 per CPU unless told otherwise. */
#define PLIMP_GLIBC_ARENAS_MOST 16384u
/* Places that may be the start of a heap which are looked at. */
#define PLIMP_GLIBC_HEAPS_MOST 16384u

struct plimp_glibc_module {
	size_t first; /* mappings of the space: from, and behind the last */
	size_t end;
	int is_named;	/* it is called as glibc's libc is */
	int is_static;	/* a program without an interpreter */
	int is_glibc;	/* something in it says so */
	unsigned minor; /* 2.`minor`; 0: not known */
	unsigned least; /* it is 2.`least` or newer; 0: not known */
	int is_between; /* a development version behind that one */
	int is_read;	/* the file could be read, and has told all it can */
	uint64_t bias;	/* of its addresses */
	const char *version_from;
	char version[16];
	uint64_t arena; /* by symbol; 0: none */
	uint64_t mp;
};

/* The next module at or behind mapping `from` that can be glibc's, with what
 * is mapped and its name alone; 0 if there is none. */
int plimp_glibc_module_next(const struct plimp_image *image, size_t from,
			    struct plimp_glibc_module *module);
/* Its version, kind and symbols. PLIM_OK whatever is found. */
int plimp_glibc_module_read(const struct plimp_image *image,
			    struct plimp_glibc_module *module);
/* 1 if the address lies in writable data of the module's file. */
int plimp_glibc_module_has(const struct plimp_image *image,
			   const struct plimp_glibc_module *module,
			   uint64_t address);
/* Takes "2.36", "2.42.9000" out of glibc's own line. 0: it is no such line. */
int plimp_glibc_version_parse(plim_bytes line,
			      struct plimp_glibc_module *module);

/* What malloc_state says. */
struct plimp_glibc_state {
	uint64_t address;
	uint64_t top;
	uint64_t next;
	uint64_t system_mem;
	uint32_t flags;
	int is_initial; /* no memory was ever asked for */
	int is_raw;	/* not even set up: all zero but `next` */
};
#define PLIMP_GLIBC_STATE_BYTES 2304u /* no row has a larger one */

/* 1 if the bytes, `state_size` of them, can be a malloc_state at the address.
 */
int plimp_glibc_judge_state(const struct plimp_glibc_layout *layout,
			    const uint8_t *bytes, uint64_t address,
			    struct plimp_glibc_state *state);

/* What malloc_par says, of this process. */
struct plimp_glibc_parameters {
	uint64_t trim_threshold, top_pad, mmap_threshold;
	uint64_t thp_pagesize, hp_pagesize;
	uint64_t mmapped_mem, sbrk_base;
	uint64_t tcache_bins, tcache_max_bytes, tcache_count;
	uint32_t n_mmaps;
};
/* 1 if the bytes, `mp_size` of them, can be a malloc_par. */
int plimp_glibc_judge_mp(const struct plimp_glibc_layout *layout,
			 uint64_t page_bytes, const uint8_t *bytes,
			 struct plimp_glibc_parameters *parameters);
/* Size and alignment of heaps with these parameters. */
uint64_t plimp_glibc_heap_bytes(const struct plimp_glibc_layout *layout,
				uint64_t hp_pagesize);

/* What a search of the data found. */
#define PLIMP_GLIBC_FINDS 4
struct plimp_glibc_finds {
	uint64_t states[PLIMP_GLIBC_FINDS];
	size_t state_count;		 /* PLIMP_GLIBC_FINDS: perhaps more */
	uint64_t raw[PLIMP_GLIBC_FINDS]; /* states that were never set up */
	size_t raw_count;
	uint64_t parameters[PLIMP_GLIBC_FINDS];
	size_t parameter_count;
	int is_partial; /* some of the data could not be read */
};
int plimp_glibc_scan(const struct plimp_image *image,
		     const struct plimp_glibc_module *module,
		     const struct plimp_glibc_layout *layout,
		     struct plimp_glibc_finds *finds);

/* Reads and judges the state there. PLIMP_REACHED: `*holds` tells. */
int plimp_glibc_state_at(struct plimp_window *window,
			 const struct plimp_glibc_layout *layout,
			 uint64_t address, struct plimp_glibc_state *state,
			 int *holds);

/* From heaps of threads to the arena in the module's data: `*found` 0 if no
 * heap leads there; `*applied` 1 if any heap was seen. */
int plimp_glibc_by_ring(struct plimp_window *window,
			const struct plimp_glibc_module *module,
			const struct plimp_glibc_layout *layout,
			uint64_t hp_pagesize, uint64_t *found, int *applied);

/* 1 if top, system_mem and sbrk_base of the main arena tell the same; 0 if
 * they don't; -1 if that can't be asked. */
int plimp_glibc_by_break(struct plimp_window *window,
			 const struct plimp_glibc_layout *layout,
			 uint64_t arena, uint64_t sbrk_base, int *answer);

/* What one row gave. */
struct plimp_glibc_fit {
	const struct plimp_glibc_layout *layout;
	struct plimp_glibc_parameters parameters;
	uint64_t arena;
	uint64_t mp;
	int is_raw;
	int is_partial;
	int reason;
};

/*
 * Several rows may hold: the records of 2.27 to 2.34 are the same, and so are
 * those of 2.35 to 2.42. What the first thread's cache looks like tells them
 * apart, if there is one; `fit` is the one, or its reason is SEVERAL.
 */
int plimp_glibc_tell(struct plimp_window *window,
		     const struct plimp_glibc_fit *fits, size_t count,
		     struct plimp_glibc_fit *fit);

#endif
