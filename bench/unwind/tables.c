/*
 * tables.c FILE... - what the rules of a file take: CPU milliseconds to build
 * and kilobytes to hold, per MiB of its executable segments. The least of
 * fifteen builds, since what else runs on the machine only ever adds to it; the
 * file's pages are in memory by then.
 */
#include "core/reader.h"
#include "unwind/rules.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS 15

struct image {
	const unsigned char *bytes;
	size_t size;
};

static int image_pages(void *user, uint64_t address, size_t count,
		       uint8_t *pages)
{
	const struct image *image = user;
	size_t i;

	for (i = 0; i < count; i++)
		pages[i] =
		    address + i * 4096 < image->size ? PLIMP_PAGE_READABLE : 0;
	return PLIM_OK;
}

static int image_read(void *user, uint64_t address, void *buffer, size_t size,
		      size_t *copied)
{
	const struct image *image = user;

	*copied = 0;
	if (address < image->size) {
		*copied = image->size - address < size
			      ? (size_t)(image->size - address)
			      : size;
		memcpy(buffer, image->bytes + address, *copied);
	}
	return PLIM_OK;
}

static double cpu_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static int order(const void *left, const void *right)
{
	double a = *(const double *)left;
	double b = *(const double *)right;

	return (a > b) - (a < b);
}

static double text_mib(const struct plimp_elf *elf)
{
	struct plimp_elf_segment segment;
	double bytes = 0;
	uint32_t i;

	for (i = 0; plimp_elf_segment(elf, i, &segment) == PLIM_OK; i++)
		if (segment.type == PLIMP_ELF_LOAD && (segment.flags & 1) != 0)
			bytes += (double)segment.memory_size;
	return bytes / 1048576;
}

static int table(const char *path)
{
	struct image image = {0};
	struct plimp_reader reader = {.page_bytes = 4096,
				      .pages = image_pages,
				      .read = image_read,
				      .user = &image};
	struct plimp_rules_facts facts = {0};
	struct plimp_rules *rules;
	struct plimp_elf elf;
	struct stat file;
	double times[ROUNDS];
	int descriptor = open(path, O_RDONLY);
	int i;

	if (descriptor < 0 || fstat(descriptor, &file) != 0)
		return -1;
	image.size = (size_t)file.st_size;
	image.bytes = mmap(NULL, image.size, PROT_READ,
			   MAP_PRIVATE | MAP_POPULATE, descriptor, 0);
	close(descriptor);
	if (image.bytes == MAP_FAILED ||
	    plimp_elf_open(&elf, &reader, 0, image.size) != PLIM_OK)
		return -1;
	for (i = 0; i < ROUNDS; i++) {
		double start = cpu_ms();

		if (plimp_rules_build(&rules, &elf, NULL, NULL, NULL) !=
		    PLIM_OK)
			return -1;
		times[i] = cpu_ms() - start;
		facts = plimp_rules_facts(rules);
		plimp_rules_free(rules, NULL);
	}
	qsort(times, ROUNDS, sizeof(times[0]), order);
	printf("%s %.3f %llu %llu %llu %llu %.3f %.3f %llu\n", path,
	       text_mib(&elf), (unsigned long long)facts.entries,
	       (unsigned long long)facts.rows, (unsigned long long)facts.rules,
	       (unsigned long long)facts.side_rows, (double)facts.bytes / 1024,
	       times[0], (unsigned long long)facts.rejected);
	munmap((void *)(uintptr_t)image.bytes, image.size);
	return 0;
}

int main(int count, char **words)
{
	int i;

	for (i = 1; i < count; i++)
		if (table(words[i]) != 0)
			fprintf(stderr, "%s: no rules\n", words[i]);
	return 0;
}
