/*
 * gate_told.c - prints a gate that was made by hand, in one of the formats of
 * plim gate: what there is to tell is then known to the byte, and names can be
 * as hostile as names get.
 *
 *   gate-told FORMAT [plain|hostile|many|huge|pass|report] [ascii]
 *
 * Nothing was measured: the numbers are synthetic.
 */
#include "gate_say.h"

#include <errno.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#define MIB	      1048576.0
#define SECOND	      UINT64_C(1000000000)
#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

/* Every byte but NUL, what is no character of XML, what commands of a workflow
 * and Markdown are made of, and a line of RESULT. */
static char hostile[2048];
/* No longer than a budget lets the name of a target be: what forges lines. */
static char hostile_name[128 + 1];

static void make_hostile(void)
{
	size_t used = 0;

	for (int byte = 1; byte < 256; byte++)
		hostile[used++] = (char)byte;
	strcpy(hostile + used,
	       "\n::error file=x,line=1::forged%0A\r\n##[error]forged\n"
	       "RESULT gate verdict=pass\n]]>&amp;<script>|`*_[x](y)\\\"'\n"
	       "\xef\xbf\xbe\xef\xbf\xbf\xed\xa0\x80\xc0\x80\xe2\x80\xae"
	       "\xc2\x9b"
	       "31m\x1b[31m\xf0\x9f\x98\x80 "
	       "%25%0D%3A%2C, = + - @ ");
	memcpy(hostile_name, hostile + used, sizeof hostile_name - 1);
}

static plim_real known(double value, int method)
{
	return plim_real_known(value, method);
}

static plim_real bounded(double value, int method, int bound)
{
	plim_real real = plim_real_known(value, method);

	real.bound = (uint8_t)bound;
	return real;
}

struct made {
	struct gate gate;
	struct options options;
	struct gate_target targets[64];
	plim_budget_target asked[64];
	plim_budget_limit limits[640];
	struct gate_figure figures[640];
	plim_budget_reading readings[1280];
	struct gate_repeat repeats[16];
	struct gate_thread threads[16];
	size_t limit_count;
	size_t reading_count;
	const char *name;
	const char *text;
	const char *owner;
};

static struct made made;

static struct gate_figure *add_figure(struct gate_target *target, int figure,
				      unsigned line)
{
	plim_budget_limit *limit = &made.limits[made.limit_count];
	struct gate_figure *added = &made.figures[made.limit_count++];

	if (target->figures == NULL)
		target->figures = added;
	target->figure_count++;
	limit->figure = figure;
	limit->slack_warning = 3;
	limit->at.line = line;
	limit->at.column = 1;
	added->limit = limit;
	added->figure = plim_budget_figure_get(figure);
	added->readings = &made.readings[made.reading_count];
	added->judgement.value = plim_real_missing(PLIM_REASON_NONE, 0);
	return added;
}

static plim_budget_limit *limit_of(struct gate_figure *figure)
{
	return &made.limits[figure - made.figures];
}

static plim_budget_reading *add_reading(struct gate_figure *figure,
					plim_real value)
{
	plim_budget_reading *reading = &made.readings[made.reading_count++];

	figure->reading_count++;
	figure->judgement.readings++;
	reading->value = value;
	reading->window_ns = 60 * SECOND;
	return reading;
}

static void count_of(plim_budget_reading *reading, uint64_t count)
{
	reading->counted = plim_count_known(count, PLIM_METHOD_THREAD_SUM);
}

static void judge(struct gate_figure *figure, int verdict, plim_real value,
		  plim_real least, plim_real most, const char *text)
{
	plim_budget_judgement *judged = &figure->judgement;

	judged->verdict = verdict;
	judged->value = value;
	judged->least = least;
	judged->most = most;
	snprintf(judged->text, sizeof judged->text, "%s", text);
}

