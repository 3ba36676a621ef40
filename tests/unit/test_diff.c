/*
 * test_diff.c - what changed between profiles whose truth is invented: the
 * verdicts of exact cases, and how often draws of one distribution, and of one
 * with a slower function, are told apart.
 */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "counting.h"

#include "compare/normal.h"
#include "core/buffer.h"

#include <plimsoll.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PERIOD	UINT64_C(2000000) /* ns of a sample */
#define SECONDS 30

/* --- profiles --------------------------------------------------------------
 */

/* cmocka's comparison is of floats. */
static void is_near(double is, double should, double error)
{
	if (!(fabs(is - should) <= error))
		fail_msg("%.12g is not %.12g", is, should);
}

#define SLICES 64

struct sketch {
	struct plimp_buffer functions;
	struct plimp_buffer stacks;
	const char *module;
	int frames;
	int has_slices;
};

static void put(struct plimp_buffer *buffer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void put(struct plimp_buffer *buffer, const char *format, ...)
{
	char text[512];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	plimp_buffer_string(buffer, text);
}

static void sketch_begin(struct sketch *sketch, const char *module)
{
	memset(sketch, 0, sizeof(*sketch));
	plimp_buffer_init(&sketch->functions, NULL);
	plimp_buffer_init(&sketch->stacks, NULL);
	sketch->module = module;
}

/* A stack, leaf first: "work main" is work, called by main. Each name is a
 * function of its own entry: what is one is for the comparison to find. */
static void sketch_stack(struct sketch *sketch, const char *names,
			 uint64_t samples, const uint32_t *slices)
{
	char copy[256];
	char *save = NULL;

	put(&sketch->stacks,
	    "%s{\"activity\":\"running\",\"weight_ns\":%llu,\"samples\":%llu,",
	    sketch->stacks.size > 0 ? "," : "",
	    (unsigned long long)(samples * PERIOD),
	    (unsigned long long)samples);
	if (slices != NULL) {
		int first = 1;

		sketch->has_slices = 1;
		put(&sketch->stacks, "\"slices\":[");
		for (int i = 0; i < SLICES; i++) {
			if (slices[i] == 0)
				continue;
			put(&sketch->stacks, "%s%d,%llu", first ? "" : ",", i,
			    (unsigned long long)slices[i] * PERIOD);
			first = 0;
		}
		put(&sketch->stacks, "],");
	}
	put(&sketch->stacks, "\"frames\":[");
	snprintf(copy, sizeof(copy), "%s", names);
	for (char *name = strtok_r(copy, " ", &save); name != NULL;
	     name = strtok_r(NULL, " ", &save)) {
		put(&sketch->functions, "%s{\"name\":\"%s\",\"module\":0}",
		    sketch->frames > 0 ? "," : "", name);
		put(&sketch->stacks, "%s%d", name == copy ? "" : ",",
		    sketch->frames++);
	}
	put(&sketch->stacks, "]}");
}

static plim_stored *sketch_end(struct sketch *sketch)
{
	plim_stored *stored = NULL;
	struct plimp_buffer text;

	plimp_buffer_init(&text, NULL);
	put(&text,
	    "{\"profile\":{\"name\":\"p\",\"duration_ns\":%llu,"
	    "\"period_ns\":%llu},\"modules\":[{\"path\":\"/%s\"}],"
	    "\"functions\":[",
	    SECONDS * 1000000000ull, (unsigned long long)PERIOD,
	    sketch->module);
	plimp_buffer_append(&text, sketch->functions.data,
			    sketch->functions.size);
	put(&text, "],\"frames\":[");
	for (int i = 0; i < sketch->frames; i++)
		put(&text, "%s{\"lines\":[{\"function\":%d}]}",
		    i > 0 ? "," : "", i);
	put(&text, "],\"slice_count\":%d,\"stacks\":[",
	    sketch->has_slices ? SLICES : 0);
	plimp_buffer_append(&text, sketch->stacks.data, sketch->stacks.size);
	put(&text, "]}");
	assert_int_equal(plim_stored_read(&stored,
					  (plim_bytes){text.data, text.size},
					  NULL, NULL),
			 PLIM_OK);
	plimp_buffer_release(&text);
	plimp_buffer_release(&sketch->functions);
	plimp_buffer_release(&sketch->stacks);
	return stored;
}

/* A row of a list: names and samples of both sides. */
struct pair {
	const char *names;
	uint64_t samples[2];
};

static plim_stored *side_of(const struct pair *pairs, int side,
			    const char *module)
{
	struct sketch sketch;

	sketch_begin(&sketch, module);
	for (size_t i = 0; pairs[i].names != NULL; i++)
		sketch_stack(&sketch, pairs[i].names, pairs[i].samples[side],
			     NULL);
	return sketch_end(&sketch);
}

static plim_diff *diff_one(plim_stored *before, plim_stored *after,
			   double allowance)
{
	const plim_diff_options options = {.size = sizeof(options),
					   .allowance = allowance};
	const plim_stored *a = before;
	const plim_stored *b = after;
	plim_diff *diff = NULL;

	assert_int_equal(plim_diff_new(&diff, &a, 1, &b, 1, &options, NULL),
			 PLIM_OK);
	plim_stored_free(before);
	plim_stored_free(after);
	return diff;
}

static plim_diff *diff_of(const struct pair *pairs, double allowance)
{
	return diff_one(side_of(pairs, 0, "prog"), side_of(pairs, 1, "prog"),
			allowance);
}

static const plim_diff_function *row_of(const plim_diff *diff, const char *name)
{
	for (size_t i = 0; i < plim_diff_function_count(diff); i++) {
		const plim_diff_function *row = plim_diff_function_at(diff, i);

		if (row->name.size == strlen(name) &&
		    memcmp(row->name.data, name, row->name.size) == 0)
			return row;
	}
	fail_msg("no function %s", name);
	return NULL;
}

static void is_a(const plim_diff *diff, const char *name, int verdict, int of)
{
	const plim_diff_function *row = row_of(diff, name);

	assert_string_equal(plim_diff_verdict_word(row->verdict),
			    plim_diff_verdict_word(verdict));
	assert_int_equal(row->of, of);
}

#define SELF  PLIM_DIFF_OF_SELF
#define TOTAL PLIM_DIFF_OF_TOTAL

/* --- exact cases ------------------------------------------------------------
 */

/* A fifth of the time made a fifth slower, in a program that uses all the time
 * there is: each other share falls, and nothing else changed. */
static void one_slower(void **state)
{
	static const struct pair pairs[] = {{"f main", {3000, 3461}},
					    {"g main", {7500, 7212}},
					    {"h main", {3000, 2885}},
					    {"k main", {1500, 1442}},
					    {NULL, {0, 0}}};
	plim_diff *diff = diff_of(pairs, 0);
	const plim_diff_facts facts = plim_diff_about(diff);
	const plim_diff_function *row = plim_diff_function_at(diff, 0);

	(void)state;
	is_a(diff, "f", PLIM_DIFF_CHANGED, SELF);
	is_a(diff, "g", PLIM_DIFF_SAME, SELF);
	is_a(diff, "h", PLIM_DIFF_SAME, SELF);
	assert_int_equal(facts.changed, 1);
	assert_int_equal(facts.sides[0].samples, 15000);
	is_near(facts.sides[1].effective_samples, 15000, 1e-6);
	is_near(facts.sides[0].per_second.value, 1, 1e-9);
	assert_int_equal(facts.tested[0], 4);
	/* 3461 / 3000 by 11539 / 12000. */
	assert_memory_equal(row->name.data, "f", 1);
	is_near(row->change.value, 0.19974, 1e-4);
	is_near(row->self_share[0], 0.2, 1e-9);
	is_near(row->total_share[1], 3461.0 / 15000, 1e-9);
	assert_int_equal(row->self[0], 3000 * PERIOD);
	assert_int_equal(row->self_samples[1], 3461);
	assert_int_equal(row->is_open, 0);
	is_near(facts.scale.value, 11539.0 / 12000, 1e-9);
	/* p = 6461 / 30000, q = 1 - p, a = 0.01, b = 0.0005. */
	is_near(row->z,
		(461.0 / 15000) /
		    sqrt(0.2153667 * 0.7846333 * 2 / 15000 +
			 0.01 * 0.01 * 2 * pow(0.2153667 * 0.7846333, 2) +
			 0.0005 * 0.0005 * 2),
		1e-4);
	plim_diff_free(diff);
}

/* What is large enough to be seen is the same; the rest is not told. */
static void nothing_changed(void **state)
{
	static const struct pair pairs[] = {{"a main", {9000, 9000}},
					    {"b main", {5000, 5000}},
					    {"c main", {90, 90}},
					    {"d main", {3, 3}},
					    {NULL, {0, 0}}};
	plim_diff *diff = diff_of(pairs, 0);
	const plim_diff_facts facts = plim_diff_about(diff);

	(void)state;
	assert_int_equal(facts.changed, 0);
	is_a(diff, "a", PLIM_DIFF_SAME, SELF);
	is_a(diff, "b", PLIM_DIFF_SAME, SELF);
	is_a(diff, "c", PLIM_DIFF_FEW, SELF);
	is_a(diff, "d", PLIM_DIFF_FEW, SELF);
	is_a(diff, "main", PLIM_DIFF_FEW, SELF); /* there is nothing else */
	assert_true(row_of(diff, "c")->detectable.value > 0.2);
	assert_int_equal(row_of(diff, "d")->detectable.state,
			 PLIM_STATE_NOT_APPLICABLE);
	assert_int_equal(row_of(diff, "d")->detectable.method,
			 PLIM_REASON_FEW_SAMPLES);
	is_near(row_of(diff, "c")->change.value, 0, 1e-9);
	assert_int_equal(facts.same, 2);
	assert_int_equal(facts.few, 3);
	assert_int_equal(plim_diff_function_count(diff), 5);
	assert_null(plim_diff_function_at(diff, 5));
	plim_diff_free(diff);
}

/* Thirty callees, each too small: the caller's total tells it, not main's. */
static void spread(void **state)
{
	char names[30][32];
	struct pair pairs[33] = {{"a main", {8000, 8000}},
				 {"b main", {4000, 4000}}};
	plim_diff *diff;

	(void)state;
	for (int i = 0; i < 30; i++) {
		snprintf(names[i], sizeof(names[i]), "c%d many main", i);
		pairs[i + 2] = (struct pair){names[i], {100, 125}};
	}
	diff = diff_of(pairs, 0);
	assert_int_equal(plim_diff_about(diff).changed, 1);
	is_a(diff, "many", PLIM_DIFF_CHANGED, TOTAL);
	is_near(row_of(diff, "many")->change.value, 0.25, 1e-6);
	is_a(diff, "a", PLIM_DIFF_SAME, SELF);
	plim_diff_free(diff);
}

/* A callee that changed explains its callers: they are not named. */
static void explained(void **state)
{
	static const struct pair pairs[] = {{"f outer main", {3000, 3900}},
					    {"outer main", {3000, 3000}},
					    {"g main", {9000, 9000}},
					    {NULL, {0, 0}}};
	plim_diff *diff = diff_of(pairs, 0);

	(void)state;
	assert_int_equal(plim_diff_about(diff).changed, 1);
	is_a(diff, "f", PLIM_DIFF_CHANGED, SELF);
	is_a(diff, "outer", PLIM_DIFF_SAME, SELF);
	plim_diff_free(diff);
}

/* Of two functions that are all there is, shares cannot tell which. */
static void one_of_two(void **state)
{
	static const struct pair pairs[] = {
	    {"f main", {5000, 6000}}, {"g main", {5000, 5000}}, {NULL, {0, 0}}};
	plim_diff *diff = diff_of(pairs, 0);

	(void)state;
	assert_int_equal(plim_diff_about(diff).changed, 2);
	assert_int_equal(row_of(diff, "f")->is_open, 1);
	assert_int_equal(row_of(diff, "g")->is_open, 1);
	is_near(row_of(diff, "g")->z, -row_of(diff, "f")->z, 1e-9);
	assert_int_equal(row_of(diff, "f")->change.state,
			 PLIM_STATE_NOT_APPLICABLE);
	assert_int_equal(row_of(diff, "f")->change.method,
			 PLIM_REASON_NOT_TOLD_APART);
	assert_int_equal(row_of(diff, "f")->detectable.method,
			 PLIM_REASON_HAS_CHANGED);
	plim_diff_free(diff);
}

/* However often a function stands on a stack, it has its time once. */
static void recursion(void **state)
{
	static const struct pair pairs[] = {{"f g f g main", {100, 200}},
					    {"h main", {300, 300}},
					    {NULL, {0, 0}}};
	plim_diff *diff = diff_of(pairs, 0);
	plim_diff_stack stack;

	(void)state;
	assert_int_equal(row_of(diff, "f")->self[0], 100 * PERIOD);
	assert_int_equal(row_of(diff, "f")->total[0], 100 * PERIOD);
	assert_int_equal(row_of(diff, "g")->total[1], 200 * PERIOD);
	assert_int_equal(row_of(diff, "g")->total_samples[1], 200);
	is_near(row_of(diff, "main")->total_share[1], 1, 1e-12);
	/* But for the order of calls, which has it as often as it is. */
	assert_int_equal(plim_diff_stack_count(diff), 4);
	stack = plim_diff_stack_at(diff, 2);
	assert_int_equal(stack.side, 1);
	assert_int_equal(stack.weight, 200 * PERIOD);
	assert_int_equal(stack.samples, 200);
	assert_int_equal(stack.function_count, 5);
	for (size_t i = 0; i < 5; i++)
		assert_memory_equal(
		    plim_diff_function_at(diff, stack.functions[i])->name.data,
		    i == 4	 ? "main"
		    : i % 2 == 0 ? "f"
				 : "g",
		    1);
	stack = plim_diff_stack_at(diff, 1);
	assert_int_equal(stack.function_count, 2);
	assert_ptr_equal(plim_diff_function_at(diff, stack.functions[0]),
			 row_of(diff, "h"));
	assert_null(plim_diff_stack_at(diff, 4).functions);
	plim_diff_free(diff);
}

/* Ten times as many samples of the same time tell no more. */
static void crowded(void **state)
{
	static const char text[] =
	    "{\"profile\":{\"period_ns\":100000},\"functions\":[{\"name\":"
	    "\"f\"}],\"frames\":[{\"lines\":[{\"function\":0}]}],"
	    "\"stacks\":[{\"weight_ns\":1000000000,\"samples\":10000,"
	    "\"frames\":[0]}]}";
	plim_stored *stored[2] = {NULL, NULL};
	plim_diff *diff;

	(void)state;
	for (int side = 0; side < 2; side++)
		assert_int_equal(
		    plim_stored_read(&stored[side],
				     (plim_bytes){text, sizeof(text) - 1}, NULL,
				     NULL),
		    PLIM_OK);
	diff = diff_one(stored[0], stored[1], 0);
	is_near(plim_diff_about(diff).sides[0].effective_samples, 1000, 1e-6);
	assert_int_equal(plim_diff_about(diff).sides[0].samples, 10000);
	plim_diff_free(diff);
}

static void come_and_gone(void **state)
{
	static const struct pair pairs[] = {{"a main", {9000, 9000}},
					    {"b main", {6000, 6000}},
					    {"new main", {0, 300}},
					    {"old main", {200, 0}},
					    {NULL, {0, 0}}};
	plim_diff *diff = diff_of(pairs, 0);

	(void)state;
	assert_int_equal(plim_diff_about(diff).changed, 2);
	is_a(diff, "new", PLIM_DIFF_CHANGED, SELF);
	is_a(diff, "old", PLIM_DIFF_CHANGED, SELF);
	assert_int_equal(row_of(diff, "new")->change.state,
			 PLIM_STATE_NOT_APPLICABLE);
	is_near(row_of(diff, "old")->change.value, -1, 1e-9);
	plim_diff_free(diff);
}

/* A program with another name is the same program; a library both have parts
 * functions of one name. */
static void modules(void **state)
{
	static const struct pair pairs[] = {{"work main", {9000, 9000}},
					    {"rest main", {6000, 6000}},
					    {NULL, {0, 0}}};
	plim_diff *diff = diff_one(side_of(pairs, 0, "prog-1.0"),
				   side_of(pairs, 1, "prog-1.1"), 0);

	(void)state;
	assert_int_equal(plim_diff_function_count(diff), 3);
	assert_int_equal(plim_diff_about(diff).changed, 0);
	is_a(diff, "work", PLIM_DIFF_SAME, SELF);
	assert_memory_equal(row_of(diff, "work")->module.data, "prog-1.0", 8);
	plim_diff_free(diff);
}

/* The vDSO of a process that has ended may have no names: it is one then. */
static void names_on_one_side(void **state)
{
	static const struct pair named[] = {{"work main", {9000, 9000}},
					    {"get main", {300, 0}},
					    {"set main", {300, 0}},
					    {NULL, {0, 0}}};
	static const struct pair places[] = {{"lib+0x10 lib+0x80", {0, 9000}},
					     {"lib+0x7f lib+0x80", {0, 600}},
					     {NULL, {0, 0}}};
	plim_diff *diff =
	    diff_one(side_of(named, 0, "lib"), side_of(places, 1, "lib"), 0);

	(void)state;
	assert_int_equal(plim_diff_function_count(diff), 1);
	assert_int_equal(row_of(diff, "lib")->self[0], 9600 * PERIOD);
	assert_int_equal(row_of(diff, "lib")->self[1], 9600 * PERIOD);
	plim_diff_free(diff);
	/* Names that are there on both sides keep places apart. */
	diff = diff_one(side_of(named, 0, "lib"), side_of(named, 0, "lib"), 0);
	assert_int_equal(plim_diff_function_count(diff), 4);
	plim_diff_free(diff);
}

static void several_profiles(void **state)
{
	static const uint64_t shifts[4] = {0, 300, 40, 260};
	plim_stored *stored[4];
	const plim_stored *list[4];
	plim_diff *diff = NULL;
	plim_diff_facts facts;

	(void)state;
	for (int i = 0; i < 4; i++) {
		const struct pair pairs[] = {{"a main", {5000 + shifts[i], 0}},
					     {"b main", {5000 - shifts[i], 0}},
					     {NULL, {0, 0}}};

		stored[i] = side_of(pairs, 0, "prog");
		list[i] = stored[i];
	}
	assert_int_equal(plim_diff_new(&diff, list, 2, list + 2, 2, NULL, NULL),
			 PLIM_OK);
	facts = plim_diff_about(diff);
	assert_int_equal(facts.sides[0].profiles, 2);
	assert_int_equal(facts.sides[0].samples, 20000);
	assert_int_equal(facts.sides[1].duration_ns,
			 2 * SECONDS * UINT64_C(1000000000));
	is_near(facts.sides[1].per_second.value, 1.0 / 3 * 2, 1e-6);
	assert_int_equal(facts.is_allowance_seen, 1);
	/* The parts of a are 0.5 and 0.53, 0.504 and 0.526: s^2 = 4.5e-4 and
	 * 2.42e-4, less 2.5e-5 of sampling, by (p q)^2 = 0.0625 each; mixed
	 * with 0.01^2 three times to their two. */
	is_near(facts.allowance,
		sqrt((3 * 0.01 * 0.01 +
		      2 * ((4.5e-4 + 2.42e-4) / 2 - 2.5e-5) / 0.0622) /
		     5),
		4e-4);
	plim_diff_free(diff);
	for (int i = 0; i < 4; i++)
		plim_stored_free(stored[i]);
}

static void refused(void **state)
{
	static const struct pair pairs[] = {{"a main", {5, 5}}, {NULL, {0, 0}}};
	static const struct pair empty[] = {{NULL, {0, 0}}};
	plim_stored *some = side_of(pairs, 0, "prog");
	plim_stored *none = side_of(empty, 0, "prog");
	const plim_stored *a = some;
	const plim_stored *b = none;
	plim_diff_options options = {.size = sizeof(options),
				     .view = PLIM_VIEW_OFF};
	plim_diff *diff = NULL;
	plim_error error;

	(void)state;
	assert_int_equal(plim_diff_new(&diff, &a, 1, &b, 1, NULL, &error),
			 PLIM_ENOSAMPLES);
	assert_string_equal(error.detail,
			    "the second of the two has no sample of CPU time");
	assert_int_equal(plim_diff_new(&diff, &a, 1, &a, 1, &options, NULL),
			 PLIM_EUNSUPPORTED);
	assert_int_equal(plim_diff_new(&diff, &a, 0, &a, 1, NULL, NULL),
			 PLIM_EINVAL);
	options.view = 9;
	assert_int_equal(plim_diff_new(&diff, &a, 1, &a, 1, &options, NULL),
			 PLIM_EINVAL);
	assert_null(diff);
	plim_stored_free(some);
	plim_stored_free(none);
}

/* --- draws ------------------------------------------------------------------
 */

static uint64_t random_state = 1;

static double draw(void)
{
	random_state = random_state * UINT64_C(6364136223846793005) +
		       UINT64_C(1442695040888963407);
	return (double)(random_state >> 11) / 9007199254740992.0;
}

/* So many samples of parts that add up to anything. */
static plim_stored *drawn(const double *parts, size_t count, int samples)
{
	uint64_t counts[16] = {0};
	struct sketch sketch;
	double whole = 0;

	for (size_t i = 0; i < count; i++)
		whole += parts[i];
	for (int i = 0; i < samples; i++) {
		double left = draw() * whole;
		size_t k = 0;

		while (k + 1 < count && left >= parts[k])
			left -= parts[k++];
		counts[k]++;
	}
	sketch_begin(&sketch, "prog");
	for (size_t i = 0; i < count; i++) {
		char names[32];

		snprintf(names, sizeof(names), "f%zu g%zu main", i, i % 4);
		sketch_stack(&sketch, names, counts[i], NULL);
	}
	return sketch_end(&sketch);
}

static const double drawn_parts[] = {30, 20, 12, 10, 8,	  7,
				     5,	 4,  2,	 1,  0.7, 0.3};
#define PARTS (sizeof(drawn_parts) / sizeof(drawn_parts[0]))

/* Of 2,000 comparisons of equal ones 1 in 100 may name something: 20, with an
 * error of 4.5. Nothing is allowed for runs, which these draws have not. */
static void false_ones(void **state)
{
	int named = 0;

	(void)state;
	random_state = 20261130;
	for (int i = 0; i < 2000; i++) {
		plim_diff *diff = diff_one(drawn(drawn_parts, PARTS, 3000),
					   drawn(drawn_parts, PARTS, 3500), -1);

		named += plim_diff_about(diff).changed > 0;
		plim_diff_free(diff);
	}
	assert_in_range(named, 3, 33);
}

/* f1 has a fifth of the time and becomes a fifth slower. */
static void slower_ones(void **state)
{
	double parts[PARTS];
	int named = 0;
	int others = 0;

	(void)state;
	random_state = 7;
	memcpy(parts, drawn_parts, sizeof(parts));
	parts[1] *= 1.2;
	for (int i = 0; i < 200; i++) {
		plim_diff *diff = diff_one(drawn(drawn_parts, PARTS, 14000),
					   drawn(parts, PARTS, 14000), 0);
		const plim_diff_facts facts = plim_diff_about(diff);
		const int found =
		    row_of(diff, "f1")->verdict == PLIM_DIFF_CHANGED;

		named += found;
		others += facts.changed > (size_t)found;
		plim_diff_free(diff);
	}
	assert_in_range(named, 195, 200);
	assert_in_range(others, 0, 4);
}

/* A program whose samples follow each other: each is in the function of the
 * one before with the chance `stay`. With `phases` it does one half of its
 * functions after the other, each for as long as `halves` says. */
struct busy {
	const double *parts;
	int samples;
	double stay;
	int phases;
	int slices; /* 1: it tells them */
};

static size_t busy_draw(const struct busy *busy, int sample)
{
	size_t first = 0;
	size_t end = PARTS;
	double left = 0;

	if (busy->phases > 0) {
		const int phase =
		    (int)((long)sample * busy->phases / busy->samples);

		first = phase % 2 == 0 ? 0 : 2;
		end = phase % 2 == 0 ? 6 : PARTS;
	}
	for (size_t i = first; i < end; i++)
		left += busy->parts[i];
	left *= draw();
	for (; first + 1 < end && left >= busy->parts[first]; first++)
		left -= busy->parts[first];
	return first;
}

static plim_stored *busy_stored(const struct busy *busy)
{
	uint64_t counts[PARTS] = {0};
	uint32_t slices[PARTS][SLICES] = {{0}};
	struct sketch sketch;
	size_t at = 0;

	for (int i = 0; i < busy->samples; i++) {
		if (i == 0 || draw() >= busy->stay)
			at = busy_draw(busy, i);
		counts[at]++;
		slices[at][(long)i * SLICES / busy->samples]++;
	}
	sketch_begin(&sketch, "prog");
	for (size_t i = 0; i < PARTS; i++) {
		char names[32];

		snprintf(names, sizeof(names), "f%zu g%zu main", i, i % 4);
		sketch_stack(&sketch, names, counts[i],
			     busy->slices ? slices[i] : NULL);
	}
	return sketch_end(&sketch);
}

/* How many of so many comparisons name f1; `*others`, something else. */
static int busy_compare(struct busy before, struct busy after, int times,
			int *others)
{
	int named = 0;

	*others = 0;
	for (int i = 0; i < times; i++) {
		plim_diff *diff =
		    diff_one(busy_stored(&before), busy_stored(&after), -1);
		const int found =
		    row_of(diff, "f1")->verdict == PLIM_DIFF_CHANGED;

		named += found;
		*others += plim_diff_about(diff).changed > (size_t)found;
		plim_diff_free(diff);
	}
	return named;
}

/* One comparison in 100 may be wrong, whatever the samples depend on. */
static void busy_ones(void **state)
{
	static const struct {
		double stay;
		int samples;
		int phases;
	} cases[] = {{0, 3000, 0},    {0.5, 3000, 0},  {0.9, 3000, 0},
		     {0.97, 5000, 0}, {0.5, 3000, 16}, {0, 3000, 3}};

	(void)state;
	random_state = 5;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct busy busy = {drawn_parts, cases[i].samples,
					  cases[i].stay, cases[i].phases, 1};
		int others;
		const int named = busy_compare(busy, busy, 60, &others);

		assert_in_range(named + others, 0, 3);
	}
}

