/*
 * test_stored.c - profiles read from files: plim's JSON in any order of its
 * members, pprof as the most different writers make it, and files that are
 * broken, each with the same tables as its truth, written out by hand.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "counting.h"

#include "export/gzip.h"
#include "export/proto.h"

#include <plimsoll.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static plim_bytes text_of(const char *text)
{
	return (plim_bytes){text, strlen(text)};
}

/* Stacks as "leaf<caller<root weight/samples activity\n", as they come. */
static const char *told(const plim_stored *stored)
{
	static char text[4096];
	size_t used = 0;

	text[0] = '\0';
	for (size_t i = 0; i < plim_stored_stack_count(stored); i++) {
		const plim_stored_stack *stack =
		    plim_stored_stack_at(stored, i);

		for (size_t k = 0; k < stack->function_count; k++) {
			const plim_stored_function *function =
			    plim_stored_function_at(stored,
						    stack->functions[k]);

			used += (size_t)snprintf(
			    text + used, sizeof(text) - used, "%s%.*s@%.*s",
			    k > 0 ? "<" : "", (int)function->name.size,
			    function->name.data, (int)function->module.size,
			    function->module.data);
		}
		used += (size_t)snprintf(
		    text + used, sizeof(text) - used, " %llu/%llu %d\n",
		    (unsigned long long)stack->weight,
		    (unsigned long long)stack->samples, stack->activity);
	}
	assert_null(
	    plim_stored_stack_at(stored, plim_stored_stack_count(stored)));
	assert_null(plim_stored_function_at(
	    stored, plim_stored_function_count(stored)));
	return text;
}

static plim_stored *read_good(plim_bytes file)
{
	struct counting counting = {0};
	plim_allocator allocator = counting_allocator(&counting);
	plim_stored *stored = NULL;
	plim_error error = {.code = 77};

	/* Whatever it takes it gives back. */
	assert_int_equal(plim_stored_read(&stored, file, &allocator, &error),
			 PLIM_OK);
	assert_int_equal(error.code, 77);
	plim_stored_free(stored);
	assert_int_equal(counting.live, 0);
	assert_int_equal(plim_stored_read(&stored, file, NULL, NULL), PLIM_OK);
	return stored;
}

static void read_bad(plim_bytes file, int code, const char *detail)
{
	struct counting counting = {0};
	plim_allocator allocator = counting_allocator(&counting);
	plim_stored *stored = NULL;
	plim_error error = {.code = 0};

	assert_int_equal(plim_stored_read(&stored, file, &allocator, &error),
			 code);
	assert_null(stored);
	assert_int_equal(error.code, code);
	assert_string_equal(error.detail, detail);
	assert_int_equal(counting.live, 0);
}

/* --- JSON ------------------------------------------------------------------
 */

#define FRAMES                                                      \
	"\"frames\":[{\"address\":\"0x10\",\"module\":0,\"lines\":" \
	"[{\"function\":1,\"inlined\":true},{\"function\":0}]},"    \
	"{\"lines\":[{\"function\":2}]}]"
#define FUNCTIONS                                                       \
	"\"functions\":[{\"name\":\"main\",\"module\":0,\"cpu\":null}," \
	"{\"name\":\"in\\u00e9\",\"module\":1},"                        \
	"{\"name\":\"[not sampled]\",\"module\":null,\"special\":true}]"
#define MODULES "\"modules\":[{\"path\":\"/bin/prog\"},{\"path\":null}]"
#define PROFILE                                                         \
	"\"profile\":{\"pid\":3,\"name\":\"prog\",\"start_unix_ns\":5," \
	"\"duration_ns\":1000,\"period_ns\":10,\"tiers\":[{}]}"
#define STACKS                                                         \
	"\"stacks\":[{\"thread\":0,\"activity\":\"running\",\"end\":"  \
	"\"root\",\"weight_ns\":40,\"samples\":4,\"frames\":[0]},"     \
	"{\"activity\":\"blocked\",\"weight_ns\":7,\"samples\":1,"     \
	"\"frames\":[0,0]},{\"activity\":\"running\",\"weight_ns\":3," \
	"\"samples\":0,\"frames\":[1]},{\"activity\":\"running\","     \
	"\"weight_ns\":0,\"samples\":0,\"frames\":[1]},"               \
	"{\"activity\":\"waiting\",\"weight_ns\":2,\"samples\":0,"     \
	"\"frames\":[]}]"