static void decide(struct gate_figure *figure, unsigned which, double limit,
		   double headroom)
{
	plim_budget_limit *of = limit_of(figure);

	of->has |= which;
	if (which == PLIM_LIMIT_MIN)
		of->min = limit;
	else
		of->max = limit;
	figure->judgement.decided = which;
	figure->judgement.limit = limit;
	figure->judgement.headroom = headroom;
}

static void add_wakeups(struct gate_target *target)
{
	struct gate_figure *figure =
	    add_figure(target, PLIM_BUDGET_WAKEUPS, 12);
	plim_real least =
	    bounded(2990.5, PLIM_METHOD_THREAD_SUM, PLIM_BOUND_AT_LEAST);
	plim_real most =
	    bounded(3001, PLIM_METHOD_THREAD_SUM, PLIM_BOUND_AT_LEAST);

	count_of(add_reading(figure, least), 179430);
	count_of(add_reading(figure, most), 180060);
	judge(figure, PLIM_VERDICT_EXCEEDED, most, least, most,
	      "3001/s is above the ceiling of 100/s");
	decide(figure, PLIM_LIMIT_MAX, 100, -2901);
	figure->judgement.counted =
	    plim_count_known(180060, PLIM_METHOD_THREAD_SUM);
	figure->judgement.error = 7.0722;
	limit_of(figure)->why = made.text;
	limit_of(figure)->owner = made.owner;
	limit_of(figure)->until = 20270131;
}

static void add_cpu(struct gate_target *target)
{
	struct gate_figure *figure =
	    add_figure(target, PLIM_BUDGET_IDLE_CPU, 19);
	plim_real least = known(0.5, PLIM_METHOD_PROCESS_CPU_CLOCK);
	plim_real most = known(0.5128, PLIM_METHOD_PROCESS_CPU_CLOCK);

	add_reading(figure, most);
	add_reading(figure, least);
	judge(figure, PLIM_VERDICT_PASS, most, least, most,
	      "0.513 % is within the ceiling of 1 %");
	decide(figure, PLIM_LIMIT_MAX, 1, 0.4872);
}

static void add_resident(struct gate_target *target)
{
	struct gate_figure *figure =
	    add_figure(target, PLIM_BUDGET_RESIDENT_WARM, 22);
	plim_real value = known(32 * MIB, PLIM_METHOD_STATM);

	add_reading(figure, value);
	add_reading(figure, value);
	judge(figure, PLIM_VERDICT_PASS, value, value, value,
	      "32 MiB is within the ceiling of 200 MiB");
	decide(figure, PLIM_LIMIT_MAX, 200 * MIB, 168 * MIB);
	figure->judgement.slack = 1;
	figure->judgement.slack_factor = 6.25;
}

static void add_ops(struct gate_target *target)
{
	struct gate_figure *figure =
	    add_figure(target, PLIM_BUDGET_DISK_OPS, 25);
	plim_real missing = plim_real_missing(PLIM_REASON_SHARED_CGROUP, 0);

	add_reading(figure, missing);
	add_reading(figure, missing);
	judge(figure, PLIM_VERDICT_PASS, missing, missing, missing,
	      "unavailable, and may be");
	limit_of(figure)->has = PLIM_LIMIT_MAX;
	limit_of(figure)->max = 5;
	limit_of(figure)->skip = made.text;
	figure->judgement.skipped = 1;
	figure->judgement.missing = 2;
}

static void add_dirty(struct gate_target *target)
{
	struct gate_figure *figure =
	    add_figure(target, PLIM_BUDGET_PRIVATE_DIRTY_END, 29);
	plim_real missing = plim_real_missing(PLIM_REASON_NOT_PERMITTED, 13);

	add_reading(figure, missing)->note = made.text;
	judge(figure, PLIM_VERDICT_UNAVAILABLE, missing, missing, missing,
	      "unavailable: a required figure is missing");
	limit_of(figure)->has = PLIM_LIMIT_MAX;
	limit_of(figure)->max = 64 * MIB;
	figure->judgement.missing = 1;
}

