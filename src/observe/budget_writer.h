/*
 * budget_writer.h - text by the piece for the two writers of budgets; the
 * first failure of the callback is kept and nothing follows it.
 */
#ifndef PLIMP_OBSERVE_BUDGET_WRITER_H
#define PLIMP_OBSERVE_BUDGET_WRITER_H

#include "observe/budget.h"

struct plimp_budget_writer {
	plim_write_fn *write;
	void *user;
	int failed;
};

void plimp_budget_put(struct plimp_budget_writer *writer, const char *data,
		      size_t size);

/* Formatted; at most 255 bytes, for numbers and words of ours. */
void plimp_budget_print(struct plimp_budget_writer *writer, const char *format,
			...) PLIMP_PRINTF(2, 3);

/* A quantity for people. */
void plimp_budget_put_quantity(struct plimp_budget_writer *writer, double value,
			       int unit);

#endif
