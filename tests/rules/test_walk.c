/*
 * test_walk.c - tables and walks over files, code and stacks made by hand:
 * what each frame is, and why each stack ends.
 */
#include "image.h"

#include "unwind/rules.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum {
	BIAS = 0x400000,
	CODE = IMAGE_CODE + BIAS,
	STACK = 0x70000000,
	WORDS = 512,
	FRAMES = 32,
	RBP = 6,
	RSP = 7,
	RIP = 16
};
#if defined(PLIM_WITH_GZIP)
#define HAS_GZIP 1
#else
#define HAS_GZIP 0
#endif
#define BIT(n) (UINT64_C(1) << (n))

static struct image_bytes section, program;
static struct image image;
static struct plimp_rules *rules;
static struct plimp_code_range ranges[2];
static struct plimp_code_map map;
static uint8_t code[IMAGE_CODE_SIZE];
static uint64_t words[WORDS];
static struct plimp_registers registers;
static struct plimp_stack_bytes stack;
static uint64_t table[4]; /* a word of memory beside: at 0x60000000 */
static uint64_t frames[FRAMES];
static unsigned char exact[FRAMES];
static struct plimp_unwound unwound;

static int read_code(void *user, uint64_t address, void *bytes, size_t size)
{
	(void)user;
	if (address < CODE || address - CODE > sizeof(code) - size)
		return -1;
	memcpy(bytes, code + (address - CODE), size);
	return 0;
}

static int read_table(void *user, uint64_t address, uint64_t *value)
{
	(void)user;
	if (address < 0x60000000 ||
	    address - 0x60000000 > sizeof(table) - sizeof(*value))
		return -1;
	memcpy(value, (char *)table + (address - 0x60000000), sizeof(*value));
	return 0;
}

/* Adds a function at an offset of the code; its CIE is the section's first. */
static void function_of(uint64_t offset, uint64_t size, const char *text,
			size_t text_size)
{
	memset(&program, 0, sizeof(program));
	image_put_all(&program, text, text_size);
	image_fde(&section, 0, IMAGE_CODE + offset, size, &program);
}
#define FUNCTION(offset, size, text) \
	function_of(offset, size, text, sizeof(text) - 1)

static void build(int machine)
{
	struct image_parts parts = {.machine = machine, .eh_frame = &section};

	image_make(&image, &parts);
	assert_int_equal(
	    plimp_rules_build(&rules, &image.elf, NULL, NULL, NULL), PLIM_OK);
	ranges[0] = (struct plimp_code_range){.start = CODE,
					      .end = CODE + IMAGE_CODE_SIZE,
					      .bias = BIAS,
					      .rules = rules};
	ranges[1] = (struct plimp_code_range){.start = 0x50000000,
					      .end = 0x50001000,
					      .flags = PLIMP_CODE_NO_FILE};
	map = (struct plimp_code_map){.ranges = ranges,
				      .count = 2,
				      .generation = 1,
				      .machine = (uint16_t)machine};
}

/* A leaf at +0x100 (rsp + 8), a function at +0x200 that pushes rbp and sets
 * it, +0x300 of 32 bytes of locals, and the first one, +0x400. */
static int setup(void **state)
{
	(void)state;
	memset(&section, 0, sizeof(section));
	memset(code, 0xcc, sizeof(code));
	memset(words, 0, sizeof(words));
	image_cie_x86(&section, "zR");
	FUNCTION(0x100, 0x40, "");
	FUNCTION(0x200, 0x40,
		 "\x41\x0e\x10\x86\x02\x43\x0d\x06\x70\x0c\x07\x08");
	FUNCTION(0x300, 0x40, "\x44\x0e\x28");
	FUNCTION(0x400, 0x40, "\x07\x10");
	registers = (struct plimp_registers){.known = 0x1ffff};
	registers.value[RSP] = STACK + 128;
	registers.value[RBP] = 0x1234;
	stack = (struct plimp_stack_bytes){.low = STACK,
					   .bytes = (unsigned char *)words,
					   .size = sizeof(words),
					   .word = read_table,
					   .code = read_code};
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	plimp_rules_free(rules, NULL);
	rules = NULL;
	image_close(&image);
	return 0;
}

static void walk(uint64_t offset)
{
	struct plimp_pc_cache *cache = calloc(1, plimp_pc_cache_size());
	uint64_t again[FRAMES];
	struct plimp_unwound other;

	assert_non_null(cache);
	registers.value[RIP] = CODE + offset;
	memset(frames, 0, sizeof(frames));
	plimp_unwind(&map, NULL, &registers, &stack, frames, exact, FRAMES,
		     &unwound);
	/* The same with a cache, empty and filled. */
	for (int i = 0; i < 2; i++) {
		plimp_unwind(&map, cache, &registers, &stack, again, NULL,
			     FRAMES, &other);
		assert_int_equal(other.count, unwound.count);
		assert_int_equal(other.end, unwound.end);
		assert_memory_equal(again, frames,
				    other.count * sizeof(*frames));
	}
	free(cache);
}

static void expect(int end, size_t count, ...)
{
	va_list list;

	assert_int_equal(unwound.end, end);
	assert_int_equal(unwound.count, count);
	va_start(list, count);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(frames[i], CODE + va_arg(list, int));
	va_end(list);
}

/* A return address into the code, on the stack `at` words above sp. */
static void put_return(size_t at, uint64_t offset)
{
	words[16 + at] = CODE + offset;
}

/* call rel32 that ends at `end`. */
static void put_call(uint64_t end, uint64_t target)
{
	uint32_t by = (uint32_t)(target - end);

	code[end - 5] = 0xe8;
	memcpy(code + end - 4, &by, 4);
}