static void add_calls(struct gate_target *target)
{
	struct gate_figure *figure =
	    add_figure(target, PLIM_BUDGET_IO_CALLS, 32);
	plim_real least = known(0.95, PLIM_METHOD_IO_WITH_CHILDREN);
	plim_real most = known(1.0625, PLIM_METHOD_IO_WITH_CHILDREN);

	count_of(add_reading(figure, least), 57);
	count_of(add_reading(figure, most), 64);
	judge(figure, PLIM_VERDICT_INCONCLUSIVE, most, least, most,
	      "the repeats disagree, by no more than chance");
	decide(figure, PLIM_LIMIT_MAX, 1, -0.0625);
	figure->judgement.counted = plim_count_known(64, PLIM_METHOD_IO);
	figure->judgement.error = 0.1333;
}

static void add_floor(struct gate_target *target)
{
	struct gate_figure *figure =
	    add_figure(target, PLIM_BUDGET_CHILDREN_STARTED, 35);
	plim_real value = known(6, PLIM_METHOD_SYSTEM);

	add_reading(figure, value);
	judge(figure, PLIM_VERDICT_PASS, value, value, value,
	      "6 is above the floor of 1");
	decide(figure, PLIM_LIMIT_MIN, 1, 5);
}

static void add_relative(struct gate_target *target)
{
	struct gate_figure *figure =
	    add_figure(target, PLIM_BUDGET_THREADS, 38);
	plim_real value = known(11, PLIM_METHOD_STAT);

	add_reading(figure, value);
	judge(figure, PLIM_VERDICT_PASS, value, value, value,
	      "11 is within 10 % and 2 of the baseline, 10");
	figure->judgement.baseline = known(10, PLIM_METHOD_STAT);
	figure->judgement.decided = PLIM_LIMIT_VERSUS;
	figure->judgement.limit = 12;
	figure->judgement.headroom = 1;
	limit_of(figure)->has = PLIM_LIMIT_VERSUS;
	limit_of(figure)->versus =
	    made.name == hostile_name ? hostile : "baseline.txt";
	limit_of(figure)->rise_percent = 10;
	limit_of(figure)->also_above = 2;
}

static void name_thread(struct gate_thread *thread, const char *name,
			const char *process, const char *blocked)
{
	if (made.name == hostile_name) {
		/* Cut like the kernel's, and wherever that falls. */
		memcpy(thread->name, hostile + 254, 63);
		memcpy(thread->process, hostile + 130, 63);
		memcpy(thread->blocked_in, hostile, 31);
		return;
	}
	snprintf(thread->name, sizeof thread->name, "%s", name);
	snprintf(thread->process, sizeof thread->process, "%s", process);
	snprintf(thread->blocked_in, sizeof thread->blocked_in, "%s", blocked);
}

static void add_threads(struct gate_target *target)
{
	static const struct {
		int tid;
		uint64_t wakeups;
		uint64_t cpu_ns;
		int born;
		const char *name;
		const char *blocked;
	} rows[] = {
	    {4243, 120040, 2 * SECOND, 0, "worker", "futex"},
	    {4244, 60000, SECOND, 1, "timer", "clock_nanosleep"},
	    {4245, 20, 1000000, 0, "logger", "epoll_wait"},
	    {4246, 0, 0, 0, "sleeper", "futex"},
	};

	target->threads = made.threads;
	target->thread_count = LENGTH(rows);
	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct gate_thread *thread = &made.threads[i];

		thread->tid = rows[i].tid;
		thread->pid = 4242;
		thread->born = rows[i].born;
		thread->wakeups =
		    plim_count_known(rows[i].wakeups, PLIM_METHOD_STATUS);
		thread->per_second =
		    plim_change_rate(thread->wakeups, 60 * SECOND);
		thread->cpu_ns =
		    plim_count_known(rows[i].cpu_ns, PLIM_METHOD_STAT);
		thread->runqueue_ns =
		    plim_count_missing(PLIM_REASON_NO_FILE, 2);
		thread->start_address =
		    plim_count_missing(PLIM_REASON_HOST_NEVER, 0);
		name_thread(thread, rows[i].name, "echo-server",
			    rows[i].blocked);
	}
	target->threads_summary.size = sizeof target->threads_summary;
	target->threads_summary.threads = 4;
	target->threads_summary.born = 1;
	target->threads_summary.listed_wakeups =
	    plim_count_known(180060, PLIM_METHOD_STATUS);
	target->threads_summary.exited_wakeups_at_start =
	    plim_count_known(0, PLIM_METHOD_STATUS);
	target->threads_summary.window_ns = 60 * SECOND;
}

