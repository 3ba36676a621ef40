/*
 * test_helper_rights.c - what the helper has of its caller's: the credentials
 * and the open files, which a caller gives up and closes when it likes.
 *
 * Who has given up root keeps no process that is root, and who closes a pipe
 * ends it: at once, or where there is no close_range with the read at last.
 */
#include "hold.h"
#include "reader.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_close_range
#define SYS_close_range 436
#endif

#define DEADLINE_MS 2000
#define OTHER_USER  65534
#define HIGH_NUMBER 300

static struct spawn workload;
static struct reader reader;
static struct hold hold;

static int rights_setup(void **state)
{
	(void)state;
	reader_spawn(&workload);
	return 0;
}

static int rights_teardown(void **state)
{
	(void)state;
	spawn_end(&workload);
	return 0;
}

/* The four user ids of a process; 0 if it cannot be told. */
static int users_of(pid_t pid, unsigned users[4])
{
	char path[64];
	char text[2048];
	const char *at;
	ssize_t got;
	int file;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	file = open(path, O_RDONLY | O_CLOEXEC);
	if (file < 0)
		return 0;
	got = read(file, text, sizeof(text) - 1);
	close(file);
	text[got > 0 ? got : 0] = '\0';
	at = strstr(text, "\nUid:");
	return at != NULL && sscanf(at + 5, "%u %u %u %u", &users[0], &users[1],
				    &users[2], &users[3]) == 4;
}

static int users_are(pid_t pid, unsigned user)
{
	unsigned users[4] = {0};

	return users_of(pid, users) && users[0] == user && users[1] == user &&
	       users[2] == user && users[3] == user;
}

/* The session is this process's own, and nobody else is in it. */
static void expect_alone(unsigned user)
{
	DIR *folder = opendir("/proc");
	struct dirent *entry;
	int found = 0;

	assert_non_null(folder);
	assert_int_equal(getsid(0), getpid());
	while ((entry = readdir(folder)) != NULL) {
		pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);

		if (pid <= 0 || getsid(pid) != getpid())
			continue;
		assert_int_equal(pid, getpid());
		assert_true(users_are(pid, user));
		found++;
	}
	closedir(folder);
	assert_int_equal(found, 1);
}

static atomic_int helper_users; /* 1: as expected, -1: not */

static enum hold_answer users_look(struct hold *it, pid_t helper, long number)
{
	(void)it;
	(void)number;
	if (!users_are(helper, OTHER_USER))
		atomic_store(&helper_users, -1);
	else if (atomic_load(&helper_users) == 0)
		atomic_store(&helper_users, 1);
	return HOLD_GO;
}

/* Who gives up root has nothing left that is root. */
static void credentials(void *user)
{
	(void)user;
	if (geteuid() != 0) {
		SKIP_BECAUSE("only root can become another user");
		return;
	}
	assert_int_equal(setsid(), getpid());
	reader_open(&reader, workload.pid, DEADLINE_MS);
	reader_expect(&reader);
	expect_alone(0);
	child_become(OTHER_USER);
	expect_alone(OTHER_USER);
	reader_expect_quiet(&reader);
	/* The next helper is as poor as its caller. */
	hold_start(&hold, users_look, NULL);
	reader.descriptors++;
	reader_expect(&reader);
	assert_int_equal(atomic_load(&helper_users), 1);
	expect_alone(OTHER_USER);
	reader_expect_quiet(&reader);
	hold_end(&hold);
	reader_close(&reader);
}

static void test_credentials(void **state)
{
	(void)state;
	child_run(credentials, NULL);
}

/* A pipe that is written to through numbers below, between and above those
 * that the helper needs, and closed while it works. */
struct stream {
	int read_end;
	int write_ends[4];
	enum hold_answer answer;
	atomic_int is_done;
	int is_over;	 /* its end was seen while the helper was there */
	int descriptors; /* of the helper; -1 if it cannot be told */
};

static struct stream stream;

static int stream_is_over(void)
{
	struct pollfd entry = {stream.read_end, POLLIN, 0};
	char byte;

	return poll(&entry, 1, 0) == 1 && read(stream.read_end, &byte, 1) == 0;
}

