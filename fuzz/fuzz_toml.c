/*
 * fuzz_toml.c - any bytes as a TOML document: it is read, or the place where
 * it is wrong lies in it; every node points into the text and belongs to its
 * parent, and no table has a key twice.
 */
#include "promise.h"

#include "core/toml.h"

#include <string.h>

static size_t walk_nodes(const struct plimp_toml_node *parent, plim_bytes text,
			 int depth)
{
	size_t count = 0, here = 0;

	PROMISE(depth <= PLIMP_TOML_DEPTH + 1);
	for (const struct plimp_toml_node *node = parent->is.list.first;
	     node != NULL; node = node->next) {
		here++;
		PROMISE(node->kind >= PLIMP_TOML_STRING &&
			node->kind <= PLIMP_TOML_TABLE);
		PROMISE(node->value_at.offset <= text.size);
		PROMISE(node->key_at.offset <= node->value_at.offset ||
			node->kind >= PLIMP_TOML_ARRAY);
		PROMISE(node->value_at.line >= 1 && node->value_at.column >= 1);
		if (parent->kind == PLIMP_TOML_TABLE)
			PROMISE(plimp_toml_find(parent, node->key) == node);
		if (node->kind == PLIMP_TOML_STRING)
			PROMISE(plim_is_utf8(node->is.string));
		if (node->kind >= PLIMP_TOML_ARRAY)
			count += walk_nodes(node, text, depth + 1);
		if (node->next == NULL)
			PROMISE(parent->is.list.last == node);
	}
	PROMISE(here == parent->is.list.count);
	return count + here;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	plim_bytes text = {(const char *)data, size};
	struct plimp_toml document = {0};
	plim_budget_position where = {0};
	plim_error error = {0};
	int code = plimp_toml_parse(&document, text, NULL, &where, &error);

	if (code != PLIM_OK) {
		PROMISE(code == PLIM_ESYNTAX || code == PLIM_ELIMIT);
		PROMISE(error.code == code && error.detail[0] != '\0');
		PROMISE(where.offset <= size && where.line >= 1);
		PROMISE(where.column >= 1);
		PROMISE(document.pool.chunks == NULL);
		return 0;
	}
	PROMISE(error.code == 0 && where.line == 0);
	PROMISE(plim_is_utf8(text));
	PROMISE(walk_nodes(&document.root, text, 0) == document.count);
	plimp_toml_release(&document);
	return 0;
}
