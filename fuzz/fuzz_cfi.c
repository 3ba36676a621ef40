/*
 * fuzz_cfi.c - any bytes as a module with call frame information, and any
 * bytes as a stack that is walked by it: a table that keeps its order, or one
 * of the documented failures; a walk that ends with a reason, writes no frame
 * behind its room, and reads nothing but what it is given.
 *
 * The first 1,024 bytes are registers and stack. The rest is an ELF file when
 * it begins like one; else an .eh_frame, or by the first byte a .debug_frame,
 * of a file that is made around it.
 */
#include "promise.h"
#include "unwind/table.h"

#include <stdlib.h>
#include <string.h>

enum {
	PAGE = 4096,
	HEAD = 1024,
	CODE = 0x1000,
	CODE_SIZE = 0x100000,
	FRAMES = 64,
	STACK = 0x70000000
};

struct bytes {
	const uint8_t *data;
	uint64_t size;
};

static int file_pages(void *user, uint64_t address, size_t count,
		      uint8_t *pages)
{
	const struct bytes *bytes = user;

	for (size_t i = 0; i < count; i++)
		pages[i] =
		    address + i * PAGE < bytes->size ? PLIMP_PAGE_READABLE : 0;
	return PLIM_OK;
}

static int file_read(void *user, uint64_t address, void *buffer, size_t size,
		     size_t *copied)
{
	const struct bytes *bytes = user;

	PROMISE(address < bytes->size);
	if (size > bytes->size - address)
		size = (size_t)(bytes->size - address);
	memcpy(buffer, bytes->data + address, size);
	*copied = size;
	return PLIM_OK;
}

static void put(uint8_t *at, uint64_t value, size_t size)
{
	for (size_t i = 0; i < size; i++)
		at[i] = (uint8_t)(value >> 8 * i);
}

/* Header, a segment of code, names, and one section: the bytes. */
static uint8_t *make_file(const uint8_t *data, size_t size, int is_debug,
			  int machine, size_t *made)
{
	static const char names[] = "\0.eh_frame\0.debug_frame\0";
	size_t names_at = 120, section = names_at + sizeof(names);
	size_t headers = section + size;
	uint8_t *file = calloc(1, headers + 3 * 64);

	if (!file)
		abort();
	memcpy(file, "\177ELF\2\1\1", 7);
	put(file + 16, 3 | (uint64_t)machine << 16 | UINT64_C(1) << 32, 8);
	put(file + 32, 64, 8);
	put(file + 40, headers, 8);
	put(file + 52, 64 | 56 << 16, 4);
	put(file + 56, 1 | 64 << 16, 4);
	put(file + 60, 3 | 1 << 16, 4);
	put(file + 64, 1 | UINT64_C(5) << 32, 8);
	put(file + 80, CODE, 8);
	put(file + 104, CODE_SIZE, 8);
	memcpy(file + names_at, names, sizeof(names));
	if (size)
		memcpy(file + section, data, size);
	put(file + headers + 64 + 4, 3, 4);
	put(file + headers + 64 + 24, names_at, 8);
	put(file + headers + 64 + 32, sizeof(names), 8);
	put(file + headers + 128, is_debug ? 11 : 1, 4);
	put(file + headers + 128 + 4, 1, 4);
	put(file + headers + 128 + 16, 0x200000, 8);
	put(file + headers + 128 + 24, section, 8);
	put(file + headers + 128 + 32, size, 8);
	*made = headers + 3 * 64;
	return file;
}

static void check_table(const struct plimp_rules *rules)
{
	struct plimp_rules_facts facts = plimp_rules_facts(rules);

	PROMISE(rules->row_count > 0 && facts.rows == rules->row_count);
	PROMISE(facts.entries > 0 && rules->rule_count <= PLIMP_ROW_RULE + 1u);
	for (size_t i = 0; i < rules->row_count; i++) {
		PROMISE(i == 0 || rules->at[i] > rules->at[i - 1]);
		PROMISE(rules->at[i] < rules->span);
		PROMISE((rules->number[i] & PLIMP_ROW_RULE) <
			rules->rule_count);
		PROMISE(plimp_rules_row(rules, rules->base + rules->at[i]) ==
			i);
	}
	PROMISE((rules->number[rules->row_count - 1] & PLIMP_ROW_RULE) == 0);
}

static const uint8_t *code_bytes;
static size_t code_size;

static int code(void *user, uint64_t address, void *to, size_t size)
{
	(void)user;
	if (!code_size)
		return -1;
	for (size_t i = 0; i < size; i++)
		((uint8_t *)to)[i] = code_bytes[(address + i) % code_size];
	return 0;
}

static int word(void *user, uint64_t address, uint64_t *value)
{
	(void)user;
	*value = address & 0xffff;
	return address & 16 ? -1 : 0;
}

