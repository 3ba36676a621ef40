/*
 * memory_series.h - samples of memory over time: what is kept of them, and
 * what each figure did.
 */
#ifndef PLIMP_MEMORY_SERIES_H
#define PLIMP_MEMORY_SERIES_H

#include <plimsoll/memory.h>

struct plimp_memory_point {
	plim_stamp stamp;
	plim_count figures[PLIM_MEMORY_COUNT];
};

/* Of one figure over every sample: extremes, and the moments that the line of
 * least squares needs, about the means (Welford's update). */
struct plimp_memory_trace {
	plim_count last;
	plim_count lowest;
	plim_count highest;
	plim_stamp last_at;
	uint64_t known;
	uint64_t missing;
	uint64_t bounded; /* of the known, those that are bounds */
	int method;	  /* of all known, or PLIM_METHOD_MIXED */
	double mean_t;	  /* seconds since the first sample */
	double mean_v;	  /* bytes */
	double tt;	  /* sums of squares and products about the means */
	double tv;
	double vv;
};

struct plimp_memory_series {
	plim_allocator allocator;
	struct plimp_memory_point *points;
	size_t capacity;
	size_t kept;	 /* that stay */
	int has_loose;	 /* points[kept] is the last sample, not to stay */
	uint64_t taken;	 /* all that were added */
	uint64_t stride; /* one of so many stays */
	plim_stamp first;
	struct plimp_memory_trace traces[PLIM_MEMORY_COUNT];
};

/* Empties it; what memory it has, it keeps. */
void plimp_memory_series_clear(struct plimp_memory_series *series);
void plimp_memory_series_release(struct plimp_memory_series *series);

/* Makes sure that the next one can be added. PLIM_ENOMEM. */
int plimp_memory_series_reserve(struct plimp_memory_series *series);

/* Adds a sample, for which room was made. */
void plimp_memory_series_add(struct plimp_memory_series *series,
			     const struct plimp_memory_point *point);

size_t plimp_memory_series_count(const struct plimp_memory_series *series);
const struct plimp_memory_point *
plimp_memory_series_at(const struct plimp_memory_series *series, size_t index);
size_t plimp_memory_series_timeline(const struct plimp_memory_series *series,
				    size_t most, size_t *indices);
plim_memory_steady
plimp_memory_series_range(const struct plimp_memory_series *series, int figure);

#endif
