/*
 * common.c - a walk of one allocator of a live workload (common.h).
 */
#include "common.h"

#include <glob.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void walk(struct walked *walked, int32_t pid)
{
	plim_error error = {0};

	assert_int_equal(live_open(&walked->live, pid), 0);
	plimp_heap_list_init(&walked->list, walked->live.image.allocator, 0);
	if (plimp_recognise(&walked->live.image, &walked->list, &error) !=
	    PLIM_OK)
		fail_msg("recognise: %s", plim_error_text(error.code));
	for (size_t i = 0; i < walked->list.count; i++) {
		plim_heap *heap = walked->list.items[i];
		int status = PLIM_OK;

		if (heap->kind == PLIM_HEAP_OF_MUSL)
			status =
			    plimp_musl_walk(&walked->live.image, heap, &error);
		if (heap->kind == PLIM_HEAP_OF_GPERFTOOLS)
			status = plimp_gperftools_walk(&walked->live.image,
						       heap, &error);
		if (status != PLIM_OK)
			fail_msg("walk: %s", plim_error_text(error.code));
	}
}

void walked_release(struct walked *walked)
{
	plimp_heap_list_release(&walked->list);
	live_close(&walked->live);
}

plim_heap *walked_heap(const struct walked *walked, int kind)
{
	plim_heap *heap = plimp_heap_list_find(&walked->list, kind);

	if (heap == NULL)
		fail_msg("no %s among %zu allocators",
			 plim_heap_kind_word(kind), walked->list.count);
	return heap;
}

void walked_lacks(const struct walked *walked, int kind)
{
	if (plimp_heap_list_find(&walked->list, kind) != NULL)
		fail_msg("%s where there is none", plim_heap_kind_word(kind));
}

uint64_t figure(const plim_heap *heap, int id)
{
	plim_count count = plim_heap_figure(heap, id);

	if (count.state != PLIM_STATE_KNOWN || count.bound != PLIM_BOUND_EXACT)
		fail_msg("%s: state %s, bound %d", plim_heap_figure_name(id),
			 plim_state_word(count.state), count.bound);
	return count.value;
}

void lacks(const plim_heap *heap, int id, int reason)
{
	plim_count count = plim_heap_figure(heap, id);

	if (count.state != plim_reason_state(reason) || count.method != reason)
		fail_msg("%s: state %s", plim_heap_figure_name(id),
			 plim_state_word(count.state));
}

void is_exact(const plim_heap *heap)
{
	if (heap->depth != PLIM_DEPTH_WALKED)
		fail_msg("not walked: %s", heap->why);
	assert_true(heap->check_count > 0);
	for (size_t i = 0; i < heap->check_count; i++) {
		const plim_heap_check *check = &heap->checks[i];

		if (check->state == PLIM_CHECK_FAILED)
			fail_msg("%s: %" PRIu64 " of %" PRIu64, check->name,
				 check->found.value, check->expected.value);
	}
	assert_int_equal(heap->confidence, PLIM_CONFIDENCE_CERTAIN);
}

void has_evidence(const plim_heap *heap, const char *text)
{
	for (size_t i = 0; i < heap->evidence_count; i++) {
		if (strstr(heap->evidence[i].text, text) != NULL)
			return;
	}
	for (size_t i = 0; i < heap->evidence_count; i++)
		print_message("evidence: %s\n", heap->evidence[i].text);
	fail_msg("no evidence says: %s", text);
}

void start_built(struct spawn *spawn, const char *name, const char *what)
{
	const char *argv[] = {name, NULL};

	if (access(spawn_path(name), X_OK) != 0)
		SKIP_BECAUSE(what);
	spawn_start(spawn, argv);
}

void start_preloaded(struct spawn *spawn, const char *name, const char *pattern,
		     const char *what)
{
	char preload[256];
	char path[4096];
	const char *argv[] = {"env", preload, path, NULL};
	glob_t found;

	if (glob(pattern, 0, NULL, &found) != 0)
		SKIP_BECAUSE(what);
	snprintf(preload, sizeof(preload), "LD_PRELOAD=%s", found.gl_pathv[0]);
	globfree(&found);
	snprintf(path, sizeof(path), "%s", spawn_path(name));
	spawn_program(spawn, "/usr/bin/env", argv);
}
