/*
 * lens_pages.c - what the pages of an image are, and their bytes, in calls
 * that are short for the target.
 *
 * pagemap tells of each page whether it is there, swapped out, a file's, and
 * whether anybody else maps it. It does not tell the zero page nor huge pages;
 * PAGEMAP_SCAN (Linux 6.7) does, and finds what is there some seven times
 * faster, so that whole mappings are scanned with it and pagemap is read only
 * where anonymous pages were found. Neither brings a page in.
 *
 * Both walk page tables under the target's lock. How long a page takes is
 * learnt from each call; the first ones are small and taken for dear, and none
 * is larger than what is predicted to last PLIMP_LENS_CALL_NS. Bytes come
 * through /proc/PID/mem and never by process_vm_readv(2), which pins pages and
 * so makes a process that has forked copy all that it still shares.
 */
#include "host/linux/gnu.h"

#include "core/fail.h"
#include "host/linux/lens.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

/* include/uapi/linux/fs.h, for headers that are older than 6.7. */
struct pages_scan {
	uint64_t size;
	uint64_t flags;
	uint64_t start;
	uint64_t end;
	uint64_t walk_end;
	uint64_t vec;
	uint64_t vec_len;
	uint64_t max_pages;
	uint64_t category_inverted;
	uint64_t category_mask;
	uint64_t category_anyof_mask;
	uint64_t return_mask;
};
#define PAGES_SCAN _IOWR('f', 16, struct pages_scan)

/* The buffer holds entries of pagemap, then regions of PAGEMAP_SCAN. */
#define PAGES_ENTRIES_BYTES 32768u
#define PAGES_ENTRIES	    (PAGES_ENTRIES_BYTES / 8)
#define PAGES_REGIONS_BYTES (PLIMP_LENS_BUFFER - PAGES_ENTRIES_BYTES)
#define PAGES_REGIONS	    (PAGES_REGIONS_BYTES / PLIMP_REGION_SIZE)

/* What a page is taken to cost before anything was measured, and never less
 * than; picoseconds. Measured on Linux 6.18: 6,000 by PAGEMAP_SCAN, 43,000 by
 * pagemap, with the copy. */
#define PAGES_SCAN_PS  50000u
#define PAGES_ENTRY_PS 200000u
#define PAGES_LEAST_PS 1000u

/* Below this no address of a program lies on any system of 64 bits; above
 * are the kernel's, whose page for old system calls is listed all the same. */
#define PAGES_KERNEL (UINT64_C(1) << 63)

static const uint64_t pages_all = PLIMP_CATEGORY_FILE | PLIMP_CATEGORY_PRESENT |
				  PLIMP_CATEGORY_SWAPPED | PLIMP_CATEGORY_ZERO |
				  PLIMP_CATEGORY_HUGE;

/* A call took so long for so many pages: outliers are those of the scheduler,
 * so that one sample moves the estimate to no more than the double. */
static void pages_learn(uint64_t *ps, uint64_t ns, uint64_t pages)
{
	uint64_t sample;

	if (pages < 64)
		return;
	sample =
	    ns / pages > UINT64_MAX / 2000 ? UINT64_MAX / 2 : ns * 1000 / pages;
	if (sample > *ps * 2)
		sample = *ps * 2;
	*ps = (*ps * 3 + sample) / 4;
	if (*ps < PAGES_LEAST_PS)
		*ps = PAGES_LEAST_PS;
}

/* How many pages one call may look at. */
static uint64_t pages_most(uint64_t ps)
{
	uint64_t most = (uint64_t)PLIMP_LENS_CALL_NS * 1000 / ps;

	return most > 64 ? most : 64;
}

static int pages_open(struct plimp_lens *lens, int *held, const char *name,
		      plim_error *error)
{
	if (*held >= 0)
		return PLIM_OK;
	*held = plimp_lens_file(lens, name, O_RDONLY);
	if (*held < 0)
		return plimp_lens_fail(lens, errno, name, error);
	return PLIM_OK;
}

/* The frame of the zero page: that of a page of our own which was only read.
 * 0 where frames are not told, or anything else goes wrong. */
