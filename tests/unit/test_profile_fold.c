/*
 * test_profile_fold.c - stacks into rows and functions, of invented profiles.
 *
 * The truth is a slow fold of texts: every stack becomes one text of names,
 * and equal texts are added up.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "profile/fold.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FUNCTIONS 12
#define FRAMES	  30
#define THREADS	  4
#define STACKS	  400
#define TEXT	  512

static struct plimp_store store;

static plim_bytes text_of(const char *text)
{
	return (plim_bytes){text, strlen(text)};
}

static uint32_t add_function(const char *name, int special)
{
	plim_profile_function function = {
	    .name = text_of(name), .module = PLIM_NO_INDEX, .special = special};
	uint32_t index;

	assert_int_equal(
	    plimp_store_function(&store, &function, text_of("file"), &index),
	    PLIM_OK);
	return index;
}

/* A frame whose lines are these functions, innermost first. */
static uint32_t add_frame(uint64_t address, const uint32_t *functions,
			  size_t count)
{
	uint32_t frame;
	uint32_t line;

	assert_int_equal(plimp_store_find_frame(&store, 0, PLIM_NO_INDEX,
						address, 0, &frame),
			 PLIM_OK);
	for (size_t i = 0; i < count; i++) {
		plim_profile_line row = {.function = functions[i],
					 .is_inlined = i + 1 < count};

		assert_int_equal(plimp_store_add_line(&store, &row, &line),
				 PLIM_OK);
	}
	plimp_store_frame(&store, frame)->first_line =
	    line + 1 - (uint32_t)count;
	plimp_store_frame(&store, frame)->line_count = (uint32_t)count;
	return frame;
}

static uint32_t add_thread(uint32_t process, int32_t tid)
{
	plim_profile_thread thread = {.process = process, .tid = tid};
	uint32_t index;

	assert_int_equal(plimp_store_add_thread(&store, &thread, &index),
			 PLIM_OK);
	return index;
}

static uint32_t add_stack(uint32_t thread, int activity, int end, int64_t call,
			  const uint32_t *frames, size_t count)
{
	plim_profile_stack stack = {.thread = thread,
				    .activity = activity,
				    .end = end,
				    .call = call,
				    .frames = frames,
				    .frame_count = count};
	uint32_t index;

	assert_int_equal(plimp_store_find_stack(&store, &stack, &index),
			 PLIM_OK);
	return index;
}

static plim_fold *fold_by(int view, uint32_t flags)
{
	plim_fold_options options = {
	    .size = sizeof(options), .view = view, .flags = flags};
	plim_fold *fold = NULL;

	assert_int_equal(plimp_fold_store(&store, &options, &fold, NULL),
			 PLIM_OK);
	return fold;
}

/* 12 functions, of which two share a name; 30 frames of one to three lines;
 * stacks of up to 6 frames, with recursion. */
static void invent(unsigned seed)
{
	static const char *const names[FUNCTIONS] = {
	    "main", "a", "b", "c", "d", "e", "f", "g", "h", "i", "[read]", "b"};
	uint32_t functions[FUNCTIONS];
	uint32_t frames[FRAMES];

	srand(seed);
	plimp_store_begin(&store, NULL, 0);
	for (int i = 0; i < FUNCTIONS - 1; i++)
		functions[i] = add_function(names[i], 0);
	functions[11] = functions[2];
	for (int i = 0; i < FRAMES; i++) {
		uint32_t lines[3];
		size_t count = (size_t)rand() % 3 + 1;

		for (size_t j = 0; j < count; j++)
			lines[j] = functions[rand() % 10];
		frames[i] = add_frame(0x1000 + (uint64_t)i, lines, count);
	}
	for (int i = 0; i < THREADS; i++)
		add_thread((uint32_t)i / 2, 100 + i);
	for (int i = 0; i < STACKS; i++) {
		uint32_t list[6];
		size_t count = (size_t)rand() % 6 + 1;
		int activity = rand() % 3 + 1;
		uint32_t stack;

		for (size_t j = 0; j < count; j++)
			list[j] = frames[rand() % FRAMES];
		stack = add_stack((uint32_t)(rand() % THREADS), activity,
				  rand() % 4 == 0 ? PLIM_STACK_CUT
						  : PLIM_STACK_ROOT,
				  -1, list, count);
		if (activity == PLIM_ACTIVITY_BLOCKED && rand() % 2 == 0) {
			plimp_store_stack(&store, stack)->reserved[0] =
			    functions[10] + 1;
		}
		plimp_store_weigh(&store, stack, (uint64_t)(rand() % 1000), 1);
	}
}

