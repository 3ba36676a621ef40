/*
 * ours.c - files are mapped and read through a reader of their bytes. Images
 * are kept by path, since one program's libraries are the next one's, too.
 */
#include "ours.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define OURS_IMAGES 256
#define OURS_RANGES 512
#define OURS_COPY   4096 /* of the stack, from the red zone on */

struct ours_image {
	char path[256];
	unsigned char *bytes;
	size_t size;
	int is_mapped;
	struct plimp_reader reader;
	struct plimp_elf elf;
	int has_elf;
	struct plimp_rules *rules;
};

struct ours {
	struct ours_image images[OURS_IMAGES];
	size_t image_count;
	struct plimp_code_range ranges[OURS_RANGES];
	struct plimp_code_map map;
	struct plimp_pc_cache *cache;
	struct step_memory *memory;
};

static int ours_pages(void *user, uint64_t address, size_t count,
		      uint8_t *pages)
{
	const struct ours_image *image = user;
	size_t i;

	for (i = 0; i < count; i++)
		pages[i] =
		    address + i * 4096 < image->size ? PLIMP_PAGE_READABLE : 0;
	return PLIM_OK;
}

static int ours_read(void *user, uint64_t address, void *buffer, size_t size,
		     size_t *copied)
{
	const struct ours_image *image = user;

	*copied = 0;
	if (address < image->size) {
		*copied = image->size - address < size
			      ? (size_t)(image->size - address)
			      : size;
		memcpy(buffer, image->bytes + address, *copied);
	}
	return PLIM_OK;
}

static void ours_load(struct ours_image *image)
{
	struct stat facts;
	int descriptor = open(image->path, O_RDONLY | O_CLOEXEC);
	void *bytes;

	if (descriptor < 0)
		return;
	if (fstat(descriptor, &facts) == 0 && facts.st_size > 0) {
		bytes = mmap(NULL, (size_t)facts.st_size, PROT_READ,
			     MAP_PRIVATE, descriptor, 0);
		if (bytes != MAP_FAILED) {
			image->bytes = bytes;
			image->size = (size_t)facts.st_size;
			image->is_mapped = 1;
		}
	}
	close(descriptor);
}

static void ours_copy(struct ours_image *image, struct step_memory *memory,
		      uint64_t start, size_t size)
{
	image->bytes = malloc(size);
	if (image->bytes != NULL &&
	    step_read(memory, start, image->bytes, size) == 0)
		image->size = size;
}

/* The image of a line of maps, built when it is met first; NULL: no file. */
static struct ours_image *ours_image(struct ours *ours, const char *path,
				     uint64_t start, size_t size)
{
	struct ours_image *image;
	int is_vdso = strcmp(path, "[vdso]") == 0;
	size_t i;

	if (path[0] != '/' && !is_vdso)
		return NULL;
	for (i = 0; i < ours->image_count; i++)
		if (strcmp(ours->images[i].path, path) == 0)
			return &ours->images[i];
	if (ours->image_count == OURS_IMAGES)
		return NULL;
	image = &ours->images[ours->image_count++];
	snprintf(image->path, sizeof(image->path), "%s", path);
	if (is_vdso)
		ours_copy(image, ours->memory, start, size);
	else
		ours_load(image);
	image->reader = (struct plimp_reader){.page_bytes = 4096,
					      .pages = ours_pages,
					      .read = ours_read,
					      .user = image};
	if (image->size == 0)
		return image;
	image->has_elf =
	    (is_vdso ? plimp_elf_open_loaded(&image->elf, &image->reader, 0,
					     image->size)
		     : plimp_elf_open(&image->elf, &image->reader, 0,
				      image->size)) == PLIM_OK;
	if (image->has_elf)
		(void)plimp_rules_build(&image->rules, &image->elf, NULL, NULL,
					NULL);
	return image;
}

