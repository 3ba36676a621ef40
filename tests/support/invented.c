/*
 * invented.c - the tables of a profile, filled by hand (invented.h).
 */
#include <stddef.h>
#include <stdint.h>

#include "invented.h"

#include "profile/session.h"

#include <stdlib.h>
#include <string.h>

#define MS    UINT64_C(1000000)
#define START (5000 * MS) /* of sampling, on the clock */

/* Where the code lies. */
#define MAIN_AT UINT64_C(0x555500000000)
#define LIB_AT	UINT64_C(0x7f0000000000)

static plim_bytes invented_text(const char *text)
{
	return (plim_bytes){text, strlen(text)};
}

static void invented_ok(int code)
{
	if (code != PLIM_OK)
		abort();
}

static uint32_t invented_function(plim_profile *profile, const char *name,
				  const char *linkage, const char *file,
				  uint32_t line, uint32_t module, int special,
				  int is_unnamed)
{
	const plim_profile_function function = {
	    .name = invented_text(name),
	    .linkage = invented_text(linkage),
	    .file = invented_text(file),
	    .line = line,
	    .module = module,
	    .special = special,
	    .is_unnamed = is_unnamed,
	};
	uint32_t index;

	invented_ok(plimp_store_function(&profile->store, &function,
					 (plim_bytes){"", 0}, &index));
	return index;
}

static uint32_t invented_line(plim_profile *profile, uint32_t function,
			      const char *file, uint32_t number, int is_inlined)
{
	const plim_profile_line line = {
	    .function = function,
	    .line = number,
	    .file = invented_text(file),
	    .is_inlined = is_inlined,
	};
	uint32_t index;

	invented_ok(plimp_store_add_line(&profile->store, &line, &index));
	return index;
}

static uint32_t invented_frame(plim_profile *profile, uint32_t module,
			       uint64_t address, int special, uint32_t line,
			       uint32_t line_count)
{
	plim_profile_frame *frame;
	uint32_t index;

	invented_ok(plimp_store_find_frame(&profile->store,
					   special != 0 ? PLIM_NO_INDEX : 0,
					   module, address, special, &index));
	frame = plimp_store_frame(&profile->store, index);
	frame->first_line = line;
	frame->line_count = line_count;
	return index;
}

/* A frame of one line, of a function of its own. */
static uint32_t invented_place(plim_profile *profile, const char *name,
			       const char *file, uint32_t line, uint32_t module,
			       uint64_t address)
{
	const uint32_t function =
	    invented_function(profile, name, "", file, line > 0 ? line - 1 : 0,
			      module, 0, strstr(name, "+0x") != NULL);

	return invented_frame(profile, module, address, 0,
			      invented_line(profile, function, file, line, 0),
			      1);
}

/* Samples of a stack that runs, 10 ms apart; or one for all the looks at one
 * that is blocked. */
static void invented_samples(plim_profile *profile, uint32_t stack, int blocked,
			     unsigned samples, uint64_t first_ns)
{
	plim_profile_sample sample = {.stack = stack, .looks = 1};
	uint32_t index;

	for (unsigned i = 0; i < (blocked ? 1 : samples); i++) {
		sample.time_ns = START + first_ns + i * 10 * MS;
		sample.weight_ns = 10 * MS;
		sample.span_ns = 10 * MS;
		if (blocked) {
			sample.weight_ns = samples * 10 * MS;
			sample.looks = samples;
			sample.span_ns = (samples - 1) * 10 * MS;
		}
		invented_ok(
		    plimp_store_add_sample(&profile->store, &sample, &index));
	}
}

static int invented_order(const void *one, const void *two)
{
	const plim_profile_sample *a = one;
	const plim_profile_sample *b = two;

	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? -1 : 1;
	return a->stack < b->stack ? -1 : a->stack > b->stack;
}

