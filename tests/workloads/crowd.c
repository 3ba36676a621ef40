/*
 * crowd.c - many processes that sleep, each of them unlike its neighbours.
 *
 * Usage: crowd COUNT TABLE [UID]. TABLE is an open descriptor that will hold a
 * struct crowd_member for each child: its pid and its name. Child i is called
 * crowd-i, has touched i % 16 pages of its own and made i % 251 writes to
 * nothing; with UID it is user UID + i. Without UID, and with the word
 * `hostile` in its place, it is called by bytes that have misled readers. The
 * command `end` ends the children, by pid, and reaps them.
 */
#include "crowd.h"
#include "workload.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define CROWD_MOST    32000
#define CROWD_SECONDS 300

static struct crowd_member *members;
static unsigned members_count;

static const char *const crowd_names[] = {
    "two\nlines",	"a\rb\tc\177d",	   "\033[31mred\a",
    "\033]0;title\007", "raw\377\376",	   "half\303",
    "x\360\237\230",	"\355\240\200sur", "a\342\200\256gpj.exe",
    "c1\302\2332J",	"a) R 1\n2 (",	   "q\"uote,co\\mma",
    "\\\\\\\"",		"\"},{\"pid\":1",  "{\"a\":null}",
    "],\"x\":[1e999",	"\\u0000\\ud800",  "</script><b>",
    " blank ends ",	"%s%n%d",
};
#define CROWD_NAMES (sizeof(crowd_names) / sizeof(crowd_names[0]))

/* Every second one of the names above, every other one bytes by chance. */
static void crowd_hostile(unsigned index, char name[16])
{
	uint32_t seed = index * 2654435761u + 1;

	memset(name, 0, 16);
	if (index % 2 == 0) {
		strncpy(name, crowd_names[index / 2 % CROWD_NAMES], 15);
		return;
	}
	for (unsigned i = 0; i < 1 + index % 15; i++) {
		seed = seed * 1664525 + 1013904223;
		name[i] = (char)(1 + (seed >> 16) % 255);
	}
}

static void crowd_become(unsigned uid)
{
	if (setgroups(0, NULL) != 0 || setresgid(uid, uid, uid) != 0 ||
	    setresuid(uid, uid, uid) != 0)
		workload_fail("setresuid");
}

static void crowd_child(unsigned index, unsigned uid, int nothing, int ready)
{
	if (uid != 0)
		crowd_become(uid + index);
	workload_begin(CROWD_SECONDS);
	if (index % 16 != 0)
		workload_touched(index % 16 * 4096);
	for (unsigned i = 0; i < index % 251; i++)
		if (write(nothing, "x", 1) != 1)
			workload_fail("write");
	if (prctl(PR_SET_NAME, members[index].name) != 0)
		workload_fail("prctl");
	if (write(ready, "x", 1) != 1)
		workload_fail("write");
	/* Its siblings have no business with what it holds. */
	close(ready);
	close(0);
	close(1);
	for (;;)
		pause();
}

static void crowd_start(unsigned index, unsigned uid, int hostile, int nothing,
			int ready)
{
	pid_t child;

	if (hostile)
		crowd_hostile(index, members[index].name);
	else
		snprintf(members[index].name, sizeof(members[index].name),
			 "crowd-%hu", (unsigned short)index);
	child = fork();
	if (child < 0)
		workload_fail("fork");
	if (child == 0)
		crowd_child(index, uid, nothing, ready);
	members[index].pid = child;
}

/* Each of them says that it is what it is to be. */
static void crowd_await(int ready, size_t count)
{
	char bytes[4096];

	while (count > 0) {
		ssize_t got = read(ready, bytes, sizeof(bytes));

		if (got <= 0)
			workload_fail("a child has failed");
		count -= (size_t)got < count ? (size_t)got : count;
	}
}

static void crowd_end(void)
{
	for (unsigned i = 0; i < members_count; i++)
		kill(members[i].pid, SIGKILL);
	for (unsigned i = 0; i < members_count; i++)
		while (waitpid(members[i].pid, NULL, 0) < 0 && errno == EINTR)
			;
	members_count = 0;
}

int main(int argc, char **argv)
{
	unsigned count = argc > 2 ? (unsigned)workload_parse(argv[1]) : 0;
	int hostile = argc > 3 && strcmp(argv[3], "hostile") == 0;
	unsigned uid =
	    argc > 3 && !hostile ? (unsigned)workload_parse(argv[3]) : 0;
	size_t size = count * sizeof(*members);
	int nothing = open("/dev/null", O_WRONLY | O_CLOEXEC);
	int ready[2];
	int table;
	char line[64];

	if (count == 0 || count > CROWD_MOST)
		return 2;
	workload_begin(CROWD_SECONDS);
	table = (int)workload_parse(argv[2]);
	if (nothing < 0 || pipe2(ready, O_CLOEXEC) != 0 ||
	    ftruncate(table, (off_t)size) != 0)
		workload_fail("start");
	members =
	    mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, table, 0);
	if (members == MAP_FAILED)
		workload_fail("mmap");
	/* An end without the command ends them, too: they are bound to us. */
	for (; members_count < count; members_count++)
		crowd_start(members_count, uid, hostile, nothing, ready[1]);
	crowd_await(ready[0], count);
	workload_ready();
	for (;;) {
		workload_command(line, sizeof(line));
		if (strcmp(line, "end") != 0) {
			workload_otherwise(line);
			continue;
		}
		crowd_end();
		workload_done();
	}
}
