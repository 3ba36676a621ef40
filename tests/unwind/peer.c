/*
 * peer.c - libunwind, asked from outside. Its rule cache is on and large; it
 * is flushed whenever the mappings change, since it is keyed by address.
 */
#include "peer.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <libunwind.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PEER_MODULES 512
#define PEER_TEXT    (1 << 20)

/* Exported by libunwind, but in no header of it. */
typedef int search_table_fn(unw_addr_space_t space, unw_word_t ip,
			    unw_dyn_info_t *info, unw_proc_info_t *procedure,
			    int need_unwind_info, void *user);
static search_table_fn *search_table;

struct peer {
	unw_addr_space_t space;
	const struct step_stop *stop;
	size_t count;
	struct peer_module modules[PEER_MODULES];
	uint64_t generation;
	pid_t pid;
	char *text;
	char *next;
};

const char *peer_maps(const struct peer *peer)
{
	return peer->text;
}

uint64_t peer_generation(const struct peer *peer)
{
	return peer->generation;
}

const struct peer_module *peer_module(const struct peer *peer, uint64_t address)
{
	size_t i;

	for (i = 0; i < peer->count; i++)
		if (address >= peer->modules[i].start &&
		    address < peer->modules[i].end)
			return &peer->modules[i];
	return NULL;
}

static int peer_find(unw_addr_space_t space, unw_word_t ip,
		     unw_proc_info_t *procedure, int need, void *user)
{
	struct peer *peer = user;
	const struct peer_module *module = peer_module(peer, ip);
	unw_dyn_info_t info;

	if (module == NULL || module->header == 0)
		return -UNW_ENOINFO;
	memset(&info, 0, sizeof(info));
	info.format = UNW_INFO_FORMAT_REMOTE_TABLE;
	info.start_ip = module->start;
	info.end_ip = module->end;
	info.u.rti.segbase = module->header;
	info.u.rti.table_data = module->table;
	/* In words, of two 32-bit numbers each entry. */
	info.u.rti.table_len = module->entries * 8 / sizeof(unw_word_t);
	return search_table(space, ip, &info, procedure, need, user);
}

/* libunwind gives back by itself what it has allocated for this. */
static void peer_put(unw_addr_space_t space, unw_proc_info_t *procedure,
		     void *user)
{
	(void)space;
	(void)procedure;
	(void)user;
}

static int peer_list(unw_addr_space_t space, unw_word_t *list, void *user)
{
	(void)space;
	(void)list;
	(void)user;
	return -UNW_ENOINFO;
}

static int peer_memory(unw_addr_space_t space, unw_word_t address,
		       unw_word_t *value, int write, void *user)
{
	struct peer *peer = user;

	(void)space;
	if (write || step_read(peer->stop->memory, address, value, 8) != 0)
		return -UNW_EINVAL;
	return 0;
}

static int peer_register(unw_addr_space_t space, unw_regnum_t number,
			 unw_word_t *value, int write, void *user)
{
	const struct user_regs_struct *r =
	    &((struct peer *)user)->stop->registers;
	const unsigned long long values[17] = {
	    r->rax, r->rdx, r->rcx, r->rbx, r->rsi, r->rdi,
	    r->rbp, r->rsp, r->r8,  r->r9,  r->r10, r->r11,
	    r->r12, r->r13, r->r14, r->r15, r->rip};

	(void)space;
	if (write || number < 0 || number > 16)
		return -UNW_EBADREG;
	*value = values[number];
	return 0;
}

static int peer_float(unw_addr_space_t space, unw_regnum_t number,
		      unw_fpreg_t *value, int write, void *user)
{
	(void)space;
	(void)number;
	(void)value;
	(void)write;
	(void)user;
	return -UNW_EBADREG;
}

static int peer_resume(unw_addr_space_t space, unw_cursor_t *cursor, void *user)
{
	(void)space;
	(void)cursor;
	(void)user;
	return -UNW_EINVAL;
}

static int peer_name(unw_addr_space_t space, unw_word_t address, char *name,
		     size_t size, unw_word_t *offset, void *user)
{
	(void)space;
	(void)address;
	(void)name;
	(void)size;
	(void)offset;
	(void)user;
	return -UNW_EINVAL;
}

int peer_has_rules(struct peer *peer, uint64_t address)
{
	unw_proc_info_t procedure;

	return peer_find(peer->space, address, &procedure, 0, peer) == 0;
}

struct peer *peer_open(void)
{
	static unw_accessors_t accessors = {
	    .find_proc_info = peer_find,
	    .put_unwind_info = peer_put,
	    .get_dyn_info_list_addr = peer_list,
	    .access_mem = peer_memory,
	    .access_reg = peer_register,
	    .access_fpreg = peer_float,
	    .resume = peer_resume,
	    .get_proc_name = peer_name,
	};
	struct peer *peer = calloc(1, sizeof(*peer));

	search_table = (search_table_fn *)dlsym(
	    RTLD_DEFAULT, "_Ux86_64_dwarf_search_unwind_table");
	if (peer == NULL || search_table == NULL) {
		free(peer);
		return NULL;
	}
	peer->text = malloc(PEER_TEXT);
	peer->next = malloc(PEER_TEXT);
	peer->space = unw_create_addr_space(&accessors, 0);
	if (peer->text == NULL || peer->next == NULL || peer->space == NULL) {
		peer_close(peer);
		return NULL;
	}
	peer->text[0] = '\0';
	unw_set_caching_policy(peer->space, UNW_CACHE_GLOBAL);
	unw_set_cache_size(peer->space, 16384, 0);
	return peer;
}