static const char json_truth[] =
    "in\xc3\xa9@<main@prog 40/4 1\n"
    "in\xc3\xa9@<main@prog<in\xc3\xa9@<main@prog 7/1 3\n"
    "[not sampled]@ 3/0 1\n"
    "[no stack]@ 2/0 2\n";

static void json_any_order(void **state)
{
	static const char *const texts[] = {
	    "{\"plimsoll\":\"0\"," PROFILE "," MODULES "," FUNCTIONS "," FRAMES
	    "," STACKS ",\"cost\":{}}",
	    "\n {" STACKS "," FRAMES "," FUNCTIONS "," MODULES "," PROFILE "}",
	};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		plim_stored *stored = read_good(text_of(texts[i]));
		const plim_stored_facts facts = plim_stored_about(stored);

		assert_string_equal(told(stored), json_truth);
		assert_int_equal(facts.form, PLIM_STORED_JSON);
		assert_int_equal(facts.duration_ns, 1000);
		assert_int_equal(facts.period_ns, 10);
		assert_int_equal(facts.start_unix_ns, 5);
		assert_int_equal(facts.is_time, 1);
		assert_int_equal(facts.name.size, 4);
		assert_memory_equal(facts.name.data, "prog", 4);
		assert_int_equal(plim_stored_function_at(stored, 2)->special,
				 PLIM_SPECIAL_UNSAMPLED);
		assert_int_equal(plim_stored_function_at(stored, 0)->special,
				 0);
		plim_stored_free(stored);
	}
}

#define SLICED(slices)                                                    \
	"\"stacks\":[{\"weight_ns\":9,\"slices\":[" slices "]},"          \
	"{\"weight_ns\":0,\"slices\":[1,0]},{\"weight_ns\":2,\"slices\":" \
	"[3,2]}]"

/* Those of a stack that is left out are no other's. */
static void json_slices(void **state)
{
	plim_stored *stored = read_good(
	    text_of("{" SLICED("0,4,2,5") ",\"slice_count\":4," PROFILE "}"));
	const plim_stored_stack *stack = plim_stored_stack_at(stored, 0);

	(void)state;
	assert_int_equal(plim_stored_about(stored).slice_count, 4);
	assert_int_equal(stack->slice_count, 2);
	assert_int_equal(stack->slices[0].slice, 0);
	assert_int_equal(stack->slices[0].weight, 4);
	assert_int_equal(stack->slices[1].slice, 2);
	assert_int_equal(stack->slices[1].weight, 5);
	stack = plim_stored_stack_at(stored, 1);
	assert_int_equal(stack->slice_count, 1);
	assert_int_equal(stack->slices[0].slice, 3);
	assert_int_equal(stack->slices[0].weight, 2);
	plim_stored_free(stored);
}

static void json_slices_broken(void **state)
{
	static const char *const texts[] = {
	    SLICED("0,4,4,5"), SLICED("2,4,2,5"), SLICED("0,5,2,5"),
	    SLICED("null,5")};

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		char text[512];

		snprintf(text, sizeof(text), "{\"slice_count\":4,%s,%s}",
			 PROFILE, texts[i]);
		read_bad(text_of(text), PLIM_ESYNTAX,
			 "a stack has slices that cannot be");
	}
	read_bad(text_of("{" SLICED("0,4,2") "}"), PLIM_ESYNTAX,
		 "a slice has no time");
	read_bad(text_of("{" PROFILE "," SLICED("0,4") "}"), PLIM_ESYNTAX,
		 "a stack has slices that cannot be");
	read_bad(text_of("{\"slice_count\":1025}"), PLIM_ESYNTAX,
		 "the run has too many slices");
}

static void json_broken(void **state)
{
	(void)state;
	read_bad(text_of(""), PLIM_ESYNTAX, "it is empty");
	read_bad(text_of("{\"a\":1}"), PLIM_ESYNTAX,
		 "this JSON is no profile of plim");
	read_bad(text_of("{" PROFILE "," STACKS "}"), PLIM_ESYNTAX,
		 "a stack has a frame that is not there");
	read_bad(text_of("{" PROFILE "," FRAMES "," STACKS "}"), PLIM_ESYNTAX,
		 "a frame has no function");
	read_bad(text_of("{" PROFILE "," FUNCTIONS "," FRAMES "," STACKS "}"),
		 PLIM_ESYNTAX, "a function is of no module");
	read_bad(text_of("{" PROFILE ",\"stacks\":[{\"weight_ns\":-1}]}"),
		 PLIM_ESYNTAX, "a whole number was expected");
	read_bad(text_of("{" PROFILE ",\"stacks\":[{\"frames\":3}]}"),
		 PLIM_ESYNTAX, "an array was expected");
	read_bad(
	    text_of("{" PROFILE ",\"stacks\":[{\"activity\":\"dancing\"}]}"),
	    PLIM_ESYNTAX, "this is no activity of a thread");
	read_bad(text_of("{" PROFILE "," STACKS), PLIM_ESYNTAX,
		 "it ends in the middle");
}

