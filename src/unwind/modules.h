/*
 * modules.h - what code a process has had, by time.
 *
 * A module is one file as it was loaded once (all mappings of one file whose
 * bias agrees), or the vDSO, or the executable memory that no file stands
 * behind, all of it that has one name. It has an index for ever, and spans of
 * time in which it held ranges of addresses. Its file is opened at first
 * sight, so that neither an unlink nor an upgrade can replace it later, and
 * believed only if it is the one that is mapped.
 *
 * What is read out of a file (its rules, its symbols) is an object. Objects
 * live in a store that the histories of several processes share: a library
 * that fifty processes have mapped is read once.
 *
 * At each change a new map of the executable ranges is published, which never
 * changes again: the unwinder and its caches use that. A map that was replaced
 * lives until plimp_modules_forget_maps().
 *
 * Times are ns of CLOCK_MONOTONIC. A history, its lens, its store and their
 * host are used by one thread at a time; a published map, and the rules in it,
 * by any. What is here is told by a hostile process: paths, ranges and the
 * bytes of files and memory.
 */
#ifndef PLIMP_MODULES_H
#define PLIMP_MODULES_H

#include "elf/elf.h"
#include "host/target.h"
#include "unwind/rules.h"

/* A history has no more modules, ranges that are there, and ranges that ended;
 * beyond that is PLIM_ELIMIT. */
#define PLIMP_CODE_MODULES	65536u
#define PLIMP_MODULE_RANGES	262144u
#define PLIMP_MODULE_RANGES_OLD 262144u
/* A store holds no more objects, and copies no more bytes of one module's
 * memory. Beyond that a module has none, `why` is PLIM_ELIMIT. */
#define PLIMP_OBJECTS_MOST	16384u
#define PLIMP_OBJECT_COPY_BYTES 0x4000000u

/* The module of an address that none had. */
#define PLIMP_NO_MODULE 0xffffffffu

enum plimp_module_kind {
	PLIMP_MODULE_FILE = 1, /* `object`, if any, is of the file */
	PLIMP_MODULE_VDSO = 2, /* `object` is a copy of its pages */
	/* No file: compiled at run time, "[uprobes]", "[vsyscall]", text that
	 * was moved onto huge pages. Its bias is 0, and it has no object. */
	PLIMP_MODULE_ANONYMOUS = 3,
	/* A file that cannot be had any more: `object` is a copy of what was
	 * resident of its pages that hold no code. */
	PLIMP_MODULE_MEMORY = 4
};

struct plimp_symbols; /* symbols.h */
struct plimp_named;   /* namer.c */

/*
 * What is known of one file, or of one module's memory. `elf` reads from
 * `file` or from the copy of memory, and stays valid as long as the object,
 * also when the process is gone. Addresses are those of the file.
 */
struct plimp_object {
	uint64_t device; /* as maps tells them */
	uint64_t inode;
	uint64_t size;			/* of the file, bytes; 0 of memory */
	uint8_t build_id[PLIMP_ELF_ID]; /* of the file or the memory */
	size_t build_id_size;		/* 0: it has none */
	int is_memory;			/* a copy of pages; has no sections */
	struct plimp_file file;		/* .system NULL: there is none */
	struct plimp_elf elf;
	struct plimp_rules *rules; /* NULL: none */
	int why_no_rules;	   /* PLIM_OK, PLIM_ENAME, PLIM_EMALFORMED,
				    * PLIM_ELIMIT, PLIM_ENOMEM */

	/* Made on first use by symbols.h, which sets how they are released,
	 * too; NULL before. Released before the file is closed. */
	struct plimp_symbols *symbols;
	void (*symbols_free)(plim_host *host, struct plimp_symbols *symbols);
	struct plimp_named *named; /* namer.c's; NULL while no namer is open */
	void *copy;		   /* of memory; modules.c's own */
};

struct plimp_module {
	int kind;	/* enum plimp_module_kind */
	uint64_t start; /* lowest and highest of the executable ranges that */
	uint64_t end;	/* it has or had */
	/* Address in the file = address - bias; wraps. One bias holds for all
	 * segments. A file that is no ELF file has the one that makes it the
	 * offset in the file. */
	uint64_t bias;
	uint64_t offset; /* in the file, of the range at `start` */
	uint64_t device; /* as maps tells them; 0 without a file */
	uint64_t inode;
	/* As the kernel tells it, without " (deleted)"; "[vdso]", "[anon]",
	 * "[anon:NAME]", "[uprobes]". Hostile; borrowed as long as the
	 * history. */
	plim_bytes path;
	int is_deleted; /* it had no name any more when it was first seen, or
			 * at a later refresh */
	/* What stands at the path is another file, or the file's bytes are not
	 * those in memory. */
	int is_replaced;
	/* 1: the build id (or, where the file has none, the headers) in memory
	 * was compared and is the file's. 0: the page of it is not resident. */
	int is_proven;
	/* The first and last time when it was surely there, and the outermost
	 * in which it may have been: `since_ns` 0 where it was there at the
	 * first look, `until_ns` 0 while it is there. */
	uint64_t since_ns;
	uint64_t first_ns;
	uint64_t last_ns;
	uint64_t until_ns;
	/* PLIM_OK, or why the file could not be had: PLIM_EDENIED,
	 * PLIM_EUNSUPPORTED (deleted or replaced, no regular file),
	 * PLIM_EMALFORMED (no ELF file: code that was compiled into a file),
	 * PLIM_ELIMIT, PLIM_ESYSTEM. A module may have an object of memory all
	 * the same. */
	int why;
	struct plimp_object *object; /* NULL: none. The store's */
};

