/*
 * file_posix.h - what file_posix.c leaves to a file of one system: what POSIX
 * does not have, or one of the systems not.
 */
#ifndef PLIM_FILE_POSIX_H
#define PLIM_FILE_POSIX_H

#include "file.h"

#include <sys/stat.h>

/* Fills when it was written last. */
void file_look_written(const struct stat *there, struct file_about *about);

#endif