/* What a stack is called: the slow way. */
static void slow_text(const plim_profile_stack *stack, uint32_t flags,
		      char text[TEXT])
{
	size_t size = 0;

	text[0] = '\0';
	for (size_t i = stack->frame_count; i-- > 0;) {
		const plim_profile_frame *frame =
		    plimp_store_frame(&store, stack->frames[i]);
		uint32_t lines =
		    flags & PLIM_FOLD_INLINES ? frame->line_count : 1;

		for (uint32_t j = 0; j < lines; j++) {
			const plim_profile_line *line =
			    (plim_profile_line *)store.lines.items +
			    frame->first_line + frame->line_count - 1 - j;
			plim_bytes name =
			    plimp_fold_function(&store, line->function)->name;

			size +=
			    (size_t)snprintf(text + size, TEXT - size, "%.*s;",
					     (int)name.size, name.data);
		}
	}
	if (flags & PLIM_FOLD_CALLS && stack->reserved[0] != 0)
		size += (size_t)snprintf(text + size, TEXT - size, "[read];");
	if (flags & PLIM_FOLD_THREADS)
		size += (size_t)snprintf(text + size, TEXT - size, "T%u",
					 stack->thread);
	if (flags & PLIM_FOLD_ACTIVITIES)
		size += (size_t)snprintf(text + size, TEXT - size, "A%d",
					 stack->activity);
	if (flags & PLIM_FOLD_ENDS)
		size += (size_t)snprintf(text + size, TEXT - size, "E%d",
					 stack->end);
	assert_true(size < TEXT);
}

static void row_text(const plim_fold *fold, const plim_fold_row *row,
		     uint32_t flags, char text[TEXT])
{
	size_t size = 0;

	for (size_t i = 0; i < row->item_count; i++) {
		plim_bytes name = plim_fold_item_name(fold, row->items[i]);

		size += (size_t)snprintf(text + size, TEXT - size, "%.*s;",
					 (int)name.size, name.data);
	}
	if (flags & PLIM_FOLD_THREADS)
		size += (size_t)snprintf(text + size, TEXT - size, "T%u",
					 row->thread);
	if (flags & PLIM_FOLD_ACTIVITIES)
		size += (size_t)snprintf(text + size, TEXT - size, "A%d",
					 row->activity);
	if (flags & PLIM_FOLD_ENDS)
		snprintf(text + size, TEXT - size, "E%d", row->end);
}

static int slow_in_view(int view, int activity)
{
	switch (view) {
	case PLIM_VIEW_CPU:
		return activity == PLIM_ACTIVITY_RUNNING;
	case PLIM_VIEW_OFF:
		return activity != PLIM_ACTIVITY_RUNNING;
	}
	return 1;
}

