/*
 * code.c - plim_code: the modules of one process and walks of its stacks, for
 * who wants to do that by hand.
 *
 * It is a history of modules (modules.h) with a lens of its own, and a cache
 * for walks. Nothing of a target's memory is read but what is resident.
 */
#include "core/fail.h"
#include "core/memory.h"
#include "unwind/code.h"
#include "unwind/symbols.h"

#include <assert.h>
#include <string.h>

const char *plim_code_kind_word(int kind)
{
	static const char *const words[] = {NULL, "file", "vdso", "anonymous",
					    "memory"};

	return kind >= 1 && kind <= PLIM_CODE_MEMORY ? words[kind] : NULL;
}

int plim_code_open(plim_code **code, plim_host *host, plim_target *target,
		   plim_error *error)
{
	plim_code *made;
	int failed;

	if (code == NULL || host == NULL ||
	    (target != NULL && target->host != host))
		return plimp_fail(error, PLIM_EINVAL, 0, "open code", NULL,
				  NULL);
	made = plimp_allocate(&host->allocator, 1, sizeof *made);
	if (made == NULL)
		return plimp_fail(error, PLIM_ENOMEM, 0, "open code", NULL,
				  NULL);
	made->host = host;
	made->target = target;
	made->cache =
	    plimp_allocate(&host->allocator, plimp_pc_cache_size(), 1);
	failed =
	    made->cache == NULL
		? plimp_fail(error, PLIM_ENOMEM, 0, "open code", NULL, NULL)
		: plimp_system_lens_open(host, target, &made->lens, error);
	if (failed == PLIM_OK) {
		plimp_system_lens_reader(made->lens, &made->reader);
		failed =
		    plimp_modules_open(&made->modules, host, made->lens, NULL,
				       plimp_system_monotonic(), error);
	}
	if (failed == PLIM_OK && plimp_modules_is_narrow(made->modules))
		failed = plimp_fail(error, PLIM_EUNSUPPORTED, 0, "open code",
				    NULL, PLIMP_MODULES_NARROW);
	if (failed != PLIM_OK) {
		plim_code_close(made);
		return failed;
	}
	*code = made;
	return PLIM_OK;
}

void plim_code_close(plim_code *code)
{
	const plim_allocator *allocator;

	if (code == NULL)
		return;
	allocator = &code->host->allocator;
	plimp_namer_close(code->namer);
	plimp_modules_close(code->modules);
	plimp_system_lens_close(code->lens);
	plimp_release(allocator, code->cache,
		      code->cache != NULL ? plimp_pc_cache_size() : 0, 1);
	plimp_release(allocator, code, 1, sizeof *code);
}

int plim_code_refresh(plim_code *code, plim_error *error)
{
	int failed;

	if (code == NULL)
		return plimp_fail(error, PLIM_EINVAL, 0, "refresh code", NULL,
				  NULL);
	failed = plimp_modules_refresh(code->modules, plimp_system_monotonic(),
				       error);
	if (failed == PLIM_OK) {
		plimp_modules_forget_maps(code->modules);
		code->map_is_read = 0;
	}
	return failed;
}

size_t plim_code_module_count(const plim_code *code)
{
	return code != NULL ? plimp_modules_count(code->modules) : 0;
}

int plim_code_module_at(const plim_code *code, size_t index,
			plim_code_module *module)
{
	const struct plimp_module *found =
	    code != NULL ? plimp_modules_item(code->modules, index) : NULL;
	struct plimp_rules_facts facts;

	if (found == NULL || module == NULL)
		return PLIM_EINVAL;
	memset(module, 0, sizeof *module);
	module->kind = found->kind; /* the numbers are the same */
	module->why = found->why;
	module->start = found->start;
	module->end = found->end;
	module->bias = found->bias;
	module->offset = found->offset;
	module->device = found->device;
	module->inode = found->inode;
	module->path = found->path;
	module->is_loaded = found->until_ns == 0;
	module->is_deleted = found->is_deleted != 0;
	module->is_replaced = found->is_replaced != 0;
	module->is_proven = found->is_proven != 0;
	module->since_ns = found->since_ns;
	module->until_ns = found->until_ns;
	if (found->object == NULL)
		return PLIM_OK;
	assert(found->object->build_id_size <= sizeof module->build_id);
	module->build_id_size = (uint32_t)found->object->build_id_size;
	memcpy(module->build_id, found->object->build_id,
	       found->object->build_id_size);
	if (found->object->rules != NULL) {
		facts = plimp_rules_facts(found->object->rules);
		module->rule_entries = facts.entries;
		module->rule_bytes = facts.bytes;
	}
	return PLIM_OK;
}

