/*
 * test_self.c - this process's own stacks, in place and as a copy, against
 * glibc's backtrace(): from plain functions, from a callback that qsort()
 * calls, with frames whose size varies, in a signal handler on the same stack
 * and on an alternate one, and with too little copied.
 */
#include "image.h"

#include "unwind/rules.h"

#include <alloca.h>
#include <execinfo.h>
#include <inttypes.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <cmocka.h>

enum { RANGES = 256, FRAMES = 256, RSP = 7, RIP = 16 };

static struct plimp_code_range ranges[RANGES];
static struct image images[RANGES];
static struct plimp_code_map map = {
    .ranges = ranges, .generation = 7, .machine = IMAGE_X86};
static struct plimp_pc_cache *cache;
static uint64_t stack_top;
static volatile int compared, wrong;

static int read_code(void *user, uint64_t address, void *bytes, size_t size)
{
	const struct plimp_code_range *range = plimp_code_find(&map, address);

	(void)user;
	if (!range || size > range->end - address)
		return -1;
	memcpy(bytes, (void *)(uintptr_t)address, size);
	return 0;
}

/* Another stack of this process: its words are where they are. */
static int read_word(void *user, uint64_t address, uint64_t *value)
{
	(void)user;
	if (address < 0x10000 || address % 8)
		return -1;
	memcpy(value, (void *)(uintptr_t)address, sizeof(*value));
	return 0;
}

static void add_range(const char *line)
{
	struct plimp_code_range *range = &ranges[map.count];
	struct image *image = &images[map.count];
	char flags[5], path[256] = "";
	uint64_t offset;

	if (sscanf(line,
		   "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %*s %*s %255s",
		   &range->start, &range->end, flags, &offset, path) < 4)
		return;
	if (!strcmp(path, "[stack]"))
		stack_top = range->end;
	if (flags[2] != 'x' || map.count == RANGES)
		return;
	struct plimp_rules *rules = NULL;

	if (path[0] == '/' && !image_open(image, path)) {
		assert_int_equal(plimp_elf_bias(&image->elf, offset,
						range->start, &range->bias),
				 PLIM_OK);
		(void)plimp_rules_build(&rules, &image->elf, NULL, NULL, NULL);
	}
	/* The vDSO: as it lies in memory. */
	if (!strcmp(path, "[vdso]")) {
		image->bytes = (uint8_t *)(uintptr_t)range->start;
		image->size = (size_t)(range->end - range->start);
		image->base = range->start;
		image_over(image);
		assert_int_equal(
		    plimp_elf_open_loaded(&image->elf, &image->reader,
					  range->start, image->size),
		    PLIM_OK);
		assert_int_equal(
		    plimp_elf_bias(&image->elf, 0, range->start, &range->bias),
		    PLIM_OK);
		assert_int_equal(
		    plimp_rules_build(&rules, &image->elf, NULL, NULL, NULL),
		    PLIM_OK);
		assert_true(plimp_rules_facts(rules).entries > 2);
	}
	range->rules = rules;
	map.count++;
}

static int setup(void **state)
{
	char line[512];
	FILE *maps = fopen("/proc/self/maps", "r");

	(void)state;
	assert_non_null(maps);
	while (fgets(line, sizeof(line), maps))
		add_range(line);
	fclose(maps);
	cache = calloc(1, plimp_pc_cache_size());
	assert_non_null(cache);
	assert_true(map.count > 2 && stack_top);
	return 0;
}

static void take_registers(const ucontext_t *context,
			   struct plimp_registers *registers)
{
	/* By DWARF number: where ucontext has them. */
	static const int places[17] = {
	    REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI,
	    REG_RBP, REG_RSP, REG_R8,  REG_R9,	REG_R10, REG_R11,
	    REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP};

	memset(registers, 0, sizeof(*registers));
	registers->known = 0x1ffff;
	for (int i = 0; i < 17; i++)
		registers->value[i] =
		    (uint64_t)context->uc_mcontext.gregs[places[i]];
}

/* The first frame is this function's in both; from the second on they are
 * the same. */
