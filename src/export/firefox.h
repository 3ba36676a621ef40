/*
 * firefox.h - what the parts of the writer for the Firefox Profiler share:
 * firefox.c has what a profile is and its threads, firefox_tables.c what all
 * threads point into.
 */
#ifndef PLIMP_FIREFOX_H
#define PLIMP_FIREFOX_H

#include "export/by_thread.h"
#include "export/json_writer.h"
#include "export/profiles.h"
#include "export/stack_tree.h"

/* A row of the table of frames: one line of a frame, in one activity, since
 * the category is the frame's: its place in meta.categories. */
struct plimp_firefox_frame {
	uint32_t frame; /* index */
	uint32_t line;	/* index */
	int activity;
	uint32_t depth; /* of inlining: the outermost has 0 */
};

struct plimp_firefox {
	const plim_profile *profile;
	plim_profile_export options;
	plim_profile_facts facts;
	plim_json *json;
	struct plimp_buffer text;
	struct plimp_by_thread samples;
	struct plimp_by_thread stacks;
	struct plimp_stack_tree tree;
	uint32_t *leaves;      /* of a stack: 1 + its node, 0 not yet */
	uint32_t *first_frame; /* of a frame and activity: 1 + its first row */
	struct plimp_firefox_frame *frames;
	size_t frame_count;
	size_t frame_capacity;
	uint32_t *libs; /* of a module: 1 + its place, 0 none */
	uint32_t lib_count;
	int failed;
};

/* The node of a stack in the tree, made with all that it needs. */
uint32_t plimp_firefox_stack(struct plimp_firefox *firefox, uint32_t stack);
/* Which modules are libraries of the file: before `libs` are written. */
void plimp_firefox_find_libs(struct plimp_firefox *firefox);
void plimp_firefox_libs(struct plimp_firefox *firefox);
/* `shared`: to be written when no stack is needed any more. */
void plimp_firefox_shared(struct plimp_firefox *firefox);

#endif
