/*
 * heaps_live.c - the image of a living process, through a lens.
 *
 * The lens is bound to the program that the process executed when it was
 * opened; what came through its reader counts once the check behind it says
 * that this is still so. A walk that failed is checked, too: of a process that
 * ends, reads fail in many ways, and which one it was says nothing.
 */
#include "observe/heaps.h"

#include "core/fail.h"
#include "elf/elf.h"
#include "memory/heaps_image.h"

#include <plimsoll/memory.h>

#include <stdio.h>
#include <string.h>

#define LIVE_X86_64  62
#define LIVE_AARCH64 183
/* A heap that goes on changing is walked so often before it is refused. */
#define LIVE_ATTEMPTS 4

static const char live_denied[] =
    "its memory may not be read: be the same user, and let that user trace it "
    "(kernel.yama.ptrace_scope=0), or have CAP_SYS_PTRACE";

static const char live_has_none[] =
    "it has no memory of its own: a kernel thread, or it has ended and waits "
    "to be reaped";

struct live_files {
	plim_host *host;
	struct plimp_lens *lens;
	const struct plimp_space *space;
	int failed; /* PLIM_ENOMEM: a file is missing for want of memory */
};

/* Who asks for a file goes on without it; but what is not seen for want of
 * memory must not be taken for what is not there. */
static int live_opened(struct live_files *files, int code)
{
	if (code == PLIM_ENOMEM)
		files->failed = code;
	return code;
}

static int live_open_file(void *user, const struct plimp_mapping *mapping,
			  struct plimp_file *file)
{
	struct live_files *files = user;

	return live_opened(files,
			   plimp_system_lens_file(files->lens, files->space,
						  mapping, file, NULL));
}

int plimp_heaps_debug(plim_host *host, const uint8_t *id, size_t size,
		      struct plimp_file *file)
{
	char path[PLIMP_ELF_DEBUG_PATH];

	if (size < 2 || size > PLIMP_ELF_ID)
		return PLIM_EUNSUPPORTED;
	plimp_elf_debug_path(id, size, path);
	return plimp_system_file_open(host, path, file, NULL);
}

static int live_open_debug(void *user, const uint8_t *id, size_t size,
			   struct plimp_file *file)
{
	struct live_files *files = user;

	return live_opened(files,
			   plimp_heaps_debug(files->host, id, size, file));
}

static void live_close_file(void *user, struct plimp_file *file)
{
	struct live_files *files = user;

	plimp_system_file_close(files->host, file);
}

/* Of the machine; a process of 32 bits is told by its files. */
static int live_machine(const plim_host *host)
{
	const plim_text text = plim_host_text(host, PLIM_HOST_MACHINE);
	const char *const names[] = {"x86_64", "aarch64"};
	const int machines[] = {LIVE_X86_64, LIVE_AARCH64};
	size_t i;

	for (i = 0; i < 2; i++)
		if (text.state == PLIM_STATE_KNOWN &&
		    text.bytes.size == strlen(names[i]) &&
		    memcmp(text.bytes.data, names[i], text.bytes.size) == 0)
			return machines[i];
	return 0;
}

static void live_bill(const struct plimp_lens *lens, plim_heaps_facts *facts)
{
	const struct plimp_lens_bill bill = plimp_system_lens_bill(lens);

	facts->memory_read_bytes =
	    plim_count_known(bill.bytes_read, PLIM_METHOD_SYSTEM);
	facts->pages_asked =
	    plim_count_known(bill.pages_asked, PLIM_METHOD_SYSTEM);
	facts->longest_call_ns =
	    plim_count_known(bill.longest_call_ns, PLIM_METHOD_SYSTEM);
	if (bill.longest_call != NULL)
		snprintf(facts->longest_call, sizeof facts->longest_call, "%s",
			 bill.longest_call);
}

/* Whether a page of the process may be read at all: without that there is no
 * allocator to be seen, and no reason to be told. */
static int live_may_read(const struct plimp_image *image)
{
	const struct plimp_space *space = image->space;
	uint8_t bytes[8];
	uint8_t page;
	size_t copied;
	size_t i;
	int code;

	for (i = 0; i < space->count; i++) {
		const struct plimp_mapping *mapping = &space->items[i];

		if ((mapping->protection & PLIMP_MAY_READ) == 0 ||
		    (mapping->flags & PLIMP_VM_DEVICE) != 0)
			continue;
		code = image->reader.pages(image->reader.user, mapping->start,
					   1, &page);
		if (code != PLIM_OK)
			return code;
		if ((page & PLIMP_PAGE_READABLE) == 0)
			continue;
		return image->reader.read(image->reader.user, mapping->start,
					  bytes, sizeof bytes, &copied);
	}
	return PLIM_OK;
}

/* A zombie has no mappings, and neither has a thread of the kernel, which has
 * no allocator either; the first one has ended. */
