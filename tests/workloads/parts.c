/*
 * parts.c - a program of eight functions whose shares of its time are known:
 * each does so many units of one and the same work, as often as its number in
 * the list below says, of 100.
 *
 *   parts SECONDS [PERCENT]    computes until it has used so much CPU time,
 *                              however loaded the machine; fifth() does that
 *                              much more
 *
 * Which function is next is drawn, by a generator that always draws the same:
 * a program with a rhythm can keep step with what samples it.
 */
#include "workload.h"

#define UNIT  1000u
#define APART __attribute__((noinline, aligned(64)))

static volatile uint64_t parts_sink;
/* Not known to the compiler, which makes copies of a function for a number. */
static volatile unsigned parts_unit = UNIT;

/* clang-format off */
#define PARTS_LIST(X) \
	X(third, 30) X(fifth, 20) X(sixth, 15) X(eighth, 12) \
	X(twelfth, 8) X(fourteenth, 7) X(twentieth, 5) X(rest, 3)
/* clang-format on */

#define PARTS_MAKE(name, units)                      \
	static APART void name(unsigned count)       \
	{                                            \
		for (unsigned i = 0; i < count; i++) \
			parts_sink += i + units;     \
	}
PARTS_LIST(PARTS_MAKE)

/* 0 to 99. */
static unsigned parts_draw(void)
{
	static uint64_t state = 1;

	state = state * UINT64_C(6364136223846793005) +
		UINT64_C(1442695040888963407);
	return (unsigned)((state >> 33) % 100);
}

static APART void parts_step(unsigned more)
{
	unsigned drawn = parts_draw();

#define PARTS_CALL(name, units)                                       \
	if (drawn < units) {                                          \
		name(10 * (parts_unit + (name == fifth ? more : 0))); \
		return;                                               \
	}                                                             \
	drawn -= units;
	PARTS_LIST(PARTS_CALL)
}

int main(int argc, char **argv)
{
	const uint64_t seconds = argc > 1 ? workload_parse(argv[1]) : 10;
	const uint64_t percent = argc > 2 ? workload_parse(argv[2]) : 0;

	workload_begin(900);
	while (workload_cpu_ns() / 1000000000 < seconds)
		for (int i = 0; i < 100; i++)
			parts_step((unsigned)(UNIT * percent / 100));
	return 0;
}
