/*
 * replay.c - runs a fuzz target over files, without libFuzzer.
 *
 *   replay_TARGET FILE-OR-FOLDER...
 *
 * So the inputs that were once worth keeping are tried with every compiler.
 * Each input is a heap block of its exact size, so that a read behind it is
 * seen by a sanitizer and by valgrind; the empty input is tried as well.
 */
#define _POSIX_C_SOURCE 200809L

#include "promise.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REPLAY_MOST ((size_t)4 << 20)

static size_t inputs;

static int replay_file(const char *path)
{
	FILE *file = fopen(path, "rb");
	char *room = malloc(REPLAY_MOST);
	uint8_t *data;

	if (!file || !room) {
		perror(path);
		free(room);
		if (file)
			fclose(file);
		return 0;
	}
	size_t size = fread(room, 1, REPLAY_MOST, file);
	int failed = ferror(file);
	fclose(file);
	data = malloc(size);
	if (failed || (size && !data)) {
		fprintf(stderr, "%s: cannot be read\n", path);
		free(room);
		free(data);
		return 0;
	}
	if (size)
		memcpy(data, room, size);
	free(room);
	(void)LLVMFuzzerTestOneInput(data, size);
	free(data);
	inputs++;
	return 1;
}

static int replay_folder(DIR *folder, const char *path)
{
	struct dirent *entry;
	int good = 1;

	while (good && (entry = readdir(folder))) {
		char name[4096];
		if (entry->d_name[0] == '.')
			continue;
		snprintf(name, sizeof(name), "%s/%s", path, entry->d_name);
		good = replay_file(name);
	}
	return good;
}

int main(int argc, char **argv)
{
	(void)LLVMFuzzerTestOneInput((const uint8_t *)"", 0);
	for (int i = 1; i < argc; i++) {
		DIR *folder = opendir(argv[i]);
		int good = folder ? replay_folder(folder, argv[i])
				  : replay_file(argv[i]);
		if (folder)
			closedir(folder);
		if (!good)
			return 1;
	}
	printf("%zu inputs\n", inputs);
	return argc > 1 && !inputs;
}
