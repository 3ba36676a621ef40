/*
 * debug_file.c - the separate debug file of a module: finding and proving it.
 *
 * By build id the file is /usr/lib/debug/.build-id/XX/REST.debug; by
 * .gnu_debuglink it has the name that the link tells, in the module's folder,
 * in .debug below it, or below /usr/lib/debug (GDB's manual, "Separate Debug
 * Files"). Each is looked for where the target would find it: below its own
 * root, out of which no link leads. A file of this machine is never taken for a
 * target of another root, which may have chosen its build id to have it read;
 * and one that has our root finds the same files as we do. Without a target it
 * is this machine's. What is found proves itself: it has the module's build id.
 * The CRC of a link is asked only where the module has no build id; a file that
 * was made smaller later has another CRC and the same build id.
 */
#include "unwind/symbols.h"

#include "core/fail.h"
#include "core/memory.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

/* A larger file's CRC is not reckoned, which takes two seconds here. */
enum { DEBUG_CRC_MOST = 0x20000000, DEBUG_BLOCK = 65536 };

struct debug_search {
	plim_host *host;
	struct plimp_lens *lens;
	const struct plimp_elf *elf;
	struct plimp_debug_file *debug;
	uint8_t id[PLIMP_ELF_ID];
	size_t id_size; /* 0: none */
	char link[256];
	int has_link;
	uint32_t crc;
};

/* The CRC-32 of IEEE 802.3, which the link has, of the whole file. */
static int debug_crc(const struct debug_search *search, uint32_t *crc)
{
	const struct plimp_elf *elf = &search->debug->elf;
	const plim_allocator *allocator = &search->host->allocator;
	uint32_t table[256], sum = 0xffffffffu;
	uint8_t *block;
	int failed = PLIM_OK;

	if (elf->size > DEBUG_CRC_MOST)
		return PLIM_ELIMIT;
	block = plimp_allocate(allocator, DEBUG_BLOCK, 1);
	if (!block)
		return PLIM_ENOMEM;
	for (uint32_t i = 0; i < 256; i++) {
		table[i] = i;
		for (int bit = 0; bit < 8; bit++)
			table[i] =
			    table[i] >> 1 ^ (table[i] & 1 ? 0xedb88320u : 0);
	}
	for (uint64_t at = 0; !failed && at < elf->size;) {
		size_t part = elf->size - at < DEBUG_BLOCK
				  ? (size_t)(elf->size - at)
				  : DEBUG_BLOCK;

		failed = plimp_elf_bytes(elf, at, block, part);
		for (size_t i = 0; !failed && i < part; i++)
			sum = table[(sum ^ block[i]) & 0xff] ^ sum >> 8;
		at += part;
	}
	plimp_release(allocator, block, DEBUG_BLOCK, 1);
	if (!failed)
		*crc = sum ^ 0xffffffffu;
	return failed;
}

/* 1 if the open file is the module's. */
static int debug_is_right(const struct debug_search *search)
{
	uint8_t id[PLIMP_ELF_ID];
	uint32_t crc = 0;
	size_t size = 0;

	if (search->debug->elf.machine != search->elf->machine)
		return 0;
	if (search->id_size)
		return !plimp_elf_build_id(&search->debug->elf, id, &size) &&
		       size == search->id_size && !memcmp(id, search->id, size);
	return search->has_link && !debug_crc(search, &crc) &&
	       crc == search->crc;
}

/* PLIM_ENAME where the path leads to no debug file of the module. */
static int debug_try(struct debug_search *search, const char *path,
		     int is_below_target)
{
	struct plimp_debug_file *debug = search->debug;
	int failed;

	memset(&debug->file, 0, sizeof(debug->file));
	failed = is_below_target ? plimp_system_lens_path(search->lens, path, 0,
							  &debug->file, NULL)
				 : plimp_system_file_open(search->host, path,
							  &debug->file, NULL);
	if (failed == PLIM_ENOMEM)
		return failed;
	if (failed)
		return PLIM_ENAME;
	if (!plimp_elf_open(&debug->elf, &debug->file.reader, 0,
			    debug->file.size) &&
	    debug_is_right(search)) {
		debug->is_below_target = is_below_target;
		snprintf(debug->path, sizeof(debug->path), "%s", path);
		return PLIM_OK;
	}
	plimp_system_file_close(search->host, &debug->file);
	return PLIM_ENAME;
}

/* Where the target has it; without a target, here. */
static int debug_try_path(struct debug_search *search, const char *path)
{
	return debug_try(search, path, search->lens != NULL);
}

static int debug_by_id(struct debug_search *search)
{
	char path[PLIMP_ELF_DEBUG_PATH];

	if (!search->id_size)
		return PLIM_ENAME;
	plimp_elf_debug_path(search->id, search->id_size, path);
	return debug_try_path(search, path);
}

static int debug_by_link(struct debug_search *search, plim_bytes module)
{
	static const char *const places[][2] = {
	    {"", "/"}, {"", "/.debug/"}, {PLIMP_ELF_DEBUG_ROOT, "/"}};
	char folder[3072], path[4096];
	size_t size = module.size;

	while (size && module.data[size - 1] != '/')
		size--;
	if (!search->has_link || !size || module.data[0] != '/' ||
	    size >= sizeof(folder) || memchr(module.data, 0, size))
		return PLIM_ENAME;
	memcpy(folder, module.data, size);
	folder[size] = '\0';
	if (search->lens) {
		size_t outside =
		    plimp_system_lens_outside(search->lens, folder);

		size -= outside;
		memmove(folder, folder + outside, size + 1);
	}
	folder[size - 1] = '\0';
	/* The kernel tells no such path; nothing leads out of
	 * PLIMP_ELF_DEBUG_ROOT. */
	if (strstr(folder, "/.."))
		return PLIM_ENAME;
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		int failed;

		snprintf(path, sizeof(path), "%s%s%s%s", places[i][0], folder,
			 places[i][1], search->link);
		failed = debug_try_path(search, path);
		if (failed != PLIM_ENAME)
			return failed;
	}
	return PLIM_ENAME;
}

int plimp_debug_file_find(struct plimp_debug_file *debug, plim_host *host,
			  struct plimp_lens *lens, const struct plimp_elf *elf,
			  plim_bytes path, plim_error *error)
{
	struct debug_search search = {
	    .host = host, .lens = lens, .elf = elf, .debug = debug};
	int failed;

	assert(host && elf);
	if (plimp_elf_build_id(elf, search.id, &search.id_size))
		search.id_size = 0;
	search.has_link = !plimp_elf_debug_link(
	    elf, search.link, sizeof(search.link), &search.crc);
	failed = debug_by_id(&search);
	if (failed == PLIM_ENAME)
		failed = debug_by_link(&search, path);
	if (!failed)
		return PLIM_OK;
	memset(debug, 0, sizeof(*debug));
	return plimp_fail(error, failed, 0, "find debug file", NULL, NULL);
}

void plimp_debug_file_close(plim_host *host, struct plimp_debug_file *debug)
{
	plimp_system_file_close(host, &debug->file);
	memset(debug, 0, sizeof(*debug));
}
