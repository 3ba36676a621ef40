/*
 * toml_print.c - what our TOML reader makes of documents, for a comparison
 * with another reader (oracle.py).
 *
 * Standard input holds documents one after another, each as its length in
 * decimal, a line end and its bytes. For each there is one line of JSON:
 * {"error": "LINE:COLUMN sentence"} or a table. A value is an object with one
 * member that names its kind; texts are in hexadecimal, floats are the bits
 * of a double, so that nothing is lost or rounded on the way.
 */
#include "core/toml.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print_hex(plim_bytes text)
{
	for (size_t i = 0; i < text.size; i++)
		printf("%02x", (unsigned char)text.data[i]);
}

static void print_time(const struct plimp_toml_node *node)
{
	const struct plimp_toml_time *time = &node->is.time;

	printf("{\"time\":[%d,%d,%d,%d,%d,%d,%d,%" PRIu32 ",%d]}", node->kind,
	       time->year, time->month, time->day, time->hour, time->minute,
	       time->second, time->ns, time->offset);
}

static void print_node(const struct plimp_toml_node *node)
{
	uint64_t bits;
	const char *comma = "";

	switch (node->kind) {
	case PLIMP_TOML_STRING:
		printf("{\"string\":\"");
		print_hex(node->is.string);
		printf("\"}");
		break;
	case PLIMP_TOML_INTEGER:
		printf("{\"integer\":\"%" PRId64 "\"}", node->is.integer);
		break;
	case PLIMP_TOML_FLOAT:
		memcpy(&bits, &node->is.real, sizeof(bits));
		printf("{\"float\":\"%016" PRIx64 "\"}",
		       node->is.real == node->is.real
			   ? bits
			   : UINT64_C(0x7ff8000000000000));
		break;
	case PLIMP_TOML_BOOLEAN:
		printf("{\"boolean\":%d}", node->is.boolean);
		break;
	case PLIMP_TOML_ARRAY:
		printf("{\"array\":[");
		for (node = node->is.list.first; node != NULL;
		     node = node->next, comma = ",") {
			printf("%s", comma);
			print_node(node);
		}
		printf("]}");
		break;
	case PLIMP_TOML_TABLE:
		printf("{\"table\":{");
		for (node = node->is.list.first; node != NULL;
		     node = node->next, comma = ",") {
			printf("%s\"", comma);
			print_hex(node->key);
			printf("\":");
			print_node(node);
		}
		printf("}}");
		break;
	default:
		print_time(node);
	}
}

int main(void)
{
	unsigned long size;

	while (scanf("%lu", &size) == 1 && getchar() == '\n') {
		char *text = malloc(size + 1);
		struct plimp_toml document = {0};
		plim_budget_position where = {0};
		plim_error error = {0};
		plim_bytes bytes = {text, size};

		if (text == NULL || fread(text, 1, size, stdin) != size)
			return 1;
		if (plimp_toml_parse(&document, bytes, NULL, &where, &error) ==
		    PLIM_OK) {
			print_node(&document.root);
			plimp_toml_release(&document);
		} else {
			printf("{\"error\":\"%" PRIu32 ":%" PRIu32 " %s\"}",
			       where.line, where.column,
			       plim_error_word(error.code));
		}
		putchar('\n');
		free(text);
	}
	return 0;
}
