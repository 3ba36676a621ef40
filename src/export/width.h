/*
 * width.h - how far a terminal moves its cursor.
 */
#ifndef PLIMP_WIDTH_H
#define PLIMP_WIDTH_H

#include <plimsoll/base.h>

/*
 * The size in bytes of the character that a text of at least one byte begins
 * with, and the columns it takes: 0 (combining, control), 1 or 2. A byte that
 * begins no character is one of size 1 and width 1.
 */
size_t plimp_width_step(plim_bytes text, size_t *columns);

#endif