/* Each row has the weight of all stacks of its name, and no other has it. */
static void expect_rows(int view, uint32_t flags)
{
	plim_fold *fold = fold_by(view, flags);
	uint64_t sum = 0;
	char *seen = calloc(store.stacks.count, 1);

	for (size_t i = 0; i < plim_fold_row_count(fold); i++) {
		const plim_fold_row *row = plim_fold_row_at(fold, i);
		uint64_t weight = 0;
		uint64_t samples = 0;
		uint64_t incomplete = 0;
		char mine[TEXT] = "";

		row_text(fold, row, flags, mine);
		for (uint32_t j = 0; j < store.stacks.count; j++) {
			const plim_profile_stack *stack =
			    plimp_store_stack(&store, j);
			char text[TEXT];

			slow_text(stack, flags, text);
			if (!slow_in_view(view, stack->activity) ||
			    strcmp(text, mine) != 0)
				continue;
			assert_int_equal(seen[j], 0);
			seen[j] = 1;
			weight += stack->weight_ns;
			samples += stack->samples;
			if (stack->end != PLIM_STACK_ROOT)
				incomplete += stack->samples;
		}
		assert_int_equal(row->weight_ns, weight);
		assert_int_equal(row->samples, samples);
		assert_int_equal(row->incomplete_samples, incomplete);
		sum += weight;
	}
	for (uint32_t j = 0; j < store.stacks.count; j++)
		assert_int_equal(
		    seen[j],
		    slow_in_view(view, plimp_store_stack(&store, j)->activity));
	assert_int_equal(plim_fold_about(fold).weight_ns, sum);
	free(seen);
	plim_fold_free(fold);
}

static void test_rows(void **state)
{
	static const uint32_t flags[] = {
	    0,
	    PLIM_FOLD_INLINES,
	    PLIM_FOLD_THREADS,
	    PLIM_FOLD_INLINES | PLIM_FOLD_ACTIVITIES | PLIM_FOLD_ENDS,
	    PLIM_FOLD_INLINES | PLIM_FOLD_CALLS | PLIM_FOLD_THREADS,
	};

	(void)state;
	for (unsigned seed = 1; seed <= 3; seed++) {
		invent(seed);
		for (int view = PLIM_VIEW_CPU; view <= PLIM_VIEW_WALL; view++) {
			for (size_t i = 0; i < sizeof(flags) / sizeof(*flags);
			     i++)
				expect_rows(view, flags[i]);
		}
		plimp_store_end(&store);
	}
}

/* What the stacks of a row weigh is what the row weighs: each is in it, or in
 * none where it is of another view. */
static void expect_stacks(const plim_fold *fold)
{
	const size_t count = plim_fold_row_count(fold);
	uint64_t *weights = calloc(count + 1, sizeof(*weights));

	assert_non_null(weights);
	for (uint32_t i = 0; i < store.stacks.count; i++) {
		const uint32_t row = plim_fold_row_of(fold, i);

		if (row == PLIM_NO_INDEX)
			continue;
		assert_true(row < count);
		weights[row] += plimp_store_stack(&store, i)->weight_ns;
	}
	for (size_t i = 0; i < count; i++)
		assert_int_equal(weights[i],
				 plim_fold_row_at(fold, i)->weight_ns);
	assert_int_equal(plim_fold_row_of(fold, (uint32_t)store.stacks.count),
			 PLIM_NO_INDEX);
	free(weights);
}

/* Every folding of a view has the same total, for each thread, too. */
static void test_totals(void **state)
{
	static const uint32_t flags[] = {0, PLIM_FOLD_ADDRESSES,
					 PLIM_FOLD_INLINES | PLIM_FOLD_CALLS,
					 PLIM_FOLD_THREADS};

	(void)state;
	invent(7);
	for (uint32_t thread = 0; thread <= THREADS; thread++) {
		uint64_t first = 0;

		for (size_t i = 0; i < sizeof(flags) / sizeof(*flags); i++) {
			plim_fold_options options = {.size = sizeof(options),
						     .view = PLIM_VIEW_WALL,
						     .flags = flags[i],
						     .thread_limit = thread};
			plim_fold *fold;
			uint64_t rows = 0;
			uint64_t functions = 0;

			assert_int_equal(
			    plimp_fold_store(&store, &options, &fold, NULL),
			    PLIM_OK);
			for (size_t j = 0; j < plim_fold_row_count(fold); j++)
				rows += plim_fold_row_at(fold, j)->weight_ns;
			for (size_t j = 0; j < plim_fold_function_count(fold);
			     j++)
				functions +=
				    plim_fold_function_at(fold, j)->self_ns;
			if (i == 0)
				first = rows;
			assert_int_equal(rows, first);
			assert_int_equal(functions, first);
			expect_stacks(fold);
			assert_int_equal(plim_fold_about(fold).weight_ns,
					 first);
			plim_fold_free(fold);
		}
		assert_true(first > 0);
	}
	plimp_store_end(&store);
}

