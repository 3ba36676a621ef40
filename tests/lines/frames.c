/*
 * frames.c - prints what the library says about addresses of a file:
 *
 *     frames FILE [ALTERNATE] < ADDRESSES
 *
 * Addresses are hexadecimal, one a line. For each a line of its own, and then
 * two per frame, as addr2line -a -f -i prints them: the linkage name, else the
 * plain one, and FILE:LINE; "?? WORD" where there is nothing. At the end, on
 * stderr: ns to the first answer, and to the last.
 */
#include "unwind/lines.h"

#include <plimsoll.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void put(plim_bytes text)
{
	if (text.size == 0)
		fputs("??", stdout);
	else
		fwrite(text.data, 1, text.size, stdout);
}

static void print(const struct plimp_line *frames, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++) {
		put(frames[i].linkage.size != 0 ? frames[i].linkage
						: frames[i].function);
		putchar('\n');
		put(frames[i].file);
		printf(":%" PRIu32 "\n", frames[i].line);
	}
}

/* The run: what is asked, and when the first answer came. */
struct run {
	uint64_t *addresses;
	size_t count;
	uint64_t first;
};

static int told(void *user, size_t index, int result,
		const struct plimp_line *frames, size_t count)
{
	struct run *run = user;

	if (run->first == 0)
		run->first = plimp_system_monotonic();
	printf("0x%" PRIx64 "\n", run->addresses[index]);
	if (result == PLIM_OK)
		print(frames, count);
	else
		printf("?? %s\n", plim_error_word(result));
	return PLIM_OK;
}

static void run_read(struct run *run)
{
	size_t capacity = 0;
	char text[64];

	while (fgets(text, sizeof(text), stdin) != NULL) {
		if (run->count == capacity) {
			capacity = capacity == 0 ? 1024 : capacity * 2;
			run->addresses = realloc(
			    run->addresses, capacity * sizeof(*run->addresses));
			if (run->addresses == NULL)
				exit(1);
		}
		run->addresses[run->count++] = strtoull(text, NULL, 16);
	}
}

static int fail(const plim_error *error)
{
	char text[512];

	plim_error_message(error, text, sizeof(text));
	fprintf(stderr, "%s\n", text);
	return 1;
}

int main(int argc, char **argv)
{
	struct plimp_line frames[PLIMP_LINES_FRAMES];
	struct plimp_file files[2];
	struct plimp_lines *lines;
	struct run run = {NULL, 0, 0};
	uint64_t begin = 0;
	plim_error error;
	plim_host *host;
	int i;

	memset(files, 0, sizeof(files));
	if (argc < 2 || argc > 3)
		return 2;
	if (plim_host_open(&host, NULL, &error) != PLIM_OK)
		return fail(&error);
	begin = plimp_system_monotonic();
	for (i = 1; i < argc; i++)
		if (plimp_system_file_open(host, argv[i], &files[i - 1],
					   &error) != PLIM_OK)
			return fail(&error);
	if (plimp_lines_open(&lines, host, &files[0],
			     argc > 2 ? &files[1] : NULL, &error) != PLIM_OK)
		return fail(&error);
	run_read(&run);
	if (plimp_lines_each(lines, run.addresses, run.count, frames,
			     PLIMP_LINES_FRAMES, told, &run) != PLIM_OK)
		return 1;
	fprintf(stderr, "%" PRIu64 " %" PRIu64 "\n", run.first - begin,
		plimp_system_monotonic() - begin);
	free(run.addresses);
	plimp_lines_close(lines);
	for (i = 0; i < 2; i++)
		plimp_system_file_close(host, &files[i]);
	plim_host_close(host);
	return 0;
}