/* f0 is in every second phase alone: what it varies by from slice to slice is
 * the same on both sides, and hides no change. */
static void busy_phases(void **state)
{
	const struct busy busy = {drawn_parts, 15000, 0, 5, 1};
	plim_diff *diff;

	(void)state;
	random_state = 8;
	diff = diff_one(busy_stored(&busy), busy_stored(&busy), -1);
	is_a(diff, "f0", PLIM_DIFF_SAME, SELF);
	assert_true(row_of(diff, "f0")->detectable.value < 0.15);
	plim_diff_free(diff);
}

/* Without slices nothing tells that samples are not independent; with them a
 * function is found where they are. */
static void busy_told(void **state)
{
	struct busy before = {drawn_parts, 3000, 0.9, 0, 0};
	struct busy after = before;
	double parts[PARTS];
	int others;

	(void)state;
	random_state = 6;
	busy_compare(before, after, 20, &others);
	assert_in_range(others, 15, 20);
	memcpy(parts, drawn_parts, sizeof(parts));
	parts[1] *= 1.2;
	before = (struct busy){drawn_parts, 15000, 0, 0, 1};
	after = before;
	after.parts = parts;
	assert_in_range(busy_compare(before, after, 60, &others), 57, 60);
	assert_in_range(others, 0, 4);
}

