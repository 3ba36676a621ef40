/*
 * report_groups.c - who wakes, in as few lines as there are different answers:
 * threads of processes of one name, whose names differ at most in a number at
 * their end, and which sleep in the same stack, are one group. Sixty workers
 * then are one line that says sixty.
 *
 * What is compared is what would be shown, so that no two lines look alike.
 * The threads come most awake first; beyond a bound the rest is one group,
 * which keeps the work linear for a process with tens of thousands, and of
 * which nothing is said but what it comes to.
 */
#include "report.h"

#include <stdlib.h>
#include <string.h>

#define GROUPS_LIMIT  512
#define GROUPS_FRAMES 6

/* One that neither woke nor computed is none of those to be told of; one of
 * which it is not known, is. */
static int groups_is_told(const plim_thread_change *change)
{
	return change->wakeups.state != PLIM_STATE_KNOWN ||
	       change->wakeups.value > 0 ||
	       (change->cpu_ns.state == PLIM_STATE_KNOWN &&
		change->cpu_ns.value > 0);
}

/* A name without the number at its end, and what stands between the two. */
static plim_bytes groups_stem(plim_bytes name)
{
	size_t size = name.size;

	while (size > 0 && strchr("0123456789", name.data[size - 1]) != NULL &&
	       name.data[size - 1] != '\0')
		size--;
	if (size == name.size || size == 0)
		return name;
	while (size > 1 && strchr("-_.#/: ", name.data[size - 1]) != NULL &&
	       name.data[size - 1] != '\0')
		size--;
	name.size = size;
	return name;
}

