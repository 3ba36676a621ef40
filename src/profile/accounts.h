/*
 * accounts.h - where the time of one thread went: CPU, waiting for one,
 * blocked, from what the kernel counts and when samples came.
 *
 * Weights of samples are differences of the kernel's own counters, never a
 * count of samples. A running sample gets the CPU time since the one before;
 * where the kernel may not be sampled, whole periods without a sample were
 * spent in it (or lost), and are kept apart. A blocked sample gets what of the
 * clock is neither CPU nor waiting since the last one: a blocked thread's
 * counters are exact, a running one's lag by up to a scheduler's tick, so that
 * nothing is given out while it runs.
 *
 * Pure: numbers in, numbers out.
 */
#ifndef PLIMP_PROFILE_ACCOUNTS_H
#define PLIMP_PROFILE_ACCOUNTS_H

#include <plimsoll/profile.h>

/* How samples of running threads stand to CPU time. */
struct plimp_sampling {
	uint64_t period_ns;
	int kernel_seen; /* system time is sampled, too */
};

struct plimp_account {
	uint64_t begin_ns; /* of the clock; 0 before the first look */
	uint64_t end_ns;   /* 0: it lives */

	/* By samples: CPU time since it was armed. */
	uint64_t event_cpu;  /* at the last sample, 0 before */
	uint64_t event_base; /* what it had counted when the account began */
	uint64_t event_end;  /* its last count; 0 unknown */
	uint64_t sampled_ns; /* given to samples */
	uint64_t kernel_ns;  /* whole periods without a sample */
	uint64_t lost_ns;    /* whole periods whose samples were lost */
	int has_gaps;	     /* at times nobody sampled it: that no sample came
			      * does not mean that it was in the kernel */

	/* By looks: schedstat. */
	int has_first;
	uint64_t first_cpu;
	uint64_t first_wait;
	uint64_t last_cpu;
	uint64_t last_wait;
	uint64_t last_ns;
	int64_t balance;     /* neither CPU nor waiting, not given out yet */
	uint64_t blocked_ns; /* given to blocked samples */
};

/*
 * A sample of the thread while it runs, whose CPU time since it was armed is
 * `cpu_ns` (0: not known). `*lost` is how many samples of the process are
 * known to be lost; what this thread lacks is taken from it. Gives the
 * sample's weight.
 */
uint64_t plimp_account_running(struct plimp_account *account,
			       const struct plimp_sampling *sampling,
			       uint64_t cpu_ns, uint64_t *lost);

/* A look at the thread's counters (schedstat). `blocked`: it is, for sure.
 * Gives the weight of this look's sample; 0 where it is not blocked. */
uint64_t plimp_account_look(struct plimp_account *account, uint64_t time_ns,
			    uint64_t cpu_ns, uint64_t wait_ns, int blocked);

/* What is left when the session is over. */
struct plimp_settlement {
	plim_profile_times times;
	uint64_t blocked_unknown_ns; /* blocked, on no stack */
	uint64_t blocked_debt_ns;    /* given to blocked samples, too much */
};

/* The thread's last counters are in it; it lived, or was observed, until
 * `end_ns`. wall = cpu + waiting + blocked holds exactly afterwards. */
struct plimp_settlement
plimp_account_settle(const struct plimp_account *account,
		     const struct plimp_sampling *sampling, uint64_t end_ns);

#endif
