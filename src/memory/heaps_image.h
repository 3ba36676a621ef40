/*
 * heaps_image.h - all that is done with one image of a process: its allocators
 * recognised, and those walked that can be.
 */
#ifndef PLIMP_HEAPS_IMAGE_H
#define PLIMP_HEAPS_IMAGE_H

#include "memory/heaps.h"
#include "memory/image.h"

/*
 * Fills an empty list. `walk` 0: names them alone. An allocator that cannot be
 * walked is refused in the list, with its reason; what comes back as an error,
 * PLIM_ENOMEM or one of the reader, leaves a list that is worth nothing.
 */
int plimp_heaps_of_image(const struct plimp_image *image, int walk,
			 struct plimp_heap_list *list, plim_error *error);

#endif