static void test_simple(void **state)
{
	(void)state;
	build(IMAGE_X86);
	put_return(0, 0x310);
	put_return(5, 0x410);
	walk(0x100);
	expect(PLIM_STACK_ROOT, 3, 0x100, 0x30f, 0x40f);
	assert_int_equal(exact[0], 1);
	assert_int_equal(exact[1], 0);
	/* Behind the last byte of a function there is no rule. */
	walk(0x13f);
	expect(PLIM_STACK_ROOT, 3, 0x13f, 0x30f, 0x40f);
}

static void test_frame_pointer(void **state)
{
	(void)state;
	build(IMAGE_X86);
	registers.value[RBP] = STACK + 128 + 80;
	words[16 + 10] = 0x77;
	put_return(11, 0x310);
	put_return(16, 0x410);
	walk(0x220);
	expect(PLIM_STACK_ROOT, 3, 0x220, 0x30f, 0x40f);
	/* Where it leads below the stack pointer it is not believed. */
	registers.value[RBP] = STACK + 64;
	walk(0x220);
	expect(PLIM_STACK_BAD_RULES, 1, 0x220);
}

/* After pop %rbp the row still says "saved at CFA - 16": that is below the
 * stack pointer, rbp has its value again, and the word there is old. */
static void test_red_zone(void **state)
{
	(void)state;
	build(IMAGE_X86);
	words[15] = 0xdead;
	put_return(0, 0x220); /* called by the function that keeps one */
	registers.value[RBP] = STACK + 128 + 80;
	words[16 + 10] = 0;
	put_return(11, 0x410);
	walk(0x238);
	expect(PLIM_STACK_ROOT, 3, 0x238, 0x21f, 0x40f);
}

static void test_ends(void **state)
{
	(void)state;
	build(IMAGE_X86);
	walk(0x100); /* return address 0 */
	expect(PLIM_STACK_ROOT, 1, 0x100);
	words[16] = 0x33330001;
	walk(0x100);
	assert_int_equal(unwound.end, PLIM_STACK_UNKNOWN_CODE);
	assert_int_equal(unwound.count, 2);
	assert_int_equal(frames[1], 0x33330000);
	/* The copy ends where the next return address would be. */
	put_return(0, 0x310);
	stack.size = 128 + 8 + 32;
	stack.is_cut = 1;
	walk(0x100);
	expect(PLIM_STACK_CUT, 2, 0x100, 0x30f);
	assert_int_equal(unwound.missed, STACK + 128 + 8 + 32);
	stack.is_cut = 0;
	walk(0x100);
	expect(PLIM_STACK_BAD_MEMORY, 2, 0x100, 0x30f);
	/* Not to be had at all. */
	registers.value[RSP] = 0x10;
	stack.is_cut = 1;
	walk(0x100);
	expect(PLIM_STACK_BAD_MEMORY, 1, 0x100);
	registers.known = BIT(RIP);
	walk(0x100);
	expect(PLIM_STACK_NO_STACK, 1, 0x100);
}

static void test_depth(void **state)
{
	(void)state;
	build(IMAGE_X86);
	put_return(0, 0x310);
	for (size_t i = 1; 5 * i + 16 < WORDS; i++)
		put_return(5 * i, 0x310);
	registers.value[RIP] = CODE + 0x100;
	plimp_unwind(&map, NULL, &registers, &stack, frames, exact, 5,
		     &unwound);
	expect(PLIM_STACK_DEPTH, 5, 0x100, 0x30f, 0x30f, 0x30f, 0x30f);
	/* Exactly as many as there are is a whole stack. */
	put_return(10, 0x410);
	plimp_unwind(&map, NULL, &registers, &stack, frames, exact, 4,
		     &unwound);
	expect(PLIM_STACK_ROOT, 4, 0x100, 0x30f, 0x30f, 0x40f);
}

/* The CFA by rbx, which the leaf had saved: the walk starts again with all
 * registers. */
static void test_other_register(void **state)
{
	(void)state;
	FUNCTION(0x500, 0x40, "\x0e\x10\x83\x02"); /* rbx saved */
	FUNCTION(0x600, 0x40, "\x0c\x03\x10");	   /* CFA = rbx + 16 */
	build(IMAGE_X86);
	words[16] = STACK + 128 + 400;
	put_return(1, 0x620);
	put_return(51, 0x410);
	walk(0x520);
	expect(PLIM_STACK_ROOT, 3, 0x520, 0x61f, 0x40f);
	/* A leaf that has it in the register. */
	registers.value[3] = STACK + 128 + 400;
	walk(0x620);
	expect(PLIM_STACK_ROOT, 2, 0x620, 0x40f);
	/* Nobody tells. */
	registers.known = BIT(RSP) | BIT(RIP);
	walk(0x620);
	expect(PLIM_STACK_NO_POINTER, 1, 0x620);
}

/* A stack that was aligned: CFA = *(rbp - 8), rbp saved at rbp. */
static void test_expression(void **state)
{
	(void)state;
	FUNCTION(0x500, 0x40, "\x0f\x03\x76\x78\x06\x10\x06\x02\x76\x00");
	build(IMAGE_X86);
	registers.value[RBP] = STACK + 128 + 80;
	words[16 + 9] = STACK + 128 + 160;
	words[16 + 10] = STACK + 128 + 240; /* of the caller */
	put_return(19, 0x220);
	words[16 + 30] = 0;
	put_return(31, 0x410);
	walk(0x510);
	expect(PLIM_STACK_ROOT, 3, 0x510, 0x21f, 0x40f);
	/* Downwards: no progress. */
	words[16 + 9] = STACK + 128;
	walk(0x510);
	expect(PLIM_STACK_BAD_RULES, 1, 0x510);
}

/* A signal frame: registers at fixed distances of rsp, a stack of its own,
 * and the exact instruction, the first of a function. */