/* --- pprof ------------------------------------------------------------------
 */

/* A message in the making, and the texts of its table. */
struct message {
	struct plimp_buffer bytes;
	struct plimp_buffer inner;
};

static void begin(struct message *message)
{
	plimp_buffer_init(&message->bytes, NULL);
	plimp_buffer_init(&message->inner, NULL);
}

static plim_bytes done(struct message *message)
{
	plimp_buffer_release(&message->inner);
	return (plim_bytes){message->bytes.data, message->bytes.size};
}

static void strings(struct message *message, const char *const *texts)
{
	for (size_t i = 0; texts[i] != NULL; i++)
		plimp_proto_bytes(&message->bytes, 6, text_of(texts[i]), 1);
}

static void put(struct message *message, unsigned field)
{
	plimp_proto_bytes(
	    &message->bytes, field,
	    (plim_bytes){message->inner.size > 0 ? message->inner.data : "",
			 message->inner.size},
	    1);
	plimp_buffer_clear(&message->inner);
}

/* Fields 1, 2, ... of a message, 0 left out. */
static void numbers(struct message *message, unsigned field,
		    const uint64_t *values, size_t count)
{
	for (size_t i = 0; i < count; i++)
		plimp_proto_number(&message->inner, (unsigned)i + 1, values[i]);
	put(message, field);
}

static void location(struct message *message, uint64_t id, uint64_t mapping,
		     uint64_t address, uint64_t inner, uint64_t outer)
{
	char line[4] = {8, (char)inner, 16, 7};

	plimp_proto_number(&message->inner, 1, id);
	plimp_proto_number(&message->inner, 2, mapping);
	plimp_proto_number(&message->inner, 3, address);
	if (inner != 0)
		plimp_proto_bytes(&message->inner, 4, (plim_bytes){line, 4}, 1);
	line[1] = (char)outer;
	if (outer != 0)
		plimp_proto_bytes(&message->inner, 4, (plim_bytes){line, 4}, 1);
	put(message, 4);
}

static void sample(struct message *message, const uint64_t *locations,
		   size_t depth, const uint64_t *values, size_t count,
		   int packed)
{
	if (packed) {
		plimp_proto_numbers(&message->inner, 1, locations, depth);
		plimp_proto_numbers(&message->inner, 2, values, count);
	} else {
		for (size_t i = 0; i < count; i++)
			plimp_proto_number(&message->inner, 2, values[i]);
		for (size_t i = 0; i < depth; i++)
			plimp_proto_number(&message->inner, 1, locations[i]);
	}
	put(message, 2);
}

#define LIST(...) ((const uint64_t[]){__VA_ARGS__})

/* As Go's runtime writes: no mapping ids needed, ids from 1, no default type.
 */
static plim_bytes like_go(struct message *message, int late_strings, int packed)
{
	static const char *const texts[] = {
	    "",		 "samples",   "count",	   "cpu", "nanoseconds",
	    "main.main", "main.work", "/bin/prog", NULL};

	begin(message);
	if (!late_strings)
		strings(message, texts);
	numbers(message, 1, LIST(1, 2), 2);
	numbers(message, 1, LIST(3, 4), 2);
	sample(message, LIST(2, 1), 2, LIST(3, 30000000), 2, packed);
	sample(message, LIST(3), 1, LIST(1, 10000000), 2, packed);
	location(message, 1, 1, 0x401000, 1, 0);
	location(message, 2, 1, 0x402000, 2, 1);
	location(message, 3, 1, 0x403000, 0, 0);
	numbers(message, 3, LIST(1, 0x400000, 0x500000, 0x1000, 7), 5);
	numbers(message, 5, LIST(1, 5, 5), 3);
	numbers(message, 5, LIST(2, 0, 6), 3);
	plimp_proto_number(&message->bytes, 10, 2000000000);
	numbers(message, 11, LIST(3, 4), 2);
	plimp_proto_number(&message->bytes, 12, 10000000);
	if (late_strings)
		strings(message, texts);
	return done(message);
}

