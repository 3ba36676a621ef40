/*
 * json.c - a stream of JSON (RFC 8259): values in, bytes out.
 *
 * The writer knows which containers are open and whether each has an item, so
 * that commas, indentation and the balance are its business alone. Misuse (a
 * key in an array, a value after the outermost one, too deep a nesting) is
 * kept like a failed write: nothing comes out after it, and finish tells.
 */
#include "export/json_writer.h"
#include "core/fail.h"
#include "core/memory.h"

#include <assert.h>
#include <string.h>

#define JSON_INDENT_LIMIT 8

int plim_json_new(plim_json **json, plim_write_fn *write, void *user,
		  int indent, const plim_allocator *allocator,
		  plim_error *error)
{
	plim_json *made;

	if (json == NULL || write == NULL || indent < 0 ||
	    indent > JSON_INDENT_LIMIT)
		return plimp_fail(error, PLIM_EINVAL, 0, "json", "", NULL);
	made = plimp_allocate(allocator, 1, sizeof(*made));
	if (made == NULL)
		return plimp_fail(error, PLIM_ENOMEM, 0, "json", "", NULL);
	if (allocator != NULL)
		made->allocator = *allocator;
	made->indent = indent;
	plimp_sink_init(&made->sink, write, user);
	*json = made;
	return PLIM_OK;
}

void plim_json_free(plim_json *json)
{
	plim_allocator allocator;

	if (json == NULL)
		return;
	allocator = json->allocator;
	plimp_release(&allocator, json, 1, sizeof(*json));
}

static int json_is_failed(const plim_json *json)
{
	return json->failed != PLIM_OK || json->sink.failed != PLIM_OK;
}

static void json_line(plim_json *json)
{
	if (json->indent == 0)
		return;
	plimp_sink_put(&json->sink, "\n", 1);
	plimp_sink_fill(&json->sink, ' ',
			(size_t)json->depth * (size_t)json->indent);
}

static void json_quote(plim_json *json, plim_bytes text)
{
	plimp_sink_put(&json->sink, "\"", 1);
	plimp_sink_escaped(&json->sink, PLIM_ESCAPE_JSON, text);
	plimp_sink_put(&json->sink, "\"", 1);
}

static void json_quote_string(plim_json *json, const char *string)
{
	plim_bytes text = {string, strlen(string)};

	json_quote(json, text);
}

/* Whether a value with this key (or none) may stand here. */
static int json_accepts(const plim_json *json, const char *key)
{
	if (json->depth == 0)
		return key == NULL && !json->complete;
	return (key != NULL) == json->is_object[json->depth - 1];
}

/* Everything before a value. 1 if the value may be written. */
static int json_begin(plim_json *json, const char *key)
{
	if (json_is_failed(json))
		return 0;
	if (!json_accepts(json, key)) {
		json->failed = PLIM_EINVAL;
		return 0;
	}
	if (json->depth == 0) {
		json->complete = 1;
		return 1;
	}
	if (json->has_items[json->depth - 1])
		plimp_sink_put(&json->sink, ",", 1);
	json->has_items[json->depth - 1] = 1;
	json_line(json);
	if (key != NULL) {
		json_quote_string(json, key);
		plimp_sink_string(&json->sink, json->indent ? ": " : ":");
	}
	return 1;
}

static void json_open(plim_json *json, const char *key, int is_object)
{
	if (json->depth == PLIMP_JSON_DEPTH && !json_is_failed(json))
		json->failed = PLIM_EINVAL;
	if (!json_begin(json, key))
		return;
	plimp_sink_put(&json->sink, is_object ? "{" : "[", 1);
	json->is_object[json->depth] = (uint8_t)is_object;
	json->has_items[json->depth] = 0;
	json->depth++;
}

void plim_json_object(plim_json *json, const char *key)
{
	json_open(json, key, 1);
}

void plim_json_array(plim_json *json, const char *key)
{
	json_open(json, key, 0);
}

void plim_json_end(plim_json *json)
{
	if (json_is_failed(json))
		return;
	if (json->depth == 0) {
		json->failed = PLIM_EINVAL;
		return;
	}
	json->depth--;
	assert(json->depth < PLIMP_JSON_DEPTH);
	if (json->has_items[json->depth])
		json_line(json);
	plimp_sink_put(&json->sink, json->is_object[json->depth] ? "}" : "]",
		       1);
}

void plim_json_text(plim_json *json, const char *key, plim_bytes value)
{
	if (json_begin(json, key))
		json_quote(json, value);
}

void plim_json_string(plim_json *json, const char *key, const char *value)
{
	if (value == NULL)
		plim_json_null(json, key);
	else if (json_begin(json, key))
		json_quote_string(json, value);
}

void plim_json_whole(plim_json *json, const char *key, uint64_t value)
{
	if (json_begin(json, key))
		plimp_sink_whole(&json->sink, value);
}

void plim_json_number(plim_json *json, const char *key, double value)
{
	char digits[40];
	size_t size;

	if (!json_begin(json, key))
		return;
	size = plim_number_format(value, digits, sizeof(digits));
	assert(size < sizeof(digits));
	plimp_sink_put(&json->sink, digits, size);
}

void plim_json_boolean(plim_json *json, const char *key, int value)
{
	if (json_begin(json, key))
		plimp_sink_string(&json->sink, value ? "true" : "false");
}

void plim_json_null(plim_json *json, const char *key)
{
	if (json_begin(json, key))
		plimp_sink_string(&json->sink, "null");
}

void plimp_json_hex(plim_json *json, const char *key, plim_bytes bytes)
{
	static const char digits[] = "0123456789abcdef";
	char pair[2];

	if (!json_begin(json, key))
		return;
	plimp_sink_put(&json->sink, "\"", 1);
	for (size_t i = 0; i < bytes.size; i++) {
		pair[0] = digits[(unsigned char)bytes.data[i] >> 4];
		pair[1] = digits[(unsigned char)bytes.data[i] & 15];
		plimp_sink_put(&json->sink, pair, 2);
	}
	plimp_sink_put(&json->sink, "\"", 1);
}

struct plimp_json_key plimp_json_key(const char *name, const char *suffix)
{
	struct plimp_json_key key;
	size_t size = strlen(name), extra = strlen(suffix);

	assert(size + extra < sizeof(key.text));
	memcpy(key.text, name, size);
	memcpy(key.text + size, suffix, extra + 1);
	return key;
}

int plim_json_finish(plim_json *json, plim_error *error)
{
	if (!json_is_failed(json) && (json->depth != 0 || !json->complete))
		json->failed = PLIM_EINVAL;
	if (!json_is_failed(json)) {
		plimp_sink_put(&json->sink, "\n", 1);
		plimp_sink_flush(&json->sink);
		json->complete = 0;
	}
	if (json->sink.failed != PLIM_OK)
		return plimp_fail(error, PLIM_EOUTPUT, json->sink.system,
				  "json", "", NULL);
	if (json->failed != PLIM_OK)
		return plimp_fail(error, json->failed, 0, "json", "", NULL);
	return PLIM_OK;
}
