/*
 * mem.h - what plim mem has found out, between measuring (cmd_mem.c) and
 * telling (mem_page.c, mem_heaps.c, mem_maps.c, mem_plot.c, mem_json.c).
 */
#ifndef PLIM_MEM_H
#define PLIM_MEM_H

#include "telling.h"

#define MEM_ROWS  12 /* of a table, unless --limit says otherwise */
#define MEM_LINES 20 /* of a timeline */

struct mem_view {
	const struct options *options;
	plim_host *host;
	plim_target *target; /* NULL: a core file */
	plim_usage *usage;   /* who it is */
	plim_memory *memory;
	plim_heaps *heaps;  /* the last walk that succeeded */
	plim_heaps *before; /* the one where the window began */
	int walked;	    /* `heaps` has one */
	int walked_before;  /* and it is of the end of the window, `before` of
			     * its beginning */
	int walk_failed;    /* the last one that was tried did */
	plim_error walk_error;
	size_t walk_sample; /* the sample that stands beside the walk */
	plim_retention retention;
	plim_tree *tree; /* NULL: not asked for */
	int tree_failed;
	plim_error tree_error;
};

/* What is told of the process itself. */
plim_field_set mem_fields(void);
/* A figure of the sample that the verdict is of. */
plim_count mem_beside(const struct mem_view *view, int figure);

/* mem_page.c: everything in its order. */
void mem_tell(struct telling *telling, const struct mem_view *view);
int mem_is_known(plim_count count);
const char *mem_bytes(const struct telling *telling, plim_count count);
const char *mem_time(const struct telling *telling, uint64_t ns);
/* Nanoseconds behind the first sample. */
uint64_t mem_at(const struct mem_view *view, plim_stamp stamp);
void mem_rows_more(struct telling *telling, size_t shown, size_t count);
size_t mem_rows(const struct mem_view *view, size_t count);
/* mem_heaps.c: the verdict, the allocators, or why there are none. */
void mem_tell_verdict(struct telling *telling, const struct mem_view *view);
void mem_tell_heaps(struct telling *telling, const struct mem_view *view);
/* mem_maps.c */
void mem_tell_mappings(struct telling *telling, const struct mem_view *view);
void mem_tell_baseline(struct telling *telling, const struct mem_view *view);
void mem_tell_tree(struct telling *telling, const struct mem_view *view);
void mem_tell_cost(struct telling *telling, const struct mem_view *view);
/* mem_plot.c: the timeline and the parts of the verdict as pictures. */
void mem_plot_timeline(struct sheet *sheet, const struct mem_view *view);
void mem_plot_parts(struct sheet *sheet, const struct mem_view *view);

/* The exit status of telling it in the format that was asked for. */
int mem_json(const struct mem_view *view);
int mem_sheet(const struct mem_view *view, const char *path);

#endif