static void differ(const uint64_t *frames, const unsigned char *exact,
		   const struct plimp_unwound *unwound, void *const *peer,
		   size_t count)
{
	int same = unwound->count == count && unwound->end == PLIM_STACK_ROOT;

	for (size_t i = 1; same && i < count; i++)
		same = frames[i] + !exact[i] == (uintptr_t)peer[i];
	compared++;
	if (!same)
		wrong++;
}

/* What lies between variables is no variable's, and copied all the same: the
 * address sanitizer is not to look. */
__attribute__((no_sanitize("address"))) static void
copy_stack(volatile unsigned char *to, const volatile unsigned char *from,
	   size_t size)
{
	for (size_t i = 0; i < size; i++)
		to[i] = from[i];
}

static __attribute__((noinline)) void check(void)
{
	static unsigned char copy[1 << 20];
	uint64_t frames[FRAMES];
	unsigned char exact[FRAMES];
	void *peer[FRAMES];
	struct plimp_registers registers;
	struct plimp_unwound unwound;
	ucontext_t context;
	size_t count = (size_t)backtrace(peer, FRAMES);

	getcontext(&context);
	take_registers(&context, &registers);
	uint64_t low = registers.value[RSP] - PLIMP_RED_ZONE;
	struct plimp_stack_bytes stack = {.low = low,
					  .bytes =
					      (unsigned char *)(uintptr_t)low,
					  .size = stack_top - low,
					  .word = read_word,
					  .code = read_code};

	/* On an alternate stack: that one alone, the rest by words. */
	if (stack.size > 8 << 20)
		stack.size = 4096;
	plimp_unwind(&map, cache, &registers, &stack, frames, exact, FRAMES,
		     &unwound);
	differ(frames, exact, &unwound, peer, count);
	plimp_unwind(&map, cache, &registers, &stack, frames, exact, FRAMES,
		     &unwound);
	differ(frames, exact, &unwound, peer, count);
	if (stack.size > sizeof(copy))
		return;
	copy_stack(copy, stack.bytes, stack.size);
	stack.bytes = copy;
	plimp_unwind(&map, NULL, &registers, &stack, frames, exact, FRAMES,
		     &unwound);
	differ(frames, exact, &unwound, peer, count);
	/* A slice that ends in the first frames says that it does. */
	stack.size = 256;
	stack.is_cut = 1;
	stack.word = NULL;
	plimp_unwind(&map, cache, &registers, &stack, frames, exact, FRAMES,
		     &unwound);
	compared++;
	if (unwound.end != PLIM_STACK_CUT || unwound.missed < low + 248)
		wrong++;
}

static int by_value(const void *one, const void *other)
{
	check();
	return *(const int *)one - *(const int *)other;
}

static __attribute__((noinline)) int deep(int size)
{
	volatile char *bytes = alloca((size_t)size + 1);
	int values[4] = {3, 1, 2, 0};

	bytes[size] = (char)size;
	if (size < 16) {
		check();
		qsort(values, 4, sizeof(values[0]), by_value);
		raise(SIGUSR1);
		return bytes[size];
	}
	return deep(size - 16) + bytes[size];
}

static void handler(int number)
{
	(void)number;
	check();
}

static void test_plain(void **state)
{
	(void)state;
	signal(SIGUSR1, handler);
	wrong = compared = 0;
	deep(400);
	assert_true(compared >= 15);
	assert_int_equal(wrong, 0);
}

static void test_other_stack(void **state)
{
	static char bytes[1 << 16] __attribute__((aligned(16)));
	const stack_t stack = {.ss_sp = bytes, .ss_size = sizeof(bytes)};
	struct sigaction action = {.sa_handler = handler,
				   .sa_flags = SA_ONSTACK};

	(void)state;
	assert_int_equal(sigaltstack(&stack, NULL), 0);
	assert_int_equal(sigaction(SIGUSR1, &action, NULL), 0);
	wrong = compared = 0;
	deep(200);
	assert_true(compared >= 15);
	assert_int_equal(wrong, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_plain),
	    cmocka_unit_test(test_other_stack),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
