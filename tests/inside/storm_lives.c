/*
 * storm_lives.c - storms of processes: forks of a large one, children by vfork
 * and posix_spawn, an exec in the middle of a session.
 *
 * Each child looks at what it has been given and tells it by its status.
 */
#include "storm.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

#define FORK_BYTES ((size_t)2 << 30)
#define FORK_PAGE  ((size_t)4096)

static volatile sig_atomic_t inherited_signals;

static void inherited_signal(int number)
{
	(void)number;
	inherited_signals++;
}

/* Beyond the standard three, and what this looks with. */
static unsigned open_files(void)
{
	DIR *directory = opendir("/proc/self/fd");
	struct dirent *entry;
	unsigned count = 0;

	STORM_TRUE(directory != NULL);
	while ((entry = readdir(directory)) != NULL)
		count += atoi(entry->d_name) > 2 &&
			 atoi(entry->d_name) != dirfd(directory);
	closedir(directory);
	return count;
}

static unsigned files_before;

void storm_lives_begin(void)
{
	files_before = open_files();
}

/* "--child=N": N files are its parent's own. */
static void child_word(char word[32], const char *name)
{
	snprintf(word, 32, "--%s=%u", name, files_before);
}

unsigned storm_inherited(unsigned files)
{
	struct sigaction action = {.sa_handler = inherited_signal};
	struct sigaction before;
	sigset_t set;
	unsigned wrong = 0;

	STORM_TRUE(sigaction(SIGURG, &action, &before) == 0);
	wrong |= before.sa_handler != SIG_DFL ? 1u : 0;
	STORM_TRUE(sigprocmask(SIG_SETMASK, NULL, &set) == 0);
	wrong |= sigismember(&set, SIGURG) ? 2u : 0;
	STORM_TRUE(sigpending(&set) == 0);
	wrong |= sigismember(&set, SIGURG) ? 4u : 0;
	wrong |= open_files() != files ? 8u : 0;
	storm_work(2000000);
	wrong |= inherited_signals != 0 ? 16u : 0;
	return wrong;
}

static int status_of(pid_t child)
{
	int status = -1;

	while (waitpid(child, &status, 0) < 0)
		STORM_TRUE(errno == EINTR);
	return status;
}

static _Atomic int lives_over;

static void *living_main(void *user)
{
	(void)user;
	while (!lives_over)
		storm_work(20000);
	return NULL;
}

/* --- forks of a large process --------------------------------------------- */

static unsigned char *fork_memory;

static uint64_t free_bytes(void)
{
	FILE *file = fopen("/proc/meminfo", "re");
	unsigned long long kib = 0;
	char line[256];

	STORM_TRUE(file != NULL);
	while (fgets(line, sizeof(line), file) != NULL)
		if (sscanf(line, "MemAvailable: %llu kB", &kib) == 1)
			break;
	fclose(file);
	return kib * 1024;
}

