/*
 * views.h - which activities belong to a view of a profile.
 *
 * A view is a choice of what threads do: running, or not, or both. Whoever
 * lays time on stacks (profile/) and whoever writes samples one by one
 * (export/) ask here, so that they agree.
 */
#ifndef PLIMP_VIEWS_H
#define PLIMP_VIEWS_H

#include <plimsoll/profile.h>

/* 1: what a thread does then belongs to the view. */
static inline int plimp_view_has(int view, int activity)
{
	return view == PLIM_VIEW_WALL ||
	       (view == PLIM_VIEW_CPU) == (activity == PLIM_ACTIVITY_RUNNING);
}

#endif
