/*
 * stored.h - what both readers of stored profiles promise, and the comparison
 * of whatever they made.
 */
#ifndef FUZZ_STORED_H
#define FUZZ_STORED_H

#include "promise.h"

#include <plimsoll.h>

static void fuzz_stored_tables(const plim_stored *stored)
{
	const size_t functions = plim_stored_function_count(stored);
	const plim_stored_facts facts = plim_stored_about(stored);

	PROMISE(plim_stored_form_word(facts.form) != NULL);
	PROMISE(facts.views != 0);
	for (size_t i = 0; i < functions; i++)
		PROMISE(plim_stored_function_at(stored, i)->name.size > 0);
	for (size_t i = 0; i < plim_stored_stack_count(stored); i++) {
		const plim_stored_stack *stack =
		    plim_stored_stack_at(stored, i);

		PROMISE(stack->function_count > 0 && stack->weight > 0);
		for (size_t k = 0; k < stack->function_count; k++)
			PROMISE(stack->functions[k] < functions);
		for (size_t k = 0; k < stack->slice_count; k++)
			PROMISE(stack->slices[k].slice < facts.slice_count);
	}
}

static void fuzz_stored_compare(const plim_stored *stored)
{
	const plim_stored *both[2] = {stored, stored};
	plim_diff *diff = NULL;
	plim_diff_facts facts;
	int code = plim_diff_new(&diff, both, 1, both, 2, NULL, NULL);

	PROMISE(code == PLIM_OK || code == PLIM_ENOSAMPLES ||
		code == PLIM_EUNSUPPORTED);
	if (code != PLIM_OK)
		return;
	facts = plim_diff_about(diff);
	PROMISE(facts.changed == 0);
	for (size_t i = 0; i < facts.same + facts.few; i++) {
		const plim_diff_function *row = plim_diff_function_at(diff, i);

		PROMISE(row->verdict == PLIM_DIFF_SAME ||
			row->verdict == PLIM_DIFF_FEW);
		PROMISE(row->self_share[0] >= 0 && row->self_share[0] <= 1.01);
		PROMISE(row->self[0] <= row->total[0]);
	}
	plim_diff_free(diff);
}

static void fuzz_stored(plim_bytes file)
{
	plim_stored *stored = NULL;
	plim_error error = {0};
	const int code = plim_stored_read(&stored, file, NULL, &error);

	if (code != PLIM_OK) {
		PROMISE(code == PLIM_ESYNTAX || code == PLIM_ELIMIT ||
			code == PLIM_EUNSUPPORTED);
		PROMISE(error.code == code && error.detail[0] != '\0');
		PROMISE(stored == NULL);
		return;
	}
	PROMISE(error.code == 0);
	fuzz_stored_tables(stored);
	fuzz_stored_compare(stored);
	plim_stored_free(stored);
}

#endif
