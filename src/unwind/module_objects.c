/*
 * module_objects.c - objects, and the store that histories share: what was
 * read of a file once serves every process that has mapped it.
 *
 * An object is known again by the numbers of its file, its size, its build id
 * and a sum of its headers. The file stays open, so that nobody else can get
 * its inode; but its bytes may be written over, which is why the build id is
 * read anew whenever the file is met again. Rules are built at once: it costs
 * some milliseconds, 40 for the largest libraries, and is never done while
 * anything waits for us.
 */
#include "core/fail.h"
#include "core/memory.h"
#include "unwind/module_parts.h"

#include <assert.h>
#include <string.h>

/* Program headers that go into the sum. */
enum { OBJECTS_HEADERS = 64 * 56, OBJECTS_HEADER = 64 };

struct plimp_module_store {
	plim_host *host;
	struct objects_item *items;
	size_t count;
	size_t capacity;
	struct plimp_module_bill bill;
	struct plimp_module_vdso vdso;
};

struct objects_item {
	struct plimp_object *object;
	uint64_t headers; /* their sum */
};

int plimp_module_store_open(struct plimp_module_store **store, plim_host *host,
			    plim_error *error)
{
	struct plimp_module_store *made =
	    plimp_allocate(&host->allocator, 1, sizeof *made);

	if (made == NULL)
		return plimp_fail(error, PLIM_ENOMEM, 0, "open modules", NULL,
				  NULL);
	made->host = host;
	*store = made;
	return PLIM_OK;
}

static void objects_free(plim_host *host, struct plimp_object *object)
{
	assert(object->named == NULL);
	if (object->symbols != NULL)
		object->symbols_free(host, object->symbols);
	plimp_rules_free(object->rules, &host->allocator);
	plimp_module_copy_free(object->copy, &host->allocator);
	if (object->file.system != NULL)
		plimp_system_file_close(host, &object->file);
	plimp_release(&host->allocator, object, 1, sizeof *object);
}

void plimp_module_store_close(struct plimp_module_store *store)
{
	plim_host *host;
	size_t i;

	if (store == NULL)
		return;
	host = store->host;
	for (i = 0; i < store->count; i++)
		objects_free(host, store->items[i].object);
	plimp_release(&host->allocator, store->items, store->capacity,
		      sizeof *store->items);
	plimp_release(&host->allocator, store, 1, sizeof *store);
}

struct plimp_module_vdso *
plimp_module_store_vdso(struct plimp_module_store *store, plim_host **host)
{
	*host = store->host;
	return &store->vdso;
}

size_t plimp_module_store_count(const struct plimp_module_store *store)
{
	return store->count;
}

struct plimp_object *
plimp_module_store_item(const struct plimp_module_store *store, size_t index)
{
	return index < store->count ? store->items[index].object : NULL;
}

struct plimp_module_bill
plimp_module_store_bill(const struct plimp_module_store *store)
{
	struct plimp_module_bill bill = store->bill;

	bill.objects = store->count;
	return bill;
}

/* FNV-1a of the header and the program headers, as far as they are there. */
static uint64_t objects_headers(const struct plimp_elf *elf)
{
	uint8_t bytes[OBJECTS_HEADERS];
	uint64_t sum = UINT64_C(0xcbf29ce484222325);
	size_t sizes[2] = {OBJECTS_HEADER, elf->segment_count * 56u};
	uint64_t places[2] = {0, elf->segments};
	int part;
	size_t i;

	for (part = 0; part < 2; part++) {
		if (sizes[part] > sizeof bytes)
			sizes[part] = sizeof bytes;
		if (plimp_elf_bytes(elf, places[part], bytes, sizes[part]) !=
		    PLIM_OK)
			continue;
		for (i = 0; i < sizes[part]; i++)
			sum = (sum ^ bytes[i]) * UINT64_C(0x100000001b3);
	}
	return sum;
}

static int objects_is_same(const struct objects_item *item,
			   const struct plimp_object *other, uint64_t headers)
{
	const struct plimp_object *object = item->object;

	return !object->is_memory && object->device == other->device &&
	       object->inode == other->inode && object->size == other->size &&
	       item->headers == headers &&
	       object->build_id_size == other->build_id_size &&
	       memcmp(object->build_id, other->build_id,
		      object->build_id_size) == 0;
}

/* The rules, or why there are none. PLIM_ENOMEM is a failure of its own. */
static int objects_rules(struct plimp_module_store *store,
			 struct plimp_lens *lens, plim_bytes path,
			 struct plimp_object *object, plim_error *error)
{
	uint64_t begin = plimp_system_monotonic();
	int code = plimp_object_rules(store->host, lens, path, object);