static void invented_stack(plim_profile *profile, uint32_t thread, int activity,
			   int end, int64_t call, const uint32_t *frames,
			   size_t count, unsigned samples, uint64_t first_ns)
{
	const plim_profile_stack stack = {
	    .thread = thread,
	    .activity = activity,
	    .end = end,
	    .call = call,
	    .call_name = invented_text(call == 7     ? "poll"
				       : call == 202 ? "futex"
						     : ""),
	    .frames = frames,
	    .frame_count = count,
	};
	uint32_t index;

	invented_ok(plimp_store_find_stack(&profile->store, &stack, &index));
	if (call >= 0)
		plimp_store_stack(&profile->store, index)->reserved[0] =
		    1 + (uint64_t)invented_function(
			    profile, call == 7 ? "[poll]" : "[futex]", "", "",
			    0, PLIM_NO_INDEX, PLIM_SPECIAL_CALL, 0);
	for (unsigned i = 0; i < samples; i++)
		plimp_store_weigh(&profile->store, index, 10 * MS, 1);
	invented_samples(profile, index, activity == PLIM_ACTIVITY_BLOCKED,
			 samples, first_ns);
}

static void invented_special(plim_profile *profile, uint32_t thread,
			     int activity, int special, uint64_t weight_ns)
{
	const uint32_t function =
	    invented_function(profile, plim_special_name(special), "", "", 0,
			      PLIM_NO_INDEX, special, 0);

	invented_frame(profile, PLIM_NO_INDEX, 0, special,
		       invented_line(profile, function, "", 0, 0), 1);
	invented_ok(plimp_store_special(&profile->store, thread, activity,
					special, weight_ns, 0));
}

static void invented_modules(plim_profile *profile)
{
	const plim_profile_module rows[] = {
	    {.path = invented_text("/usr/lib/libhot.so.1"),
	     .build_id = {"\x01\x23\xab\xff", 4},
	     .start = LIB_AT,
	     .end = LIB_AT + 0x100000,
	     .offset = 0x1000,
	     .bias = LIB_AT - 0x1000,
	     .has_symbols = 1},
	    {.path = invented_text("/usr/bin/invented\x1b[1m"),
	     .start = MAIN_AT,
	     .end = MAIN_AT + 0x4000,
	     .bias = MAIN_AT,
	     .has_symbols = 1,
	     .has_lines = 1,
	     .has_inlines = 1},
	    {.path = invented_text("[vdso]"),
	     .start = UINT64_C(0x7fff00000000),
	     .end = UINT64_C(0x7fff00002000)},
	};
	uint32_t index;

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		invented_ok(
		    plimp_store_add_module(&profile->store, &rows[i], &index));
}

static void invented_people(plim_profile *profile)
{
	const plim_profile_process process = {
	    .identity = {.pid = 4711},
	    .pid = 4711,
	    .parent = PLIM_NO_INDEX,
	    .previous = PLIM_NO_INDEX,
	    .has_modules = 1,
	    .name = invented_text("in\nvented"),
	};
	const plim_profile_thread threads[] = {
	    {.tid = 4711,
	     .name = invented_text("main"),
	     .start_ticks = 1000,
	     .times = {.wall_ns = 1000 * MS,
		       .cpu_ns = 350 * MS,
		       .blocked_ns = 650 * MS,
		       .sampled_ns = 300 * MS,
		       .system_ns = 50 * MS},
	     .samples = 30,
	     .blocked_samples = 65},
	    {.tid = 4712,
	     .name = invented_text("wo;rk\x1b[31m\xff"),
	     .start_ticks = 1001,
	     .times = {.wall_ns = 1000 * MS,
		       .cpu_ns = 150 * MS,
		       .waiting_ns = 20 * MS,
		       .blocked_ns = 830 * MS,
		       .sampled_ns = 150 * MS},
	     .samples = 15,
	     .blocked_samples = 83},
	};
	uint32_t index;

	invented_ok(plimp_store_add_process(&profile->store, &process, &index));
	for (size_t i = 0; i < 2; i++)
		invented_ok(plimp_store_add_thread(&profile->store, &threads[i],
						   &index));
}