static void test_signal(void **state)
{
	(void)state;
	size_t cie = image_cie_x86(&section, "zRS");

	memset(&program, 0, sizeof(program));
	image_put_all(&program, "\x0f\x04\x77\xa0\x01\x06", 6); /* 160 */
	image_put_all(&program, "\x10\x06\x03\x77\xf8\x00", 6); /* 120 */
	image_put_all(&program, "\x10\x10\x03\x77\xa8\x01", 6); /* 168 */
	image_fde(&section, cie, IMAGE_CODE + 0x6ff, 0x10, &program);
	build(IMAGE_X86);
	put_return(0, 0x700);		    /* the handler is the leaf */
	words[17 + 20] = STACK + 8;	    /* rsp: further down */
	words[17 + 15] = STACK + 128 + 320; /* rbp */
	words[17 + 21] = CODE + 0x200;	    /* rip: before push %rbp */
	words[1] = CODE + 0x220;
	words[16 + 40] = 0;
	put_return(41, 0x410);
	walk(0x100);
	expect(PLIM_STACK_ROOT, 5, 0x100, 0x700, 0x200, 0x21f, 0x40f);
	assert_int_equal(exact[1], 1);
	assert_int_equal(exact[2], 1);
	assert_int_equal(exact[3], 0);
	/* One that leads to itself for ever. */
	words[17 + 20] = STACK + 128 + 8;
	words[17 + 21] = CODE + 0x700;
	walk(0x100);
	assert_int_equal(unwound.end, PLIM_STACK_BAD_RULES);
}

/* musl's: mov $15,%rax; syscall, without rules. */
static void test_trampoline(void **state)
{
	(void)state;
	build(IMAGE_X86);
	memcpy(code + 0x800, "\x48\xc7\xc0\x0f\0\0\0\x0f\x05", 9);
	put_return(0, 0x800);
	words[17 + 20] = STACK + 8;
	words[17 + 15] = STACK + 128 + 320;
	words[17 + 21] = CODE + 0x220; /* keeps a frame pointer */
	words[16 + 40] = 0;
	put_return(41, 0x410);
	walk(0x100);
	expect(PLIM_STACK_ROOT, 4, 0x100, 0x800, 0x220, 0x40f);
	assert_int_equal(exact[1], 1);
	assert_int_equal(exact[2], 1);
}

static void test_stubs(void **state)
{
	(void)state;
	build(IMAGE_X86);
	/* endbr64; bnd jmp - jmp; push; jmp - push; jmp: the table's first */
	memcpy(code + 0x900, "\xf3\x0f\x1e\xfa\xf2\xff\x25\0\0\0\0", 11);
	memcpy(code + 0x910, "\xff\x25\0\0\0\0\x68\1\0\0\0\xe9\0\0\0\0", 16);
	memcpy(code + 0x920, "\xff\x35\0\0\0\0\xff\x25\0\0\0\0", 12);
	put_return(0, 0x410);
	walk(0x900);
	expect(PLIM_STACK_ROOT, 2, 0x900, 0x40f);
	walk(0x904);
	expect(PLIM_STACK_ROOT, 2, 0x904, 0x40f);
	walk(0x910);
	expect(PLIM_STACK_ROOT, 2, 0x910, 0x40f);
	walk(0x916);
	expect(PLIM_STACK_ROOT, 2, 0x916, 0x40f);
	words[16] = 1;
	put_return(1, 0x410);
	walk(0x91b);
	expect(PLIM_STACK_ROOT, 2, 0x91b, 0x40f);
	walk(0x920);
	expect(PLIM_STACK_ROOT, 2, 0x920, 0x40f);
	put_return(2, 0x410);
	words[17] = 2;
	walk(0x926);
	expect(PLIM_STACK_ROOT, 2, 0x926, 0x40f);
}

/* Code without rules that keeps a frame pointer. */
static void test_by_pointer(void **state)
{
	(void)state;
	build(IMAGE_X86);
	registers.value[RBP] = STACK + 128 + 80;
	words[16 + 10] = STACK + 128 + 160;
	put_return(11, 0xa80);
	words[16 + 20] = 0;
	put_return(21, 0x310);
	put_return(26, 0x410);
	/* Not where no call ends. */
	walk(0xa20);
	expect(PLIM_STACK_NO_RULES, 1, 0xa20);
	put_call(0xa80, 0xa00);
	put_call(0x310, 0xa00);
	walk(0xa20);
	expect(PLIM_STACK_ROOT, 4, 0xa20, 0xa7f, 0x30f, 0x40f);
	assert_int_equal(unwound.by_pointer, 2);
	/* Its first instructions: push %rbp; mov %rsp,%rbp; and ret. */
	memcpy(code + 0xb00, "\x55\x48\x89\xe5", 4);
	code[0xb10] = 0xc3;
	put_return(0, 0xa80);
	walk(0xb00);
	assert_int_equal(frames[1], CODE + 0xa7f);
	walk(0xb10);
	assert_int_equal(frames[1], CODE + 0xa7f);
	words[16] = STACK + 128 + 80;
	put_return(1, 0xa80);
	walk(0xb01);
	assert_int_equal(frames[1], CODE + 0xa7f);
	/* A leaf that has pushed nothing, and does not touch rbp: the call
	 * before the word on top leads into it. */
	put_call(0x410, 0xd00);
	put_return(0, 0x410);
	registers.value[RBP] = 0x1234;
	walk(0xd10);
	expect(PLIM_STACK_ROOT, 2, 0xd10, 0x40f);
	/* The chain ends where xor %ebp,%ebp had been. */
	registers.value[RBP] = 0;
	walk(0xb80);
	expect(PLIM_STACK_NO_RULES, 1, 0xb80);
	memcpy(code + 0xb70, "\x31\xed", 2);
	walk(0xb80);
	expect(PLIM_STACK_ROOT, 1, 0xb80);
	registers.known = BIT(RSP) | BIT(RIP);
	walk(0xb90);
	expect(PLIM_STACK_NO_POINTER, 1, 0xb90);
	/* The file's first instructions have nobody who called them. */
	walk(0xc08);
	expect(PLIM_STACK_ROOT, 1, 0xc08);
}

