/*
 * output.c - standard output and standard error: one buffer, one place where
 * a closed pipe and a full disk are told apart, and values made readable.
 */
#include "cmd.h"
#include "term.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

int failure_status = EXIT_FAILED;
struct output standard_output;

/* Everything to the descriptor; the first failure is kept. */
int output_flush(void)
{
	struct output *output = &standard_output;

	if (output->failed == 0)
		output->failed =
		    term_write(TERM_OUTPUT, output->buffer, output->size);
	output->size = 0;
	return output->failed;
}

static void output_bytes(const char *data, size_t size)
{
	struct output *output = &standard_output;

	while (size > 0 && output->failed == 0) {
		size_t room = sizeof output->buffer - output->size;
		size_t part = size < room ? size : room;

		memcpy(output->buffer + output->size, data, part);
		output->size += part;
		data += part;
		size -= part;
		if (output->size == sizeof output->buffer)
			output_flush();
	}
}

/* A plim_write_fn. */
int output_write(const char *data, size_t size, void *user)
{
	struct output *output = user;
	const char *end = output->bold ? memchr(data, '\n', size) : NULL;

	if (end != NULL) {
		size_t line = (size_t)(end - data);

		output_bytes(data, line);
		output_text("\033[0m");
		output->bold = 0;
		data += line;
		size -= line;
	}
	output_bytes(data, size);
	return output->failed;
}

void output_text(const char *text)
{
	output_bytes(text, strlen(text));
}

void output_format(const char *format, ...)
{
	char text[1024];
	va_list arguments;
	int size;

	va_start(arguments, format);
	size = vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	if (size > 0)
		output_bytes(text, (size_t)size < sizeof text
				       ? (size_t)size
				       : sizeof text - 1);
}

plim_bytes text_piece(plim_bytes *text)
{
	plim_bytes piece = *text;

	if (piece.size > 100) {
		piece.size = 100;
		while (piece.size > 96 &&
		       ((unsigned char)text->data[piece.size] & 0xc0) == 0x80)
			piece.size--;
	}
	text->data += piece.size;
	text->size -= piece.size;
	return piece;
}

void output_escaped(const struct options *options, plim_bytes text)
{
	int form = options->ascii ? PLIM_ESCAPE_ASCII : PLIM_ESCAPE_TERMINAL;
	char piece[512];

	while (text.size > 0) {
		plim_escape(form, text_piece(&text), piece, sizeof piece);
		term_show_folders(piece);
		output_text(piece);
	}
}

/* Bold from here to the end of the line, where colour is wanted. */
void output_bold(const struct options *options)
{
	if (options->color) {
		output_text("\033[1m");
		standard_output.bold = 1;
	}
}

void output_bold_end(void)
{
	output_text(standard_output.bold ? "\033[0m\n" : "\n");
	standard_output.bold = 0;
}

void output_clear_screen(const struct options *options)
{
	(void)options;
	if (term_width() > 0)
		output_text("\033[H\033[2J");
}

/* A reader that went away is no failure; a full disk is. */
int output_end(int status)
{
	int failed = output_flush();

	if (failed == 0 || failed == EPIPE)
		return status;
	fprintf(stderr, "plim: standard output: %s\n",
		plim_system_error_name(failed));
	return status == EXIT_DONE ? failure_status : status;
}

/* The plain texts go through stdio; a full disk is told there, too. */
int text_end(void)
{
	if (fflush(stdout) == 0)
		return EXIT_DONE;
	fprintf(stderr, "plim: standard output: %s\n",
		plim_system_error_name(errno));
	return failure_status;
}

static const char *show_bound(const struct options *options, int bound)
{
	if (bound == PLIM_BOUND_AT_LEAST)
		return options->ascii ? ">=" : "\xe2\x89\xa5";
	if (bound == PLIM_BOUND_AT_MOST)
		return options->ascii ? "<=" : "\xe2\x89\xa4";
	return "";
}

const char *show_real(const struct options *options, plim_real real, int unit)
{
	static char texts[16][48];
	static unsigned turn;
	char number[40];
	char *text = texts[turn++ % 16];

	if (real.state != PLIM_STATE_KNOWN)
		return "-";
	plim_quantity_format(real.value, unit, number, sizeof number);
	snprintf(text, sizeof texts[0], "%s%s", show_bound(options, real.bound),
		 number);
	return text;
}

const char *show_count(const struct options *options, plim_count count,
		       int unit)
{
	return show_real(options, plim_real_in_unit(count, unit), unit);
}

const char *show_reason(uint8_t state, uint16_t method, int32_t code)
{
	static char text[256];
	const char *reason = plim_reason_text(method);

	if (reason == NULL)
		reason = plim_state_text(state);
	if (code != 0)
		snprintf(text, sizeof text, "%s (%s)", reason,
			 plim_system_error_name(code));
	else
		snprintf(text, sizeof text, "%s", reason);
	return text;
}

int fail_memory(void)
{
	output_flush();
	fputs("plim: memory could not be allocated\n", stderr);
	return failure_status;
}

int usage_json;

static void fail_json(const plim_error *error);

static int fail_usage_json(const char *text)
{
	plim_error error;

	memset(&error, 0, sizeof error);
	error.code = PLIM_EINVAL;
	error.position = -1;
	snprintf(error.detail, sizeof error.detail, "%s", text);
	fail_json(&error);
	return output_end(EXIT_USAGE);
}

int fail_usage(const char *format, ...)
{
	char text[512];
	char safe[1024];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	if (usage_json)
		return fail_usage_json(text);
	plim_escape(PLIM_ESCAPE_TERMINAL, (plim_bytes){text, strlen(text)},
		    safe, sizeof safe);
	term_show_folders(safe);
	fprintf(stderr, "plim: %s\n", safe);
	return EXIT_USAGE;
}

/* Whose fault it is decides the status: a text we were given, or the world. A
 * failure with a position is one of a text. */
static int fail_status(const plim_error *error)
{
	return error->code == PLIM_ESYNTAX || error->code == PLIM_ENAME ||
		       error->code == PLIM_EROOT || error->position >= 0
		   ? EXIT_USAGE
		   : failure_status;
}

static void fail_json(const plim_error *error)
{
	plim_json *json;

	if (plim_json_new(&json, output_write, &standard_output, 0, NULL,
			  NULL) != PLIM_OK)
		return;
	plim_json_object(json, NULL);
	plim_json_string(json, "plimsoll", plim_version());
	if (command_given() != NULL)
		plim_json_string(json, "command", command_given()->name);
	plim_json_error(json, "error", error);
	plim_json_end(json);
	plim_json_finish(json, NULL);
	plim_json_free(json);
}

int fail_with(const struct options *options, const plim_error *error)
{
	char text[1024];

	if (options->format == FORMAT_JSON) {
		fail_json(error);
	} else {
		output_flush();
		plim_error_message(error, text, sizeof text);
		term_show_folders(text);
		fprintf(stderr, "plim: %s\n", text);
	}
	return fail_status(error);
}