static struct gate_target *add_target(const char *name, unsigned line)
{
	size_t index = made.gate.target_count++;
	struct gate_target *target = &made.targets[index];
	plim_budget_target *asked = &made.asked[index];
	static const char *run[] = {"./echo-server", "--port", "0", NULL};
	static const char *hostile_run[] = {hostile, hostile, NULL};

	asked->name = name;
	asked->at.line = line;
	asked->at.column = 1;
	asked->way = PLIM_BUDGET_RUN;
	asked->tree = 1;
	asked->run = made.name == hostile_name ? hostile_run : run;
	asked->scope = "synthetic";
	asked->load_statement = made.name == hostile
				    ? hostile
				    : "1,000 idle connections, none sending";
	asked->load_unit = made.name == hostile_name ? hostile : "connections";
	asked->load_count = 1000;
	target->target = asked;
	target->window_ns = 60 * SECOND;
	target->repeats = 2;
	target->done = 1;
	target->load.size = sizeof target->load;
	target->load.scale_unit = asked->load_unit;
	target->load.scale_count = asked->load_count;
	target->load.statement = asked->load_statement;
	target->load.scope = asked->scope;
	target->load.crate = name;
	target->observed.size = sizeof target->observed;
	return target;
}

static void add_repeats(struct gate_target *target)
{
	target->repeat = made.repeats;
	target->repeat_count = 2;
	for (size_t i = 0; i < 2; i++) {
		struct gate_repeat *repeat = &made.repeats[i];

		repeat->ready_ns = 250000000 * (i + 1);
		repeat->quiet_ns = 5 * SECOND;
		repeat->window_ns = 60 * SECOND;
		repeat->samples = 2;
		repeat->members = 3;
		repeat->children_started =
		    plim_count_known(6, PLIM_METHOD_SYSTEM);
		repeat->children_run = plim_count_known(8, PLIM_METHOD_SYSTEM);
	}
	made.repeats[1].suspended_ns = 2 * SECOND;
}

static void observe(struct gate_target *target)
{
	plim_result_figures *observed = &target->observed;

	observed->warm_resident = plim_count_known(33554432, PLIM_METHOD_STATM);
	observed->idle_resident = plim_count_known(33550336, PLIM_METHOD_STATM);
	observed->warm_footprint =
	    plim_count_known(16777216, PLIM_METHOD_STATUS);
	observed->idle_footprint =
	    plim_count_known(16777216, PLIM_METHOD_STATUS);
	observed->window_ns = 60 * SECOND;
	observed->samples = 2;
	observed->cpu_percent = known(0.5128, PLIM_METHOD_PROCESS_CPU_CLOCK);
	observed->wakeups =
	    bounded(3001, PLIM_METHOD_THREAD_SUM, PLIM_BOUND_AT_LEAST);
	observed->disk_ops = plim_real_missing(PLIM_REASON_SHARED_CGROUP, 0);
	observed->disk_read = known(0, PLIM_METHOD_IO_WITH_CHILDREN);
	observed->disk_write = known(0, PLIM_METHOD_IO_WITH_CHILDREN);
	observed->disk_blocks = plim_real_missing(PLIM_REASON_SELF_ONLY, 0);
	observed->io_calls = known(1.0625, PLIM_METHOD_IO_WITH_CHILDREN);
	target->load.verdict = gate_verdict_word(target->verdict);
}