/* Each page is there, and each has its entry to be copied. */
void storm_forks_prepare(void)
{
	if (free_bytes() < 3 * (uint64_t)FORK_BYTES) {
		fputs("storm: less than 6 GiB of memory are free\n", stderr);
		_exit(STORM_SKIPPED);
	}
	fork_memory = mmap(NULL, FORK_BYTES, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	STORM_TRUE(fork_memory != MAP_FAILED);
	(void)madvise(fork_memory, FORK_BYTES, MADV_NOHUGEPAGE);
	for (size_t at = 0; at < FORK_BYTES; at += FORK_PAGE)
		fork_memory[at] = (unsigned char)(at / FORK_PAGE);
}

/* It has its memory, its allocator and its threads. */
static int child_is_well(void)
{
	pthread_t thread;

	for (size_t at = 0; at < FORK_BYTES; at += 1001 * FORK_PAGE) {
		unsigned char *block = malloc(at % 70000 + 1);

		if (block == NULL ||
		    fork_memory[at] != (unsigned char)(at / FORK_PAGE))
			return 0;
		memset(block, 1, at % 70000 + 1);
		fork_memory[at]++;
		free(block);
	}
	lives_over = 0;
	thread = storm_thread(living_main, NULL, 0);
	storm_work(1000000);
	lives_over = 1;
	return pthread_join(thread, NULL) == 0;
}

void storm_forks(uint64_t size)
{
	pthread_t threads[2];
	uint64_t well = 0;

	for (int i = 0; i < 2; i++)
		threads[i] = storm_thread(living_main, NULL, 0);
	for (uint64_t i = 0; i < size; i++) {
		pid_t child = fork();

		STORM_TRUE(child >= 0);
		if (child == 0)
			_exit(child_is_well() ? 0 : 1);
		storm_work(1000000);
		well += status_of(child) == 0;
	}
	lives_over = 1;
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	for (size_t at = 0; at < FORK_BYTES; at += FORK_PAGE)
		STORM_TRUE(fork_memory[at] == (unsigned char)(at / FORK_PAGE));
	munmap(fork_memory, FORK_BYTES);
	printf("forks %llu, well %llu\n", (unsigned long long)size,
	       (unsigned long long)well);
}

/* --- other programs ------------------------------------------------------- */

static int spawn_by_vfork(const char *path, char *const *arguments)
{
	pid_t child = vfork();

	if (child == 0) {
		execv(path, arguments);
		_exit(127);
	}
	STORM_TRUE(child > 0);
	return status_of(child);
}

static int spawn_by_posix(const char *path, char *const *arguments)
{
	pid_t child;

	STORM_TRUE(posix_spawn(&child, path, NULL, NULL, arguments, environ) ==
		   0);
	return status_of(child);
}

static int spawn_by_fork(const char *path, char *const *arguments)
{
	pid_t child = fork();

	if (child == 0) {
		execv(path, arguments);
		_exit(127);
	}
	STORM_TRUE(child > 0);
	return status_of(child);
}

struct spawns {
	pthread_t thread;
	uint64_t size;
	uint64_t right;
	uint64_t wrong;
};

static void *spawns_main(void *user)
{
	char path[] = "/proc/self/exe";
	char name[] = "storm";
	char word[32];
	char *const arguments[] = {name, word, NULL};
	struct spawns *spawns = user;

	child_word(word, "child");
	for (uint64_t i = 0; i < spawns->size; i++) {
		int status = i % 3 == 0	  ? spawn_by_vfork(path, arguments)
			     : i % 3 == 1 ? spawn_by_posix(path, arguments)
					  : spawn_by_fork(path, arguments);

		spawns->right += status == 0;
		spawns->wrong |= (uint64_t)(unsigned)status;
		storm_work(200000);
	}
	return NULL;
}

void storm_spawns(uint64_t size)
{
	struct spawns spawns[2] = {{0}};
	pthread_t living = storm_thread(living_main, NULL, 0);

	for (int i = 0; i < 2; i++) {
		spawns[i].size = size / 2;
		spawns[i].thread = storm_thread(spawns_main, &spawns[i], 0);
	}
	for (int i = 0; i < 2; i++)
		pthread_join(spawns[i].thread, NULL);
	/* A shell's own status comes through. */
	STORM_TRUE(system("exit 7") == 7 << 8);
	lives_over = 1;
	pthread_join(living, NULL);
	printf("children %llu, right %llu, wrong %#llx\n",
	       (unsigned long long)(size / 2 * 2),
	       (unsigned long long)(spawns[0].right + spawns[1].right),
	       (unsigned long long)(spawns[0].wrong | spawns[1].wrong));
}

/* The first session is told of; in the second all is replaced. */
void storm_exec(uint64_t size)
{
	char name[] = "storm";
	char word[32];
	char *const arguments[] = {name, word, NULL};

	child_word(word, "after");
	for (int i = 0; i < 3; i++)
		(void)storm_thread(living_main, NULL, 0);
	storm_work(50000000 * size);
	storm_session_end();
	storm_session_begin();
	storm_work(50000000 * size);
	printf("before exec\n");
	fflush(stdout);
	execv("/proc/self/exe", arguments);
	storm_die("exec");
}
