/*
 * cmd_time.c - plim time -- CMD: the kernel's account of a command once it
 * has ended, of every thread and of every descendant that was waited for.
 * It goes to standard error, so that the command's own output stays its own;
 * with --json or --csv, to standard output.
 */
#include "cmd.h"

#include <errno.h>
#include <string.h>

#define TIME_STEP_NS UINT64_C(3600000000000) /* nothing ends with it */

static const int time_ids[] = {PLIM_FIELD_CPU,		PLIM_FIELD_CPU_USER,
			       PLIM_FIELD_CPU_SYSTEM,	PLIM_FIELD_WAKEUPS,
			       PLIM_FIELD_INVOLUNTARY,	PLIM_FIELD_FAULTS_MINOR,
			       PLIM_FIELD_FAULTS_MAJOR, PLIM_FIELD_DISK_BLOCKS};

static plim_field_set time_fields(void)
{
	plim_field_set set = {{0}};
	size_t i;

	plim_field_set_add(&set, PLIM_FIELD_PID);
	for (i = 0; i < sizeof time_ids / sizeof time_ids[0]; i++)
		plim_field_set_add(&set, time_ids[i]);
	return set;
}

static void time_table(const struct options *options,
		       const plim_process *process, uint64_t wall_ns,
		       int status)
{
	int code = child_exit_status(status);
	size_t i;

	fprintf(stderr, "%-22s %s\n", "wall_ns",
		show_count(options,
			   plim_count_known(wall_ns, PLIM_METHOD_SYSTEM),
			   PLIM_UNIT_NS));
	for (i = 0; i < sizeof time_ids / sizeof time_ids[0]; i++) {
		const plim_field *field = plim_field_get(time_ids[i]);
		plim_count count = plim_process_count(process, field->id);

		fprintf(stderr, "%-22s %s\n", field->name,
			show_count(options, count, field->unit));
	}
	fprintf(stderr, "%-22s %u\n", "exit_status", (unsigned)code);
}

static void time_output(const struct options *options, plim_host *host,
			const plim_process *process, uint64_t wall_ns,
			int status)
{
	plim_field_set fields = time_fields();
	plim_json *json;

	switch (options->format) {
	case FORMAT_JSON:
		json = json_begin(options, host, 0);
		if (json == NULL) {
			fail_memory();
			break;
		}
		plim_json_whole(json, "wall_ns", wall_ns);
		json_exit(json, status);
		plim_json_process(json, "process", process, NULL, &fields);
		json_finish(json, host);
		break;
	case FORMAT_CSV:
		output_text("wall_ns,exit_status,");
		plim_csv_header(&fields, 0, output_write, &standard_output);
		output_format("%llu,%u,", (unsigned long long)wall_ns,
			      (unsigned)child_exit_status(status));
		plim_csv_process(process, NULL, &fields, 0, output_write,
				 &standard_output);
		break;
	default:
		time_table(options, process, wall_ns, status);
	}
}

/* An interruption from the terminal reaches the command as well; one that was
 * sent to us alone is handed on. Either way its end is waited for. */
static int time_wait(plim_usage *usage, plim_host *host, struct child *child,
		     plim_error *error)
{
	plim_target *target = NULL;
	int descriptor = -1;

	if (plim_target_open(&target, host, (int32_t)child->pid, NULL) ==
	    PLIM_OK)
		descriptor = child_descriptor(child, target);
	while (descriptor >= 0 &&
	       interrupt_sleep(TIME_STEP_NS, descriptor) != 2) {
		if (interrupted && interrupted_by_user)
			plim_target_signal(target, interrupted_by, NULL);
		interrupted = 0;
	}
	plim_target_close(target);
	return plim_usage_reap(usage, (int32_t)child->pid, &child->status,
			       error);
}

int cmd_time(const struct options *options)
{
	plim_usage *usage = NULL;
	plim_host *host = NULL;
	/* Who is killed cannot tell what it cost: the command ends as well. */
	const struct child_plan plan = {.command = options->command,
					.fate = CHILD_IS_ASKED};
	struct child child;
	plim_stamp begin;
	plim_error error;
	uint64_t wall_ns;
	int failed;
	int status;

	if (host_open(options, &host, &error) != PLIM_OK ||
	    plim_usage_new(&usage, host, &error) != PLIM_OK) {
		fail_with(options, &error);
		plim_host_close(host);
		return EXIT_OWN_FAILURE;
	}
	begin = plim_host_now(host);
	status = child_tell(&child, child_launch(&child, &plan));
	if (status == EXIT_DONE) {
		if (time_wait(usage, host, &child, &error) != PLIM_OK) {
			fail_with(options, &error);
			status = EXIT_OWN_FAILURE;
		} else {
			wall_ns = plim_host_now(host).monotonic.ns -
				  begin.monotonic.ns;
			time_output(options, host, plim_usage_process(usage),
				    wall_ns, child.status);
			status = child_exit_status(child.status);
			failed = output_flush();
			if (failed != 0 && failed != EPIPE)
				status = EXIT_OWN_FAILURE;
		}
	}
	plim_usage_free(usage);
	plim_host_close(host);
	return status;
}
