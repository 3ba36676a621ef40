/*
 * json.c - the frame that all JSON of plim has: version, command and host
 * first, what was asked in the middle, the bill last, because only then is it
 * known.
 */
#include "branch.h"

#include <stdlib.h>

static plim_json *json_begin_as(plim_host *host, plim_write_fn *write,
				void *user, int one_line)
{
	plim_json *json;

	if (plim_json_new(&json, write, user, one_line ? 0 : 2, NULL, NULL) !=
	    PLIM_OK)
		return NULL;
	plim_json_object(json, NULL);
	plim_json_string(json, "plimsoll", plim_version());
	plim_json_string(json, "command", command_given()->name);
	if (host != NULL)
		plim_json_host(json, "host", host);
	return json;
}

plim_json *json_begin(const struct options *options, plim_host *host,
		      int one_line)
{
	(void)options;
	return json_begin_as(host, output_write, &standard_output, one_line);
}

plim_json *json_begin_to(const struct options *options, plim_host *host,
			 plim_write_fn *write, void *user)
{
	(void)options;
	return json_begin_as(host, write, user, 0);
}

int json_end(plim_json *json, plim_host *host, plim_error *error)
{
	plim_cost cost;

	if (host != NULL) {
		cost = command_cost(host);
		plim_json_cost(json, "cost", &cost);
	}
	plim_json_end(json);
	return plim_json_finish(json, error);
}

int json_finish(plim_json *json, plim_host *host)
{
	int code;

	if (json == NULL)
		return failure_status;
	code = json_end(json, host, NULL);
	plim_json_free(json);
	return code == PLIM_OK || code == PLIM_EOUTPUT ? EXIT_DONE
						       : failure_status;
}

void json_exit(plim_json *json, int status)
{
	const int number = child_signal(status);

	if (number == 0)
		plim_json_whole(json, "exit_status",
				(unsigned)child_exit_status(status));
	else
		plim_json_null(json, "exit_status");
	if (number != 0)
		plim_json_whole(json, "signal", (uint64_t)number);
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
		if (cost.cpu_ns.state == PLIM_STATE_KNOWN)
			cost.cpu_ns.value += cost.helper_cpu_ns;
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

void json_why(plim_json *json, uint8_t state, uint16_t reason, int32_t code)
{
	plim_json_object(json, "unavailable");
	plim_json_string(json, "state", plim_state_word(state));
	plim_json_string(json, "reason", plim_reason_word(reason));
	if (code != 0)
		plim_json_string(json, "code", plim_system_error_name(code));
	plim_json_end(json);
}

/* What stands beside the value. */
static void json_figure_side(plim_json *json, uint8_t state, uint8_t bound,
			     uint16_t method, int32_t code)
{
	if (state != PLIM_STATE_KNOWN) {
		json_why(json, state, method, code);
		return;
	}
	plim_json_string(json, "method", plim_method_word(method));
	if (bound != PLIM_BOUND_EXACT)
		plim_json_string(json, "bound", plim_bound_word(bound));
}

static void json_real_value(plim_json *json, plim_real real)
{
	if (real.state == PLIM_STATE_KNOWN)
		plim_json_number(json, "value", real.value);
	else
		plim_json_null(json, "value");
	json_figure_side(json, real.state, real.bound, real.method, real.code);
}

static void json_count_value(plim_json *json, plim_count count)
{
	if (count.state == PLIM_STATE_KNOWN)
		plim_json_whole(json, "value", count.value);
	else
		plim_json_null(json, "value");
	json_figure_side(json, count.state, count.bound, count.method,
			 count.code);
}

void json_figure(plim_json *json, const char *key, plim_real real)
{
	plim_json_object(json, key);
	json_real_value(json, real);
	plim_json_end(json);
}

void json_count_figure(plim_json *json, const char *key, plim_count count)
{
	plim_json_object(json, key);
	json_count_value(json, count);
	plim_json_end(json);
}

void json_sum(plim_json *json, const char *key, plim_sum sum,
	      const struct column *column, uint64_t interval_ns)
{
	const struct branches rates = {.interval_ns = interval_ns};

	plim_json_object(json, key);
	if (column->rate)
		json_real_value(json, branch_sum_real(&rates, sum, column));
	else
		json_count_value(json, plim_sum_total(&sum));
	plim_json_whole(json, "known", sum.known);
	plim_json_whole(json, "missing", sum.missing);
	plim_json_end(json);
}

void csv_sum(plim_sum sum, const struct column *column, uint64_t interval_ns)
{
	const struct branches rates = {.interval_ns = interval_ns};
	plim_real real = branch_sum_real(&rates, sum, column);
	plim_count total = plim_sum_total(&sum);
	char number[40];

	if (total.state == PLIM_STATE_KNOWN && !column->rate) {
		output_format("%llu", (unsigned long long)total.value);
	} else if (real.state == PLIM_STATE_KNOWN) {
		plim_number_format(real.value, number, sizeof number);
		output_text(number);
	}
	output_format(",%u,", sum.missing);
}

int json_hex(plim_json *json, const char *key, plim_bytes bytes)
{
	static const char digits[] = "0123456789abcdef";
	char *hex = malloc(bytes.size * 2 + 1);
	size_t i;

	if (hex == NULL)
		return PLIM_ENOMEM;
	for (i = 0; i < bytes.size; i++) {
		unsigned char byte = (unsigned char)bytes.data[i];

		hex[2 * i] = digits[byte >> 4];
		hex[2 * i + 1] = digits[byte & 15];
	}
	plim_json_text(json, key, (plim_bytes){hex, bytes.size * 2});
	free(hex);
	return 0;
}

void json_parent(plim_json *json, const struct branch *branch)
{
	plim_json_whole(json, "depth", branch->depth);
	if (branch->parent_pid > 0)
		plim_json_whole(json, "parent", (uint64_t)branch->parent_pid);
	else
		plim_json_null(json, "parent");
}

void csv_parent(const struct branch *branch)
{
	output_format("%zu,", branch->depth);
	if (branch->parent_pid > 0)
		output_format("%d", (int)branch->parent_pid);
	output_text(",");
}
