/*
 * owner.c - a process that owns memory (owner.h).
 */
#include "owner.h"

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void owner_answer(struct owner *owner)
{
	if (read(owner->out, &owner->place, sizeof(owner->place)) !=
	    (ssize_t)sizeof(owner->place))
		fail_msg("the owner of memory has ended");
}

void owner_start(struct owner *owner, owner_fn *function, void *user)
{
	int in[2], out[2];

	assert_int_equal(pipe2(in, O_CLOEXEC), 0);
	assert_int_equal(pipe2(out, O_CLOEXEC), 0);
	fflush(stdout);
	owner->pid = fork();
	assert_true(owner->pid >= 0);
	if (owner->pid == 0) {
		char byte;

		child_bind();
		close(in[1]);
		close(out[0]);
		for (int step = 0;; step++) {
			uint64_t place = function(step, user);

			if (write(out[1], &place, sizeof(place)) !=
				(ssize_t)sizeof(place) ||
			    read(in[0], &byte, 1) != 1)
				_exit(0);
		}
	}
	close(in[0]);
	close(out[1]);
	owner->in = in[1];
	owner->out = out[0];
	owner_answer(owner);
}

void owner_share(void)
{
	pid_t parent = getpid();
	pid_t child = fork();

	if (child < 0)
		_exit(1);
	if (child > 0)
		return;
	child_bind();
	/* It may have been ended before that. */
	if (getppid() != parent)
		_exit(0);
	for (;;)
		pause();
}

void owner_leave(struct owner *owner)
{
	assert_int_equal(write(owner->in, "x", 1), 1);
}

void owner_step(struct owner *owner)
{
	owner_leave(owner);
	owner_answer(owner);
}

void owner_end(struct owner *owner)
{
	int status;

	kill(owner->pid, SIGKILL);
	(void)child_wait(owner->pid, &status, 10000);
	close(owner->in);
	close(owner->out);
}

void view_open(struct view *view, pid_t pid)
{
	plim_error error = {0};

	memset(view, 0, sizeof(*view));
	view->host = open_host(0);
	view->target = pid != 0 ? open_target(view->host, pid) : NULL;
	if (plimp_system_lens_open(view->host, view->target, &view->lens,
				   &error) != PLIM_OK)
		fail_msg("lens: %s", plim_error_word(error.code));
	plimp_system_lens_reader(view->lens, &view->reader);
}

void view_close(struct view *view)
{
	plimp_space_release(view->host, &view->space);
	plimp_system_lens_close(view->lens);
	plim_target_close(view->target);
	plim_host_close(view->host);
}

uint64_t owner_sum_kb(pid_t pid, const char *file, const char *key)
{
	char path[64], line[8192];
	uint64_t sum = 0;
	FILE *text;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, file);
	text = fopen(path, "re");
	if (text == NULL)
		fail_msg("cannot open %s", path);
	while (fgets(line, sizeof(line), text) != NULL)
		if (strncmp(line, key, strlen(key)) == 0)
			sum += strtoull(line + strlen(key), NULL, 10);
	fclose(text);
	return sum;
}

uint64_t owner_private_dirty_kb(pid_t pid)
{
	return owner_sum_kb(pid, "smaps_rollup", "Private_Dirty:");
}

void owner_entries(pid_t pid, uint64_t address, size_t count, uint64_t *entries)
{
	char path[64];
	int file;

	snprintf(path, sizeof(path), "/proc/%d/pagemap", (int)pid);
	file = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(file >= 0);
	assert_int_equal(
	    pread(file, entries, count * 8, (off_t)(address / PAGE * 8)),
	    count * 8);
	close(file);
}

void owner_settle(const struct owner *owner)
{
	static const char *const keys[] = {
	    "Rss:", "Private_Dirty:", "Anonymous:"};
	uint64_t last = 0;
	int same = 0;

	for (int tries = 0; same < 3; tries++) {
		uint64_t now = 0;

		if (tries == 1000)
			fail_msg("the owner of memory does not come to rest");
		for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
			now = now * 31 +
			      owner_sum_kb(owner->pid, "smaps", keys[i]);
		same = now == last ? same + 1 : 0;
		last = now;
		child_sleep_ms(5);
	}
}