static void check_walk(const struct plimp_code_map *map,
		       struct plimp_pc_cache *cache, const uint8_t *head,
		       int way)
{
	static unsigned char copy[HEAD];
	struct plimp_registers registers;
	struct plimp_stack_bytes stack = {.low = STACK,
					  .bytes = copy,
					  .size = sizeof(copy),
					  .is_cut = way & 1,
					  .word = way & 2 ? word : NULL,
					  .code = way & 4 ? code : NULL};
	uint64_t frames[FRAMES + 1];
	unsigned char exact[FRAMES + 1];
	struct plimp_unwound unwound;

	memcpy(copy, head, sizeof(copy));
	memcpy(registers.value, head + 256, sizeof(registers.value));
	memcpy(&registers.known, head + 536, 8);
	registers.pointer_mask = way & 1 ? UINT64_C(0x7f) << 48 : 0;
	/* Mostly within the code and the stack, or nothing would happen. */
	unsigned sp = map->machine == PLIMP_MACHINE_X86 ? 7 : 31;
	unsigned pc = map->machine == PLIMP_MACHINE_X86 ? 16 : 32;

	if (head[0] & 1)
		registers.value[sp] = STACK + (head[1] & 0x78);
	if (head[0] & 2)
		registers.value[pc] %= CODE + CODE_SIZE;
	if (head[0] & 4)
		registers.known |= UINT64_C(1) << sp | UINT64_C(1) << pc;
	/* A thread that is blocked does not tell its frame pointer. */
	if (head[0] & 16)
		registers.known &= ~(UINT64_C(1) << PLIMP_X86_RBP);
	if (head[0] & 8)
		for (size_t i = 128; i + 8 <= HEAD; i += 16)
			put(copy + i, CODE + head[i] * 16u, 8);
	memset(exact, 0x77, sizeof(exact));
	frames[FRAMES] = 0x77;
	plimp_unwind(map, cache, &registers, &stack, frames, exact, FRAMES,
		     &unwound);
	PROMISE(unwound.count >= 1 && unwound.count <= FRAMES);
	PROMISE(plim_stack_end_word(unwound.end) != NULL);
	PROMISE(frames[FRAMES] == 0x77 && exact[FRAMES] == 0x77);
	for (size_t i = 0; i < unwound.count; i++)
		PROMISE(exact[i] <= 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct plimp_pc_cache *cache;
	static uint64_t generation;
	struct bytes bytes;
	struct plimp_reader reader = {.page_bytes = PAGE,
				      .pages = file_pages,
				      .read = file_read,
				      .user = &bytes};
	struct plimp_rules *rules = NULL;
	struct plimp_elf elf;
	uint8_t *made = NULL;
	size_t made_size = 0;

	if (size < HEAD + 8)
		return 0;
	if (!cache)
		cache = calloc(1, plimp_pc_cache_size());
	if (!cache)
		abort();
	bytes.data = data + HEAD;
	bytes.size = size - HEAD;
	int failed = plimp_elf_open(&elf, &reader, 0, bytes.size);

	if (failed) {
		made = make_file(data + HEAD, size - HEAD, data[2] & 1,
				 data[2] & 2 ? 183 : 62, &made_size);
		bytes.data = made;
		bytes.size = made_size;
		failed = plimp_elf_open(&elf, &reader, 0, bytes.size);
		PROMISE(!failed);
	}
	failed = plimp_rules_build(&rules, &elf, NULL, NULL, NULL);
	PROMISE(failed == PLIM_OK || failed == PLIM_ENAME ||
		failed == PLIM_EMALFORMED || failed == PLIM_ELIMIT ||
		failed == PLIM_EUNSUPPORTED || failed == PLIM_ENOMEM);
	PROMISE(!failed == (rules != NULL));
	if (rules)
		check_table(rules);
	struct plimp_code_range ranges[2] = {
	    {.start = CODE,
	     .end = CODE + CODE_SIZE,
	     .rules = rules,
	     .flags = size % 2 ? PLIMP_CODE_NO_FILE : 0},
	    {.start = 0x60000000,
	     .end = 0x60001000,
	     .flags = PLIMP_CODE_NO_FILE}};
	struct plimp_code_map map = {.ranges = ranges,
				     .count = 2,
				     .generation = ++generation,
				     .machine = elf.machine == 183 ? 183 : 62};

	code_bytes = data;
	code_size = size;
	for (int way = 0; way < 8; way++) {
		check_walk(&map, NULL, data, way);
		check_walk(&map, cache, data, way);
		check_walk(&map, cache, data, way);
	}
	plimp_rules_free(rules, NULL);
	free(made);
	return 0;
}