/* Code without rules that keeps no frame pointer, and whose next instructions
 * are its last: python's trampolines. rbp leads to a pair that looks right. */
static void test_tail(void **state)
{
	struct plimp_pc_cache *kept;

	(void)state;
	FUNCTION(0x600, 0x40, "\x0c\x03\x10"); /* CFA = rbx + 16 */
	build(IMAGE_X86);
	/* sub $8,%rsp; call *%rcx; add $8,%rsp; ret */
	memcpy(code + 0xa04, "\x48\x83\xec\x08\xff\xd1", 6);
	memcpy(code + 0xa0a, "\x48\x83\xc4\x08\xc3", 5);
	put_call(0x310, 0xa00);
	put_call(0x320, 0xa00);
	registers.value[RBP] = STACK + 128 + 80;
	words[16 + 10] = 0;
	put_return(11, 0x320);
	put_return(0, 0xa0a);
	put_return(2, 0x310);
	put_return(7, 0xa0a);
	put_return(9, 0x310);
	put_return(14, 0x410);
	walk(0x100);
	expect(PLIM_STACK_ROOT, 6, 0x100, 0xa09, 0x30f, 0xa09, 0x30f, 0x40f);
	assert_int_equal(unwound.by_pointer, 0);
	/* From the instruction itself, too. */
	put_return(1, 0x310);
	put_return(6, 0x410);
	walk(0xa0a);
	expect(PLIM_STACK_ROOT, 3, 0xa0a, 0x30f, 0x40f);
	/* A rule that was kept leads nowhere else once other code stands
	 * there: no call ends at what the stack has in its place. */
	kept = calloc(1, plimp_pc_cache_size());
	assert_non_null(kept);
	registers.value[RIP] = CODE + 0x100;
	plimp_unwind(&map, kept, &registers, &stack, frames, NULL, FRAMES,
		     &unwound);
	assert_int_equal(frames[2], CODE + 0x30f);
	put_return(2, 0x318);
	plimp_unwind(&map, kept, &registers, &stack, frames, NULL, FRAMES,
		     &unwound);
	for (size_t i = 0; i < unwound.count; i++)
		assert_int_not_equal(frames[i], CODE + 0x317);
	free(kept);
	/* No call ends where it would lead. */
	registers.value[RBP] = 0x1234;
	walk(0x100);
	expect(PLIM_STACK_NO_RULES, 2, 0x100, 0xa09);
	put_return(2, 0x310);
	/* Something else is done before it returns. */
	memcpy(code + 0xa0a, "\x48\x83\xc4\x08\x90\xc3", 6);
	walk(0x100);
	expect(PLIM_STACK_NO_RULES, 2, 0x100, 0xa09);
	/* At the end of the code: what is behind it cannot be read. */
	memcpy(code + 0xfff9, "\xff\xd1\x48\x83\xc4\x08\xc3", 7);
	put_return(0, 0xfffb);
	put_return(7, 0x410);
	walk(0x100);
	expect(PLIM_STACK_ROOT, 4, 0x100, 0xfffa, 0x30f, 0x40f);
	/* add $0x18,%rsp; pop %rbx; pop %r12; pop %rbp; ret: rbp is the one of
	 * a caller that keeps it, rbx the one that the CFA of another is by. */
	memcpy(code + 0xa0a, "\x48\x83\xc4\x18\x5b\x41\x5c\x5d\xc3", 9);
	put_call(0x220, 0xa00);
	put_call(0x620, 0xa00);
	put_return(0, 0xa0a);
	words[16 + 4] = STACK + 128 + 160;
	words[16 + 5] = 0x77;
	words[16 + 6] = STACK + 128 + 240;
	put_return(7, 0x220);
	words[16 + 30] = 0;
	put_return(31, 0x410);
	walk(0x100);
	expect(PLIM_STACK_ROOT, 4, 0x100, 0xa09, 0x21f, 0x40f);
	put_return(7, 0x620);
	put_return(21, 0x410);
	walk(0x100);
	expect(PLIM_STACK_ROOT, 4, 0x100, 0xa09, 0x61f, 0x40f);
	/* leave; ret and lea -8(%rbp),%rsp; pop %rbx; pop %rbp; ret */
	memcpy(code + 0xa0a, "\xc9\xc3", 2);
	registers.value[RBP] = STACK + 128 + 80;
	words[16 + 10] = STACK + 128 + 240;
	put_return(11, 0x220);
	walk(0x100);
	expect(PLIM_STACK_ROOT, 4, 0x100, 0xa09, 0x21f, 0x40f);
	memcpy(code + 0xa0a, "\x48\x8d\x65\xf8\x5b\x5d\xc3", 7);
	words[16 + 9] = STACK + 128 + 160;
	put_return(11, 0x620);
	walk(0x100);
	expect(PLIM_STACK_ROOT, 4, 0x100, 0xa09, 0x61f, 0x40f);
	/* Places that a word has no room for, below the stack pointer: it is
	 * no tail, but there is the frame pointer. */
	memcpy(code + 0xa0a, "\x48\x8d\xa5\0\0\xf7\xff\x5d", 8);
	memcpy(code + 0xa12, "\x48\x81\xc4\0\0\x09\0\xc3", 8);
	words[16 + 9] = 0x1234;
	put_return(11, 0x220);
	walk(0x100);
	expect(PLIM_STACK_ROOT, 4, 0x100, 0xa09, 0x21f, 0x40f);
	assert_int_equal(unwound.by_pointer, 1);
	/* rbp below the stack pointer, and not to be had. */
	memcpy(code + 0xa0a, "\x48\x8d\x65\xf8\x5b\x5d\xc3", 7);
	registers.value[RBP] = STACK + 64;
	words[9] = CODE + 0x620;
	walk(0x100);
	expect(PLIM_STACK_NO_RULES, 2, 0x100, 0xa09);
	registers.known &= ~BIT(RBP);
	walk(0x100);
	expect(PLIM_STACK_NO_POINTER, 2, 0x100, 0xa09);
}

