/*
 * target.h - THE contract with an operating system, second part: the memory of
 * one process. Its mappings, what of them is resident, its bytes, its files.
 *
 * A lens is opened on a target, or on ourselves, and holds what it needs. It is
 * bound to one image: to the process, and to the program that it was executing
 * when the lens was opened. Every answer is of that image: when the process
 * has ended the answer is PLIM_ENOPROCESS, when its pid has a new owner
 * PLIM_EREPLACED, when it has executed another program PLIM_EIMAGE. Bytes and
 * pages that come through the lens's reader are checked in bulk: what was read
 * is proven by the next plimp_system_lens_check() that gives PLIM_OK.
 *
 * Reading costs the target. Whoever walks its page tables holds its memory
 * lock, so that it cannot map, unmap or take a first fault meanwhile. Calls
 * that do are cut so that none is predicted to hold it for longer than
 * PLIMP_LENS_CALL_NS; the two that cannot be cut, rollup and smaps, say so,
 * and plimp_system_lens_predict() tells beforehand what they will take.
 *
 * The rules of host.h hold. One lens is used by one thread at a time, and with
 * it its host.
 */
#ifndef PLIMP_TARGET_H
#define PLIMP_TARGET_H

#include "core/reader.h"
#include "host/host.h"

/* No call but the two is predicted to hold the target's lock for longer. */
#define PLIMP_LENS_CALL_NS 1000000u

/* A walk over a process's page tables that is predicted to take longer is not
 * made for a figure unless the caller has raised this. */
#define PLIMP_STALL_NS 20000000u

/* A process with more mappings is PLIM_ELIMIT. vm.max_map_count is 65,530
 * where nobody raised it, and at most 2^31 - 1. */
#define PLIMP_MAPPING_LIMIT 4194304u

enum plimp_protection { /* bits of plimp_mapping.protection */
			PLIMP_MAY_READ = 1,
			PLIMP_MAY_WRITE = 2,
			PLIMP_MAY_EXECUTE = 4,
			PLIMP_IS_SHARED = 8
};

/* Bits of plimp_mapping.flags, from VmFlags of smaps (Linux 3.8). */
enum plimp_vm_flag {
	PLIMP_VM_NO_HUGE = 1,	  /* nh: MAP_STACK (Linux 6.7), or so advised */
	PLIMP_VM_NO_RESERVE = 2,  /* nr */
	PLIMP_VM_ACCOUNTED = 4,	  /* ac */
	PLIMP_VM_HUGETLB = 8,	  /* ht */
	PLIMP_VM_GROWS_DOWN = 16, /* gd */
	PLIMP_VM_DEVICE = 32,	  /* io, pf: memory of a device */
	PLIMP_VM_HUGE_ADVISED = 64, /* hg */
	PLIMP_VM_LOCKED = 128	    /* lo */
};

enum plimp_mapping_part { /* bits of plimp_mapping.has: what was read */
			  PLIMP_MAPPING_SMAPS =
			      1, /* all figures but `exclusive` */
			  PLIMP_MAPPING_PAGES =
			      2, /* resident, anonymous, swap, exclusive */
			  PLIMP_MAPPING_FLAGS = 4 /* flags */
};

/*
 * Figures in bytes. Each may be unavailable: SKIPPED while its part was not
 * read, UNSUPPORTED (not_in_the_file) where this kernel's smaps has no such
 * line. `resident` of smaps counts no page of hugetlb, which is `hugetlb`.
 */
