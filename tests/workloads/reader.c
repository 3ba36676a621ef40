/*
 * reader.c - a program that reads much and holds little.
 *
 * Usage: reader FOLDER. `read MIB` (at most 4096) makes a file of that size
 * without a name in FOLDER, reads all of it through 64 KiB, which leaves it in
 * the page cache while the file is open, and answers `read`, bytes.
 */
#include "workload.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static char reader_block[65536];

static int reader_make(const char *folder, uint64_t bytes)
{
	int file = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	if (file < 0)
		workload_fail("open");
	memset(reader_block, 0x5a, sizeof(reader_block));
	for (uint64_t at = 0; at < bytes; at += sizeof(reader_block))
		if (write(file, reader_block, sizeof(reader_block)) !=
		    (ssize_t)sizeof(reader_block))
			workload_fail("write");
	return file;
}

static uint64_t reader_read(int file)
{
	uint64_t sum = 0;
	ssize_t count;

	if (lseek(file, 0, SEEK_SET) != 0)
		workload_fail("lseek");
	while ((count = read(file, reader_block, sizeof(reader_block))) > 0)
		sum += (uint64_t)count;
	return sum;
}

int main(int argc, char **argv)
{
	uint64_t number;
	char line[64];

	workload_begin(120);
	if (argc != 2)
		return 2;
	workload_ready();
	for (;;) {
		workload_command(line, sizeof(line));
		if (workload_is(line, "read", &number) && number <= 4096) {
			int file = reader_make(argv[1], number << 20);

			workload_number("read", reader_read(file));
			workload_done();
		} else {
			workload_otherwise(line);
		}
	}
}