static int groups_equal(plim_bytes a, plim_bytes b)
{
	return a.size == b.size &&
	       (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}

static plim_bytes groups_known(plim_text text)
{
	return text.state == PLIM_STATE_KNOWN ? text.bytes : (plim_bytes){0};
}

/* The stack of a thread, or where it is blocked by the kernel's word. */
static void groups_place(const struct report *report,
			 const plim_idle_thread *thread,
			 struct report_group *group)
{
	const plim_thread *last = thread->change.last;

	group->row = report_stacks_sleep(report, thread->pid, last->tid);
	group->is_running = last->state == 'R';
	group->blocked_in = last->blocked_in;
	if (group->row != NULL)
		report_stacks_text(report, report->stacks->off, group->row,
				   REPORT_NAMED, GROUPS_FRAMES,
				   sizeof group->stack - 1, group->stack,
				   sizeof group->stack);
}

static int groups_fit(const struct report_group *a,
		      const struct report_group *b)
{
	if (!groups_equal(groups_stem(a->name), groups_stem(b->name)) ||
	    !groups_equal(a->process, b->process) ||
	    strcmp(a->stack, b->stack) != 0)
		return 0;
	if (a->row != NULL)
		return 1;
	return a->is_running == b->is_running &&
	       groups_equal(groups_known(a->blocked_in),
			    groups_known(b->blocked_in));
}

static void groups_count(struct report_group *group,
			 const plim_idle_thread *thread)
{
	group->threads++;
	plim_sum_add(&group->wakeups, thread->change.wakeups);
	plim_sum_add(&group->cpu_ns, thread->change.cpu_ns);
	plim_sum_add(&group->runqueue_ns, thread->change.runqueue_ns);
}

static void groups_join(struct report_group *group,
			const struct report_group *one,
			const plim_idle_thread *thread)
{
	if (!groups_equal(group->name, one->name))
		group->is_shortened = 1;
	group->is_born &= one->is_born;
	groups_count(group, thread);
}

/* The one that is full: it has neither a name nor a place of its own. */
static void groups_rest(struct report_group *group,
			const struct report_group *one,
			const plim_idle_thread *thread)
{
	group->name = (plim_bytes){"others", 6};
	group->row = NULL;
	group->stack[0] = '\0';
	group->is_running = 0;
	group->blocked_in = (plim_text){0};
	groups_join(group, one, thread);
}

/* Returns which group it is in. */
static size_t groups_add(struct report *report, const plim_idle_thread *thread)
{
	struct report_groups *groups = &report->groups;
	struct report_group one = {0};
	size_t i;

	one.pid = thread->pid;
	one.tid = thread->change.last->tid;
	one.name = groups_known(thread->change.name);
	one.process = groups_known(thread->process);
	one.is_born = thread->change.born;
	groups_place(report, thread, &one);
	for (i = 0; i < groups->count; i++)
		if (groups_fit(&groups->items[i], &one)) {
			groups_join(&groups->items[i], &one, thread);
			return i;
		}
	if (groups->count == GROUPS_LIMIT) {
		groups_rest(&groups->items[GROUPS_LIMIT - 1], &one, thread);
		return GROUPS_LIMIT - 1;
	}
	groups_count(&one, thread);
	groups->items[groups->count] = one;
	return groups->count++;
}

struct groups_member {
	size_t group;
	int32_t pid;
};

static int groups_member_order(const void *left, const void *right)
{
	const struct groups_member *a = left;
	const struct groups_member *b = right;

	if (a->group != b->group)
		return a->group < b->group ? -1 : 1;
	return (a->pid > b->pid) - (a->pid < b->pid);
}

/* Each process of a group once, however many threads it has there. */
static void groups_processes(struct report_groups *groups,
			     struct groups_member *members, size_t count)
{
	size_t i;

	qsort(members, count, sizeof *members, groups_member_order);
	for (i = 0; i < count; i++)
		if (i == 0 ||
		    groups_member_order(&members[i - 1], &members[i]) != 0)
			groups->items[members[i].group].processes++;
}

/* "pool-* (8 threads)", "nginx 4711", "postgres (3 threads of 3 processes)". */
static void groups_label(const struct report *report,
			 struct report_group *group)
{
	const int form =
	    report->options->ascii ? PLIM_ESCAPE_ASCII : PLIM_ESCAPE_TERMINAL;
	const plim_bytes name =
	    group->is_shortened ? groups_stem(group->name) : group->name;
	char text[80];
	char of[100] = "";

	plim_escape(form, name, text, sizeof text);
	if (report->groups.several && group->processes == 1 &&
	    group->threads > 1)
		snprintf(of, sizeof of, " of process %d", (int)group->pid);
	else if (group->processes > 1)
		snprintf(of, sizeof of, " of %zu processes", group->processes);
	if (group->threads == 1)
		snprintf(group->label, sizeof group->label, "%s %d%s",
			 text[0] != '\0' ? text : "-", (int)group->tid,
			 group->is_born ? " (new)" : "");
	else
		snprintf(group->label, sizeof group->label,
			 "%s%s (%zu%s threads%s)", text[0] != '\0' ? text : "-",
			 group->is_shortened ? "*" : "", group->threads,
			 group->is_born ? " new" : "", of);
}

static int groups_order(const void *left, const void *right)
{
	const struct report_group *a = left;
	const struct report_group *b = right;
	const plim_real x = plim_real_of(plim_sum_total(&a->wakeups));
	const plim_real y = plim_real_of(plim_sum_total(&b->wakeups));
	const int order = plim_real_order(x, y, 1);

	return order != 0 ? order : (a->tid > b->tid) - (a->tid < b->tid);
}

int report_groups_make(struct report *report)
{
	struct report_groups *groups = &report->groups;
	struct groups_member *members;
	size_t told = 0;
	size_t i;

	groups->threads = plim_idle_thread_count(report->idle);
	if (plim_idle_about(report->idle).samples < 2 || groups->threads == 0)
		return PLIM_OK;
	groups->items = calloc(GROUPS_LIMIT, sizeof *groups->items);
	members = calloc(groups->threads, sizeof *members);
	if (groups->items == NULL || members == NULL) {
		free(members);
		return PLIM_ENOMEM;
	}
	for (i = 0; i < groups->threads; i++) {
		const plim_idle_thread thread =
		    plim_idle_thread_at(report->idle, i);

		plim_sum_add(&groups->wakeups, thread.change.wakeups);
		groups->several |=
		    thread.pid != plim_idle_thread_at(report->idle, 0).pid;
		if (!groups_is_told(&thread.change))
			continue;
		members[told].pid = thread.pid;
		members[told++].group = groups_add(report, &thread);
	}
	groups_processes(groups, members, told);
	free(members);
	qsort(groups->items, groups->count, sizeof *groups->items,
	      groups_order);
	for (i = 0; i < groups->count; i++)
		groups_label(report, &groups->items[i]);
	return PLIM_OK;
}

void report_groups_release(struct report *report)
{
	free(report->groups.items);
	report->groups.items = NULL;
	report->groups.count = 0;
}

plim_real report_groups_rate(const struct report *report, plim_sum sum)
{
	return plim_change_rate(
	    plim_sum_total(&sum),
	    plim_idle_about(report->idle).interval.elapsed_ns);
}

plim_real report_groups_percent(const struct report *report, plim_sum sum)
{
	plim_real rate = report_groups_rate(report, sum);

	rate.value /= 1e7;
	return rate;
}