static int count_descriptors(pid_t pid)
{
	char path[64];
	DIR *folder;
	int count = -2; /* "." and ".." */

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	folder = opendir(path);
	if (folder == NULL)
		return -1;
	while (readdir(folder) != NULL)
		count++;
	closedir(folder);
	return count;
}

static enum hold_answer stream_close(struct hold *it, pid_t helper, long number)
{
	(void)it;
	if (number != SYS_sendto || atomic_load(&stream.is_done))
		return HOLD_GO;
	for (int i = 0; i < 4; i++)
		close(stream.write_ends[i]);
	stream.is_over = stream_is_over();
	stream.descriptors = count_descriptors(helper);
	atomic_store(&stream.is_done, 1);
	return stream.answer;
}

static void stream_open(uint32_t deadline_ms)
{
	int ends[2];

	memset(&stream, 0, sizeof(stream));
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	stream.read_end = ends[0];
	stream.write_ends[0] = ends[1];
	reader_open(&reader, workload.pid, deadline_ms);
	for (int i = 1; i < 4; i++) {
		stream.write_ends[i] = fcntl(ends[1], F_DUPFD_CLOEXEC,
					     i == 1 ? 0 : HIGH_NUMBER * i);
		assert_true(stream.write_ends[i] >= 0);
	}
}

/* Before the read, during it, and after it. */
static void stream_ends(int is_seen_at_once)
{
	hold_start(&hold, stream_close, NULL);
	reader.descriptors = fault_descriptors();
	reader_expect(&reader);
	assert_int_equal(atomic_load(&stream.is_done), 1);
	if (is_seen_at_once) {
		assert_int_equal(stream.is_over, 1);
		/* The directory, its file and the socket. */
		assert_int_equal(stream.descriptors, 3);
	}
	assert_int_equal(stream_is_over(), 1);
	reader.descriptors -= 4;
	reader_expect_quiet(&reader);
	hold_end(&hold);
	close(stream.read_end);
	reader.before -= 2; /* it was counted with the pipe */
	reader_close(&reader);
}

static void stream_ends_early(void *user)
{
	(void)user;
	stream_open(DEADLINE_MS);
	stream_ends(1);
}

/* Without close_range the helper keeps them until the read is over. */
static void stream_ends_late(void *user)
{
	(void)user;
	stream_open(DEADLINE_MS);
	hold_refuse(SYS_close_range, ENOSYS);
	stream_ends(0);
}

/* And no longer than the deadline, if it is held. */
static void stream_ends_at_last(void *user)
{
	plim_text text = {0};

	(void)user;
	stream_open(200);
	hold_refuse(SYS_close_range, ENOSYS);
	hold_start(&hold, stream_close, NULL);
	stream.answer = HOLD_KEEP;
	assert_int_equal(plim_target_command_line(reader.target, &text, NULL),
			 PLIM_OK);
	assert_int_equal(text.state, PLIM_STATE_TIMEOUT);
	assert_int_equal(atomic_load(&stream.is_done), 1);
	assert_int_equal(stream_is_over(), 1);
	hold_end(&hold);
	close(stream.read_end);
	reader.before -= 2;
	reader_close(&reader);
}

/* Open at the time of a read, closed after it. */
static void stream_ends_after(void *user)
{
	if (user != NULL)
		hold_refuse(SYS_close_range, ENOSYS);
	stream_open(DEADLINE_MS);
	reader_expect(&reader);
	assert_int_equal(stream_is_over(), 0);
	for (int i = 0; i < 4; i++)
		close(stream.write_ends[i]);
	assert_int_equal(stream_is_over(), 1);
	close(stream.read_end);
	reader.before -= 2;
	reader_close(&reader);
}

static void test_stream_ends(void **state)
{
	int yes = 1;

	(void)state;
	child_run(stream_ends_after, NULL);
	child_run(stream_ends_after, &yes);
	child_run(stream_ends_early, NULL);
	child_run(stream_ends_late, NULL);
	child_run(stream_ends_at_last, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_credentials),
	    cmocka_unit_test(test_stream_ends),
	};

	return cmocka_run_group_tests_name("helper rights", tests, rights_setup,
					   rights_teardown);
}
