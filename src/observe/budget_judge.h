/*
 * budget_judge.h - what the three parts of judging share: budget_reading.c
 * computes with readings, budget_judge.c decides, budget_say.c puts it into
 * words.
 */
#ifndef PLIMP_OBSERVE_BUDGET_JUDGE_H
#define PLIMP_OBSERVE_BUDGET_JUDGE_H

#include "observe/budget.h"

/* Which end of a reading, taken as an interval. */
enum plimp_judge_end { PLIMP_JUDGE_LOW, PLIMP_JUDGE_READ, PLIMP_JUDGE_HIGH };

#define PLIMP_JUDGE_TEXT 320

/* What is judged: one limit and all readings. */
struct plimp_judge_case {
	const plim_budget_limit *limit;
	const plim_budget_figure *figure;
	int aggregate;
	const plim_budget_reading *readings;
	size_t count;
};

/* One bound of the limit against them. */
struct plimp_judge_check {
	int verdict;
	unsigned bit;
	int is_floor;
	int can_skip; /* where it is unavailable: the limit may allow that */
	double bound;
	plim_real value;
	double headroom;
	double error;
	plim_count counted;
	char text[PLIMP_JUDGE_TEXT];
};

/* The order of verdicts: 0 for pass, more for a worse one. */
int plimp_judge_badness(int verdict);

/* 1 if the reading counts: it is known and by a method that will do. */
int plimp_judge_is_known(const struct plimp_judge_case *judged,
			 const plim_budget_reading *reading);

/* How many do not count. */
size_t plimp_judge_missing(const struct plimp_judge_case *judged);

/* The method of all known readings, or MIXED. */
int plimp_judge_method(const struct plimp_judge_case *judged);

/* The aggregate of one end of all readings, of which there is one. */
double plimp_judge_aggregate(const struct plimp_judge_case *judged,
			     enum plimp_judge_end end, int is_floor);

/* Fills value, headroom, error and counted of a check, of a value. */
void plimp_judge_fill(const struct plimp_judge_case *judged,
		      struct plimp_judge_check *check, double value, int bound);

/* The same for the aggregate of the readings, of which none is missing. */
void plimp_judge_value(const struct plimp_judge_case *judged,
		       struct plimp_judge_check *check);

/* 1 if some repeats hold and some cross. */
int plimp_judge_disagree(const struct plimp_judge_case *judged,
			 const struct plimp_judge_check *check);

/* The least and the most of the known ones. */
void plimp_judge_spread(const struct plimp_judge_case *judged,
			plim_budget_judgement *out);

/* Sentences into check->text, of a verdict and its values. */
void plimp_judge_say_held(const struct plimp_judge_case *judged,
			  struct plimp_judge_check *check);
void plimp_judge_say_crossed(const struct plimp_judge_case *judged,
			     struct plimp_judge_check *check);
void plimp_judge_say_noise(const struct plimp_judge_case *judged,
			   struct plimp_judge_check *check);
/* It crosses, but the value is a bound that leaves it open. */
void plimp_judge_say_open(const struct plimp_judge_case *judged,
			  struct plimp_judge_check *check);
/* Why there is no verdict: fills the whole check. */
void plimp_judge_unavailable(const struct plimp_judge_case *judged,
			     struct plimp_judge_check *check);

#endif