static void invented_stacks(plim_profile *profile)
{
	const char *const source = "src/in\nvented.c";
	const uint32_t start =
	    invented_place(profile, "_start", "", 0, 1, MAIN_AT + 0x100);
	const uint32_t main_at =
	    invented_place(profile, "main", source, 12, 1, MAIN_AT + 0x1ff);
	const uint32_t work =
	    invented_place(profile, "work", source, 34, 1, MAIN_AT + 0x2ff);
	const uint32_t hot =
	    invented_place(profile, "hot", source, 56, 1, MAIN_AT + 0x300);
	const uint32_t poll_at =
	    invented_place(profile, "poll", "", 0, 0, LIB_AT + 0x500);
	const uint32_t begin =
	    invented_place(profile, "start", "", 0, 0, LIB_AT + 0x600);
	const uint32_t evil = invented_place(
	    profile, "ev;il\n\x1b[7m\xfe(int, char)", "", 0, 0, LIB_AT + 0x700);
	const uint32_t vector = invented_place(
	    profile,
	    "std::vector<int, std::allocator<int> >::push_back(int const&)", "",
	    0, 0, LIB_AT + 0x800);
	const uint32_t futex =
	    invented_place(profile, "futex_wait", "", 0, 0, LIB_AT + 0x900);
	const uint32_t nameless = invented_place(profile, "libhot.so.1+0x1234",
						 "", 0, 0, LIB_AT + 0x234);
	const uint32_t fast =
	    invented_function(profile, "fast", "_Z4fastv", source, 70, 1, 0, 0);
	const uint32_t in_hot =
	    invented_function(profile, "hot", "", source, 55, 1, 0, 0);
	const uint32_t first = invented_line(profile, fast, source, 71, 1);
	uint32_t inlined;
	uint32_t frames[4];

	invented_line(profile, in_hot, source, 57, 0);
	inlined = invented_frame(profile, 1, MAIN_AT + 0x310, 0, first, 2);
	memcpy(frames, (uint32_t[]){hot, work, main_at, start}, sizeof frames);
	invented_stack(profile, 0, PLIM_ACTIVITY_RUNNING, PLIM_STACK_ROOT, -1,
		       frames, 4, 20, 10 * MS);
	frames[0] = inlined;
	invented_stack(profile, 0, PLIM_ACTIVITY_RUNNING, PLIM_STACK_ROOT, -1,
		       frames, 4, 10, 210 * MS);
	memcpy(frames, (uint32_t[]){poll_at, main_at, start},
	       3 * sizeof *frames);
	invented_stack(profile, 0, PLIM_ACTIVITY_BLOCKED, PLIM_STACK_ROOT, 7,
		       frames, 3, 65, 360 * MS);
	memcpy(frames, (uint32_t[]){vector, evil, begin}, 3 * sizeof *frames);
	invented_stack(profile, 1, PLIM_ACTIVITY_RUNNING, PLIM_STACK_ROOT, -1,
		       frames, 3, 9, 10 * MS);
	invented_stack(profile, 1, PLIM_ACTIVITY_RUNNING, PLIM_STACK_CUT, -1,
		       &nameless, 1, 6, 100 * MS);
	frames[0] = futex;
	invented_stack(profile, 1, PLIM_ACTIVITY_BLOCKED, PLIM_STACK_ROOT, 202,
		       frames, 3, 83, 180 * MS);
	invented_special(profile, 0, PLIM_ACTIVITY_RUNNING, PLIM_SPECIAL_SYSTEM,
			 50 * MS);
	invented_special(profile, 1, PLIM_ACTIVITY_WAITING,
			 PLIM_SPECIAL_WAITING, 20 * MS);
	qsort(profile->store.samples.items, profile->store.samples.count,
	      sizeof(plim_profile_sample), invented_order);
}

