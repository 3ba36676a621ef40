/*
 * truth.c - modules as the loader tells them (truth.h).
 */
#include "truth.h"

#include <elf.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>

static void truth_notes(struct truth *truth, const char *at, size_t size)
{
	while (size >= sizeof(ElfW(Nhdr))) {
		const ElfW(Nhdr) *note = (const void *)at;
		size_t name = (note->n_namesz + 3u) & ~3u;
		size_t whole =
		    sizeof(*note) + name + ((note->n_descsz + 3u) & ~3u);

		if (whole > size)
			return;
		if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 &&
		    memcmp(at + sizeof(*note), "GNU", 4) == 0 &&
		    note->n_descsz <= sizeof(truth->id)) {
			truth->id_size = note->n_descsz;
			memcpy(truth->id, at + sizeof(*note) + name,
			       note->n_descsz);
		}
		at += whole;
		size -= whole;
	}
}

static int truth_one(struct dl_phdr_info *info, size_t size, void *user)
{
	struct truths *truths = user;
	struct truth *truth = &truths->items[truths->count];

	(void)size;
	memset(truth, 0, sizeof(*truth));
	truth->bias = info->dlpi_addr;
	snprintf(truth->path, sizeof(truth->path), "%s", info->dlpi_name);
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *header = &info->dlpi_phdr[i];
		uint64_t start = info->dlpi_addr + header->p_vaddr;

		if (header->p_type == PT_NOTE && header->p_align != 8)
			truth_notes(truth, (const char *)(uintptr_t)start,
				    header->p_memsz);
		if (header->p_type != PT_LOAD || (header->p_flags & PF_X) == 0)
			continue;
		if (truth->start == 0)
			truth->start = start & ~(PAGE - 1);
		truth->end =
		    (start + header->p_filesz + PAGE - 1) & ~(PAGE - 1);
	}
	if (truths->count + 1 < sizeof(truths->items) / sizeof(*truth))
		truths->count++;
	return 0;
}

void truth_read(struct truths *truths)
{
	truths->count = 0;
	dl_iterate_phdr(truth_one, truths);
}

const struct truth *truth_find(const struct truths *truths, const char *end)
{
	for (size_t i = 0; i < truths->count; i++) {
		size_t size = strlen(truths->items[i].path);

		if (size >= strlen(end) &&
		    strcmp(truths->items[i].path + size - strlen(end), end) ==
			0)
			return &truths->items[i];
	}
	fail_msg("the loader knows no %s", end);
	return NULL;
}

static int touch_one(struct dl_phdr_info *info, size_t size, void *user)
{
	const struct truth *truth = user;

	(void)size;
	if (info->dlpi_addr != truth->bias)
		return 0;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *header = &info->dlpi_phdr[i];
		const volatile char *at =
		    (const volatile char *)(uintptr_t)(info->dlpi_addr +
						       header->p_vaddr);

		if (header->p_type != PT_LOAD)
			continue;
		for (uint64_t page = 0; page < header->p_memsz; page += PAGE)
			(void)at[page];
	}
	return 1;
}

void truth_touch(const struct truth *truth)
{
	union {
		const struct truth *told;
		void *user;
	} which = {truth};

	assert_int_equal(dl_iterate_phdr(touch_one, which.user), 1);
}

struct truths *truth_shared(void)
{
	void *memory = mmap(NULL, sizeof(struct truths), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	assert_true(memory != MAP_FAILED);
	return memory;
}

void library_path(char *path, size_t size, const char *name)
{
	snprintf(path, size, "%s/module-%s.so", MODULE_FOLDER, name);
}

struct plimp_modules *history_open(struct view *view)
{
	struct plimp_modules *modules;
	plim_error error = {0};

	if (plimp_modules_open(&modules, view->host, view->lens, NULL,
			       plimp_system_monotonic(), &error) != PLIM_OK)
		fail_msg("modules: %s %s", plim_error_word(error.code),
			 error.path);
	return modules;
}

void history_refresh(struct plimp_modules *modules)
{
	assert_int_equal(
	    plimp_modules_refresh(modules, plimp_system_monotonic(), NULL),
	    PLIM_OK);
}

const struct plimp_module *history_at(const struct plimp_modules *modules,
				      uint64_t address)
{
	uint32_t index = plimp_modules_at(modules, address, 0);

	assert_int_not_equal(index, PLIMP_NO_MODULE);
	return plimp_modules_item(modules, index);
}

void history_expect(const struct plimp_modules *modules,
		    const struct truth *truth)
{
	const struct plimp_code_map *map = plimp_modules_map(modules);
	const struct plimp_module *module = history_at(modules, truth->start);
	const struct plimp_code_range *range =
	    plimp_code_find(map, truth->end - 1);

	assert_int_equal(module->bias, truth->bias);
	assert_int_equal(module->start, truth->start);
	assert_int_equal(module->end, truth->end);
	assert_non_null(module->object);
	assert_int_equal(module->object->build_id_size, truth->id_size);
	assert_memory_equal(module->object->build_id, truth->id,
			    truth->id_size);
	assert_non_null(module->object->rules);
	assert_int_equal(module->is_proven, 1);
	assert_int_equal(module->until_ns, 0);
	assert_non_null(range);
	assert_int_equal(range->bias, truth->bias);
	assert_ptr_equal(range->rules, module->object->rules);
	assert_ptr_equal(plimp_modules_item(modules, range->module), module);
	assert_int_equal(range->flags, module->kind == PLIMP_MODULE_VDSO
					   ? PLIMP_CODE_VDSO
					   : 0);
}
