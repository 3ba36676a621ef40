/*
 * idle.h - what plim idle and plim report have found out in a quiet window,
 * between measuring (cmd_idle.c, cmd_report.c) and telling (idle_page.c,
 * wakers.c).
 */
#ifndef PLIM_IDLE_VIEW_H
#define PLIM_IDLE_VIEW_H

#include "cmd.h"

struct idle_view {
	const struct options *options;
	plim_host *host;
	plim_target *target;
	plim_idle *idle;
	plim_usage *total; /* of a command that was started and reaped */
	struct child child;
	int started;
	int told;	      /* the phase that was last told of */
	uint32_t left_behind; /* processes that it left running, and we ended */
};

/* idle_page.c: tells all of it in the format that was asked for: the exit
 * status. */
int idle_page(struct idle_view *view);
/* The JSON object `window`. */
void idle_json_window(plim_json *json, const plim_idle *idle, int tree);
/* "reached", "not_reached", "not_awaited"; "loading", "window" or NULL. */
const char *idle_quiet_word(const plim_idle_facts *facts);
const char *idle_phase_word(int phase);

/* wakers.c: who woke, most first, on a page for people, and as the JSON array
 * `threads`. */
#define WAKERS_TOLD 10
typedef void wakers_fn(const plim_idle_thread *thread, void *user);
/* `below`, or NULL, says more of each thread behind its line. */
void wakers_page(const struct options *options, const plim_idle *idle,
		 uint64_t most, wakers_fn *below, void *user);
void wakers_json(plim_json *json, const plim_idle *idle, uint64_t most);

#endif