/* Heaviest first, then by names; the order of what came first is no matter. */
static void test_order(void **state)
{
	uint32_t main_function;
	uint32_t names[4];
	uint32_t frames[5];
	static const char *const texts[] = {"zeta", "alpha", "alphabet", "mid"};
	static const uint64_t weights[] = {5, 5, 5, 9};
	static const char *const expected[] = {"mid", "alpha", "alphabet",
					       "zeta"};
	plim_fold *fold;

	(void)state;
	plimp_store_begin(&store, NULL, 0);
	main_function = add_function("main", 0);
	frames[4] = add_frame(1, &main_function, 1);
	add_thread(0, 1);
	for (int i = 0; i < 4; i++) {
		uint32_t list[2];

		names[i] = add_function(texts[i], 0);
		frames[i] = add_frame(10 + (uint64_t)i, &names[i], 1);
		list[0] = frames[i];
		list[1] = frames[4];
		plimp_store_weigh(&store,
				  add_stack(0, PLIM_ACTIVITY_RUNNING,
					    PLIM_STACK_ROOT, -1, list, 2),
				  weights[i], 1);
	}
	fold = fold_by(PLIM_VIEW_CPU, 0);
	assert_int_equal(plim_fold_row_count(fold), 4);
	for (size_t i = 0; i < 4; i++) {
		const plim_fold_row *row = plim_fold_row_at(fold, i);
		plim_bytes leaf = plim_fold_item_name(fold, row->items[1]);

		assert_int_equal(row->items[0], main_function);
		assert_int_equal(leaf.size, strlen(expected[i]));
		assert_memory_equal(leaf.data, expected[i], leaf.size);
	}
	assert_null(plim_fold_row_at(fold, 4));
	plim_fold_free(fold);
	plimp_store_end(&store);
}

/* a() calls itself: its total counts a sample once, its self the leaf. */
static void test_recursion(void **state)
{
	uint32_t functions[2];
	uint32_t frames[3];
	uint32_t list[4];
	plim_fold *fold;
	const plim_fold_function *row;

	(void)state;
	plimp_store_begin(&store, NULL, 0);
	functions[0] = add_function("a", 0);
	functions[1] = add_function("main", 0);
	frames[0] = add_frame(1, &functions[0], 1);
	frames[1] = add_frame(2, &functions[0], 1);
	frames[2] = add_frame(3, &functions[1], 1);
	add_thread(0, 1);
	list[0] = frames[0];
	list[1] = frames[1];
	list[2] = frames[1];
	list[3] = frames[2];
	plimp_store_weigh(
	    &store,
	    add_stack(0, PLIM_ACTIVITY_RUNNING, PLIM_STACK_ROOT, -1, list, 4),
	    30, 1);
	plimp_store_weigh(&store,
			  add_stack(0, PLIM_ACTIVITY_RUNNING, PLIM_STACK_ROOT,
				    -1, list + 3, 1),
			  10, 1);
	fold = fold_by(PLIM_VIEW_CPU, 0);
	assert_int_equal(plim_fold_function_count(fold), 2);
	row = plim_fold_function_at(fold, 0);
	assert_int_equal(row->function, functions[0]);
	assert_int_equal(row->self_ns, 30);
	assert_int_equal(row->total_ns, 30);
	assert_int_equal(row->total_samples, 1);
	row = plim_fold_function_at(fold, 1);
	assert_int_equal(row->self_ns, 10);
	assert_int_equal(row->total_ns, 40);
	assert_true(fabs(row->self_share - 0.25) < 1e-12);
	assert_null(plim_fold_function_at(fold, 2));
	plim_fold_free(fold);
	plimp_store_end(&store);
}