/* The error that is told is what a change varies by: over many comparisons of
 * the same, whose samples depend on each other or do not. */
static void busy_errors(void **state)
{
	static const double stays[] = {0, 0.9};

	(void)state;
	random_state = 9;
	for (size_t k = 0; k < 2; k++) {
		const struct busy busy = {drawn_parts, 3000, stays[k], 0, 1};
		double squares = 0;
		double told = 0;

		for (int i = 0; i < 60; i++) {
			plim_diff *diff = diff_one(busy_stored(&busy),
						   busy_stored(&busy), -1);
			const plim_diff_function *row = row_of(diff, "f1");

			squares += pow(log(1 + row->change.value), 2);
			told += pow(row->change_error.value /
					(1 + row->change.value),
				    2);
			plim_diff_free(diff);
		}
		assert_true(told > squares * 0.6 && told < squares * 2.5);
	}
}

/* --- mathematics ------------------------------------------------------------
 */

static void mathematics(void **state)
{
	(void)state;
	for (double x = 1e-9; x < 1e9; x *= 1.7) {
		assert_true(fabs(plimp_root(x) / sqrt(x) - 1) < 1e-13);
		assert_true(fabs(plimp_log(x) - log(x)) < 1e-12);
	}
	for (double x = -40; x < 40; x += 0.37)
		assert_true(fabs(plimp_exp(x) / exp(x) - 1) < 1e-11);
	for (double z = 0; z < 12; z += 0.13) {
		const double tail = erfc(z / sqrt(2)) / 2;

		assert_true(fabs(plimp_normal_tail(z) / tail - 1) < 1e-10);
		assert_true(fabs(plimp_normal_beyond(tail) - z) < 1e-10);
	}
	assert_true(fabs(plimp_normal_tail(-1) + plimp_normal_tail(1) - 1) <
		    1e-12);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(one_slower),  cmocka_unit_test(nothing_changed),
	    cmocka_unit_test(spread),	   cmocka_unit_test(explained),
	    cmocka_unit_test(one_of_two),  cmocka_unit_test(crowded),
	    cmocka_unit_test(recursion),   cmocka_unit_test(come_and_gone),
	    cmocka_unit_test(modules),	   cmocka_unit_test(several_profiles),
	    cmocka_unit_test(refused),	   cmocka_unit_test(false_ones),
	    cmocka_unit_test(slower_ones), cmocka_unit_test(busy_ones),
	    cmocka_unit_test(busy_told),   cmocka_unit_test(busy_errors),
	    cmocka_unit_test(busy_phases), cmocka_unit_test(names_on_one_side),
	    cmocka_unit_test(mathematics),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
