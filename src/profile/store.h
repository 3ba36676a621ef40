/*
 * store.h - the tables of a profile: programs, threads, modules, functions,
 * lines, frames, stacks and samples, each found again by an index.
 *
 * Frames and stacks are interned: what was seen before is the same index, so
 * that a sample is 32 bytes however deep its stack is. What the tables take is
 * counted against a bound; who meets it is told PLIM_ELIMIT, once and for all
 * (is_full), and the tables stay as they were.
 *
 * Nothing here asks a system: a store can be made of invented samples.
 */
#ifndef PLIMP_PROFILE_STORE_H
#define PLIMP_PROFILE_STORE_H

#include "core/pool.h"

#include <plimsoll/profile.h>

/* Frames of one stack; deeper ones end with DEPTH. */
#define PLIMP_PROFILE_DEPTH 1024u

/* Indices by a hash of what they stand for: open addressing, 0 is free, else
 * index + 1. `size` is 0 or a power of two. */
struct plimp_hash {
	uint32_t *slots;
	size_t size;
	size_t used;
};

/* A growing array; `size` is an element's. */
struct plimp_table {
	void *items;
	size_t count;
	size_t capacity;
};

struct plimp_store {
	plim_allocator allocator;
	struct plimp_pool pool; /* texts, and the frames of stacks */
	struct plimp_table processes;
	struct plimp_table threads;
	struct plimp_table modules;
	struct plimp_table functions;
	struct plimp_table lines;
	struct plimp_table frames;
	struct plimp_table stacks;
	struct plimp_table samples;
	struct plimp_hash frame_hash;
	struct plimp_hash stack_hash;
	struct plimp_hash function_hash;
	uint64_t used;	/* bytes that were taken */
	uint64_t limit; /* 0: none */
	int is_full;
};

void plimp_store_begin(struct plimp_store *store,
		       const plim_allocator *allocator, uint64_t limit);
void plimp_store_end(struct plimp_store *store);

/* Pointers into the tables, for who fills them; the index must be one. They
 * hold until something is appended to the same table. */
plim_profile_process *plimp_store_process(struct plimp_store *store,
					  uint32_t index);
plim_profile_thread *plimp_store_thread(struct plimp_store *store,
					uint32_t index);
plim_profile_module *plimp_store_module(struct plimp_store *store,
					uint32_t index);
plim_profile_frame *plimp_store_frame(struct plimp_store *store,
				      uint32_t index);
plim_profile_stack *plimp_store_stack(struct plimp_store *store,
				      uint32_t index);
plim_profile_sample *plimp_store_sample(struct plimp_store *store,
					uint32_t index);

/*
 * Append a row, and give its index. Texts in it are copied. PLIM_ENOMEM;
 * PLIM_ELIMIT where the bound is met.
 */
int plimp_store_add_process(struct plimp_store *store,
			    const plim_profile_process *process,
			    uint32_t *index);
int plimp_store_add_thread(struct plimp_store *store,
			   const plim_profile_thread *thread, uint32_t *index);
int plimp_store_add_module(struct plimp_store *store,
			   const plim_profile_module *module, uint32_t *index);
int plimp_store_add_line(struct plimp_store *store,
			 const plim_profile_line *line, uint32_t *index);
int plimp_store_add_sample(struct plimp_store *store,
			   const plim_profile_sample *sample, uint32_t *index);

/*
 * Find or append. A function is the same where name, linkage, start and the
 * text of `file_of` are; `file_of` tells the files of modules apart (a build
 * id, a path). A frame is the same where process, module, address and special
 * are. A stack is the same where thread, activity, call, end, is_counted and
 * all frames are.
 */
int plimp_store_function(struct plimp_store *store,
			 const plim_profile_function *function,
			 plim_bytes file_of, uint32_t *index);
int plimp_store_find_frame(struct plimp_store *store, uint32_t process,
			   uint32_t module, uint64_t address, int special,
			   uint32_t *index);
int plimp_store_find_stack(struct plimp_store *store,
			   const plim_profile_stack *stack, uint32_t *index);

/* A stack of one special frame, that no sample stands for; weight is added.
 * `square` is what it adds to the squares: 0 where nothing was sampled. */
int plimp_store_special(struct plimp_store *store, uint32_t thread,
			int activity, int special, uint64_t weight_ns,
			double square);

/* Lays weight of one sample on a stack. */
void plimp_store_weigh(struct plimp_store *store, uint32_t stack,
		       uint64_t weight_ns, uint64_t looks);

/* A text that lives as long as the store; empty without memory, too. */
plim_bytes plimp_store_text(struct plimp_store *store, plim_bytes text);

/* Bytes mixed into a hash; begin with 0. */
uint64_t plimp_hash_bytes(uint64_t hash, const void *bytes, size_t size);
uint64_t plimp_hash_number(uint64_t hash, uint64_t number);

/* The hash of what an index stands for. */
typedef uint64_t plimp_hash_fn(void *user, uint32_t index);

/* Room for one more, then put it in. PLIM_ENOMEM. */
#define PLIMP_HASH_NONE 0xffffffffu
int plimp_hash_room(const plim_allocator *allocator, struct plimp_hash *hash,
		    plimp_hash_fn *value_of, void *user);
void plimp_hash_put(struct plimp_hash *hash, uint64_t value, uint32_t index);
void plimp_hash_release(const plim_allocator *allocator,
			struct plimp_hash *hash);

#endif