/* One that was measured, with a figure of each outcome. */
static void make_measured(void)
{
	struct gate_target *target = add_target(made.name, 3);

	target->verdict = PLIM_VERDICT_EXCEEDED;
	add_repeats(target);
	add_wakeups(target);
	add_cpu(target);
	add_resident(target);
	add_ops(target);
	add_dirty(target);
	add_calls(target);
	add_floor(target);
	add_relative(target);
	add_threads(target);
	observe(target);
}

/* One that never got quiet, and one that was not come to. */
static void make_unmeasured(void)
{
	struct gate_target *target = add_target("never-quiet", 50);
	struct gate_figure *figure;

	target->verdict = PLIM_VERDICT_INCONCLUSIVE;
	snprintf(target->reason, sizeof target->reason, "%.200s",
		 made.name == hostile_name ? hostile
					   : "it was not quiet within 120 s");
	figure = add_figure(target, PLIM_BUDGET_WAKEUPS, 60);
	limit_of(figure)->has = PLIM_LIMIT_MAX | PLIM_LIMIT_MIN;
	limit_of(figure)->max = 100;
	limit_of(figure)->min = 1;
	judge(figure, PLIM_VERDICT_INCONCLUSIVE, figure->judgement.value,
	      figure->judgement.value, figure->judgement.value,
	      "it was not quiet within 120 s");
	target = add_target("left-out", 70);
	target->done = 0;
	target->verdict = PLIM_VERDICT_INCONCLUSIVE;
	figure = add_figure(target, PLIM_BUDGET_WALL, 75);
	limit_of(figure)->has = PLIM_LIMIT_MAX;
	limit_of(figure)->max = 60e9;
}

/* More than ten annotations have room for, and a summary. */
static void make_many(void)
{
	made.text = made.owner = "because";
	for (unsigned i = 0; i < 40; i++) {
		struct gate_target *target = add_target(made.name, i);

		target->verdict = PLIM_VERDICT_EXCEEDED;
		add_wakeups(target);
		add_resident(target);
		add_ops(target);
	}
}

/* A reason of 32 KiB in each of very many rows. */
static void make_huge(void)
{
	static char long_text[32768];

	memset(long_text, '<', sizeof long_text - 1);
	make_many();
	for (size_t i = 0; i < made.limit_count; i++)
		if (made.limits[i].skip != NULL)
			made.limits[i].skip = long_text;
}

static void make_pass(void)
{
	struct gate_target *target = add_target(made.name, 3);

	add_repeats(target);
	add_cpu(target);
	observe(target);
	made.gate.verdict = PLIM_VERDICT_PASS;
	made.gate.status = 0;
}

/* One that is judged by what was recorded before. */
static void make_report(void)
{
	made.asked[0].way = PLIM_BUDGET_REPORT;
	made.asked[0].run = NULL;
	made.asked[0].report = "results.txt";
}

static void make(const char *kind)
{
	struct gate *gate = &made.gate;

	make_hostile();
	made.name = strcmp(kind, "hostile") == 0 ? hostile_name : "echo";
	made.text =
	    made.name == hostile_name ? hostile : "the battery of the users";
	made.owner = made.name == hostile_name ? hostile : "team-net";
	gate->options = &made.options;
	gate->file = made.name == hostile_name ? hostile : "ci/budget.toml";
	gate->targets = made.targets;
	gate->verdict = PLIM_VERDICT_EXCEEDED;
	gate->status = 1;
	gate->place.size = sizeof gate->place;
	gate->place.os = "linux";
	gate->place.arch = "x86_64";
	gate->place.kernel = "6.18.5";
	gate->place.processor =
	    made.name == hostile_name ? hostile : "Example CPU @ 2.0 GHz";
	gate->place.is_virtual = 1;
	gate->place.cores = 2;
	if (strcmp(kind, "many") == 0) {
		make_many();
	} else if (strcmp(kind, "huge") == 0) {
		make_huge();
	} else if (strcmp(kind, "pass") == 0) {
		make_pass();
	} else if (strcmp(kind, "report") == 0) {
		make_measured();
		make_report();
	} else {
		make_measured();
		make_unmeasured();
	}
}