	store->bill.build_ns += plimp_system_monotonic() - begin;
	object->why_no_rules = code;
	if (code == PLIM_ENOMEM)
		return plimp_fail(error, PLIM_ENOMEM, 0, "build rules", NULL,
				  NULL);
	if (code == PLIM_OK)
		store->bill.rules_bytes +=
		    plimp_rules_facts(object->rules).bytes;
	return PLIM_OK;
}

/* Takes the object over and puts it among the others. */
static int objects_add(struct plimp_module_store *store,
		       struct plimp_object *object, uint64_t headers,
		       plim_error *error)
{
	void *items = store->items;

	if (plimp_reserve(&store->host->allocator, &items, &store->capacity,
			  store->count + 1, 32,
			  sizeof *store->items) != PLIM_OK) {
		objects_free(store->host, object);
		return plimp_fail(error, PLIM_ENOMEM, 0, "open modules", NULL,
				  NULL);
	}
	store->items = items;
	store->items[store->count].object = object;
	store->items[store->count++].headers = headers;
	return PLIM_OK;
}

static void objects_identify(struct plimp_object *object, uint64_t device,
			     uint64_t inode)
{
	object->device = device;
	object->inode = inode;
	if (plimp_elf_build_id(&object->elf, object->build_id,
			       &object->build_id_size) != PLIM_OK)
		object->build_id_size = 0;
}

int plimp_object_of_file(struct plimp_module_store *store,
			 struct plimp_lens *lens, plim_bytes path,
			 struct plimp_file *file, uint64_t device,
			 uint64_t inode, struct plimp_object **object, int *why,
			 plim_error *error)
{
	struct plimp_object *made =
	    plimp_allocate(&store->host->allocator, 1, sizeof *made);
	uint64_t headers;
	size_t i;
	int code;

	*object = NULL;
	if (made == NULL) {
		plimp_system_file_close(store->host, file);
		return plimp_fail(error, PLIM_ENOMEM, 0, "open modules", NULL,
				  NULL);
	}
	made->file = *file;
	made->size = file->size;
	memset(file, 0, sizeof *file);
	code =
	    plimp_elf_open(&made->elf, &made->file.reader, 0, made->file.size);
	if (code == PLIM_OK && store->count >= PLIMP_OBJECTS_MOST)
		code = PLIM_ELIMIT;
	if (code != PLIM_OK) {
		*why = code;
		objects_free(store->host, made);
		return PLIM_OK;
	}
	objects_identify(made, device, inode);
	headers = objects_headers(&made->elf);
	for (i = 0; i < store->count; i++)
		if (objects_is_same(&store->items[i], made, headers)) {
			objects_free(store->host, made);
			*object = store->items[i].object;
			return PLIM_OK;
		}
	code = objects_rules(store, lens, path, made, error);
	if (code != PLIM_OK) {
		objects_free(store->host, made);
		return code;
	}
	code = objects_add(store, made, headers, error);
	if (code == PLIM_OK)
		*object = made;
	return code;
}

int plimp_object_of_copy(struct plimp_module_store *store,
			 struct plimp_module_copy *copy, uint64_t device,
			 uint64_t inode, struct plimp_object **object, int *why,
			 plim_error *error)
{
	struct plimp_object *made =
	    plimp_allocate(&store->host->allocator, 1, sizeof *made);
	uint64_t bytes = (uint64_t)copy->bytes_count * copy->reader.page_bytes;
	int code;

	*object = NULL;
	if (made == NULL) {
		plimp_module_copy_free(copy, &store->host->allocator);
		return plimp_fail(error, PLIM_ENOMEM, 0, "open modules", NULL,
				  NULL);
	}
	made->copy = copy;
	made->is_memory = 1;
	code = plimp_elf_open_loaded(&made->elf, &copy->reader, copy->base,
				     (uint64_t)copy->page_count *
					 copy->reader.page_bytes);
	if (code == PLIM_OK && store->count >= PLIMP_OBJECTS_MOST)
		code = PLIM_ELIMIT;
	if (code != PLIM_OK) {
		*why = code;
		objects_free(store->host, made);
		return PLIM_OK;
	}
	objects_identify(made, device, inode);
	code = objects_rules(store, NULL, (plim_bytes){NULL, 0}, made, error);
	if (code != PLIM_OK) {
		objects_free(store->host, made);
		return code;
	}
	code = objects_add(store, made, 0, error);
	if (code != PLIM_OK)
		return code;
	store->bill.copied_bytes += bytes;
	*object = made;
	return PLIM_OK;
}
