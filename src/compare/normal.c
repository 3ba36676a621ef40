/*
 * normal.c - root, logarithm, exponential, and the tail of the normal
 * distribution: the Taylor series of its integral up to z = 4, Laplace's
 * continued fraction beyond (Abramowitz and Stegun, 26.2.11 and 26.2.14).
 */
#include "compare/normal.h"

#include <assert.h>

#define NORMAL_LN2     0.69314718055994530942
#define NORMAL_DENSITY 0.39894228040143267794 /* at 0: 1 / sqrt(2 pi) */
#define NORMAL_FAR     40.0 /* the tail beyond is below the least double */

double plimp_root(double value)
{
	double root = 1;

	if (!(value > 0) || value > 1e300)
		return value > 0 ? value : 0;
	/* Near enough first, or Newton begins with hundreds of halvings. */
	for (double rest = value; rest > 4; rest /= 4)
		root *= 2;
	for (double rest = value; rest < 0.25; rest *= 4)
		root /= 2;
	for (int i = 0; i < 8; i++)
		root = (root + value / root) / 2;
	return root;
}

/* The logarithm of 0.7 to 1.4 by the series of artanh. */
double plimp_log(double value)
{
	double power = 0;
	double ratio;
	double term;
	double sum = 0;

	if (!(value > 0) || value > 1e300)
		return 0;
	for (; value > 1.4; value /= 2)
		power++;
	for (; value < 0.7; value *= 2)
		power--;
	ratio = (value - 1) / (value + 1);
	term = ratio;
	for (int i = 1; i < 40; i += 2) {
		sum += term / i;
		term *= ratio * ratio;
	}
	return 2 * sum + power * NORMAL_LN2;
}

double plimp_exp(double value)
{
	double sum = 1;
	double term = 1;
	int halvings = 0;

	if (value < -700)
		return 0;
	if (value > 700)
		value = 700;
	for (; value > 0.5 || value < -0.5; value /= 2)
		halvings++;
	for (int i = 1; i < 20; i++) {
		term *= value / i;
		sum += term;
	}
	for (; halvings > 0; halvings--)
		sum *= sum;
	return sum;
}

double plimp_normal_tail(double z)
{
	const double density = NORMAL_DENSITY * plimp_exp(-z * z / 2);

	if (z < 0)
		return 1 - plimp_normal_tail(-z);
	if (z >= NORMAL_FAR)
		return 0;
	if (z < 4) {
		double term = z;
		double sum = z;

		for (int i = 3; i < 200; i += 2) {
			term *= z * z / i;
			sum += term;
		}
		return 0.5 - density * sum;
	} else {
		double fraction = z;

		for (int i = 80; i > 0; i--)
			fraction = z + i / fraction;
		return density / fraction;
	}
}

double plimp_normal_beyond(double tail)
{
	double low = 0;
	double high = NORMAL_FAR;

	assert(tail > 0 && tail <= 0.5);
	for (int i = 0; i < 80; i++) {
		const double middle = (low + high) / 2;

		if (plimp_normal_tail(middle) > tail)
			low = middle;
		else
			high = middle;
	}
	return (low + high) / 2;
}