/* Frames of Java's interpreter at words 60 and 90 of the stack; what they
 * called ends at 50, and the first is called by way of a stub whose frame is at
 * 120. */
static void put_java(void)
{
	ranges[0].flags = PLIMP_CODE_NO_FILE;
	memcpy(code + 0xd1e, "\xff\xd0", 2);
	put_call(0x310, 0xd00);
	words[46] = STACK + 60 * 8;
	words[47] = CODE + 0xa80; /* no call ends there */
	words[60 - 9] = STACK + 51 * 8;
	words[60 - 2] = STACK + 50 * 8;
	words[60 - 1] = STACK + 66 * 8;
	words[60] = STACK + 90 * 8;
	words[61] = CODE + 0xa90;
	words[90 - 9] = STACK + 80 * 8;
	words[90 - 2] = STACK + 66 * 8;
	words[90 - 1] = STACK + 92 * 8;
	words[90] = STACK + 120 * 8;
	words[91] = CODE + 0xd20;
	words[120] = 0x77;
	words[121] = CODE + 0x310;
	words[126] = CODE + 0x410;
	registers.value[RBP] = STACK + 46 * 8;
}

static void test_java(void **state)
{
	(void)state;
	build(IMAGE_X86);
	put_java();
	/* A compiled method that preserves the frame pointer. */
	walk(0xb60);
	expect(PLIM_STACK_ROOT, 6, 0xb60, 0xa7f, 0xa8f, 0xd1f, 0x30f, 0x40f);
	assert_int_equal(unwound.by_pointer, 4);
	/* One that does not: the frame pointer is that of who called it. */
	registers.value[RBP] = STACK + 60 * 8;
	walk(0xb60);
	expect(PLIM_STACK_NO_RULES, 1, 0xb60);
	words[60 - 2] = STACK + 20 * 8;
	walk(0xb60);
	expect(PLIM_STACK_NO_RULES, 1, 0xb60);
	/* One that is too far from where the interpreter called. */
	words[60 - 2] = STACK + 50 * 8;
	words[30] = STACK + 60 * 8;
	words[31] = CODE + 0xa80;
	registers.value[RBP] = STACK + 30 * 8;
	walk(0xb60);
	expect(PLIM_STACK_NO_RULES, 1, 0xb60);
	/* The interpreter itself, which has called nobody. */
	registers.value[RBP] = STACK + 60 * 8;
	words[60 - 2] = 0;
	walk(0xa70);
	expect(PLIM_STACK_ROOT, 5, 0xa70, 0xa8f, 0xd1f, 0x30f, 0x40f);
	/* As newer ones tell it. */
	words[60 - 9] = (uint64_t)-9;
	words[90 - 9] = (uint64_t)-10;
	words[90 - 2] = (uint64_t)-24;
	walk(0xa70);
	expect(PLIM_STACK_ROOT, 5, 0xa70, 0xa8f, 0xd1f, 0x30f, 0x40f);
	/* What it called is not where it left off. */
	words[90 - 2] = (uint64_t)-30;
	walk(0xa70);
	expect(PLIM_STACK_NO_RULES, 2, 0xa70, 0xa8f);
	/* Of a file's code nothing of the kind is believed. */
	ranges[0].flags = 0;
	words[90 - 2] = (uint64_t)-24;
	walk(0xa70);
	expect(PLIM_STACK_NO_RULES, 1, 0xa70);
}

/* Compiled code that a stub has called, and its frame pointer. */
static void test_java_compiled(void **state)
{
	(void)state;
	build(IMAGE_X86);
	put_java();
	registers.value[RBP] = STACK + 120 * 8;
	walk(0xb60);
	expect(PLIM_STACK_ROOT, 3, 0xb60, 0x30f, 0x40f);
	/* A method before keeps it: mov %eax,-0x14000(%rsp); push %rbp; ... */
	memcpy(code + 0xb00, "\x89\x84\x24\0\xc0\xfe\xff\x55", 8);
	memcpy(code + 0xb08, "\x48\x8b\xec\x48\x83\xec\x20", 7);
	walk(0xb60);
	expect(PLIM_STACK_ROOT, 3, 0xb60, 0x30f, 0x40f);
	words[16] = CODE + 0x310;
	words[21] = CODE + 0x410;
	walk(0xb00);
	expect(PLIM_STACK_ROOT, 3, 0xb00, 0x30f, 0x40f);
	/* It does not. */
	words[16] = 0;
	memcpy(code + 0xb08, "\x48\x83\xec\x20", 4);
	walk(0xb60);
	expect(PLIM_STACK_NO_RULES, 1, 0xb60);
	/* Nor do others, however far before. */
	walk(0x2a00);
	expect(PLIM_STACK_NO_RULES, 1, 0x2a00);
	walk(0x2d00);
	expect(PLIM_STACK_ROOT, 3, 0x2d00, 0x30f, 0x40f);
	/* Its last instructions tell it all the same. */
	memcpy(code + 0xb60, "\x48\x83\xc4\x20\x5d\x49\x3b\xa7\x48\x03\0\0",
	       12);
	memcpy(code + 0xb6c, "\x0f\x87\x10\0\0\0\xc3", 7);
	memset(words, 0, sizeof(words));
	words[20] = 0x99;
	words[21] = CODE + 0x310;
	words[26] = CODE + 0x410;
	walk(0xb60);
	expect(PLIM_STACK_ROOT, 3, 0xb60, 0x30f, 0x40f);
}

