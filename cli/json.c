/*
 * json.c - the frame that all JSON of plim has: version, command and host
 * first, what was asked in the middle, the bill last, because only then is it
 * known.
 */
#include "cmd.h"

#include <sys/wait.h>

plim_json *json_begin(const struct options *options, plim_host *host,
		      int one_line)
{
	plim_json *json;

	(void)options;
	if (plim_json_new(&json, output_write, &standard_output,
			  one_line ? 0 : 2, NULL, NULL) != PLIM_OK)
		return NULL;
	plim_json_object(json, NULL);
	plim_json_string(json, "plimsoll", plim_version());
	plim_json_string(json, "command", command_given()->name);
	if (host != NULL)
		plim_json_host(json, "host", host);
	return json;
}

int json_finish(plim_json *json, plim_host *host)
{
	plim_cost cost;
	int code;

	if (json == NULL)
		return EXIT_FAILED;
	if (host != NULL) {
		cost = command_cost(host);
		plim_json_cost(json, "cost", &cost);
	}
	plim_json_end(json);
	code = plim_json_finish(json, NULL);
	plim_json_free(json);
	return code == PLIM_OK || code == PLIM_EOUTPUT ? EXIT_DONE
						       : EXIT_FAILED;
}

void json_exit(plim_json *json, int status)
{
	if (WIFEXITED(status))
		plim_json_whole(json, "exit_status",
				(uint64_t)WEXITSTATUS(status));
	else
		plim_json_null(json, "exit_status");
	if (WIFSIGNALED(status))
		plim_json_whole(json, "signal", (uint64_t)WTERMSIG(status));
	else
		plim_json_null(json, "signal");
}

void json_event(plim_json *json, const char *word, const plim_process *process,
		const plim_process *was)
{
	plim_text text = plim_process_text(process, PLIM_FIELD_IDENTITY);

	plim_json_object(json, NULL);
	plim_json_string(json, "event", word);
	plim_json_whole(json, "pid", (uint64_t)plim_process_pid(process));
	plim_json_text(json, "identity", text.bytes);
	if (was != NULL) {
		text = plim_process_text(was, PLIM_FIELD_IDENTITY);
		plim_json_text(json, "was", text.bytes);
	}
	plim_json_end(json);
}

/* The library's bill knows its own calls; CPU time is the whole command's. */
plim_cost command_cost(plim_host *host)
{
	plim_field_set cpu = {{0}};
	plim_usage *self = NULL;
	plim_cost cost;

	plim_field_set_add(&cpu, PLIM_FIELD_CPU);
	cost = plim_host_cost(host);
	if (plim_usage_new(&self, host, NULL) == PLIM_OK &&
	    plim_usage_refresh_self(self, &cpu, NULL) == PLIM_OK) {
		cost.system_calls += plim_usage_cost(self).system_calls;
		cost.cpu_ns = plim_process_count(plim_usage_process(self),
						 PLIM_FIELD_CPU);
	}
	plim_usage_free(self);
	return cost;
}

void output_cost(const struct options *options, plim_host *host, int signalled)
{
	plim_cost cost = command_cost(host);
	char bytes[32];

	plim_quantity_format((double)cost.bytes_read, PLIM_UNIT_BYTES, bytes,
			     sizeof bytes);
	output_format("cost         %llu system calls, %s read, %s of CPU time;"
		      " %s\n",
		      (unsigned long long)cost.system_calls, bytes,
		      show_count(options, cost.cpu_ns, PLIM_UNIT_NS),
		      signalled ? "nothing was stopped while it was measured"
				: "nothing was stopped or signalled");
}
