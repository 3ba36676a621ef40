/*
 * holder.c - memory of each kind in known amounts.
 *
 * Usage: holder FOLDER. `anonymous MIB`, `shared MIB` and `file MIB` map and
 * touch that much more of anonymous, shared and file-backed memory; `drop`
 * gives all anonymous memory back. The truth is what it holds in bytes of
 * each kind; the program's own few pages come on top.
 */
#include "workload.h"

#include <sys/mman.h>
#include <unistd.h>

#define HOLDER_MOST 32

static struct {
	void *memory;
	size_t bytes;
} holder_blocks[HOLDER_MOST];
static size_t holder_count;
static uint64_t holder_anonymous;
static uint64_t holder_shared;
static uint64_t holder_file;

static void holder_touch(const volatile char *memory, size_t bytes)
{
	for (size_t i = 0; i < bytes; i += 4096)
		(void)memory[i];
}

static void holder_map_shared(size_t bytes)
{
	volatile char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
				     MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		workload_fail("mmap shared");
	for (size_t i = 0; i < bytes; i += 4096)
		memory[i] = 1;
	holder_shared += bytes;
}

static void holder_map_file(const char *folder, size_t bytes)
{
	int file = workload_file(folder, bytes);
	void *memory = mmap(NULL, bytes, PROT_READ, MAP_SHARED, file, 0);

	if (memory == MAP_FAILED)
		workload_fail("mmap file");
	close(file);
	holder_touch(memory, bytes);
	holder_file += bytes;
}

static void holder_map_anonymous(size_t bytes)
{
	if (holder_count == HOLDER_MOST)
		_exit(2);
	holder_blocks[holder_count].memory = workload_touched(bytes);
	holder_blocks[holder_count].bytes = bytes;
	holder_count++;
	holder_anonymous += bytes;
}

static void holder_drop(void)
{
	while (holder_count > 0) {
		holder_count--;
		munmap(holder_blocks[holder_count].memory,
		       holder_blocks[holder_count].bytes);
	}
	holder_anonymous = 0;
}

int main(int argc, char **argv)
{
	uint64_t mib;
	char line[64];

	workload_begin(120);
	if (argc != 2)
		return 2;
	workload_ready();
	for (;;) {
		workload_command(line, sizeof(line));
		if (workload_is(line, "anonymous", &mib) && mib <= 4096) {
			holder_map_anonymous((size_t)mib << 20);
		} else if (workload_is(line, "shared", &mib) && mib <= 1024) {
			holder_map_shared((size_t)mib << 20);
		} else if (workload_is(line, "file", &mib) && mib <= 1024) {
			holder_map_file(argv[1], (size_t)mib << 20);
		} else if (workload_is(line, "drop", &mib)) {
			holder_drop();
		} else if (!workload_is(line, "truth", &mib)) {
			workload_otherwise(line);
			continue;
		}
		workload_account();
		workload_number("anonymous", holder_anonymous);
		workload_number("shared", holder_shared);
		workload_number("file", holder_file);
		workload_done();
	}
}