/* A blocked thread: rbp is on the stack, among pairs that are not it. */
static void test_scan(void **state)
{
	(void)state;
	build(IMAGE_X86);
	registers.known = BIT(RSP) | BIT(RIP);
	words[16 + 4] = STACK + 128 + 300; /* looks like one: another's */
	put_return(5, 0x330);
	put_call(0x330, 0x300);
	words[16 + 8] = 0x99;
	put_return(9, 0x320);
	put_return(14, 0x410);
	walk(0x220);
	expect(PLIM_STACK_NO_POINTER, 1, 0x220);
	put_call(0x320, 0x200);
	walk(0x220);
	expect(PLIM_STACK_ROOT, 3, 0x220, 0x31f, 0x40f);
	assert_int_equal(unwound.scanned, 1);
	/* By a PLT stub, whose word is 0x60000008. */
	uint32_t by = 0x60000008u - (CODE + 0x906u);

	memcpy(code + 0x900, "\xff\x25", 2);
	memcpy(code + 0x902, &by, 4);
	put_call(0x320, 0x900);
	table[1] = CODE + 0x200;
	walk(0x220);
	expect(PLIM_STACK_ROOT, 3, 0x220, 0x31f, 0x40f);
	table[1] = CODE + 0x210;
	walk(0x220);
	expect(PLIM_STACK_NO_POINTER, 1, 0x220);
	/* By that word itself: call *x(%rip). */
	by = 0x60000008u - (CODE + 0x320u);
	memcpy(code + 0x31a, "\xff\x15", 2);
	memcpy(code + 0x31c, &by, 4);
	table[1] = CODE + 0x200;
	walk(0x220);
	expect(PLIM_STACK_ROOT, 3, 0x220, 0x31f, 0x40f);
}

/* Called by a register: the one place that leads to the first function; where
 * there are two, none. */
static void test_scan_indirect(void **state)
{
	(void)state;
	FUNCTION(0x500, 0x40, "\x0e\x10");
	build(IMAGE_X86);
	registers.known = BIT(RSP) | BIT(RIP);
	memcpy(code + 0x30e, "\xff\xd0", 2); /* call *%rax */
	words[16 + 8] = 0x99;
	put_return(9, 0x310);
	put_return(14, 0x410);
	/* One that leads nowhere, and one that is not aligned. */
	put_return(3, 0x310);
	put_return(6, 0x310);
	put_return(11, 0x410);
	walk(0x220);
	expect(PLIM_STACK_ROOT, 3, 0x220, 0x30f, 0x40f);
	assert_int_equal(unwound.scanned, 1);
	put_return(1, 0x310);
	walk(0x220);
	expect(PLIM_STACK_NO_POINTER, 1, 0x220);
	/* An outer frame's place leads home as well: the inner one's walk
	 * comes by. */
	memset(words, 0, sizeof(words));
	memcpy(code + 0x50e, "\xff\xd0", 2);
	put_return(9, 0x510);
	put_return(11, 0x510);
	put_return(13, 0x410);
	walk(0x220);
	expect(PLIM_STACK_ROOT, 4, 0x220, 0x50f, 0x50f, 0x40f);
	/* It calls itself: the outer call is proven, the inner one is by a
	 * register. */
	memset(code + 0x50e, 0xcc, 2);
	put_call(0x510, 0x200);
	memcpy(code + 0x51e, "\xff\xd0", 2);
	put_return(9, 0x520);
	walk(0x220);
	expect(PLIM_STACK_ROOT, 4, 0x220, 0x51f, 0x50f, 0x40f);
}

/* --- tables --------------------------------------------------------------- */

static void test_overlap(void **state)
{
	(void)state;
	/* Over the end of the leaf: what begins later holds from there; one
	 * that begins with another is left out; so is what is no code. */
	FUNCTION(0x120, 0x60, "\x0e\x30");
	FUNCTION(0x300, 0x20, "\x0e\x40");
	image_fde(&section, 0, 0x30000, 16, &program);
	build(IMAGE_X86);
	assert_int_equal(plimp_rules_facts(rules).rejected, 2);
	assert_int_equal(plimp_rules_facts(rules).entries, 5);
	put_return(0, 0x410);
	walk(0x11f);
	expect(PLIM_STACK_ROOT, 2, 0x11f, 0x40f);
	put_return(0, 0x333);
	put_return(5, 0x410);
	walk(0x120);
	expect(PLIM_STACK_ROOT, 2, 0x120, 0x40f);
	walk(0x17f);
	expect(PLIM_STACK_ROOT, 2, 0x17f, 0x40f);
	put_return(4, 0x410);
	walk(0x310);
	expect(PLIM_STACK_ROOT, 2, 0x310, 0x40f);
}

static void test_malformed_function(void **state)
{
	(void)state;
	FUNCTION(0x500, 0x40, "\x0e\x10\x41\x3f");
	build(IMAGE_X86);
	assert_int_equal(plimp_rules_facts(rules).rejected, 1);
	registers.value[RBP] = 0;
	walk(0x500);
	expect(PLIM_STACK_NO_RULES, 1, 0x500);
}