void peer_close(struct peer *peer)
{
	if (peer == NULL)
		return;
	if (peer->space != NULL)
		unw_destroy_addr_space(peer->space);
	free(peer->text);
	free(peer->next);
	free(peer);
}

/* By the program headers as the loader has mapped them. */
static void peer_headers(struct peer_module *module, struct step_memory *memory,
			 uint64_t image)
{
	Elf64_Ehdr file;
	Elf64_Phdr part;
	unsigned char header[12];
	uint32_t count;
	unsigned i;
	int has_bias = 0;
	uint64_t at = 0;

	if (step_read(memory, image, &file, sizeof(file)) != 0 ||
	    memcmp(file.e_ident, ELFMAG, SELFMAG) != 0)
		return;
	for (i = 0; i < file.e_phnum; i++) {
		if (step_read(memory, image + file.e_phoff + i * sizeof(part),
			      &part, sizeof(part)) != 0)
			return;
		if (part.p_type == PT_LOAD && !has_bias) {
			module->bias = image - (part.p_vaddr - part.p_offset);
			has_bias = 1;
		}
		if (part.p_type == PT_GNU_EH_FRAME)
			at = part.p_vaddr;
	}
	if (at == 0 || !has_bias ||
	    step_read(memory, module->bias + at, header, sizeof(header)) != 0)
		return;
	/* Version 1, pointer pcrel|sdata4, count udata4, table datarel|sdata4:
	 * what every linker writes. */
	if (header[0] != 1 || header[2] != 0x03 || header[3] != 0x3b)
		return;
	memcpy(&count, header + 8, 4);
	module->header = module->bias + at;
	module->table = module->header + 12;
	module->entries = count;
}

/* One line of maps; `image` is where the file's first bytes are mapped. */
static void peer_line(struct peer *peer, const char *line, uint64_t *image,
		      char *last)
{
	struct peer_module *module = &peer->modules[peer->count];
	unsigned long long start;
	unsigned long long end;
	unsigned long long offset;
	char rights[8];
	char path[256] = "";

	if (sscanf(line, "%llx-%llx %7s %llx %*s %*s %255[^\n]", &start, &end,
		   rights, &offset, path) < 4)
		return;
	if (offset == 0 || strcmp(path, last) != 0) {
		*image = offset == 0 ? start : 0;
		snprintf(last, sizeof(path), "%s", path);
	}
	if (rights[2] != 'x' || peer->count == PEER_MODULES ||
	    strcmp(path, "[vsyscall]") == 0)
		return;
	memset(module, 0, sizeof(*module));
	module->start = start;
	module->end = end;
	memcpy(module->path, path, sizeof(path));
	if (path[0] != '\0' && *image != 0)
		peer_headers(module, peer->stop->memory, *image);
	peer->count++;
}

static int peer_read_maps(struct peer *peer, pid_t pid)
{
	char path[64];
	size_t used = 0;
	ssize_t got;
	int descriptor;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	descriptor = open(path, O_RDONLY | O_CLOEXEC);
	if (descriptor < 0)
		return -1;
	do {
		got = read(descriptor, peer->next + used, PEER_TEXT - 1 - used);
		used += got > 0 ? (size_t)got : 0;
	} while (got > 0 && used < PEER_TEXT - 1);
	close(descriptor);
	peer->next[used] = '\0';
	return got < 0 ? -1 : 0;
}

int peer_refresh(struct peer *peer, const struct step_stop *stop)
{
	char last[256] = "";
	uint64_t image = 0;
	const char *line;
	char *text;

	peer->stop = stop;
	if (peer_read_maps(peer, stop->pid) != 0)
		return -1;
	if (peer->pid == stop->pid && strcmp(peer->text, peer->next) == 0)
		return 0;
	text = peer->text;
	peer->text = peer->next;
	peer->next = text;
	peer->pid = stop->pid;
	peer->generation++;
	peer->count = 0;
	for (line = peer->text; line != NULL && *line != '\0';
	     line = strchr(line, '\n') != NULL ? strchr(line, '\n') + 1 : NULL)
		peer_line(peer, line, &image, last);
	unw_flush_cache(peer->space, 0, 0);
	return 0;
}

void peer_forget(struct peer *peer)
{
	unw_flush_cache(peer->space, 0, 0);
}

size_t peer_unwind(struct peer *peer, const struct step_stop *stop,
		   uint64_t *frames, size_t capacity, int *end)
{
	unw_cursor_t cursor;
	unw_word_t ip;
	size_t count = 0;

	peer->stop = stop;
	*end = unw_init_remote(&cursor, peer->space, peer);
	if (*end != 0)
		return 0;
	do {
		if (unw_get_reg(&cursor, UNW_REG_IP, &ip) != 0)
			break;
		frames[count++] = ip;
		*end = count < capacity ? unw_step(&cursor) : 0;
	} while (*end > 0);
	return count;
}
