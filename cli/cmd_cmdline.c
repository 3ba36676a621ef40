/*
 * cmd_cmdline.c - plim cmdline PID: the one place where a command line is
 * shown, because it was asked for, for this process.
 */
#include "branch.h"

#include <string.h>

/* An argument as a shell would need it: bare, or in single quotes. */
static void cmdline_word(const struct options *options, plim_bytes word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
				    "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789-_./=:,+@%^";
	int quoted = word.size == 0;
	size_t i;

	for (i = 0; i < word.size; i++)
		if (memchr(plain, word.data[i], sizeof plain - 1) == NULL)
			quoted = 1;
	output_text(quoted ? "'" : "");
	for (i = 0; i < word.size;) {
		const char *mark = memchr(word.data + i, '\'', word.size - i);
		size_t end =
		    mark != NULL ? (size_t)(mark - word.data) : word.size;

		output_escaped(options, (plim_bytes){word.data + i, end - i});
		if (mark != NULL)
			output_text("'\\''");
		i = end + (mark != NULL);
	}
	output_text(quoted ? "'" : "");
}

/* Hands out one argument after another; the last may lack its NUL. */
static int cmdline_next(plim_bytes *rest, plim_bytes *word)
{
	const char *end;

	if (rest->size == 0)
		return 0;
	end = memchr(rest->data, '\0', rest->size);
	word->data = rest->data;
	word->size = end != NULL ? (size_t)(end - rest->data) : rest->size;
	rest->data += word->size + (end != NULL);
	rest->size -= word->size + (end != NULL);
	return 1;
}

static int cmdline_has_odd_bytes(plim_bytes rest)
{
	plim_bytes word;

	while (cmdline_next(&rest, &word))
		if (!plim_is_utf8(word))
			return 1;
	return 0;
}

static void cmdline_arguments(plim_json *json, plim_bytes text)
{
	plim_bytes rest = text;
	plim_bytes word;

	plim_json_array(json, "arguments");
	while (cmdline_next(&rest, &word))
		plim_json_text(json, NULL, word);
	plim_json_end(json);
	if (!cmdline_has_odd_bytes(text))
		return;
	plim_json_array(json, "arguments_bytes");
	for (rest = text; cmdline_next(&rest, &word);)
		json_hex(json, NULL, word);
	plim_json_end(json);
}

static void cmdline_json(plim_json *json, const plim_text *text)
{
	if (text->state == PLIM_STATE_KNOWN ||
	    text->state == PLIM_STATE_TRUNCATED)
		cmdline_arguments(json, text->bytes);
	else
		plim_json_null(json, "arguments");
	plim_json_object(json, "unavailable");
	if (text->state != PLIM_STATE_KNOWN) {
		plim_json_object(json, "arguments");
		plim_json_string(json, "state", plim_state_word(text->state));
		plim_json_string(json, "reason",
				 plim_reason_word(text->method));
		if (text->code != 0)
			plim_json_string(json, "code",
					 plim_system_error_name(text->code));
		plim_json_end(json);
	}
	plim_json_end(json);
}

static int cmdline_print(const struct options *options, const plim_text *text)
{
	plim_bytes rest = text->bytes;
	plim_bytes word;
	int first = 1;

	while (cmdline_next(&rest, &word)) {
		output_text(first ? "" : " ");
		cmdline_word(options, word);
		first = 0;
	}
	if (!first)
		output_text("\n");
	if (text->state == PLIM_STATE_KNOWN)
		return EXIT_DONE;
	output_flush();
	fprintf(stderr, "plim: command line %s: %s\n",
		plim_state_word(text->state),
		show_reason(text->state, text->method, text->code));
	return EXIT_FAILED;
}

/* Who it is was measured before the text was read, for the JSON object. */
static int cmdline_output_json(const struct options *options, plim_host *host,
			       plim_usage *usage, const plim_text *text)
{
	plim_json *json = json_begin(options, host, 0);
	plim_field_set who = {{0}};
	int status;

	if (json == NULL)
		return fail_memory();
	plim_field_set_add(&who, PLIM_FIELD_PID);
	plim_field_set_add(&who, PLIM_FIELD_NAME);
	plim_field_set_add(&who, PLIM_FIELD_IDENTITY);
	plim_json_process(json, "process", plim_usage_process(usage), NULL,
			  &who);
	cmdline_json(json, text);
	status = json_finish(json, host);
	if (status == EXIT_DONE && text->state != PLIM_STATE_KNOWN)
		status = EXIT_FAILED;
	return status;
}

int cmd_cmdline(const struct options *options)
{
	const plim_field_set none = {{0}};
	plim_target *target = NULL;
	plim_usage *usage = NULL;
	plim_error error;
	plim_host *host;
	plim_text text;
	int status;

	if (host_open(options, &host, &error) != PLIM_OK)
		return fail_with(options, &error);
	if (target_resolve(host, options->operands[0], &target, &error) !=
		PLIM_OK ||
	    plim_usage_new(&usage, host, &error) != PLIM_OK ||
	    plim_usage_refresh(usage, target, &none, &error) != PLIM_OK ||
	    plim_target_command_line(target, &text, &error) != PLIM_OK)
		status = fail_with(options, &error);
	else if (options->format == FORMAT_JSON)
		status = cmdline_output_json(options, host, usage, &text);
	else
		status = cmdline_print(options, &text);
	plim_usage_free(usage);
	plim_target_close(target);
	plim_host_close(host);
	return status;
}
