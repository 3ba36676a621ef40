/*
 * module_vdso.c - the vDSO, of which a process has seldom touched the page that
 * holds the unwinding tables: no page of somebody else's is brought in for
 * them. It is a part of the kernel, the same in every process of its kind, so
 * that ours, whose pages we may touch, stands for it, if all that is resident
 * of the other one is the same.
 */
#include "core/fail.h"
#include "core/memory.h"
#include "unwind/module_parts.h"

#include <string.h>

enum { VDSO_PAGES = 16, VDSO_PAGE = 65536 };

/* Our own pages are all there for the asking. */
static int vdso_pages(void *user, uint64_t address, size_t count,
		      uint8_t *pages)
{
	(void)user;
	(void)address;
	memset(pages, PLIMP_PAGE_READABLE, count);
	return PLIM_OK;
}

static int vdso_read(void *user, uint64_t address, void *buffer, size_t size,
		     size_t *copied)
{
	const struct plimp_reader *reader = user;

	return reader->read(reader->user, address, buffer, size, copied);
}

/* The mapping of it, or NULL. */
static const struct plimp_mapping *vdso_find(const struct plimp_space *space)
{
	static const char name[] = "[vdso]";
	size_t i;

	for (i = 0; i < space->count; i++) {
		plim_bytes text = plimp_space_name(space, &space->items[i]);

		if (text.size == sizeof name - 1 &&
		    memcmp(text.data, name, text.size) == 0 &&
		    space->items[i].end - space->items[i].start <=
			(uint64_t)VDSO_PAGES * VDSO_PAGE)
			return &space->items[i];
	}
	return NULL;
}

static int vdso_make(struct plimp_module_store *store, plim_host *host,
		     struct plimp_lens *lens, struct plimp_object **object)
{
	struct plimp_space space;
	struct plimp_reader reader, own;
	const struct plimp_mapping *mapping;
	struct plimp_module_copy *copy = NULL;
	int code;
	int why;

	memset(&space, 0, sizeof space);
	code = plimp_system_lens_maps(lens, &space, NULL);
	mapping = code == PLIM_OK ? vdso_find(&space) : NULL;
	plimp_system_lens_reader(lens, &reader);
	own = reader;
	own.pages = vdso_pages;
	own.read = vdso_read;
	own.user = &reader;
	if (mapping != NULL) {
		code = plimp_module_copy(&copy, &host->allocator, &own, &space,
					 mapping->start, mapping->end, 1);
		if (code == PLIM_OK)
			code = plimp_object_of_copy(store, copy, 0, 0, object,
						    &why, NULL);
	}
	plimp_space_release(host, &space);
	return code;
}

int plimp_object_of_vdso(struct plimp_module_store *store,
			 struct plimp_object **object, plim_error *error)
{
	plim_host *host;
	struct plimp_module_vdso *vdso = plimp_module_store_vdso(store, &host);
	struct plimp_lens *lens;
	int code;

	if (!vdso->is_tried) {
		code = plimp_system_lens_open(host, NULL, &lens, NULL);
		if (code == PLIM_OK) {
			code = vdso_make(store, host, lens, &vdso->object);
			plimp_system_lens_close(lens);
		}
		if (code == PLIM_ENOMEM)
			return plimp_fail(error, code, 0, "read modules", NULL,
					  NULL);
		vdso->is_tried = 1;
	}
	*object = vdso->object;
	return PLIM_OK;
}

int plimp_object_is_vdso(const struct plimp_object *object,
			 const struct plimp_reader *reader, uint64_t start,
			 uint64_t end)
{
	const struct plimp_module_copy *copy = object->copy;
	const size_t page = copy->reader.page_bytes;
	uint8_t pages[VDSO_PAGES];
	uint8_t bytes[4096];
	size_t compared = 0;
	size_t count = (size_t)((end - start) / page);
	size_t i, at, copied;

	if (count != copy->page_count || count > VDSO_PAGES ||
	    reader->pages(reader->user, start, count, pages) != PLIM_OK)
		return 0;
	for (i = 0; i < count; i++) {
		if ((pages[i] & PLIMP_PAGE_READABLE) == 0)
			continue;
		if (copy->places[i] == 0)
			return 0;
		for (at = 0; at < page; at += sizeof bytes) {
			if (reader->read(reader->user, start + i * page + at,
					 bytes, sizeof bytes,
					 &copied) != PLIM_OK ||
			    copied != sizeof bytes ||
			    memcmp(bytes,
				   copy->bytes + (copy->places[i] - 1) * page +
				       at,
				   sizeof bytes) != 0)
				return 0;
		}
		compared++;
	}
	return compared > 0;
}