struct plimp_mapping {
	uint64_t start; /* end > start; both multiples of the page size */
	uint64_t end;
	uint64_t offset;   /* in the file, bytes */
	uint64_t device;   /* major << 32 | minor, as the kernel prints them */
	uint64_t inode;	   /* 0: no file */
	size_t name_start; /* in the space's texts: plimp_space_name() */
	size_t name_size;
	uint32_t protection; /* enum plimp_protection */
	uint32_t flags;	     /* enum plimp_vm_flag */
	uint32_t has;	     /* enum plimp_mapping_part */
	plim_count resident;
	plim_count pss;
	plim_count pss_dirty; /* Linux 6.0 */
	plim_count shared_clean;
	plim_count shared_dirty;
	plim_count private_clean;
	plim_count private_dirty;
	plim_count anonymous;
	plim_count lazy_free; /* Linux 4.12 */
	plim_count huge;      /* AnonHugePages */
	plim_count hugetlb;   /* Shared_Hugetlb + Private_Hugetlb */
	plim_count swap;
	plim_count swap_pss; /* Linux 4.3 */
	plim_count locked;
	plim_count exclusive; /* anonymous, resident, mapped by nobody else */
};

/* All mappings of an image, ascending, none overlapping another. Zeroed
 * memory is an empty one. */
struct plimp_space {
	struct plimp_mapping *items;
	size_t count;
	size_t capacity;
	struct plimp_text_list texts;
};

/* Gives its memory back and leaves it empty. */
void plimp_space_release(plim_host *host, struct plimp_space *space);

/* The mapping that holds the address, or NULL. */
struct plimp_mapping *plimp_space_find(const struct plimp_space *space,
				       uint64_t address);

/*
 * The name as the kernel has it, its \\012 made a newline again: a
 * path, perhaps with " (deleted)" behind it, "[heap]", "[anon:NAME]"; empty
 * for an anonymous mapping. Borrowed until the space is read again.
 */
plim_bytes plimp_space_name(const struct plimp_space *space,
			    const struct plimp_mapping *mapping);

/* What the lens has cost since it was opened. */
struct plimp_lens_bill {
	uint64_t bytes_read;	  /* of the memory itself */
	uint64_t pages_asked;	  /* what became of so many pages */
	uint64_t calls;		  /* that hold the target's memory lock */
	uint64_t walks;		  /* of them, reads of smaps and smaps_rollup */
	uint64_t longest_call_ns; /* wall time of the longest of them, with what
				   * the scheduler made of it */
	const char *longest_call; /* "smaps_rollup", "smaps", "pagemap_scan",
				   * "pagemap", "mem"; "" before the first */
};

/*
 * The figures of a whole process that a lens tells, by their places in an
 * array of PLIMP_FIGURES; bytes. The numbers are those of enum
 * plim_memory_figure, which are published and never change; what status tells
 * comes first, then what smaps_rollup tells.
 */
enum plimp_figure {
	PLIMP_FIGURE_ANONYMOUS = 1,	/* RssAnon */
	PLIMP_FIGURE_RESIDENT = 3,	/* VmRSS */
	PLIMP_FIGURE_FILE = 4,		/* RssFile */
	PLIMP_FIGURE_SHMEM = 5,		/* RssShmem */
	PLIMP_FIGURE_SWAP = 6,		/* VmSwap */
	PLIMP_FIGURE_PEAK_RESIDENT = 7, /* VmHWM */
	PLIMP_FIGURE_PAGE_TABLES = 8,	/* VmPTE */
	PLIMP_FIGURE_PRIVATE_DIRTY = 2, /* from here on by smaps_rollup */
	PLIMP_FIGURE_PRIVATE_CLEAN = 9,
	PLIMP_FIGURE_SHARED_CLEAN = 10,
	PLIMP_FIGURE_SHARED_DIRTY = 11,
	PLIMP_FIGURE_PSS = 12,
	PLIMP_FIGURE_PSS_DIRTY = 13,
	PLIMP_FIGURE_PSS_ANONYMOUS = 14,
	PLIMP_FIGURE_PSS_FILE = 15,
	PLIMP_FIGURE_PSS_SHMEM = 16,
	PLIMP_FIGURE_ROLLUP_SWAP = 17,
	PLIMP_FIGURE_SWAP_PSS = 18,
	PLIMP_FIGURE_HUGE_ANONYMOUS = 19,
	PLIMP_FIGURE_LAZY_FREE = 20,
	PLIMP_FIGURES = 21
};