/* .debug_frame of the same file adds what .eh_frame has not, and no more. */
static void test_debug_frame(void **state)
{
	static struct image_bytes debug;
	struct image_parts parts = {
	    .machine = IMAGE_X86, .eh_frame = &section, .debug_frame = &debug};
	static const uint64_t starts[2] = {0x110, 0x500};

	(void)state;
	memset(&debug, 0, sizeof(debug));
	image_put(&debug, 16, 4);
	image_put(&debug, 0xffffffff, 4);
	image_put_all(&debug, "\x01\0\x01\x78\x10\x0c\x07\x08\x90\x01\0\0", 12);
	for (int i = 0; i < 2; i++) {
		image_put(&debug, 24, 4);
		image_put(&debug, 0, 4);
		image_put(&debug, IMAGE_CODE + starts[i], 8);
		image_put(&debug, 0x20, 8);
		image_put(&debug, 0x180e, 4);
	}
	build(IMAGE_X86);
	plimp_rules_free(rules, NULL);
	rules = NULL;
	image_close(&image);
	image_make(&image, &parts);
	assert_int_equal(
	    plimp_rules_build(&rules, &image.elf, NULL, NULL, NULL), PLIM_OK);
	ranges[0].rules = rules;
	assert_int_equal(plimp_rules_facts(rules).entries, 5);
	assert_int_equal(plimp_rules_facts(rules).has_debug_frame, 1);
	put_return(0, 0x410);
	walk(0x118);
	expect(PLIM_STACK_ROOT, 2, 0x118, 0x40f);
	put_return(2, 0x410);
	words[16] = 0;
	walk(0x510);
	expect(PLIM_STACK_ROOT, 2, 0x510, 0x40f);
}

/* A zlib stream of one block that is stored as it is (RFC 1950, 1951). */
static void put_zlib(struct image_bytes *to, const struct image_bytes *from)
{
	uint32_t low = 1, high = 0;

	image_put(to, 0x0178, 2);
	image_put(to, 1, 1);
	image_put(to, from->size, 2);
	image_put(to, ~from->size & 0xffff, 2);
	image_put_all(to, from->data, from->size);
	for (size_t i = 0; i < from->size; i++) {
		low = (low + from->data[i]) % 65521;
		high = (high + low) % 65521;
	}
	for (int i = 3; i >= 0; i--)
		image_put(to, (high << 16 | low) >> 8 * i, 1);
}

static int build_debug(const struct image_bytes *debug, uint64_t flags,
		       const char *name)
{
	struct image_parts parts = {.machine = IMAGE_X86,
				    .debug_frame = debug,
				    .debug_flags = flags,
				    .debug_name = name};
	struct image other;

	plimp_rules_free(rules, NULL);
	rules = NULL;
	image_make(&other, &parts);
	int failed = plimp_rules_build(&rules, &other.elf, NULL, NULL, NULL);

	image_close(&other);
	return failed;
}

/* Compressed in both ways; with zlib it is read, without it is named. */
static void test_compressed(void **state)
{
	static struct image_bytes plain, all;
	const int wanted = HAS_GZIP ? PLIM_OK : PLIM_EUNSUPPORTED;

	(void)state;
	memset(&plain, 0, sizeof(plain));
	image_put(&plain, 16, 4);
	image_put(&plain, 0xffffffff, 4);
	image_put_all(&plain, "\x01\0\x01\x78\x10\x0c\x07\x08\x90\x01\0\0", 12);
	image_put(&plain, 24, 4);
	image_put(&plain, 0, 4);
	image_put(&plain, IMAGE_CODE + 0x100, 8);
	image_put(&plain, 0x20, 8);
	image_put(&plain, 0x180e, 4);
	build(IMAGE_X86);
	memset(&all, 0, sizeof(all));
	image_put(&all, 1, 8); /* zlib */
	image_put(&all, plain.size, 8);
	image_put(&all, 1, 8);
	put_zlib(&all, &plain);
	assert_int_equal(build_debug(&all, 0x800, NULL), wanted);
	if (!wanted)
		assert_int_equal(plimp_rules_facts(rules).entries, 1);
	/* One bit of it, a size that is not its own, another way. */
	all.data[30] ^= 1;
	assert_int_not_equal(build_debug(&all, 0x800, NULL), PLIM_OK);
	all.data[30] ^= 1;
	all.data[8]--;
	assert_int_not_equal(build_debug(&all, 0x800, NULL), PLIM_OK);
	all.data[8]++;
	all.data[0] = 2;
	assert_int_equal(build_debug(&all, 0x800, NULL), PLIM_EUNSUPPORTED);
	memset(&all, 0, sizeof(all));
	image_put_all(&all, "ZLIB\0\0\0\0\0\0\0", 11);
	image_put(&all, plain.size, 1);
	put_zlib(&all, &plain);
	assert_int_equal(build_debug(&all, 0, ".zdebug_frame"), wanted);
	all.data[4] = 1; /* larger than any */
	assert_int_not_equal(build_debug(&all, 0, ".zdebug_frame"), PLIM_OK);
}

static void test_no_rules(void **state)
{
	struct image_parts parts = {.machine = IMAGE_X86};
	struct plimp_rules *poison = (struct plimp_rules *)&parts;
	struct plimp_rules *none = poison;
	struct image other;

	(void)state;
	build(IMAGE_X86);
	image_make(&other, &parts);
	assert_int_equal(plimp_rules_build(&none, &other.elf, NULL, NULL, NULL),
			 PLIM_ENAME);
	assert_ptr_equal(none, poison);
	image_close(&other);
	parts.machine = 40;
	image_make(&other, &parts);
	assert_int_equal(plimp_rules_build(&none, &other.elf, NULL, NULL, NULL),
			 PLIM_EUNSUPPORTED);
	image_close(&other);
}

/* Every allocation fails in turn. */
struct failing {
	size_t left;
	size_t live;
};

static void *failing_resize(void *memory, size_t old_size, size_t new_size,
			    void *user)
{
	struct failing *failing = user;

	if (!new_size) {
		free(memory);
		failing->live -= old_size;
		return NULL;
	}
	if (!failing->left)
		return NULL;
	failing->left--;
	void *grown = realloc(memory, new_size);

	assert_non_null(grown);
	failing->live += new_size - old_size;
	return grown;
}