static void pprof_go(void **state)
{
	(void)state;
	for (int way = 0; way < 4; way++) {
		struct message message;
		plim_stored *stored =
		    read_good(like_go(&message, way & 1, way >> 1));
		const plim_stored_facts facts = plim_stored_about(stored);

		assert_string_equal(
		    told(stored),
		    "main.work@prog<main.main@prog<main.main@prog "
		    "30000000/3 0\n"
		    "prog+0x4000@prog 10000000/1 0\n");
		assert_int_equal(facts.form, PLIM_STORED_PPROF);
		assert_int_equal(facts.is_time, 1);
		assert_int_equal(facts.period_ns, 10000000);
		assert_int_equal(facts.duration_ns, 2000000000);
		assert_int_equal(facts.views, 1u << PLIM_VIEW_CPU);
		plim_stored_free(stored);
		plimp_buffer_release(&message.bytes);
	}
}

/* As perf_to_profile writes: ids of any size, events instead of time; a
 * location that nothing is known of; the default type is the first. */
static void pprof_events(void **state)
{
	static const char *const texts[] = {
	    "", "cycles_sample", "count", "cycles_event", "[heap]", NULL};
	struct message message;
	plim_stored *stored;
	plim_stored_facts facts;

	(void)state;
	begin(&message);
	numbers(&message, 1, LIST(1, 2), 2);
	numbers(&message, 1, LIST(3, 2), 2);
	sample(&message, LIST(UINT64_MAX), 1, LIST(2, 500), 2, 1);
	sample(&message, LIST(9), 1, LIST(1, 250), 2, 0);
	sample(&message, NULL, 0, LIST(1, 250), 2, 1);
	location(&message, UINT64_MAX, 0, 0xffffffff81000000, 0, 0);
	location(&message, 9, 4, 0x10, 0, 0);
	numbers(&message, 3, LIST(4, 0x10, 0x20, 0, 4), 5);
	strings(&message, texts);
	stored = read_good(done(&message));
	facts = plim_stored_about(stored);
	assert_string_equal(told(stored), "0xffffffff81000000@ 500/2 0\n"
					  "[heap]+0x0@[heap] 250/1 0\n"
					  "[no stack]@ 250/1 0\n");
	assert_int_equal(facts.is_time, 0);
	assert_int_equal(facts.unit.size, 5);
	assert_int_equal(facts.duration_ns, 0);
	plim_stored_free(stored);
	plimp_buffer_release(&message.bytes);
}

/* Of our own writer escapes are undone in a name made of a file's, too. */
static void pprof_ours(void **state)
{
	static const char *const texts[] = {"",
					    "samples",
					    "count",
					    "cpu",
					    "nanoseconds",
					    "plimsoll 0.1.0",
					    "/bin/pr\\x0ag\\xff",
					    NULL};
	struct message message;
	plim_stored *stored;

	(void)state;
	begin(&message);
	numbers(&message, 1, LIST(1, 2), 2);
	numbers(&message, 1, LIST(3, 4), 2);
	sample(&message, LIST(3), 1, LIST(1, 10000000), 2, 1);
	location(&message, 3, 1, 0x403000, 0, 0);
	numbers(&message, 3, LIST(1, 0x400000, 0x500000, 0x1000, 6), 5);
	plimp_proto_number(&message.bytes, 13, 5);
	strings(&message, texts);
	stored = read_good(done(&message));
	assert_string_equal(told(stored),
			    "pr\ng\xff+0x4000@pr\ng\xff 10000000/1 0\n");
	plim_stored_free(stored);
	plimp_buffer_release(&message.bytes);
}

/* Counts from times and a period in the same unit. */
static void pprof_period(void **state)
{
	static const char *const texts[] = {"", "wall", "milliseconds", NULL};
	struct message message;
	plim_stored *stored;

	(void)state;
	begin(&message);
	strings(&message, texts);
	numbers(&message, 1, LIST(1, 2), 2);
	sample(&message, NULL, 0, LIST(44), 1, 1);
	numbers(&message, 11, LIST(1, 2), 2);
	plimp_proto_number(&message.bytes, 12, 10);
	stored = read_good(done(&message));
	assert_string_equal(told(stored), "[no stack]@ 44000000/4 0\n");
	assert_int_equal(plim_stored_about(stored).period_ns, 10000000);
	assert_int_equal(plim_stored_about(stored).views, 1u << PLIM_VIEW_WALL);
	plim_stored_free(stored);
	plimp_buffer_release(&message.bytes);
}