struct plimp_lens;

/*
 * Binds to the image that the target executes now; NULL: ourselves. What this
 * user may not read (mem, pagemap, maps) fails when it is asked for, not here.
 * The target must outlive the lens. PLIM_ENOPROCESS, PLIM_EREPLACED,
 * PLIM_EHIDDEN, PLIM_ENOMEM, PLIM_ESYSTEM.
 */
int plimp_system_lens_open(plim_host *host, plim_target *target,
			   struct plimp_lens **lens, plim_error *error);

/* NULL is allowed. */
void plimp_system_lens_close(struct plimp_lens *lens);

struct plimp_lens_bill plimp_system_lens_bill(const struct plimp_lens *lens);

/* Still the same image? PLIM_OK, PLIM_ENOPROCESS (also once it is a zombie),
 * PLIM_EREPLACED, PLIM_EIMAGE, PLIM_EHIDDEN, PLIM_ECANNOTTELL. */
int plimp_system_lens_check(struct plimp_lens *lens, plim_error *error);

/*
 * One read of status, which walks nothing: sets the figures that status tells,
 * in an array of PLIMP_FIGURES (enum plimp_figure), and leaves the others
 * alone. A figure whose line is missing is so marked. Errors as for the check;
 * figures are set on success only. A lens that was opened on a zombie or on a
 * thread of the kernel tells figures that do not apply, an empty space, and
 * pages that are not there.
 */
int plimp_system_lens_status(struct plimp_lens *lens, plim_count *figures,
			     plim_error *error);

/*
 * How long one walk over all page tables is predicted to hold the lock, from
 * the page tables and the resident size of the last status read (which it
 * makes if there was none). Unavailable where status does not tell: then
 * nothing may be walked unasked.
 */
plim_count plimp_system_lens_predict(struct plimp_lens *lens);

/*
 * smaps_rollup (Linux 4.14): sets the figures that it tells, as status does.
 * HOLDS THE LOCK for about the predicted time. A refused or missing file gives
 * PLIM_OK and figures that say so.
 */
int plimp_system_lens_rollup(struct plimp_lens *lens, plim_count *figures,
			     plim_error *error);

/*
 * maps: the mappings without figures, into a space that is emptied first; on
 * failure it is empty. PLIM_EDENIED, PLIM_ELIMIT, PLIM_EMALFORMED, PLIM_ENOMEM
 * besides. A list that changes while it is read is as it was at some time,
 * mapping by mapping; it is ascending all the same.
 */
int plimp_system_lens_maps(struct plimp_lens *lens, struct plimp_space *space,
			   plim_error *error);

/* smaps: the mappings with figures and flags, likewise. HOLDS THE LOCK for a
 * few mappings at a time, the largest of them whole. */
int plimp_system_lens_smaps(struct plimp_lens *lens, struct plimp_space *space,
			    plim_error *error);

/*
 * Resident, anonymous, swapped and exclusive anonymous bytes of each mapping
 * of `space`, in short calls: PAGEMAP_SCAN (Linux 6.7), else pagemap. Where the
 * zero page cannot be told, resident and anonymous are upper bounds. Figures
 * that smaps has told are replaced.
 */
int plimp_system_lens_resident(struct plimp_lens *lens,
			       struct plimp_space *space, plim_error *error);

/* Pages and bytes of the image. The reader lives as long as the lens. */
void plimp_system_lens_reader(struct plimp_lens *lens,
			      struct plimp_reader *reader);

/* Where the threads' stack pointers are, ascending by address. */
struct plimp_stack_pointer {
	uint64_t address;
	int32_t tid;
};
struct plimp_stacks {
	struct plimp_stack_pointer *items;
	size_t count;
	size_t capacity;
	size_t running; /* threads that ran, so that nobody knows theirs */
	size_t denied;	/* threads of which this user may not know it */
};
void plimp_stacks_release(plim_host *host, struct plimp_stacks *stacks);

