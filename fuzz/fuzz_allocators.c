/*
 * fuzz_allocators.c - recognising allocators, and walking those of musl and
 * gperftools, in a made-up process that means harm.
 *
 * The input is a list of records: mappings in ascending order, pages, pages
 * that are swapped out, and files; a page may come into force after so many
 * reads, as in a process that goes on. Whatever it is like, the readers end,
 * read nothing that was not called readable, and what they call walked adds
 * up. tests/allocators/fuzz_seed.py makes a seed of a live process.
 */
#include "promise.h"

#include "memory/gperftools.h"
#include "memory/heaps.h"
#include "memory/musl.h"
#include "memory/recognise.h"

#include <stdlib.h>
#include <string.h>

#define MAPPINGS 64
#define PAGES	 128
#define FILES	 4
#define PAGE	 4096u

struct input {
	const uint8_t *data;
	size_t size;
};

struct page {
	uint64_t address;
	const uint8_t *bytes;
	size_t size;
	uint64_t from; /* reads after which it is so */
	int swapped;
};

struct process {
	struct plimp_mapping mappings[MAPPINGS];
	struct plimp_space space;
	struct page pages[PAGES];
	size_t page_count;
	plim_bytes files[FILES];
	uint64_t reads;
};

static uint64_t take(struct input *input, size_t size)
{
	uint64_t value = 0;

	for (size_t i = 0; i < size && input->size > 0; i++) {
		value |= (uint64_t)input->data[0] << 8 * i;
		input->data++;
		input->size--;
	}
	return value;
}

static plim_bytes take_bytes(struct input *input, size_t size)
{
	plim_bytes bytes;

	if (size > input->size)
		size = input->size;
	bytes.data = (const char *)input->data;
	bytes.size = size;
	input->data += size;
	input->size -= size;
	return bytes;
}

/* --- the process -----------------------------------------------------------
 */

static const struct page *page_at(const struct process *process,
				  uint64_t address)
{
	const struct page *found = NULL;

	for (size_t i = 0; i < process->page_count; i++) {
		const struct page *page = &process->pages[i];

		if (page->address == address && page->from <= process->reads)
			found = page;
	}
	return found;
}

static int process_pages(void *user, uint64_t address, size_t count,
			 uint8_t *pages)
{
	PROMISE(address % PAGE == 0);
	for (size_t i = 0; i < count; i++) {
		const struct page *page = page_at(user, address + i * PAGE);

		pages[i] = 0;
		if (page != NULL)
			pages[i] = page->swapped ? PLIMP_PAGE_SWAPPED
						 : PLIMP_PAGE_READABLE |
						       PLIMP_PAGE_RESIDENT;
	}
	return PLIM_OK;
}

static int process_read(void *user, uint64_t address, void *buffer, size_t size,
			size_t *copied)
{
	struct process *process = user;
	uint8_t *to = buffer;

	for (size_t i = 0; i < size;) {
		uint64_t at = address + i;
		size_t offset = (size_t)(at % PAGE);
		size_t part =
		    PAGE - offset < size - i ? PAGE - offset : size - i;
		const struct page *page = page_at(process, at - offset);
		size_t there;

		/* It was readable when its page was asked about. */
		PROMISE(page != NULL && !page->swapped);
		there = page->size > offset ? page->size - offset : 0;
		if (there > part)
			there = part;
		memset(to + i, 0, part);
		if (there > 0)
			memcpy(to + i, page->bytes + offset, there);
		i += part;
	}
	process->reads++;
	*copied = size;
	return PLIM_OK;
}

static int file_pages(void *user, uint64_t address, size_t count,
		      uint8_t *pages)
{
	const plim_bytes *file = user;

	for (size_t i = 0; i < count; i++)
		pages[i] =
		    address + i * PAGE < file->size ? PLIMP_PAGE_READABLE : 0;
	return PLIM_OK;
}

static int file_read(void *user, uint64_t address, void *buffer, size_t size,
		     size_t *copied)
{
	const plim_bytes *file = user;

	*copied = 0;
	if (address >= file->size)
		return PLIM_OK;
	if (size > file->size - address)
		size = (size_t)(file->size - address);
	memcpy(buffer, file->data + address, size);
	*copied = size;
	return PLIM_OK;
}

static int process_open(void *user, const struct plimp_mapping *mapping,
			struct plimp_file *file)
{
	struct process *process = user;
	plim_bytes *bytes = &process->files[mapping->inode % FILES];

	if (bytes->size == 0)
		return PLIM_EUNSUPPORTED;
	memset(file, 0, sizeof(*file));
	file->reader.page_bytes = PAGE;
	file->reader.pages = file_pages;
	file->reader.read = file_read;
	file->reader.user = bytes;
	file->size = bytes->size;
	return PLIM_OK;
}

static void process_close(void *user, struct plimp_file *file)
{
	(void)user;
	memset(file, 0, sizeof(*file));
}

/* --- from the input --------------------------------------------------------
 */

