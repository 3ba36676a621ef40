/*
 * reader.c - a process that reads command lines (reader.h).
 */
#include "reader.h"

#include <errno.h>
#include <string.h>
#include <sys/wait.h>

#define READER_WORD 30000

static char reader_line[5 + 3 * (READER_WORD + 1)];

volatile sig_atomic_t reader_signals;

void reader_spawn(struct spawn *spawn)
{
	static char words[3][READER_WORD + 1];
	const char *argv[5] = {"idle"};

	memcpy(reader_line, "idle", 5);
	for (int i = 0; i < 3; i++) {
		memset(words[i], 'x' + i, READER_WORD);
		argv[i + 1] = words[i];
		memcpy(reader_line + 5 + i * (READER_WORD + 1), words[i],
		       READER_WORD + 1);
	}
	spawn_start(spawn, argv);
}

static void reader_count(int number)
{
	(void)number;
	reader_signals++;
}

void reader_count_signals(int flags)
{
	struct sigaction action = {
	    .sa_handler = reader_count,
	    .sa_flags = flags,
	};

	reader_signals = 0;
	assert_int_equal(sigaction(SIGCHLD, &action, NULL), 0);
}

void reader_open(struct reader *reader, pid_t pid, uint32_t deadline_ms)
{
	plim_host_options options = {
	    .size = sizeof(options),
	    .allocator = fault_allocator(&reader->memory),
	    .command_line_ms = deadline_ms,
	};

	memset(reader, 0, sizeof(*reader));
	reader->line = reader_line;
	reader->size = sizeof(reader_line);
	reader_count_signals(0);
	reader->before = fault_descriptors();
	assert_int_equal(plim_host_open(&reader->host, &options, NULL),
			 PLIM_OK);
	reader->target = open_target(reader->host, pid);
	reader->descriptors = fault_descriptors();
}

int reader_is_line(const struct reader *reader, const plim_text *text)
{
	return text->state == PLIM_STATE_KNOWN &&
	       text->bytes.size == reader->size &&
	       memcmp(text->bytes.data, reader->line, reader->size) == 0;
}

int reader_try(struct reader *reader)
{
	plim_text text = {0};

	assert_int_equal(plim_target_command_line(reader->target, &text, NULL),
			 PLIM_OK);
	if (text.state == PLIM_STATE_TIMEOUT) {
		assert_int_equal(text.method, PLIM_REASON_DEADLINE);
		assert_int_equal(text.bytes.size, 0);
		return 0;
	}
	expect_text(text, reader->line, reader->size);
	return 1;
}

void reader_expect(struct reader *reader)
{
	for (int tries = 0; tries < 20; tries++)
		if (reader_try(reader))
			return;
	fail_msg("a command line is always late");
}

void reader_expect_quiet(const struct reader *reader)
{
	errno = 0;
	assert_int_equal(waitpid(-1, NULL, __WALL | WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
	assert_int_equal(fault_children().count, 0);
	assert_int_equal(reader_signals, 0);
	assert_int_equal(fault_descriptors(), reader->descriptors);
}

void reader_close(struct reader *reader)
{
	plim_target_close(reader->target);
	plim_host_close(reader->host);
	assert_int_equal(fault_descriptors(), reader->before);
	assert_int_equal(reader->memory.live, 0);
	assert_int_equal(reader->memory.blocks, 0);
}