static void test_memory(void **state)
{
	struct failing failing = {0, 0};
	const plim_allocator allocator = {failing_resize, &failing};
	struct plimp_rules *made = NULL;
	size_t turn = 0;

	(void)state;
	FUNCTION(0x500, 0x40, "\x0f\x03\x76\x78\x06\x10\x06\x02\x76\x00");
	FUNCTION(0x480, 0x40, "\x0e\x10"); /* out of order: sorted */
	build(IMAGE_X86);
	for (;; turn++) {
		failing.left = turn;
		int failed = plimp_rules_build(&made, &image.elf, NULL,
					       &allocator, NULL);

		if (!failed)
			break;
		assert_int_equal(failed, PLIM_ENOMEM);
		assert_null(made);
		assert_int_equal(failing.live, 0);
		assert_true(turn < 100);
	}
	assert_true(turn > 8);
	plimp_rules_free(made, &allocator);
	assert_int_equal(failing.live, 0);
}

/* --- aarch64 -------------------------------------------------------------- */

/* A leaf with the address in lr; one that saves the pair; signed addresses. */
static void test_arm(void **state)
{
	static struct image_bytes none;

	(void)state;
	memset(&section, 0, sizeof(section));
	memset(&none, 0, sizeof(none));
	memset(&program, 0, sizeof(program));
	image_put_all(&none, "\x01\x1b", 2);
	image_put_all(&program, "\x0c\x1f\x00", 3); /* CFA = sp */
	image_cie(&section, "zR", &none, -8, 30, &program);
	FUNCTION(0x100, 0x40, "");
	/* paciasp; stp x29,x30,[sp,#-32]!; mov x29,sp */
	FUNCTION(0x200, 0x40,
		 "\x44\x2d\x44\x0e\x20\x9d\x04\x9e\x03\x44\x0d\x1d");
	FUNCTION(0x300, 0x40, "\x07\x1e");
	/* One that is called with the return address in x15. */
	memset(&program, 0, sizeof(program));
	image_put_all(&program, "\x0c\x1f\x00", 3);
	size_t cie = image_cie(&section, "zR", &none, -8, 15, &program);

	memset(&program, 0, sizeof(program));
	image_fde(&section, cie, IMAGE_CODE + 0x400, 0x40, &program);
	build(IMAGE_ARM);
	const uint64_t mask = UINT64_C(0x7f) << 48;

	registers.value[31] = STACK + 128;
	registers.value[30] = (CODE + 0x220) | UINT64_C(0x2a) << 48;
	registers.value[29] = STACK + 128 + 80;
	registers.value[32] = CODE + 0x110;
	registers.known = BIT(29) | BIT(30) | BIT(31) | BIT(32);
	registers.pointer_mask = mask;
	words[16 + 10] = 0;
	words[16 + 11] = (CODE + 0x310) | UINT64_C(0x55) << 48;
	plimp_unwind(&map, NULL, &registers, &stack, frames, exact, FRAMES,
		     &unwound);
	expect(PLIM_STACK_ROOT, 3, 0x110, 0x21f, 0x30f);
	/* A leaf of a blocked thread: nobody tells the link register. */
	registers.known = BIT(31) | BIT(32);
	plimp_unwind(&map, NULL, &registers, &stack, frames, exact, FRAMES,
		     &unwound);
	expect(PLIM_STACK_NO_POINTER, 1, 0x110);
	/* A caller cannot have its address in lr. */
	registers.known = BIT(29) | BIT(30) | BIT(31) | BIT(32);
	registers.value[30] = CODE + 0x120;
	plimp_unwind(&map, NULL, &registers, &stack, frames, exact, FRAMES,
		     &unwound);
	expect(PLIM_STACK_BAD_RULES, 2, 0x110, 0x11f);
	/* Without rules: bl before the address. */
	registers.value[32] = CODE + 0xa20;
	registers.value[29] = STACK + 128 + 80;
	words[16 + 11] = CODE + 0x310;
	plimp_unwind(&map, NULL, &registers, &stack, frames, exact, FRAMES,
		     &unwound);
	expect(PLIM_STACK_NO_RULES, 1, 0xa20);
	memcpy(code + 0x30c, "\xf4\x00\x00\x94", 4);
	plimp_unwind(&map, NULL, &registers, &stack, frames, exact, FRAMES,
		     &unwound);
	expect(PLIM_STACK_ROOT, 2, 0xa20, 0x30f);
	assert_int_equal(unwound.by_pointer, 1);
	registers.value[15] = CODE + 0x310;
	registers.known |= BIT(15);
	registers.value[32] = CODE + 0x410;
	plimp_unwind(&map, NULL, &registers, &stack, frames, exact, FRAMES,
		     &unwound);
	expect(PLIM_STACK_ROOT, 2, 0x410, 0x30f);
	/* The kernel's signal frame: mov x8,#139; svc #0. */
	memcpy(code + 0xb00, "\x68\x11\x80\xd2\x01\0\0\xd4", 8);
	registers.value[32] = CODE + 0xb00;
	words[16 + 39 + 29] = STACK + 128 + 80;
	words[16 + 39 + 31] = STACK + 128;
	words[16 + 39 + 32] = CODE + 0x220;
	plimp_unwind(&map, NULL, &registers, &stack, frames, exact, FRAMES,
		     &unwound);
	expect(PLIM_STACK_ROOT, 3, 0xb00, 0x220, 0x30f);
	assert_int_equal(exact[1], 1);
}

int main(void)
{
#define WALK(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
	    WALK(test_simple),	    WALK(test_frame_pointer),
	    WALK(test_red_zone),    WALK(test_ends),
	    WALK(test_depth),	    WALK(test_other_register),
	    WALK(test_expression),  WALK(test_signal),
	    WALK(test_trampoline),  WALK(test_stubs),
	    WALK(test_by_pointer),  WALK(test_tail),
	    WALK(test_java),	    WALK(test_java_compiled),
	    WALK(test_scan),	    WALK(test_scan_indirect),
	    WALK(test_overlap),	    WALK(test_malformed_function),
	    WALK(test_debug_frame), WALK(test_compressed),
	    WALK(test_no_rules),    WALK(test_memory),
	    WALK(test_arm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