static void add_mapping(struct process *process, struct input *input,
			const uint8_t *start)
{
	struct plimp_space *space = &process->space;
	struct plimp_mapping *mapping = &process->mappings[space->count];
	uint64_t address = take(input, 8) & UINT64_C(0xfffffffff000);
	uint64_t pages = take(input, 2) % 1024 + 1;
	uint32_t protection = (uint32_t)take(input, 1) & 15;
	uint64_t inode = take(input, 1);
	uint64_t offset = take(input, 1) * PAGE;
	plim_bytes name = take_bytes(input, (size_t)take(input, 1));

	if (space->count == MAPPINGS ||
	    (space->count > 0 && mapping[-1].end > address))
		return;
	memset(mapping, 0, sizeof(*mapping));
	mapping->start = address;
	mapping->end = address + pages * PAGE;
	mapping->protection = protection;
	mapping->inode = inode;
	mapping->offset = offset;
	mapping->name_start = (size_t)((const uint8_t *)name.data - start);
	mapping->name_size = name.size;
	space->count++;
}

static void add_page(struct process *process, struct input *input, int swapped)
{
	uint64_t address = take(input, 8) & UINT64_C(0xfffffffff000);
	uint64_t from = take(input, 1);
	plim_bytes bytes = take_bytes(input, (size_t)take(input, 2) % 4097);

	if (process->page_count == PAGES)
		return;
	process->pages[process->page_count++] = (struct page){
	    .address = address,
	    .bytes = (const uint8_t *)bytes.data,
	    .size = bytes.size,
	    .from = from,
	    .swapped = swapped,
	};
}

static void make_process(struct process *process, struct input *input)
{
	const uint8_t *start = input->data;
	size_t size = input->size;

	while (input->size > 0) {
		switch (take(input, 1) % 4) {
		case 0:
			add_mapping(process, input, start);
			break;
		case 1:
			add_page(process, input, 0);
			break;
		case 2:
			add_page(process, input, 1);
			break;
		default: {
			size_t which = (size_t)take(input, 1) % FILES;

			process->files[which] =
			    take_bytes(input, (size_t)take(input, 3));
			break;
		}
		}
	}
	process->space.items = process->mappings;
	process->space.capacity = MAPPINGS;
	process->space.texts.bytes = (char *)(uintptr_t)start;
	process->space.texts.size = size;
	process->space.texts.capacity = size;
}

/* --- what must hold --------------------------------------------------------
 */

static uint64_t known(const plim_heap *heap, int figure)
{
	plim_count count = plim_heap_figure(heap, figure);

	return count.state == PLIM_STATE_KNOWN ? count.value : 0;
}

/* 1 if every check of it passed: then it was quiet. */
static int is_proven(const plim_heap *heap)
{
	for (size_t i = 0; i < heap->check_count; i++) {
		if (heap->checks[i].state != PLIM_CHECK_PASSED)
			return 0;
	}
	return known(heap, PLIM_HEAP_UNCERTAIN) == 0;
}

static void judge(const plim_heap *heap)
{
	PROMISE(heap->evidence_count <= PLIMP_EVIDENCE_MOST);
	PROMISE(plim_heap_kind_word(heap->kind) != NULL);
	PROMISE(plim_confidence_word(heap->confidence) != NULL);
	if (heap->depth != PLIM_DEPTH_WALKED)
		return;
	PROMISE(heap->check_count > 0);
	PROMISE(known(heap, PLIM_HEAP_FREE_RESIDENT) <=
		known(heap, PLIM_HEAP_FREE));
	if (is_proven(heap))
		PROMISE(known(heap, PLIM_HEAP_IN_USE) +
			    known(heap, PLIM_HEAP_FREE) <=
			known(heap, PLIM_HEAP_SYSTEM));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const plim_allocator allocator = {0};
	static struct process process;
	struct input input = {data, size};
	struct plimp_image image = {.allocator = &allocator, .machine = 62};
	struct plimp_heap_list list;
	int status;

	memset(&process, 0, sizeof(process));
	make_process(&process, &input);
	image.space = &process.space;
	image.reader.page_bytes = PAGE;
	image.reader.has_residency = 1;
	image.reader.pages = process_pages;
	image.reader.read = process_read;
	image.reader.user = &process;
	image.open_file = process_open;
	image.close_file = process_close;
	image.user = &process;
	plimp_heap_list_init(&list, &allocator, 0);
	status = plimp_recognise(&image, &list, NULL);
	PROMISE(status == PLIM_OK);
	for (size_t i = 0; i < list.count; i++) {
		if (list.items[i]->kind == PLIM_HEAP_OF_MUSL)
			status = plimp_musl_walk(&image, list.items[i], NULL);
		if (list.items[i]->kind == PLIM_HEAP_OF_GPERFTOOLS)
			status =
			    plimp_gperftools_walk(&image, list.items[i], NULL);
		PROMISE(status == PLIM_OK);
		judge(list.items[i]);
	}
	plimp_heap_list_release(&list);
	return 0;
}
