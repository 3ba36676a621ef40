/*
 * lens_maps.c - all mappings of an image, from maps or smaps, whose text may
 * be of any size: it comes in pieces that end where the kernel's buffer was
 * full, so that what is left of a line waits for the next piece.
 *
 * The list may change while it is read. The kernel goes on behind the address
 * that it came to, so that nothing comes twice; a mapping that has grown
 * downwards meanwhile, by merging, begins before that, and is cut there. The
 * space is ascending whatever the text says.
 */
#include "host/linux/gnu.h"

#include "core/fail.h"
#include "core/memory.h"
#include "host/linux/lens.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>

/* The longest line: a path of PATH_MAX bytes, each escaped to four. */
#define MAPS_LINE_MOST (16384 + 256)

struct maps_pass {
	struct plimp_lens *lens;
	struct plimp_space *space;
	int with_figures;
	struct plimp_smaps smaps; /* of the last mapping */
	int open;		  /* it still takes lines */
	plim_error *error;
};

static int maps_no_memory(struct maps_pass *pass)
{
	return plimp_fail(pass->error, PLIM_ENOMEM, 0, "read mappings", NULL,
			  NULL);
}

/* The name behind the texts, its escapes undone. */
static int maps_name(struct maps_pass *pass, struct plimp_mapping *mapping,
		     plim_bytes name)
{
	struct plimp_text_list *texts = &pass->space->texts;
	size_t start = texts->size;

	mapping->name_start = start;
	if (plimp_texts_add(texts, &pass->lens->host->allocator, name) !=
	    PLIM_OK)
		return maps_no_memory(pass);
	if (name.size > 0)
		texts->size =
		    start + plimp_decode_map_name(name, texts->bytes + start);
	mapping->name_size = texts->size - start;
	return PLIM_OK;
}

static plim_count *maps_figures(struct plimp_mapping *mapping, int row)
{
	switch (row) {
	case PLIMP_SMAPS_RSS:
		return &mapping->resident;
	case PLIMP_SMAPS_PSS:
		return &mapping->pss;
	case PLIMP_SMAPS_PSS_DIRTY:
		return &mapping->pss_dirty;
	case PLIMP_SMAPS_SHARED_CLEAN:
		return &mapping->shared_clean;
	case PLIMP_SMAPS_SHARED_DIRTY:
		return &mapping->shared_dirty;
	case PLIMP_SMAPS_PRIVATE_CLEAN:
		return &mapping->private_clean;
	case PLIMP_SMAPS_PRIVATE_DIRTY:
		return &mapping->private_dirty;
	case PLIMP_SMAPS_ANONYMOUS:
		return &mapping->anonymous;
	case PLIMP_SMAPS_LAZY_FREE:
		return &mapping->lazy_free;
	case PLIMP_SMAPS_ANON_HUGE:
		return &mapping->huge;
	case PLIMP_SMAPS_SWAP:
		return &mapping->swap;
	case PLIMP_SMAPS_SWAP_PSS:
		return &mapping->swap_pss;
	case PLIMP_SMAPS_LOCKED:
		return &mapping->locked;
	default:
		return NULL;
	}
}

static void maps_no_figures(struct plimp_mapping *mapping)
{
	plim_count missing = plim_count_missing(PLIM_REASON_NOT_ASKED, 0);
	int row;

	for (row = 0; row < PLIMP_SMAPS_ROWS; row++) {
		plim_count *figure = maps_figures(mapping, row);

		if (figure != NULL)
			*figure = missing;
	}
	mapping->hugetlb = missing;
	mapping->exclusive = missing;
}

/* The two lines of hugetlb as one figure. */
static plim_count maps_hugetlb(const struct plimp_smaps *smaps)
{
	const uint32_t both = 1u << PLIMP_SMAPS_SHARED_HUGETLB |
			      1u << PLIMP_SMAPS_PRIVATE_HUGETLB;
	uint64_t shared = smaps->bytes[PLIMP_SMAPS_SHARED_HUGETLB];
	uint64_t own = smaps->bytes[PLIMP_SMAPS_PRIVATE_HUGETLB];

	if ((smaps->has & both) != both || own > UINT64_MAX - shared)
		return plim_count_missing(PLIM_REASON_NO_LINE, 0);
	return plimp_known(shared + own, PLIM_METHOD_SMAPS);
}

/* What the lines below the last mapping have told goes into it. */
static void maps_settle(struct maps_pass *pass)
{
	const struct plimp_smaps *smaps = &pass->smaps;
	struct plimp_mapping *mapping;
	int row;

	if (!pass->open || !pass->with_figures || pass->space->count == 0)
		return;
	mapping = &pass->space->items[pass->space->count - 1];
	for (row = 0; row < PLIMP_SMAPS_ROWS; row++) {
		plim_count *figure = maps_figures(mapping, row);

		if (figure != NULL)
			*figure =
			    (smaps->has >> row & 1) != 0
				? plimp_known(smaps->bytes[row],
					      PLIM_METHOD_SMAPS)
				: plim_count_missing(PLIM_REASON_NO_LINE, 0);
	}
	mapping->hugetlb = maps_hugetlb(smaps);
	mapping->has |= PLIMP_MAPPING_SMAPS;
	if ((smaps->has >> PLIMP_SMAPS_FLAGS & 1) == 0)
		return;
	/* enum plimp_smaps_flag has the bits of enum plimp_vm_flag. */
	mapping->flags = smaps->flags;
	mapping->has |= PLIMP_MAPPING_FLAGS;
}

