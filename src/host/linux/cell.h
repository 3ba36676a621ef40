/*
 * cell.h - the two halves of a cell: cell.c keeps it, cell_inside.c shuts it.
 */
#ifndef PLIMP_LINUX_CELL_H
#define PLIMP_LINUX_CELL_H

#include "host/cell.h"

/*
 * In the new process: closes all descriptors but those of `inside`, gives up
 * every right that can be given up, sets the limits. 0, or -1 where a limit
 * could not be set: then nothing may be run.
 */
int plimp_cell_shut(const struct plimp_cell_inside *inside,
		    const struct plimp_cell_limits *limits);

#endif