/* Objects by device, inode and build id. They live until it is closed. */
struct plimp_module_store;

/* PLIM_ENOMEM. The host must outlive it. */
int plimp_module_store_open(struct plimp_module_store **store, plim_host *host,
			    plim_error *error);
/* After the histories that use it. NULL is allowed. */
void plimp_module_store_close(struct plimp_module_store *store);
size_t plimp_module_store_count(const struct plimp_module_store *store);
/* NULL from the last one on. */
struct plimp_object *
plimp_module_store_item(const struct plimp_module_store *store, size_t index);
/* What its rules take, bytes, and building them took, ns of wall time. */
struct plimp_module_bill {
	uint64_t objects;
	uint64_t rules_bytes;
	uint64_t copied_bytes; /* of memory, held */
	uint64_t build_ns;
};
struct plimp_module_bill
plimp_module_store_bill(const struct plimp_module_store *store);

struct plimp_modules;

/*
 * Takes a first look, as plimp_modules_refresh() does. `store` NULL: one of its
 * own. `now_ns` is the time of the call. The lens and the store must outlive
 * it; the lens is used by refresh and mapped alone. PLIM_EDENIED where maps may
 * not be read; PLIM_ENOPROCESS, PLIM_EREPLACED, PLIM_EIMAGE, PLIM_ELIMIT,
 * PLIM_ENOMEM, PLIM_ESYSTEM.
 */
int plimp_modules_open(struct plimp_modules **modules, plim_host *host,
		       struct plimp_lens *lens,
		       struct plimp_module_store *store, uint64_t now_ns,
		       plim_error *error);
/* With all its maps. NULL is allowed. */
void plimp_modules_close(struct plimp_modules *modules);

/*
 * A history of a process that has ended, or may not be looked into, before
 * anybody could look: it is empty at first, and knows what is told of mappings
 * and nothing else. Files are found below the root of another process, the
 * nearest one that lives, by path, device and inode. Before each
 * plimp_modules_mapped() it must be lent that one's lens. One that was looked
 * at becomes such a history by being lent a lens, once its process has ended.
 * PLIM_ENOMEM.
 */
int plimp_modules_told(struct plimp_modules **modules, plim_host *host,
		       struct plimp_module_store *store, plim_error *error);
void plimp_modules_lend(struct plimp_modules *modules, struct plimp_lens *lens);
int plimp_modules_are_told(const struct plimp_modules *modules);

/*
 * Reads maps again: ends what is gone, opens what is new, builds its rules,
 * publishes a new map if anything is different. What appeared between two
 * looks may have been there since the first of them. On failure the history is
 * as it was (PLIM_EIMAGE: it has executed another program; this history goes on
 * telling what it was before).
 */
int plimp_modules_refresh(struct plimp_modules *modules, uint64_t now_ns,
			  plim_error *error);

/* What the kernel told of one executable mapping (PERF_RECORD_MMAP2). */
struct plimp_mapped {
	uint64_t start;
	uint64_t end;
	uint64_t offset;
	uint64_t device; /* major << 32 | minor */
	uint64_t inode;
	plim_bytes path; /* as in the record: "//anon", "[vdso]", a path */
};
/*
 * An executable mapping appeared at that time: what it covers of others ended
 * then. One that is known is not added again; its beginning is known better
 * now. Events are told in the order of time, and before the refresh that comes
 * after them. Errors as for refresh.
 */
int plimp_modules_mapped(struct plimp_modules *modules,
			 const struct plimp_mapped *mapped, uint64_t time_ns,
			 plim_error *error);

/* The map of now; never NULL. It lives until the history is closed, or until
 * it was replaced and plimp_modules_forget_maps() was called. */
const struct plimp_code_map *
plimp_modules_map(const struct plimp_modules *modules);
/* Nobody uses any map but the one of now. */
void plimp_modules_forget_maps(struct plimp_modules *modules);

size_t plimp_modules_count(const struct plimp_modules *modules);
/* NULL from the last one on. It lives as long as the history, and so does all
 * that it points to. */
const struct plimp_module *
plimp_modules_item(const struct plimp_modules *modules, size_t index);

/*
 * The module that held the address at that time, 0: now; PLIMP_NO_MODULE
 * where none did, or where two may have: one went and the other came there
 * between two looks.
 */
uint32_t plimp_modules_at(const struct plimp_modules *modules, uint64_t address,
			  uint64_t time_ns);

/* 1 if the process is of 32 bits: all that it has mapped lies below 4 GiB, and
 * no module of it could be read. Registers and stacks of such are not read. */
int plimp_modules_is_narrow(const struct plimp_modules *modules);
#define PLIMP_MODULES_NARROW \
	"it is a program of 32 bits, whose stacks are not read"

/* The module's ELF file or memory: `module->object`, or NULL. For who makes
 * symbols: the object is shared with other histories of the store. */
struct plimp_object *plimp_modules_object(const struct plimp_modules *modules,
					  uint32_t index);

#endif
