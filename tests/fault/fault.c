/*
 * fault.c - what the tests of failures share (fault.h).
 */
#include "fault.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define FAULT_MAGIC  0x706c696dfa117edbu
#define FAULT_POISON 0x5a

/* In front of every block; as wide as any alignment. */
struct fault_head {
	uint64_t magic;
	uint64_t size;
};

static void *fault_resize(void *block, size_t old_size, size_t new_size,
			  void *user)
{
	struct fault_memory *memory = user;
	struct fault_head *head = NULL;

	if (block != NULL) {
		head = (struct fault_head *)block - 1;
		if (head->magic != FAULT_MAGIC)
			fail_msg("a block that was never given out");
		if (head->size != old_size)
			fail_msg("a block of %zu bytes is told to have %zu",
				 (size_t)head->size, old_size);
	} else if (old_size != 0) {
		fail_msg("no block is told to have %zu bytes", old_size);
	}
	if (new_size == 0) {
		if (head == NULL)
			fail_msg("nothing is given back");
		memory->live -= old_size;
		memory->blocks--;
		head->magic = 0;
		free(head);
		errno = EDOM; /* a hook owes nobody its errno */
		return NULL;
	}
	/* Who gives a part back asks for nothing, and keeps the whole if that
	 * fails: there is no failure to be told. */
	memory->calls += new_size > old_size;
	if (new_size > old_size && memory->fail_at != 0 &&
	    (memory->calls == memory->fail_at ||
	     (memory->all_after && memory->calls > memory->fail_at))) {
		memory->failed++;
		errno = EDOM;
		return NULL;
	}
	head = realloc(head, sizeof(*head) + new_size);
	assert_non_null(head);
	memory->live += new_size - (block != NULL ? old_size : 0);
	memory->blocks += block == NULL;
	head->magic = FAULT_MAGIC;
	head->size = new_size;
	/* Memory that is new holds anything. */
	if (new_size > old_size)
		memset((char *)(head + 1) + old_size, FAULT_POISON,
		       new_size - old_size);
	errno = EDOM;
	return head + 1;
}

plim_allocator fault_allocator(struct fault_memory *memory)
{
	return (plim_allocator){fault_resize, memory};
}

void fault_arm(struct fault_memory *memory, size_t fail_at, int all_after)
{
	memory->calls = 0;
	memory->failed = 0;
	memory->fail_at = fail_at;
	memory->all_after = all_after;
}

plim_host *fault_host(struct fault_memory *memory, const char *proc_root)
{
	plim_host_options options = {
	    .size = sizeof(options),
	    .proc_root = proc_root,
	    .allocator = fault_allocator(memory),
	    .command_line_ms = 2000,
	};
	plim_host *host = NULL;

	assert_int_equal(plim_host_open(&host, &options, NULL), PLIM_OK);
	return host;
}

plim_error fault_poisoned(void)
{
	plim_error error;

	memset(&error, FAULT_POISON, sizeof(error));
	return error;
}

int fault_is_poisoned(const plim_error *error)
{
	const unsigned char *bytes = (const unsigned char *)error;

	for (size_t i = 0; i < sizeof(*error); i++)
		if (bytes[i] != FAULT_POISON)
			return 0;
	return 1;
}

void fault_expect_error(const plim_error *error, int code)
{
	assert_int_equal(error->code, code);
	assert_int_equal(error->position, -1);
	assert_non_null(
	    memchr(error->operation, '\0', sizeof(error->operation)));
	assert_true(error->operation[0] != '\0');
	assert_non_null(memchr(error->path, '\0', sizeof(error->path)));
	assert_non_null(memchr(error->detail, '\0', sizeof(error->detail)));
}

size_t fault_descriptors(void)
{
	DIR *folder = opendir("/proc/self/fd");
	size_t count = 0;

	assert_non_null(folder);
	while (readdir(folder) != NULL)
		count++;
	closedir(folder);
	return count - 3; /* ".", ".." and the folder's own */
}

/* The parent of a process, 0 if it is gone. */
static pid_t fault_parent(const char *name)
{
	char path[300];
	char text[512];
	char *at;
	int parent = 0;
	ssize_t got;
	int file;

	snprintf(path, sizeof(path), "/proc/%s/stat", name);
	file = open(path, O_RDONLY | O_CLOEXEC);
	if (file < 0)
		return 0;
	got = read(file, text, sizeof(text) - 1);
	close(file);
	text[got > 0 ? got : 0] = '\0';
	at = strrchr(text, ')');
	if (at == NULL || sscanf(at, ") %*c %d", &parent) != 1)
		return 0;
	return parent;
}

struct fault_children fault_children(void)
{
	struct fault_children children = {0, {0}};
	DIR *folder = opendir("/proc");
	struct dirent *entry;

	assert_non_null(folder);
	while ((entry = readdir(folder)) != NULL) {
		pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);

		if (pid <= 0 || fault_parent(entry->d_name) != getpid())
			continue;
		assert_true(children.count < FAULT_CHILDREN);
		children.pids[children.count++] = pid;
	}
	closedir(folder);
	return children;
}

pid_t fault_new_child(const struct fault_children *before)
{
	struct fault_children now = fault_children();
	pid_t found = 0;

	for (size_t i = 0; i < now.count; i++) {
		size_t at = 0;

		while (at < before->count && before->pids[at] != now.pids[i])
			at++;
		if (at < before->count)
			continue;
		assert_int_equal(found, 0);
		found = now.pids[i];
	}
	return found;
}

void fault_expect_children(const struct fault_children *before)
{
	struct fault_children now = fault_children();

	assert_int_equal(now.count, before->count);
	for (size_t i = 0; i < now.count; i++)
		assert_int_equal(now.pids[i], before->pids[i]);
}

static struct rlimit fault_held;
static int fault_is_limited;

void fault_limit(unsigned spare)
{
	struct rlimit limit;
	unsigned free_numbers = 0;
	int number = 0;

	assert_false(fault_is_limited);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &fault_held), 0);
	for (;; number++) {
		if (fcntl(number, F_GETFD) >= 0)
			continue;
		if (free_numbers == spare)
			break;
		free_numbers++;
	}
	limit = fault_held;
	limit.rlim_cur = (rlim_t)number;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	fault_is_limited = 1;
}

void fault_unlimit(void)
{
	if (fault_is_limited)
		setrlimit(RLIMIT_NOFILE, &fault_held);
	fault_is_limited = 0;
}

size_t fault_record(const plim_process *process, char *buffer, size_t size)
{
	size_t used = 0;

	for (size_t i = 0; i < plim_field_count(); i++) {
		const plim_field *field = plim_field_at(i);
		int got;

		if (field->kind == PLIM_KIND_TEXT) {
			plim_text text = plim_process_text(process, field->id);

			got = snprintf(buffer + used, size - used,
				       "%s=%d/%d/%.*s\n", field->name,
				       text.state, text.method,
				       (int)text.bytes.size, text.bytes.data);
		} else {
			plim_count count =
			    plim_process_count(process, field->id);

			got = snprintf(
			    buffer + used, size - used, "%s=%d/%d/%d/%d/%llu\n",
			    field->name, count.state, count.bound, count.method,
			    count.code, (unsigned long long)count.value);
		}
		assert_true(got > 0 && (size_t)got < size - used);
		used += (size_t)got;
	}
	return used;
}
