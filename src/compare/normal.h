/*
 * normal.h - the little of mathematics that a comparison needs, so that no
 * program needs libm for the library's sake.
 */
#ifndef PLIMP_COMPARE_NORMAL_H
#define PLIMP_COMPARE_NORMAL_H

/* All are good to 10 digits at least, and total: a value that has no answer
 * (the root or logarithm of what is not above 0) gives 0. */
double plimp_root(double value);
double plimp_log(double value);
double plimp_exp(double value);

/* The part of a standard normal distribution beyond `z`, on one side. */
double plimp_normal_tail(double z);
/* The z beyond which that part lies, for 0 < tail <= 0.5. */
double plimp_normal_beyond(double tail);

#endif