struct gathered {
	char data[262144];
	size_t size;
};

static int gather(const char *data, size_t size, void *user)
{
	struct gathered *to = user;

	if (size > sizeof to->data - to->size)
		return ENOSPC;
	memcpy(to->data + to->size, data, size);
	to->size += size;
	return 0;
}

static void tell_reading(const plim_budget_reading *reading)
{
	char number[40];

	if (reading->value.state == PLIM_STATE_KNOWN) {
		plim_number_format(reading->value.value, number, sizeof number);
		output_format(" %s %s %s", number,
			      plim_method_word(reading->value.method),
			      plim_bound_word(reading->value.bound));
	} else {
		output_format(" %s", plim_reason_word(reading->value.method));
	}
	if (reading->counted.state == PLIM_STATE_KNOWN)
		output_format(" n %llu",
			      (unsigned long long)reading->counted.value);
	output_format(" %llu ns\n", (unsigned long long)reading->window_ns);
}

/* The RESULT lines as the library reads them back: a baseline. */
static int tell_record(void)
{
	static struct gathered lines;
	plim_budget_record *record = NULL;
	plim_budget_reading readings[4];
	plim_error error;

	if (gate_results(&made.gate, gather, &lines) != PLIM_OK)
		return 1;
	if (plim_budget_record_parse(&record, "lines",
				     (plim_bytes){lines.data, lines.size}, NULL,
				     NULL, &error) != PLIM_OK)
		return fail_with(&made.options, &error);
	for (int figure = 1; figure <= PLIM_BUDGET_FIGURE_LAST; figure++) {
		size_t count = plim_budget_record_readings(
		    record, made.name, figure, readings, LENGTH(readings));

		for (size_t i = 0; i < count && i < LENGTH(readings); i++) {
			output_text(plim_budget_figure_get(figure)->word);
			tell_reading(&readings[i]);
		}
	}
	plim_budget_record_free(record);
	return 0;
}

static int tell(const char *format)
{
	static const struct {
		const char *name;
		int (*tell)(const struct gate *gate, plim_write_fn *write,
			    void *user);
	} writers[] = {
	    {"results", gate_results},	  {"junit", gate_junit},
	    {"bencher", gate_bencher},	  {"action", gate_action_array},
	    {"github", gate_annotations}, {"summary", gate_summary},
	};

	for (size_t i = 0; i < LENGTH(writers); i++)
		if (strcmp(format, writers[i].name) == 0)
			return writers[i].tell(&made.gate, output_write,
					       &standard_output) != PLIM_OK;
	if (strcmp(format, "record") == 0)
		return tell_record();
	if (strcmp(format, "table") == 0)
		gate_table(&made.gate);
	else if (strcmp(format, "json") == 0)
		gate_json(&made.gate);
	else if (strcmp(format, "csv") == 0)
		gate_csv(&made.gate);
	else
		return 2;
	return 0;
}

/* As main() of plim does: what is begun tells which command it is. */
static int begin(void)
{
	static char name[] = "gate";
	static char file[] = "ci/budget.toml";
	char *arguments[] = {name, file, NULL};

	return args_parse(command_find("gate"), 2, arguments, &made.options);
}

int main(int argc, char **argv)
{
	int status;

	setlocale(LC_ALL, "");
	if (argc < 2)
		return 2;
	if (begin() != EXIT_DONE ||
	    host_open(&made.options, &made.gate.host, NULL) != PLIM_OK)
		return 2;
	make(argc > 2 ? argv[2] : "plain");
	if (argc > 3)
		made.options.ascii = 1;
	status = tell(argv[1]);
	plim_host_close(made.gate.host);
	return output_end(status);
}