static void ours_line(struct ours *ours, const char *line)
{
	struct plimp_code_range *range = &ours->ranges[ours->map.count];
	unsigned long long start;
	unsigned long long end;
	unsigned long long offset;
	char rights[8];
	char path[256] = "";
	struct ours_image *image;

	if (sscanf(line, "%llx-%llx %7s %llx %*s %*s %255[^\n]", &start, &end,
		   rights, &offset, path) < 4 ||
	    rights[2] != 'x' || ours->map.count == OURS_RANGES ||
	    strcmp(path, "[vsyscall]") == 0)
		return;
	image = ours_image(ours, path, start, (size_t)(end - start));
	*range = (struct plimp_code_range){.start = start, .end = end};
	range->module = (uint32_t)ours->map.count;
	if (path[0] != '/')
		range->flags = strcmp(path, "[vdso]") == 0 ? PLIMP_CODE_VDSO
							   : PLIMP_CODE_NO_FILE;
	if (image != NULL && image->has_elf &&
	    plimp_elf_bias_of_code(&image->elf, offset, start, &range->bias) ==
		PLIM_OK)
		range->rules = image->rules;
	ours->map.count++;
}

struct ours *ours_open(void)
{
	struct ours *ours = calloc(1, sizeof(*ours));

	if (ours == NULL)
		return NULL;
	ours->map.machine = PLIMP_MACHINE_X86;
	ours->map.ranges = ours->ranges;
	ours->cache = calloc(1, plimp_pc_cache_size());
	if (ours->cache == NULL) {
		free(ours);
		return NULL;
	}
	return ours;
}

void ours_close(struct ours *ours)
{
	size_t i;

	if (ours == NULL)
		return;
	for (i = 0; i < ours->image_count; i++) {
		struct ours_image *image = &ours->images[i];

		plimp_rules_free(image->rules, NULL);
		if (image->is_mapped)
			munmap(image->bytes, image->size);
		else
			free(image->bytes);
	}
	free(ours->cache);
	free(ours);
}

int ours_refresh(struct ours *ours, const char *maps,
		 struct step_memory *memory)
{
	const char *line = maps;

	ours->memory = memory;
	ours->map.count = 0;
	ours->map.generation++;
	while (line != NULL && *line != '\0') {
		ours_line(ours, line);
		line = strchr(line, '\n');
		line = line != NULL ? line + 1 : NULL;
	}
	return ours->map.count > 0 ? 0 : -1;
}

const struct plimp_code_map *ours_map(const struct ours *ours)
{
	return &ours->map;
}

void ours_registers(const struct step_stop *stop, int only_two,
		    struct plimp_registers *registers)
{
	const struct user_regs_struct *r = &stop->registers;
	const unsigned long long values[17] = {
	    r->rax, r->rdx, r->rcx, r->rbx, r->rsi, r->rdi,
	    r->rbp, r->rsp, r->r8,  r->r9,  r->r10, r->r11,
	    r->r12, r->r13, r->r14, r->r15, r->rip};
	size_t i;

	*registers = (struct plimp_registers){0};
	registers->known = only_two ? UINT64_C(1) << PLIMP_X86_RSP |
					  UINT64_C(1) << PLIMP_X86_RIP
				    : (UINT64_C(1) << 17) - 1;
	for (i = 0; i < 17; i++)
		if ((registers->known >> i & 1) != 0)
			registers->value[i] = values[i];
}

static int ours_word(void *user, uint64_t address, uint64_t *value)
{
	return step_read(user, address, value, sizeof(*value));
}

static int ours_code(void *user, uint64_t address, void *bytes, size_t size)
{
	return step_read(user, address, bytes, size);
}

void ours_unwind(struct ours *ours, const struct step_stop *stop, int only_two,
		 uint64_t *frames, size_t capacity,
		 struct plimp_unwound *unwound)
{
	unsigned char copy[OURS_COPY];
	unsigned char exact[1024];
	struct plimp_registers registers;
	struct plimp_stack_bytes stack = {
	    .low = stop->registers.rsp - PLIMP_RED_ZONE,
	    .bytes = copy,
	    .word = ours_word,
	    .code = ours_code,
	    .user = stop->memory,
	};
	size_t i;

	/* Half of what there is comes from a copy, the rest by words, so that
	 * both ways are walked. */
	if (step_read(stop->memory, stack.low, copy, sizeof(copy)) == 0)
		stack.size = sizeof(copy);
	ours_registers(stop, only_two, &registers);
	*unwound = (struct plimp_unwound){0};
	plimp_unwind(&ours->map, ours->cache, &registers, &stack, frames, exact,
		     capacity < sizeof(exact) ? capacity : sizeof(exact),
		     unwound);
	for (i = 0; i < unwound->count; i++)
		frames[i] += !exact[i];
}
