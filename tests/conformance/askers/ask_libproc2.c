/*
 * ask_libproc2.c - answers the questions of peers/asker.py with libproc2.
 *
 * Each field is asked in a context of its own that is made at the first
 * question and kept: libproc2 keeps the history for its deltas there. CPU is
 * the delta of all ticks over the time since the last question.
 */
#include <libproc2/pids.h>

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum how { STRING, CHARACTER, NUMBER, KIB, BYTES, TICKS, DELTA };

static struct question {
	const char *name;
	enum pids_item item;
	enum how how;
	struct pids_info *info;
} questions[] = {
    {"name", PIDS_CMD, STRING, NULL},
    {"state", PIDS_STATE, CHARACTER, NULL},
    {"ppid", PIDS_ID_PPID, NUMBER, NULL},
    {"threads", PIDS_NLWP, NUMBER, NULL},
    {"rss", PIDS_MEM_RES, KIB, NULL},
    {"cpu", PIDS_TICS_ALL_DELTA, DELTA, NULL},
    {"cmdline", PIDS_CMDLINE, STRING, NULL},
    {"exe", PIDS_EXE, STRING, NULL},
    {"pss", PIDS_SMAP_PSS, KIB, NULL},
    {"read_bytes", PIDS_IO_READ_BYTES, BYTES, NULL},
    {"write_bytes", PIDS_IO_WRITE_BYTES, BYTES, NULL},
    {"cancelled_bytes", PIDS_IO_WRITE_CBYTES, BYTES, NULL},
    {"cgroup", PIDS_CGROUP, STRING, NULL},
    {"unit", PIDS_SD_UNIT, STRING, NULL},
    {"identity", PIDS_TICS_BEGAN, TICKS, NULL},
};

static void answer(const char *word, const char *text)
{
	fputs(word, stdout);
	fputc(' ', stdout);
	for (; *text != '\0'; text++)
		printf("%02x", (unsigned char)*text);
	fputc('\n', stdout);
	fflush(stdout);
}

static double seconds_since_last(void)
{
	static double last;
	struct timespec time;
	double now;
	double since;

	clock_gettime(CLOCK_MONOTONIC, &time);
	now = (double)time.tv_sec + (double)time.tv_nsec / 1e9;
	since = last > 0 ? now - last : now;
	last = now;
	return since;
}

static void answer_value(const struct question *question,
			 struct pids_stack *stack, unsigned pid)
{
	char text[64];
	char state[2] = {0, 0};

	switch (question->how) {
	case STRING:
		answer("said", PIDS_VAL(0, str, stack, question->info));
		return;
	case CHARACTER:
		state[0] = PIDS_VAL(0, s_ch, stack, question->info);
		answer("said", state);
		return;
	case NUMBER:
		snprintf(text, sizeof text, "%d",
			 PIDS_VAL(0, s_int, stack, question->info));
		break;
	case KIB:
		snprintf(text, sizeof text, "%lu",
			 PIDS_VAL(0, ul_int, stack, question->info) * 1024);
		break;
	case BYTES:
		snprintf(text, sizeof text, "%lu",
			 PIDS_VAL(0, ul_int, stack, question->info));
		break;
	case TICKS:
		snprintf(text, sizeof text, "%u %llu", pid,
			 PIDS_VAL(0, ull_int, stack, question->info));
		break;
	case DELTA:
		snprintf(text, sizeof text, "%.1f",
			 PIDS_VAL(0, u_int, stack, question->info) * 100.0 /
			     (double)sysconf(_SC_CLK_TCK) /
			     seconds_since_last());
		break;
	}
	answer("said", text);
}

static void ask(struct question *question, unsigned pid)
{
	struct pids_fetch *fetch;

	if (question->info == NULL &&
	    procps_pids_new(&question->info, &question->item, 1) < 0) {
		answer("absent", "procps_pids_new fails");
		return;
	}
	fetch = procps_pids_select(question->info, &pid, 1, PIDS_SELECT_PID);
	if (fetch == NULL || fetch->counts->total != 1) {
		answer("absent", fetch == NULL ? "procps_pids_select fails"
					       : "no process selected");
		return;
	}
	answer_value(question, fetch->stacks[0], pid);
}

static void ask_list(void)
{
	enum pids_item items[] = {PIDS_ID_PID, PIDS_CMD, PIDS_VM_RSS};
	struct pids_info *info = NULL;
	struct pids_fetch *fetch = NULL;

	if (procps_pids_new(&info, items, 3) == 0)
		fetch = procps_pids_reap(info, PIDS_FETCH_TASKS_ONLY);
	if (fetch == NULL) {
		answer("absent", "procps_pids_reap fails");
		return;
	}
	fputs("said ", stdout);
	for (int i = 0; i < fetch->counts->total; i++) {
		char text[16];

		snprintf(text, sizeof text, "%d ",
			 PIDS_VAL(0, s_int, fetch->stacks[i], info));
		for (const char *at = text; *at != '\0'; at++)
			printf("%02x", (unsigned char)*at);
	}
	puts("");
	fflush(stdout);
	procps_pids_unref(&info);
}

int main(void)
{
	char line[128];
	char field[64];
	unsigned pid;

	while (fgets(line, sizeof line, stdin) != NULL) {
		size_t i;

		if (sscanf(line, "%63s %u", field, &pid) != 2)
			return 2;
		if (strcmp(field, "list") == 0) {
			ask_list();
			continue;
		}
		for (i = 0; i < sizeof questions / sizeof questions[0]; i++)
			if (strcmp(questions[i].name, field) == 0)
				break;
		if (i == sizeof questions / sizeof questions[0]) {
			puts("unasked");
			fflush(stdout);
		} else {
			ask(&questions[i], pid);
		}
	}
	return 0;
}
