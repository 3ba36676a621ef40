/*
 * trial.c - all addresses must be identical, and both must end at the same
 * frame.
 */
#include "trial.h"

#include "ours.h"
#include "peer.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define TRIAL_TOLD 40

struct trial_pair {
	struct peer *peer;
	struct ours *ours;
	uint64_t generation;
	struct trial *trial;
};

struct trial_pair *trial_pair_open(void)
{
	struct trial_pair *pair = calloc(1, sizeof(*pair));

	if (pair == NULL)
		return NULL;
	pair->peer = peer_open();
	pair->ours = ours_open();
	if (pair->peer == NULL || pair->ours == NULL) {
		trial_pair_close(pair);
		return NULL;
	}
	return pair;
}

void trial_pair_close(struct trial_pair *pair)
{
	if (pair == NULL)
		return;
	peer_close(pair->peer);
	ours_close(pair->ours);
	free(pair);
}

static void trial_list(const struct trial_pair *pair, const char *who,
		       const uint64_t *frames, size_t count)
{
	FILE *file = pair->trial->differences;
	size_t i;

	fprintf(file, "  %s, %zu frames\n", who, count);
	for (i = 0; i < count && i < 40; i++) {
		const struct peer_module *module =
		    peer_module(pair->peer, frames[i]);

		fprintf(file, "    %2zu %016" PRIx64, i, frames[i]);
		if (module != NULL)
			fprintf(file, " %s+0x%" PRIx64, module->path,
				frames[i] - module->bias);
		fputc('\n', file);
	}
}

static void trial_tell(const struct trial_pair *pair,
		       const struct step_stop *stop, const uint64_t *theirs,
		       size_t their_count, int their_end, const uint64_t *ours,
		       const struct plimp_unwound *unwound)
{
	FILE *file = pair->trial->differences;
	size_t i = 0;

	while (i < their_count && i < unwound->count && theirs[i] == ours[i])
		i++;
	fprintf(file,
		"%s: pc %llx sp %llx bp %llx: first difference at frame %zu; "
		"libunwind ends with %d, ours with %s (missed %" PRIx64
		", by pointer %u)\n",
		pair->trial->name, stop->registers.rip, stop->registers.rsp,
		stop->registers.rbp, i, their_end,
		plim_stack_end_word(unwound->end), unwound->missed,
		unwound->by_pointer);
	trial_list(pair, "libunwind", theirs, their_count);
	trial_list(pair, "ours", ours, unwound->count);
	fflush(file);
}

/* Whether a guess stands before the first frame that they differ in: what it
 * makes of the registers is in all frames behind it. */
static int trial_is_guess(const struct trial_pair *pair, const uint64_t *theirs,
			  size_t their_count, const uint64_t *ours,
			  size_t our_count)
{
	size_t i = 0;

	while (i < their_count && i < our_count && theirs[i] == ours[i]) {
		if (!peer_has_rules(pair->peer, theirs[i] - (i > 0)))
			return 1;
		i++;
	}
	return 0;
}

static int trial_has_handler(const struct trial_pair *pair,
			     const struct step_stop *stop,
			     const uint64_t *frames, size_t count)
{
	static const unsigned char code[9] = {0x48, 0xc7, 0xc0, 0x0f, 0,
					      0,    0,	  0x0f, 0x05};
	unsigned char bytes[9];
	size_t i;

	(void)pair;
	for (i = 0; i < count; i++)
		if (step_read(stop->memory, frames[i], bytes, 9) == 0 &&
		    memcmp(bytes, code, 9) == 0)
			return 1;
	return 0;
}

static int trial_is_equal(const uint64_t *theirs, size_t count,
			  const uint64_t *ours,
			  const struct plimp_unwound *unwound)
{
	return count == unwound->count &&
	       memcmp(theirs, ours, count * sizeof(theirs[0])) == 0;
}

static int trial_stop(void *user, const struct step_stop *stop)
{
	struct trial_pair *pair = user;
	struct trial *trial = pair->trial;
	uint64_t theirs[PEER_FRAMES];
	uint64_t ours[PEER_FRAMES];
	struct plimp_unwound unwound;
	const struct peer_module *module;
	size_t count;
	int end;

	if (stop->is_new_program || stop->may_have_mapped) {
		if (peer_refresh(pair->peer, stop) != 0)
			return -1;
		if (pair->generation != peer_generation(pair->peer)) {
			pair->generation = peer_generation(pair->peer);
			ours_refresh(pair->ours, peer_maps(pair->peer),
				     stop->memory);
		}
	}
	count = peer_unwind(pair->peer, stop, theirs, PEER_FRAMES, &end);
	ours_unwind(pair->ours, stop, 0, ours, PEER_FRAMES, &unwound);
	trial->stacks++;
	module = peer_module(pair->peer, stop->registers.rip);
	trial->in_vdso += module != NULL && strcmp(module->path, "[vdso]") == 0;
	trial->in_handlers +=
	    (size_t)trial_has_handler(pair, stop, ours, unwound.count);
	if (!trial_is_equal(theirs, count, ours, &unwound)) {
		peer_forget(pair->peer);
		count =
		    peer_unwind(pair->peer, stop, theirs, PEER_FRAMES, &end);
		trial->cached +=
		    (size_t)trial_is_equal(theirs, count, ours, &unwound);
	}
	if (trial_is_equal(theirs, count, ours, &unwound)) {
		trial->equal++;
		trial->frames += count;
		trial->both_partial += unwound.end != PLIM_STACK_ROOT;
		trial->mute += end < 0;
		return 0;
	}
	trial->guessed +=
	    (size_t)trial_is_guess(pair, theirs, count, ours, unwound.count);
	if (trial->differences != NULL && trial->told++ < TRIAL_TOLD)
		trial_tell(pair, stop, theirs, count, end, ours, &unwound);
	return 0;
}

int trial_program(struct trial_pair *pair, const struct step_plan *plan,
		  struct trial *trial, struct step_done *done)
{
	int status;

	pair->trial = trial;
	status = step_program(plan, trial_stop, pair, done);
	pair->trial = NULL;
	return status;
}