static void pprof_of_no_time(void **state)
{
	static const char *const texts[] = {"", "inuse_space", "bytes", NULL};
	struct message message;

	(void)state;
	begin(&message);
	strings(&message, texts);
	numbers(&message, 1, LIST(1, 2), 2);
	numbers(&message, 11, LIST(1, 2), 2);
	plimp_proto_number(&message.bytes, 12, 524288);
	read_bad(done(&message), PLIM_EUNSUPPORTED,
		 "it holds neither counts of samples nor times with a period");
	plimp_buffer_release(&message.bytes);
}

static void pprof_broken(void **state)
{
	static const char *const texts[] = {"", "samples", "count", NULL};
	static const struct {
		uint64_t location;
		uint64_t value;
		size_t values;
		const char *wrong;
	} rows[] = {
	    {1, 1, 1, "a location is not there"},
	    {0, 1, 2, "a sample has not the values that it should"},
	    {0, UINT64_MAX, 1, "a sample has a value below 0, or too large"},
	};
	struct message message;
	plim_bytes whole;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		begin(&message);
		strings(&message, texts);
		numbers(&message, 1, LIST(1, 2), 2);
		sample(&message, &rows[i].location, rows[i].location,
		       LIST(rows[i].value, 1), rows[i].values, 1);
		read_bad(done(&message), PLIM_ESYNTAX, rows[i].wrong);
		plimp_buffer_release(&message.bytes);
	}
	read_bad(text_of("no profile at all"), PLIM_ESYNTAX,
		 "this is no profile.proto");
	/* Cut anywhere it is read, or refused; never anything else. */
	whole = like_go(&message, 0, 1);
	for (size_t size = 1; size < whole.size; size++) {
		plim_stored *stored = NULL;
		char *exact = malloc(size);
		int code;

		assert_non_null(exact);
		memcpy(exact, whole.data, size);
		code = plim_stored_read(&stored, (plim_bytes){exact, size},
					NULL, NULL);
		assert_true(code == PLIM_OK || code == PLIM_ESYNTAX ||
			    code == PLIM_EUNSUPPORTED);
		plim_stored_free(stored);
		free(exact);
	}
	plimp_buffer_release(&message.bytes);
}

/* --- compressed ------------------------------------------------------------
 */

static int gather(const char *data, size_t size, void *user)
{
	plimp_buffer_append(user, data, size);
	return 0;
}

static void compressed(void **state)
{
	struct message message;
	struct plimp_buffer packed;
	struct plimp_sink sink;
	struct plimp_gzip *gzip = NULL;
	plim_bytes whole = like_go(&message, 0, 1);
	plim_stored *stored;
	size_t first = 0; /* size of the first member */

	(void)state;
	plimp_buffer_init(&packed, NULL);
	plimp_sink_init(&sink, gather, &packed);
	/* Two members, the second begins in the middle. */
	for (int half = 0; half < 2; half++) {
		assert_int_equal(plimp_gzip_new(&gzip, &sink, 0, NULL),
				 PLIM_OK);
		plimp_gzip_put(gzip, whole.data + (half ? 100 : 0),
			       half ? whole.size - 100 : 100);
		assert_int_equal(plimp_gzip_finish(gzip), PLIM_OK);
		plimp_gzip_free(gzip);
		first = half ? first : packed.size;
	}
	if (plimp_gzip_is_there()) {
		stored = read_good((plim_bytes){packed.data, packed.size});
		assert_int_equal(plim_stored_stack_count(stored), 2);
		plim_stored_free(stored);
		for (size_t size = 2; size < packed.size; size++)
			if (size != first)
				read_bad((plim_bytes){packed.data, size},
					 PLIM_ESYNTAX,
					 "its compression is broken");
		packed.data[packed.size - 6] ^= 0x55; /* of the checksum */
		read_bad((plim_bytes){packed.data, packed.size}, PLIM_ESYNTAX,
			 "its compression is broken");
	} else {
		read_bad(text_of("\x1f\x8b"), PLIM_EUNSUPPORTED,
			 "it is compressed, and this library was built without "
			 "zlib; gunzip it first");
	}
	plimp_buffer_release(&packed);
	plimp_buffer_release(&message.bytes);
}