static int maps_add(struct maps_pass *pass, struct plimp_map map)
{
	struct plimp_space *space = pass->space;
	void *items = space->items;
	struct plimp_mapping *mapping;
	uint64_t least =
	    space->count > 0 ? space->items[space->count - 1].end : 0;

	maps_settle(pass);
	memset(&pass->smaps, 0, sizeof pass->smaps);
	pass->open = 0;
	if (map.end <= least)
		return PLIM_OK;
	if (map.start < least) {
		map.offset += least - map.start;
		map.start = least;
	}
	if (space->count >= PLIMP_MAPPING_LIMIT)
		return plimp_fail(pass->error, PLIM_ELIMIT, 0, "read mappings",
				  NULL, NULL);
	if (plimp_reserve(&pass->lens->host->allocator, &items,
			  &space->capacity, space->count + 1, 64,
			  sizeof *space->items) != PLIM_OK)
		return maps_no_memory(pass);
	space->items = items;
	mapping = &space->items[space->count];
	memset(mapping, 0, sizeof *mapping);
	maps_no_figures(mapping);
	mapping->start = map.start;
	mapping->end = map.end;
	mapping->offset = map.inode != 0 ? map.offset : 0;
	mapping->device = map.device;
	mapping->inode = map.inode;
	/* enum plimp_map_permission has the bits of enum plimp_protection. */
	mapping->protection = map.permissions;
	if (maps_name(pass, mapping, map.name) != PLIM_OK)
		return PLIM_ENOMEM;
	space->count++;
	pass->open = 1;
	return PLIM_OK;
}

/* A line of maps; of smaps, also one that is below a mapping. A head begins
 * with a digit of an address, which are lower case, and no key does. */
static int maps_line(struct maps_pass *pass, plim_bytes line)
{
	struct plimp_map map;
	char first = line.size > 0 ? line.data[0] : '\0';

	if (plimp_decode_map(line, &map) == PLIM_OK)
		return maps_add(pass, map);
	if (!pass->with_figures || (first >= '0' && first <= '9') ||
	    (first >= 'a' && first <= 'f'))
		return plimp_fail(pass->error, PLIM_EMALFORMED, 0,
				  "read mappings",
				  pass->with_figures ? "smaps" : "maps", NULL);
	if (pass->open)
		(void)plimp_decode_smaps_line(line, &pass->smaps);
	return PLIM_OK;
}

/* The whole lines of a piece; `*left` bytes at its end are none. */
static int maps_lines(struct maps_pass *pass, plim_bytes piece, size_t *left)
{
	size_t at = 0;

	while (at < piece.size) {
		const char *newline =
		    memchr(piece.data + at, '\n', piece.size - at);
		plim_bytes line = {piece.data + at, 0};
		int code;

		if (newline == NULL)
			break;
		line.size = (size_t)(newline - line.data);
		code = maps_line(pass, line);
		if (code != PLIM_OK)
			return code;
		at += line.size + 1;
	}
	*left = piece.size - at;
	return PLIM_OK;
}

static int maps_pieces(struct maps_pass *pass, int descriptor, const char *name)
{
	struct plimp_lens *lens = pass->lens;
	size_t used = 0;
	int code = PLIM_OK;

	while (code == PLIM_OK) {
		uint64_t begin = plimp_system_monotonic();
		ssize_t count =
		    plimp_call_read(lens->host, descriptor, lens->buffer + used,
				    PLIMP_LENS_BUFFER - used);
		plim_bytes piece = {lens->buffer, used};
		int problem = count < 0 ? errno : 0;

		if (problem != 0)
			return plimp_lens_fail(lens, problem, name,
					       pass->error);
		if (count == 0)
			break;
		if (pass->with_figures)
			plimp_lens_billed(lens, "smaps", begin);
		piece.size += (size_t)count;
		code = maps_lines(pass, piece, &used);
		if (code != PLIM_OK)
			break;
		if (used > MAPS_LINE_MOST)
			code = plimp_fail(pass->error, PLIM_EMALFORMED, 0,
					  "read mappings", name, NULL);
		else if (used > 0)
			memmove(lens->buffer,
				lens->buffer + (piece.size - used), used);
	}
	if (code == PLIM_OK && used > 0)
		code = plimp_fail(pass->error, PLIM_EMALFORMED, 0,
				  "read mappings", name, "its end is cut");
	if (code == PLIM_OK)
		maps_settle(pass);
	return code;
}

static int maps_read(struct plimp_lens *lens, struct plimp_space *space,
		     int with_figures, plim_error *error)
{
	const char *name = with_figures ? "smaps" : "maps";
	struct maps_pass pass = {.lens = lens,
				 .space = space,
				 .with_figures = with_figures,
				 .error = error};
	int descriptor;
	int code;

	space->count = 0;
	space->texts.size = 0;
	if (lens->reason != 0)
		return plimp_system_lens_check(lens, error);
	descriptor = plimp_lens_file(lens, name, O_RDONLY);
	if (descriptor < 0)
		return plimp_lens_fail(lens, errno, name, error);
	lens->bill.walks += with_figures != 0;
	code = maps_pieces(&pass, descriptor, name);
	plimp_call_close(lens->host, descriptor);
	if (code == PLIM_OK)
		code = plimp_system_lens_check(lens, error);
	if (code != PLIM_OK) {
		space->count = 0;
		space->texts.size = 0;
	}
	return code;
}

int plimp_system_lens_maps(struct plimp_lens *lens, struct plimp_space *space,
			   plim_error *error)
{
	return maps_read(lens, space, 0, error);
}

int plimp_system_lens_smaps(struct plimp_lens *lens, struct plimp_space *space,
			    plim_error *error)
{
	return maps_read(lens, space, 1, error);
}