static void invented_facts(plim_profile *profile)
{
	static const uint64_t metrics[][2] = {
	    {PLIM_METRIC_CAPTURED, 193},
	    {PLIM_METRIC_DROPPED, 7},
	    {PLIM_METRIC_RUNNING, 45},
	    {PLIM_METRIC_BLOCKED, 148},
	    {PLIM_METRIC_OFFERED, 200},
	    {PLIM_METRIC_THREADS_SEEN, 2},
	    {PLIM_METRIC_THREADS_AT_START, 2},
	    {PLIM_METRIC_THREADS_PRESENT, 2},
	    {PLIM_METRIC_BYTES_COPIED, 3 << 20},
	    {PLIM_METRIC_SAMPLER_MEMORY, 1 << 20},
	    {PLIM_METRIC_DURATION, 1000 * MS},
	    {PLIM_METRIC_HZ_ASKED, 100},
	    {PLIM_METRIC_HZ_EFFECTIVE, 100},
	    {PLIM_METRIC_TICKS_PLANNED, 100},
	    {PLIM_METRIC_UNSEEN, 5},
	    {PLIM_METRIC_FAILED_MOVED, 2},
	    {PLIM_METRIC_STACKS_ROOT, 187},
	    {PLIM_METRIC_STACKS_CUT, 6},
	    {PLIM_METRIC_FRAMES, 13},
	    {PLIM_METRIC_FRAMES_UNNAMED, 1},
	    {PLIM_METRIC_STACKS, 8},
	    {PLIM_METRIC_PROCESSES, 1},
	    {PLIM_METRIC_DESCRIPTORS, 4},
	};
	const plim_profile_facts facts = {
	    .target = {.pid = 4711},
	    .name = invented_text("in\nvented"),
	    .start_unix_ns = UINT64_C(1700000000123456789),
	    .start_ns = START,
	    .duration_ns = 1000 * MS,
	    .duration_asked_ns = 1000 * MS,
	    .duration_effective_ns = 1000 * MS,
	    .hz_asked = 100,
	    .hz_effective = 100,
	    .period_ns = 10 * MS,
	    .stack_bytes = 16384,
	    .memory_bytes = 1 << 20,
	    .flags = PLIM_PROFILE_PTRACE,
	    .end = PLIM_PROFILE_END_DURATION,
	    .is_resolved = 1,
	};

	profile->facts = facts;
	profile->has_run = 1;
	for (size_t i = 0; i < sizeof metrics / sizeof metrics[0]; i++)
		profile->metrics[metrics[i][0]] = metrics[i][1];
	profile->target_cpu = plim_count_known(500 * MS, PLIM_METHOD_SYSTEM);
	profile->sampler_cpu = plim_count_known(8 * MS, PLIM_METHOD_SYSTEM);
	profile->total = (plim_profile_times){.wall_ns = 2000 * MS,
					      .cpu_ns = 500 * MS,
					      .waiting_ns = 20 * MS,
					      .blocked_ns = 1480 * MS,
					      .sampled_ns = 450 * MS,
					      .system_ns = 50 * MS};
}

static void invented_tiers(plim_profile *profile)
{
	const plim_count works = plim_count_known(1, PLIM_METHOD_SYSTEM);
	const char *const texts[][2] = {
	    {"perf", "perf events: running threads, with registers and stack"},
	    {"ptrace", "ptrace: running threads, each stopped for a moment; "
		       "this disturbs the target"},
	    {"no_stop", "sleeping threads, read without a stop and without a "
			"signal"}};

	for (int i = 0; i < 3; i++)
		profile->tier_rows[i] = (plim_profile_tier){.tier = i + 1,
							    .used = i != 1,
							    .works = works,
							    .word = texts[i][0],
							    .text = texts[i][1],
							    .remedy = ""};
	strcpy(profile->lacks[0],
	       "time in the kernel is counted, and not sampled");
	profile->lack_count = 1;
}

plim_profile *invented_profile(void)
{
	plim_profile *profile = calloc(1, sizeof *profile);

	if (profile == NULL)
		abort();
	plimp_store_begin(&profile->store, NULL, 0);
	invented_people(profile);
	invented_modules(profile);
	invented_stacks(profile);
	invented_facts(profile);
	invented_tiers(profile);
	return profile;
}

void invented_free(plim_profile *profile)
{
	plimp_store_end(&profile->store);
	free(profile);
}