size_t plim_code_module_find(const plim_code *code, uint64_t address)
{
	uint32_t index = code != NULL
			     ? plimp_modules_at(code->modules, address, 0)
			     : PLIMP_NO_MODULE;

	return index == PLIMP_NO_MODULE ? SIZE_MAX : index;
}

/* Where a walk by hand reads. */
struct hand_memory {
	plim_memory_read_fn *read;
	void *user;
};

static int hand_word(void *user, uint64_t address, uint64_t *value)
{
	const struct hand_memory *memory = user;
	uint64_t word;

	if (memory->read(address, &word, sizeof word, memory->user) != 0)
		return -1;
	*value = word;
	return 0;
}

static int hand_code(void *user, uint64_t address, void *bytes, size_t size)
{
	const struct hand_memory *memory = user;

	return memory->read(address, bytes, size, memory->user);
}

/* What is resident of the process. */
static int hand_read(uint64_t address, void *buffer, size_t size, void *user)
{
	const plim_code *code = user;
	const struct plimp_reader *reader = &code->reader;
	const uint64_t page = reader->page_bytes;
	uint64_t first = address & ~(page - 1);
	uint8_t pages[2];
	size_t count, copied = 0;

	if (size == 0 || size > page || address > UINT64_MAX - page - size)
		return -1;
	count = (size_t)((address + size - 1) / page - first / page) + 1;
	if (reader->pages(reader->user, first, count, pages) != PLIM_OK ||
	    (pages[0] & PLIMP_PAGE_READABLE) == 0 ||
	    (pages[count - 1] & PLIMP_PAGE_READABLE) == 0)
		return -1;
	if (reader->read(reader->user, address, buffer, size, &copied) !=
	    PLIM_OK)
		return -1;
	return copied == size ? 0 : -1;
}

void plimp_code_walk(plim_code *code, const struct plimp_registers *registers,
		     const struct plimp_stack_bytes *bytes, uint64_t *frames,
		     size_t capacity, plim_stack *stack)
{
	struct plimp_unwound unwound;

	plimp_unwind(plimp_modules_map(code->modules), code->cache, registers,
		     bytes, frames, NULL, capacity, &unwound);
	assert(unwound.count <= capacity);
	memset(stack, 0, sizeof *stack);
	stack->count = unwound.count;
	stack->end = unwound.end;
	stack->scanned = unwound.scanned;
	stack->by_pointer = unwound.by_pointer;
	stack->missed = unwound.missed;
	stack->call = -1;
}

int plim_code_unwind(plim_code *code, const plim_registers *registers,
		     plim_memory_read_fn *read, void *user, uint64_t *frames,
		     size_t capacity, plim_stack *stack, plim_error *error)
{
	struct hand_memory memory = {read, user};
	struct plimp_stack_bytes bytes;
	struct plimp_registers begin;
	uint64_t must;

	if (code == NULL || registers == NULL || frames == NULL ||
	    capacity == 0 || stack == NULL)
		return plimp_fail(error, PLIM_EINVAL, 0, "unwind", NULL, NULL);
	must = plimp_modules_map(code->modules)->machine == PLIMP_MACHINE_ARM
		   ? UINT64_C(1) << PLIMP_ARM_SP | UINT64_C(1) << PLIMP_ARM_PC
		   : UINT64_C(1) << PLIMP_X86_RSP | UINT64_C(1)
							<< PLIMP_X86_RIP;
	if ((registers->known & must) != must)
		return plimp_fail(error, PLIM_EINVAL, 0, "unwind", NULL,
				  "it takes program counter and stack pointer");
	if (read == NULL) {
		memory.read = hand_read;
		memory.user = code;
	}
	memset(&begin, 0, sizeof begin);
	memcpy(begin.value, registers->value, sizeof begin.value);
	begin.known = registers->known;
	begin.pointer_mask = registers->signature_bits;
	memset(&bytes, 0, sizeof bytes);
	bytes.word = hand_word;
	bytes.code = hand_code;
	bytes.user = &memory;
	plimp_code_walk(code, &begin, &bytes, frames, capacity, stack);
	return PLIM_OK;
}