static int live_has_ended(struct plimp_lens *lens)
{
	plim_count figures[PLIM_MEMORY_COUNT];

	memset(figures, 0, sizeof figures);
	return plimp_system_lens_status(lens, figures, NULL) == PLIM_OK &&
	       figures[PLIM_MEMORY_RESIDENT].state != PLIM_STATE_KNOWN &&
	       figures[PLIM_MEMORY_RESIDENT].method == PLIM_REASON_ZOMBIE;
}

static int live_walk(struct plimp_heaps_draft *draft, struct plimp_lens *lens,
		     struct plimp_space *space, plim_error *error)
{
	struct live_files files = {draft->host, lens, space, PLIM_OK};
	struct plimp_image image;
	int code = plimp_system_lens_maps(lens, space, error);

	if (code != PLIM_OK)
		return code;
	if (space->count == 0 && live_has_ended(lens))
		return plimp_fail(error, PLIM_ENOPROCESS, 0, "walk heaps", NULL,
				  "it has ended and waits to be reaped");
	if (space->count == 0)
		return plimp_fail(error, PLIM_EUNSUPPORTED, 0, "walk heaps",
				  NULL, "%s", live_has_none);
	memset(&image, 0, sizeof image);
	image.allocator = &draft->host->allocator;
	plimp_system_lens_reader(lens, &image.reader);
	image.space = space;
	image.machine = live_machine(draft->host);
	image.open_file = live_open_file;
	image.open_debug = live_open_debug;
	image.close_file = live_close_file;
	image.user = &files;
	draft->facts.machine = image.machine;
	draft->facts.has_residency = image.reader.has_residency;
	draft->facts.page_bytes = image.reader.page_bytes;
	draft->facts.mappings =
	    plim_count_known(space->count, PLIM_METHOD_SYSTEM);
	code = live_may_read(&image);
	if (code != PLIM_OK)
		return plimp_fail(error, code, 0, "walk heaps", NULL, NULL);
	code = plimp_heaps_of_image(&image, draft->walk, &draft->list, error);
	if (code == PLIM_OK && files.failed != PLIM_OK)
		return plimp_fail(error, files.failed, 0, "walk heaps", NULL,
				  NULL);
	return code;
}

/* Did an allocator contradict itself? It may have gone on while it was read:
 * heaps come and go, and the mappings are older than what they hold. */
static int live_contradicts(const struct plimp_heap_list *list)
{
	size_t i;

	for (i = 0; i < list->count; i++)
		if (list->items[i]->depth == PLIM_DEPTH_REFUSED &&
		    list->items[i]->missing.method ==
			PLIM_REASON_HEAP_CONTRADICTS)
			return 1;
	return 0;
}

/* Begins anew with the mappings of now, a few times at most. */
static int live_walk_again(struct plimp_heaps_draft *draft,
			   struct plimp_lens *lens, struct plimp_space *space,
			   plim_error *error)
{
	const size_t hostages = draft->list.hostage_most;
	int attempt;

	for (attempt = 1;; attempt++) {
		const int code = live_walk(draft, lens, space, error);

		if (code != PLIM_OK || attempt == LIVE_ATTEMPTS ||
		    !live_contradicts(&draft->list))
			return code;
		plimp_heap_list_release(&draft->list);
		plimp_heap_list_init(&draft->list, &draft->host->allocator,
				     hostages);
		plimp_space_release(draft->host, space);
		memset(space, 0, sizeof *space);
	}
}

/* The check's error is the truer one; but that one is told where it is fine. */
static int live_settle(struct plimp_lens *lens, int code,
		       const plim_error *walked, plim_error *error)
{
	const int fate = plimp_system_lens_check(lens, error);

	if (fate != PLIM_OK)
		return fate;
	if (code == PLIM_OK)
		return PLIM_OK;
	if (code == PLIM_EDENIED)
		return plimp_fail(error, code, walked->system, "walk heaps",
				  walked->path, "%s", live_denied);
	if (error != NULL)
		*error = *walked;
	return code;
}

int plimp_heaps_live(struct plimp_heaps_draft *draft, plim_target *target,
		     plim_error *error)
{
	struct plimp_lens *lens = NULL;
	struct plimp_space space;
	plim_error walked;
	plim_count own;
	int code = plimp_system_lens_open(draft->host, target, &lens, error);

	if (code != PLIM_OK)
		return code;
	memset(&space, 0, sizeof space);
	memset(&walked, 0, sizeof walked);
	draft->facts.source = PLIM_HEAPS_PROCESS;
	own = plim_host_count(draft->host, PLIM_HOST_OWN_PID);
	if (target != NULL)
		draft->facts.pid = plim_target_identity(target).pid;
	else if (own.state == PLIM_STATE_KNOWN)
		draft->facts.pid = (int32_t)own.value;
	code = live_walk_again(draft, lens, &space, &walked);
	code = live_settle(lens, code, &walked, error);
	live_bill(lens, &draft->facts);
	plimp_space_release(draft->host, &space);
	plimp_system_lens_close(lens);
	return code;
}
