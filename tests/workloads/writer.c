/*
 * writer.c - bytes that reach storage, and bytes that never do.
 *
 * Usage: writer FOLDER. `write N` overwrites N pages of a file in place, one
 * call each, and fsyncs it; `cancel N` dirties N pages of another file and
 * drops them again by truncation before they were flushed. The truth is
 * `written`, `cancelled` and `calls` (write calls to files). The kernel counts
 * whole pages as they become dirty (mm/page-writeback.c), so pages it is; a
 * cancelled page counts as written, too. N is at most 65,536.
 */
#include "workload.h"

#include <string.h>
#include <unistd.h>

static uint64_t writer_page;
static uint64_t writer_written;
static uint64_t writer_cancelled;
static uint64_t writer_calls;

static void writer_fill(int file, uint64_t pages)
{
	static char page[65536];

	memset(page, 0x5a, sizeof(page));
	for (uint64_t i = 0; i < pages; i++) {
		if (write(file, page, writer_page) != (ssize_t)writer_page)
			workload_fail("write");
		writer_calls++;
	}
}

static void writer_truth(void)
{
	workload_account();
	workload_number("written", writer_written);
	workload_number("cancelled", writer_cancelled);
	workload_number("calls", writer_calls);
	workload_done();
}

int main(int argc, char **argv)
{
	uint64_t number;
	char line[64];

	workload_begin(120);
	if (argc != 2)
		return 2;
	writer_page = (uint64_t)sysconf(_SC_PAGESIZE);
	if (writer_page > 65536)
		return 2;
	workload_ready();
	for (;;) {
		workload_command(line, sizeof(line));
		if (workload_is(line, "write", &number) && number <= 65536) {
			int file = workload_file(
			    argv[1], (size_t)(number * writer_page));

			writer_fill(file, number);
			if (fsync(file) != 0)
				workload_fail("fsync");
			close(file);
			writer_written += number * writer_page;
		} else if (workload_is(line, "cancel", &number) &&
			   number <= 65536) {
			int file = workload_file(
			    argv[1], (size_t)(number * writer_page));

			writer_fill(file, number);
			if (ftruncate(file, 0) != 0)
				workload_fail("ftruncate");
			close(file);
			writer_cancelled += number * writer_page;
			writer_written += number * writer_page;
		} else if (!workload_is(line, "truth", &number)) {
			workload_otherwise(line);
			continue;
		}
		writer_truth();
	}
}