/* A small file of a long chain of inlined functions that is named often. */
static void too_many_of(int weightless)
{
	struct plimp_buffer text;

	plimp_buffer_init(&text, NULL);
	plimp_buffer_string(&text, "{\"profile\":{},\"functions\":[{}],"
				   "\"frames\":[{\"lines\":[{\"function\":0}");
	for (int i = 0; i < 16383; i++)
		plimp_buffer_string(&text, ",{\"function\":0}");
	plimp_buffer_string(&text, weightless
				       ? "]}],\"stacks\":[{\"weight_ns\":0,"
					 "\"frames\":[0"
				       : "]}],\"stacks\":[{\"weight_ns\":1,"
					 "\"frames\":[0");
	for (int i = 0; i < 2048; i++)
		plimp_buffer_string(&text, weightless && i == 1024
					       ? "]},{\"frames\":[0"
					       : ",0");
	plimp_buffer_string(&text, "]}]}");
	read_bad((plim_bytes){text.data, text.size}, PLIM_ELIMIT,
		 "its stacks have too many functions");
	plimp_buffer_release(&text);
}

static void too_many(void **state)
{
	(void)state;
	too_many_of(0);
}

/* Stacks that are left out, having no weight, cost as much. */
static void too_many_weightless(void **state)
{
	(void)state;
	too_many_of(1);
}

/* A chain of 65,536 functions, in 1,024 slices and one more. */
static void too_many_sliced(void **state)
{
	struct plimp_buffer text;

	(void)state;
	plimp_buffer_init(&text, NULL);
	plimp_buffer_string(&text, "{\"profile\":{},\"functions\":[{}],"
				   "\"frames\":[{\"lines\":[{\"function\":0}");
	for (int i = 1; i < 65536; i++)
		plimp_buffer_string(&text, ",{\"function\":0}");
	plimp_buffer_string(&text, "]}],\"slice_count\":1024,\"stacks\":["
				   "{\"weight_ns\":1024,\"frames\":[0],"
				   "\"slices\":[0,1");
	for (int i = 1; i < 1024; i++) {
		char slice[32];

		snprintf(slice, sizeof(slice), ",%d,1", i);
		plimp_buffer_string(&text, slice);
	}
	plimp_buffer_string(&text, "]}");
	/* That is the bound. */
	plimp_buffer_string(&text, "]}");
	plim_stored_free(read_good((plim_bytes){text.data, text.size}));
	text.size -= 2;
	plimp_buffer_string(&text, ",{\"weight_ns\":1,\"frames\":[0],"
				   "\"slices\":[7,1]}]}");
	read_bad((plim_bytes){text.data, text.size}, PLIM_ELIMIT,
		 "its stacks have too many functions in too many slices");
	plimp_buffer_release(&text);
}

/* A file of one MiB, 128 functions of which have one long module. */
static void too_long(void **state)
{
	struct plimp_buffer text;

	(void)state;
	plimp_buffer_init(&text, NULL);
	plimp_buffer_string(&text, "{\"profile\":{},\"stacks\":[],"
				   "\"modules\":[{\"path\":\"");
	for (int i = 0; i < 1 << 20; i++)
		plimp_buffer_append(&text, "m", 1);
	plimp_buffer_string(&text, "\"}],\"functions\":["
				   "{\"name\":\"f\",\"module\":0}");
	for (int i = 1; i < 128; i++)
		plimp_buffer_string(&text, ",{\"name\":\"f\",\"module\":0}");
	plimp_buffer_string(&text, "]}");
	read_bad((plim_bytes){text.data, text.size}, PLIM_ELIMIT,
		 "the names of its functions are too long");
	plimp_buffer_release(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(json_any_order),
	    cmocka_unit_test(json_broken),
	    cmocka_unit_test(json_slices),
	    cmocka_unit_test(json_slices_broken),
	    cmocka_unit_test(pprof_go),
	    cmocka_unit_test(pprof_events),
	    cmocka_unit_test(pprof_ours),
	    cmocka_unit_test(pprof_period),
	    cmocka_unit_test(pprof_of_no_time),
	    cmocka_unit_test(pprof_broken),
	    cmocka_unit_test(compressed),
	    cmocka_unit_test(too_many),
	    cmocka_unit_test(too_many_weightless),
	    cmocka_unit_test(too_many_sliced),
	    cmocka_unit_test(too_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