static uint64_t pages_zero_frame(plim_host *host)
{
	size_t size = (size_t)host->system->page_bytes;
	uint64_t entry = 0;
	uint64_t frame = 0;
	int descriptor;
	void *memory =
	    mmap(NULL, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		return 0;
	(void)*(volatile const char *)memory;
	descriptor = plimp_call_open(host, host->system->self_directory,
				     "pagemap", O_RDONLY);
	host->bill.system_calls += 3;
	if (descriptor >= 0 &&
	    pread(descriptor, &entry, sizeof entry,
		  (off_t)((uintptr_t)memory / size * sizeof entry)) ==
		(ssize_t)sizeof entry &&
	    entry >> 63 != 0 && (entry >> 56 & 1) == 0)
		frame = entry & ((UINT64_C(1) << 55) - 1);
	plimp_call_close(host, descriptor);
	munmap(memory, size);
	return frame;
}

/* One call: 0 and the regions in the buffer, or the error. */
static int pages_scan(struct plimp_lens *lens, struct pages_scan *scan,
		      size_t *count)
{
	uint64_t begin = plimp_system_monotonic();
	uint64_t page_bytes = lens->host->system->page_bytes;
	int found;

	scan->size = sizeof *scan;
	scan->vec = (uint64_t)(uintptr_t)(lens->buffer + PAGES_ENTRIES_BYTES);
	scan->vec_len = PAGES_REGIONS;
	lens->host->bill.system_calls++;
	found = ioctl(lens->pagemap, PAGES_SCAN, scan);
	if (found < 0)
		return errno;
	if ((size_t)found > PAGES_REGIONS || scan->walk_end < scan->start ||
	    scan->walk_end > scan->end)
		return EBADMSG;
	pages_learn(&lens->scan_ps,
		    plimp_lens_billed(lens, "pagemap_scan", begin),
		    (scan->walk_end - scan->start) / page_bytes);
	*count = (size_t)found;
	return 0;
}

/* Where the next call begins: behind what was walked, and behind the last
 * region, whose end the kernel may tell to be further on when there is no room
 * for another one. 0 where that leads nowhere. */
static int pages_next(uint64_t *start, uint64_t walked, uint64_t told)
{
	uint64_t next = walked > told ? walked : told;

	if (next <= *start)
		return 0;
	*start = next;
	return 1;
}

/* Is there PAGEMAP_SCAN, and does it know guard pages? Asked of one page. */
static void pages_probe(struct plimp_lens *lens)
{
	uint64_t guard = PLIMP_CATEGORY_GUARD;

	lens->has_scan = 0;
	lens->scan_ps = PAGES_SCAN_PS;
	lens->entry_ps = PAGES_ENTRY_PS;
	if (!lens->host->system->live)
		return;
	for (; !lens->has_scan; guard = 0) {
		struct pages_scan scan = {.end = lens->host->system->page_bytes,
					  .category_anyof_mask = pages_all,
					  .return_mask = pages_all | guard};
		size_t count;

		lens->has_scan = pages_scan(lens, &scan, &count) == 0;
		lens->scan_mask = scan.return_mask;
		if (guard == 0)
			break;
	}
	if (!lens->has_scan)
		lens->zero_frame = pages_zero_frame(lens->host);
}

static int pages_ready(struct plimp_lens *lens, plim_error *error)
{
	int code = pages_open(lens, &lens->pagemap, "pagemap", error);

	if (code == PLIM_OK && lens->has_scan < 0)
		pages_probe(lens);
	return code;
}

/* At the end of a program's addresses, and of a memory that nobody uses any
 * more, pagemap reads as empty: only the first is no failure. */
static int pages_short(struct plimp_lens *lens, plim_error *error)
{
	char entry[8];

	if (plimp_call_pread(lens->host, lens->pagemap, entry, sizeof entry) ==
	    (ssize_t)sizeof entry)
		return PLIM_OK;
	return plimp_lens_fail(lens, ESRCH, "pagemap", error);
}

/* At most PAGES_ENTRIES pages by pagemap, of which `*told` can be any; it sets
 * `*doubtful` where one may be the zero page. */
static int pages_entries(struct plimp_lens *lens, uint64_t address,
			 size_t count, uint8_t *pages, size_t *told,
			 int *doubtful, plim_error *error)
{
	uint64_t page_bytes = lens->host->system->page_bytes;
	uint64_t begin = plimp_system_monotonic();
	plim_bytes entries = {lens->buffer, 0};
	ssize_t size;

	assert(count > 0 && count <= PAGES_ENTRIES);
	lens->host->bill.system_calls++;
	size = pread(lens->pagemap, lens->buffer, count * 8,
		     (off_t)(address / page_bytes * 8));
	if (size < 0)
		return plimp_lens_fail(lens, errno, "pagemap", error);
	lens->host->bill.bytes_read += (uint64_t)size;
	lens->bill.pages_asked += count;
	pages_learn(&lens->entry_ps, plimp_lens_billed(lens, "pagemap", begin),
		    (uint64_t)size / 8);
	entries.size = (size_t)size / 8 * 8;
	*doubtful = plimp_decode_pagemap(entries, lens->zero_frame, pages);
	*told = entries.size / 8;
	if (*told == count)
		return PLIM_OK;
	memset(pages + *told, 0, count - *told);
	return pages_short(lens, error);
}

/*
 * Sets what a region says of the pages from `address` on. The huge zero page
 * is told by a contradiction: pagemap takes it for a file's, PAGEMAP_SCAN for
 * none (and, until it was mended, not for the zero page either). What was not
 * there when pagemap told and has come in since stays as it was.
 */
static void pages_mark(uint64_t address, uint64_t page_bytes, size_t count,
		       uint8_t *pages, const struct plimp_page_run *region)
{
	uint64_t from = region->start > address ? region->start : address;
	uint64_t end = address + count * page_bytes;
	uint64_t to = region->end < end ? region->end : end;
	const uint64_t huge = PLIMP_CATEGORY_HUGE | PLIMP_CATEGORY_FILE;
	int is_huge = (region->categories & PLIMP_CATEGORY_HUGE) != 0;
	int is_zero = (region->categories & PLIMP_CATEGORY_ZERO) != 0;
	uint64_t at;

	for (at = from; at < to; at += page_bytes) {
		uint8_t *page = &pages[(at - address) / page_bytes];
		int is_zeroes =
		    (region->categories & huge) == PLIMP_CATEGORY_HUGE &&
		    (*page & PLIMP_PAGE_FILE) != 0;

		if (*page == PLIMP_PAGE_READABLE ? is_zero : is_zeroes)
			*page = PLIMP_PAGE_READABLE | PLIMP_PAGE_ZERO;
		if (is_huge && (*page & PLIMP_PAGE_READABLE) != 0)
			*page |= PLIMP_PAGE_HUGE;
	}
}

/* The zero page and huge pages among these, by PAGEMAP_SCAN; what was doubtful
 * and is not the zero page is shared memory after a fork. */
static int pages_refine(struct plimp_lens *lens, uint64_t address, size_t count,
			uint8_t *pages, plim_error *error)
{
	uint64_t page_bytes = lens->host->system->page_bytes;
	struct pages_scan scan = {
	    .start = address,
	    .end = address + count * page_bytes,
	    .category_anyof_mask = PLIMP_CATEGORY_ZERO | PLIMP_CATEGORY_HUGE,
	    .return_mask = PLIMP_CATEGORY_ZERO | PLIMP_CATEGORY_HUGE |
			   PLIMP_CATEGORY_FILE};
	struct plimp_page_run region;
	size_t found = 0;
	size_t i;

	while (scan.start < scan.end) {
		plim_bytes regions = {lens->buffer + PAGES_ENTRIES_BYTES, 0};
		uint64_t at = scan.start;
		size_t offset = 0;
		int problem = pages_scan(lens, &scan, &found);

		if (problem != 0)
			return plimp_lens_fail(lens, problem, "pagemap", error);
		regions.size = found * PLIMP_REGION_SIZE;
		while (plimp_decode_region(regions, &offset, &at, &region) == 1)
			pages_mark(address, page_bytes, count, pages, &region);
		if (!pages_next(&scan.start, scan.walk_end, at))
			break;
	}
	for (i = 0; i < count; i++)
		if ((pages[i] & ~PLIMP_PAGE_HUGE) == PLIMP_PAGE_READABLE)
			pages[i] |= PLIMP_PAGE_RESIDENT | PLIMP_PAGE_SHARED;
	return PLIM_OK;
}

/* So many pages as one call may look at. */
static size_t pages_part(const struct plimp_lens *lens, uint64_t count)
{
	uint64_t most = pages_most(lens->entry_ps);

	if (most > PAGES_ENTRIES)
		most = PAGES_ENTRIES;
	return (size_t)(count < most ? count : most);
}

/* All of it, or no more than whether each can be read. */
static int pages_ask(struct plimp_lens *lens, uint64_t address, size_t count,
		     uint8_t *pages, int refines)
{
	uint64_t page_bytes = lens->host->system->page_bytes;
	int code;

	assert(address % page_bytes == 0);
	if (lens->reason != 0) {
		memset(pages, 0, count);
		return PLIM_OK;
	}
	code = pages_ready(lens, NULL);
	while (code == PLIM_OK && count > 0) {
		size_t part = pages_part(lens, count);
		size_t told = 0;
		int doubtful;

		if (address >= PAGES_KERNEL) {
			memset(pages, 0, count);
			break;
		}
		code = pages_entries(lens, address, part, pages, &told,
				     &doubtful, NULL);
		if (code == PLIM_OK && told > 0 && refines && lens->has_scan)
			code = pages_refine(lens, address, told, pages, NULL);
		address += part * page_bytes;
		pages += part;
		count -= part;
	}
	return code;
}

static int pages_tell(void *user, uint64_t address, size_t count,
		      uint8_t *pages)
{
	return pages_ask(user, address, count, pages, 1);
}

int plimp_lens_readable(struct plimp_lens *lens, uint64_t address, size_t count,
			uint8_t *pages)
{
	return pages_ask(lens, address, count, pages, 0);
}

static int pages_read(void *user, uint64_t address, void *buffer, size_t size,
		      size_t *copied)
{
	struct plimp_lens *lens = user;
	size_t got = 0;
	int code = PLIM_OK;

	if (lens->reason == 0)
		code = pages_open(lens, &lens->mem, "mem", NULL);
	while (code == PLIM_OK && lens->reason == 0 && got < size &&
	       address < PAGES_KERNEL) {
		size_t part =
		    size - got < PLIMP_LENS_READ ? size - got : PLIMP_LENS_READ;
		uint64_t begin = plimp_system_monotonic();
		ssize_t count;

		lens->host->bill.system_calls++;
		count = pread(lens->mem, (char *)buffer + got, part,
			      (off_t)(address + got));
		/* EIO: the page is not there any more. */
		if (count < 0 && errno != EIO && errno != EFAULT)
			return plimp_lens_fail(lens, errno, "mem", NULL);
		plimp_lens_billed(lens, "mem", begin);
		if (count <= 0) {
			/* Nothing at all: nobody may use the memory. */
			if (count == 0)
				code = plimp_system_lens_check(lens, NULL);
			break;
		}
		lens->host->bill.bytes_read += (uint64_t)count;
		lens->bill.bytes_read += (uint64_t)count;
		got += (size_t)count;
	}
	if (code == PLIM_OK)
		*copied = got;
	return code;
}

void plimp_system_lens_reader(struct plimp_lens *lens,
			      struct plimp_reader *reader)
{
	reader->page_bytes = (uint32_t)lens->host->system->page_bytes;
	reader->has_residency = 1;
	reader->pages = pages_tell;
	reader->read = pages_read;
	reader->user = lens;
}

/* What one mapping has, page by page. */
struct pages_sum {
	uint64_t resident;
	uint64_t anonymous;
	uint64_t swapped;
	uint64_t exclusive;
	int doubtful; /* the first two may hold zero pages */
};

/* Anonymous pages from `start` to `end`: how many are exclusive? Huge ones may
 * be the huge zero page, see pages_mark(). */
static int pages_exclusive(struct plimp_lens *lens, uint64_t start,
			   uint64_t end, int huge, struct pages_sum *sum,
			   plim_error *error)
{
	uint64_t page_bytes = lens->host->system->page_bytes;
	uint8_t pages[PAGES_ENTRIES];
	size_t told;
	int doubtful;

	while (start < end) {
		size_t part = pages_part(lens, (end - start) / page_bytes);
		int code = pages_entries(lens, start, part, pages, &told,
					 &doubtful, error);
		size_t i;

		if (code != PLIM_OK)
			return code;
		for (i = 0; i < part; i++) {
			if ((pages[i] & PLIMP_PAGE_FILE) != 0) {
				sum->resident -= huge ? page_bytes : 0;
				sum->anonymous -= huge ? page_bytes : 0;
			} else if ((pages[i] & PLIMP_PAGE_EXCLUSIVE) != 0) {
				sum->exclusive += page_bytes;
			}
		}
		start += part * page_bytes;
	}
	return PLIM_OK;
}

/* Runs of anonymous pages that are near to each other are asked as one. */
#define PAGES_GAP 64

struct pages_run {
	uint64_t start;
	uint64_t end;
};

static int pages_region(struct plimp_lens *lens,
			const struct plimp_page_run *region,
			struct pages_run *run, struct pages_sum *sum,
			plim_error *error)
{
	uint64_t size = region->end - region->start;
	uint64_t gap = PAGES_GAP * lens->host->system->page_bytes;
	int huge = (region->categories & PLIMP_CATEGORY_HUGE) != 0;
	int code;

	if ((region->categories & PLIMP_CATEGORY_SWAPPED) != 0 &&
	    (region->categories & PLIMP_CATEGORY_GUARD) == 0)
		sum->swapped += size;
	if ((region->categories & PLIMP_CATEGORY_PRESENT) == 0 ||
	    (region->categories & PLIMP_CATEGORY_ZERO) != 0)
		return PLIM_OK;
	sum->resident += size;
	if ((region->categories & PLIMP_CATEGORY_FILE) != 0)
		return PLIM_OK;
	sum->anonymous += size;
	if (!huge && run->end > run->start && region->start - run->end <= gap) {
		run->end = region->end;
		return PLIM_OK;
	}
	code = pages_exclusive(lens, run->start, run->end, 0, sum, error);
	run->start = huge ? 0 : region->start;
	run->end = huge ? 0 : region->end;
	if (code == PLIM_OK && huge)
		code = pages_exclusive(lens, region->start, region->end, 1, sum,
				       error);
	return code;
}

/* A whole mapping by PAGEMAP_SCAN. */
static int pages_scanned(struct plimp_lens *lens,
			 const struct plimp_mapping *mapping,
			 struct pages_sum *sum, plim_error *error)
{
	uint64_t page_bytes = lens->host->system->page_bytes;
	struct pages_run run = {0, 0};
	uint64_t start = mapping->start;
	int code = PLIM_OK;

	while (code == PLIM_OK && start < mapping->end) {
		uint64_t most = pages_most(lens->scan_ps);
		uint64_t left = (mapping->end - start) / page_bytes;
		struct pages_scan scan = {
		    .start = start,
		    .end = start + (left < most ? left : most) * page_bytes,
		    .category_anyof_mask =
			PLIMP_CATEGORY_PRESENT | PLIMP_CATEGORY_SWAPPED,
		    .return_mask = lens->scan_mask};
		plim_bytes regions = {lens->buffer + PAGES_ENTRIES_BYTES, 0};
		struct plimp_page_run region;
		uint64_t at = start;
		size_t offset = 0;
		size_t found = 0;
		int problem = pages_scan(lens, &scan, &found);

		if (problem != 0)
			return plimp_lens_fail(lens, problem, "pagemap", error);
		regions.size = found * PLIMP_REGION_SIZE;
		while (code == PLIM_OK &&
		       plimp_decode_region(regions, &offset, &at, &region) == 1)
			code = pages_region(lens, &region, &run, sum, error);
		lens->bill.pages_asked += (scan.walk_end - start) / page_bytes;
		if (!pages_next(&start, scan.walk_end, at))
			break;
	}
	if (code == PLIM_OK)
		code = pages_exclusive(lens, run.start, run.end, 0, sum, error);
	return code;
}

/* Without PAGEMAP_SCAN: what pagemap takes for a file's page in memory that
 * has no file is the huge zero page. */
static int pages_is_zeroes(const struct plimp_mapping *mapping, unsigned page)
{
	return (page & PLIMP_PAGE_FILE) != 0 && mapping->inode == 0 &&
	       (mapping->protection & (PLIMP_MAY_WRITE | PLIMP_IS_SHARED)) ==
		   PLIMP_MAY_WRITE;
}

/* The same where there is no PAGEMAP_SCAN. */
static int pages_mapped(struct plimp_lens *lens,
			const struct plimp_mapping *mapping,
			struct pages_sum *sum, plim_error *error)
{
	uint64_t page_bytes = lens->host->system->page_bytes;
	uint8_t pages[PAGES_ENTRIES];
	uint64_t start = mapping->start;

	while (start < mapping->end) {
		size_t part =
		    pages_part(lens, (mapping->end - start) / page_bytes);
		size_t told;
		int doubtful = 0;
		int code = pages_entries(lens, start, part, pages, &told,
					 &doubtful, error);
		size_t i;

		if (code != PLIM_OK)
			return code;
		sum->doubtful |= doubtful;
		for (i = 0; i < part; i++) {
			unsigned page = pages[i];

			if ((page & PLIMP_PAGE_SWAPPED) != 0)
				sum->swapped += page_bytes;
			if ((page & PLIMP_PAGE_READABLE) == 0 ||
			    (page & PLIMP_PAGE_ZERO) != 0 ||
			    pages_is_zeroes(mapping, page))
				continue;
			sum->resident += page_bytes;
			if ((page & PLIMP_PAGE_FILE) != 0)
				continue;
			sum->anonymous += page_bytes;
			if ((page & PLIMP_PAGE_EXCLUSIVE) != 0)
				sum->exclusive += page_bytes;
		}
		start += part * page_bytes;
	}
	return PLIM_OK;
}

static int pages_of_mapping(struct plimp_lens *lens,
			    struct plimp_mapping *mapping, plim_error *error)
{
	int method =
	    lens->has_scan ? PLIM_METHOD_PAGEMAP_SCAN : PLIM_METHOD_PAGEMAP;
	struct pages_sum sum = {0, 0, 0, 0, 0};
	int bound;
	int code = PLIM_OK;

	if (mapping->end <= PAGES_KERNEL)
		code = lens->has_scan
			   ? pages_scanned(lens, mapping, &sum, error)
			   : pages_mapped(lens, mapping, &sum, error);
	if (code != PLIM_OK)
		return code;
	bound = sum.doubtful ? PLIM_BOUND_AT_MOST : PLIM_BOUND_EXACT;
	mapping->resident = plim_count_bounded(sum.resident, method, bound);
	mapping->anonymous = plim_count_bounded(sum.anonymous, method, bound);
	mapping->swap = plimp_known(sum.swapped, method);
	mapping->exclusive = plimp_known(sum.exclusive, method);
	mapping->has |= PLIMP_MAPPING_PAGES;
	return PLIM_OK;
}

int plimp_system_lens_resident(struct plimp_lens *lens,
			       struct plimp_space *space, plim_error *error)
{
	int code = PLIM_OK;
	size_t i;

	if (lens->reason == 0)
		code = pages_ready(lens, error);
	for (i = 0; code == PLIM_OK && i < space->count; i++)
		code = pages_of_mapping(lens, &space->items[i], error);
	if (code == PLIM_OK)
		code = plimp_system_lens_check(lens, error);
	return code;
}
