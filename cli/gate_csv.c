/*
 * gate_csv.c - what plim gate found out as CSV (RFC 4180): a row for each
 * limit. A number that there is none of is empty, never 0.
 */
#include "gate_say.h"

#include <stdlib.h>

static void csv_put_text(const char *text, const char *end)
{
	size_t size = plim_escape(PLIM_ESCAPE_CSV, gate_bytes(text), NULL, 0);
	char *field = malloc(size + 1);

	/* The quotes stand around the whole, so that it is not cut. */
	if (field != NULL) {
		plim_escape(PLIM_ESCAPE_CSV, gate_bytes(text), field, size + 1);
		output_text(field);
	}
	free(field);
	output_text(end);
}

static void csv_put_number(int known, double value)
{
	char number[40];

	if (known) {
		plim_number_format(value, number, sizeof number);
		output_text(number);
	}
	output_text(",");
}

static void csv_put_real(plim_real real)
{
	csv_put_number(real.state == PLIM_STATE_KNOWN, real.value);
}

static void csv_put_row(const struct gate_target *target,
			const struct gate_figure *figure)
{
	const plim_budget_judgement *judged = &figure->judgement;
	int known = judged->value.state == PLIM_STATE_KNOWN;

	csv_put_text(target->target->name, ",");
	csv_put_text(figure->figure->word, ",");
	csv_put_text(gate_figure_word(target, figure), ",");
	csv_put_real(judged->value);
	csv_put_text(plim_unit_word(figure->figure->unit), ",");
	csv_put_number(gate_has_limit(judged), judged->limit);
	csv_put_number(known && judged->decided != 0, judged->headroom);
	csv_put_real(judged->least);
	csv_put_real(judged->most);
	csv_put_number(judged->error > 0, judged->error);
	if (judged->counted.state == PLIM_STATE_KNOWN)
		output_format("%llu",
			      (unsigned long long)judged->counted.value);
	output_format(",%u,", judged->readings);
	csv_put_text(gate_method(figure), ",");
	csv_put_text(known ? plim_bound_word(judged->value.bound) : "", ",");
	csv_put_text(judged->text, ",");
	output_format("%u\r\n", figure->limit->at.line);
}

void gate_csv(const struct gate *gate)
{
	output_text("target,figure,verdict,value,unit,limit,headroom,least,"
		    "most,error,counted,repeats,method,bound,text,line\r\n");
	for (size_t i = 0; i < gate->target_count; i++)
		for (size_t j = 0; j < gate->targets[i].figure_count; j++)
			csv_put_row(&gate->targets[i],
				    &gate->targets[i].figures[j]);
}