/* Of equal weights the error is the binomial's. */
static void test_error(void **state)
{
	uint32_t functions[2];
	uint32_t frames[2];
	plim_fold *fold;
	const plim_fold_function *row;

	(void)state;
	plimp_store_begin(&store, NULL, 0);
	add_thread(0, 1);
	for (int i = 0; i < 2; i++) {
		functions[i] = add_function(i == 0 ? "a" : "b", 0);
		frames[i] = add_frame((uint64_t)i, &functions[i], 1);
	}
	for (int i = 0; i < 100; i++)
		plimp_store_weigh(&store,
				  add_stack(0, PLIM_ACTIVITY_RUNNING,
					    PLIM_STACK_ROOT, -1,
					    &frames[i < 20], 1),
				  1000, 1);
	fold = fold_by(PLIM_VIEW_CPU, 0);
	row = plim_fold_function_at(fold, 0);
	assert_true(fabs(plim_fold_about(fold).effective_samples - 100) < 1e-9);
	assert_true(fabs(row->self_share - 0.8) < 1e-12);
	assert_true(fabs(row->self_error - 0.04) < 1e-12);
	assert_true(fabs(plim_fold_function_at(fold, 1)->self_error - 0.04) <
		    1e-12);
	plim_fold_free(fold);
	/* As much again that was counted: half of the share, half the error. */
	assert_int_equal(plimp_store_special(&store, 0, PLIM_ACTIVITY_RUNNING,
					     PLIM_SPECIAL_UNSAMPLED, 100000, 0),
			 PLIM_OK);
	frames[0] = (uint32_t)store.frames.count - 1;
	functions[0] = add_function("[not sampled]", PLIM_SPECIAL_UNSAMPLED);
	{
		plim_profile_line line = {.function = functions[0]};

		plimp_store_add_line(
		    &store, &line,
		    &plimp_store_frame(&store, frames[0])->first_line);
		plimp_store_frame(&store, frames[0])->line_count = 1;
	}
	fold = fold_by(PLIM_VIEW_CPU, 0);
	row = plim_fold_function_at(fold, 1);
	assert_true(fabs(row->self_share - 0.4) < 1e-12);
	assert_true(fabs(row->self_error - 0.02) < 1e-12);
	assert_int_equal(plim_fold_function_at(fold, 0)->self_samples, 0);
	assert_true(plim_fold_function_at(fold, 0)->self_error == 0);
	plim_fold_free(fold);
	plimp_store_end(&store);
}

/* The error says what repeated profiles do: of many, 68 % are off by less. */
static void test_error_holds(void **state)
{
	double off = 0;
	double told = 0;

	(void)state;
	srand(3);
	for (int run = 0; run < 4000; run++) {
		double hits = 0;
		double all = 0;
		double squares = 0;
		double share;

		for (int i = 0; i < 200; i++) {
			double weight = i % 10 == 0 ? 5 : 1;

			all += weight;
			squares += weight * weight;
			if (rand() % 10 < 3)
				hits += weight;
		}
		share = hits / all;
		off += (share - 0.3) * (share - 0.3) / 4000;
		told += plimp_share_error(share, 1, all * all / squares) / 4000;
	}
	assert_true(fabs(told / sqrt(off) - 1) < 0.05);
	assert_true(plimp_share_error(1, 1, 50) > 0);
	assert_true(plimp_share_error(0.5, 0, 0) == 0);
}

/* An empty view is no failure. */
static void test_empty(void **state)
{
	plim_fold *fold;

	(void)state;
	plimp_store_begin(&store, NULL, 0);
	fold = fold_by(PLIM_VIEW_CPU, PLIM_FOLD_INLINES);
	assert_int_equal(plim_fold_row_count(fold), 0);
	assert_int_equal(plim_fold_function_count(fold), 0);
	assert_int_equal(plim_fold_about(fold).weight_ns, 0);
	plim_fold_free(fold);
	plimp_store_end(&store);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_rows),  cmocka_unit_test(test_totals),
	    cmocka_unit_test(test_order), cmocka_unit_test(test_recursion),
	    cmocka_unit_test(test_error), cmocka_unit_test(test_error_holds),
	    cmocka_unit_test(test_empty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