/* From task/TID/syscall, into a list that is emptied first. Threads that end
 * meanwhile are left out. PLIM_ELIMIT above PLIM_THREAD_LIMIT, PLIM_ENOMEM. */
int plimp_system_lens_stacks(struct plimp_lens *lens,
			     struct plimp_stacks *stacks, plim_error *error);

/* A regular file: its reader's addresses are places in the file, its pages are
 * all READABLE up to the end. `size` is what it was when it was opened. */
struct plimp_file {
	struct plimp_reader reader;
	uint64_t size;
	uint64_t device;
	uint64_t inode;
	uint32_t owner; /* user id, as this process sees it */
	void *system;	/* NULL: not open */
};

/*
 * The file that is mapped there: by the kernel's own link (map_files), else
 * by its name below the process's own root, or ours, else, of the program
 * itself, by the link exe, which outlives its name; proven by device and inode.
 * PLIM_EUNSUPPORTED where it is no regular file, is deleted, or another file
 * has its name; PLIM_EDENIED.
 */
int plimp_system_lens_file(struct plimp_lens *lens,
			   const struct plimp_space *space,
			   const struct plimp_mapping *mapping,
			   struct plimp_file *file, plim_error *error);

enum plimp_path_flag {			      /* bits */
		       PLIMP_PATH_OWN = 1,    /* of the target's user alone */
		       PLIMP_PATH_WRITTEN = 2 /* since the target began */
};

/* Holds from now on what a path means to the target, and who it is, so that
 * its files can be had when it has ended. What cannot be had is not held. */
void plimp_system_lens_hold(struct plimp_lens *lens);

/*
 * A file by its absolute path as the target sees it: "/usr/lib/debug/...",
 * "/tmp/perf-42.map". The path is looked up in the target's mount namespace
 * and below its root, out of which no symbolic link leads; nothing but a
 * regular file is opened, and nothing waits. Nothing proves what is in it.
 * The root is held from the first call on, and so is who the target's user
 * is, so that a target that has just ended has its files for one more moment.
 * PLIM_ENAME where there is none, with PLIMP_PATH_WRITTEN also where it was
 * written last before the target began: another process's of the same pid;
 * PLIM_EUNSUPPORTED for what is no regular file; PLIM_EINVAL for a path that is
 * not absolute; PLIM_EDENIED, with PLIMP_PATH_OWN also for a file of another
 * user than the target's effective one; PLIM_ENOPROCESS where it ended before
 * the first call; PLIM_EREPLACED, PLIM_EIMAGE, PLIM_ENOMEM, PLIM_ESYSTEM.
 */
int plimp_system_lens_path(struct plimp_lens *lens, const char *path, int flags,
			   struct plimp_file *file, plim_error *error);

/* How many bytes of an absolute path that maps tell lie before the target's
 * root: they are written as seen from ours, where that reaches there. What is
 * behind them is the path as the target sees it. 0 once it has ended. */
size_t plimp_system_lens_outside(struct plimp_lens *lens, const char *path);

/* The target's pid as itself knows it, in the innermost pid namespace: the one
 * that stands in "/tmp/perf-PID.map". 0 where it is not known: before Linux
 * 4.1, or because the target ended before the first call. */
int32_t plimp_system_lens_inner_pid(struct plimp_lens *lens);

/* A file of this machine by its path: a core, a debug file. Nothing but a
 * regular file is opened, so that none can make the caller wait. PLIM_EINVAL
 * for another kind, PLIM_EDENIED, PLIM_ESYSTEM with the system's error. */
int plimp_system_file_open(plim_host *host, const char *path,
			   struct plimp_file *file, plim_error *error);

/* Closes what is open, and leaves it zeroed. */
void plimp_system_file_close(plim_host *host, struct plimp_file *file);

#endif
