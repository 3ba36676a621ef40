/*
 * file.h - files by their names, which are UTF-8 on every system and of any
 * length that the system can take.
 *
 * What is opened is not handed on to a command that we start. A descriptor is
 * one of the C library: close(), fdopen() and what POSIX has for it hold. What
 * fails leaves the reason in errno.
 */
#ifndef PLIM_FILE_H
#define PLIM_FILE_H

#include <stdint.h>
#include <stdio.h>

enum file_way {
	FILE_READ,
	FILE_MAKE,   /* to be written; it must not be there yet */
	FILE_WRITE,  /* made where it is not there; its content stays */
	FILE_APPEND, /* the same, behind what it has */
	FILE_THERE   /* to be written; it must be there: a pipe, a device */
};

enum file_kind { FILE_REGULAR, FILE_FOLDER, FILE_OTHER };

struct file_about {
	int kind;
	uint64_t volume; /* both together: which file it is */
	uint64_t number;
	uint64_t size;
	uint64_t written_s; /* when it was written last */
	uint64_t written_ns;
};

/* A descriptor, or -1. */
int file_open(const char *path, int way);
/* The same as a stream, or NULL. */
FILE *file_stream(const char *path, int way);
/* Standard input, as a descriptor of its own; or -1. */
int file_input(void);
/* How much it is, 0 at the end, or -1. */
long file_take(int descriptor, char *bytes, size_t size);
/* All of it: 0, or an error number. */
int file_put(int descriptor, const char *bytes, size_t size);
/* From the beginning: 0, or -1. */
int file_empty(FILE *file);
/* Room for so many bytes: 0, or an error number. That a file system has none
 * to give beforehand is no error. */
int file_reserve(int descriptor, uint64_t size);

/* 1 if there is something by that name. */
int file_look(const char *path, struct file_about *about);
/* What standard output goes to. */
int file_look_output(struct file_about *about);
/* By that user who we are: 0, or -1. */
int file_may_write(const char *path);

/* In one step, whatever was there: 0, or -1. */
int file_rename(const char *from, const char *to);
void file_remove(const char *path);

/* How much of a path is the folder, with what ends it; 0: there is none. */
size_t file_folder(const char *path);
int file_is_absolute(const char *path);
/* Without a link in it, also of what is not there yet. To be freed; NULL: no
 * memory. */
char *file_real(const char *path);
/* The real path of what is there, or NULL. */
char *file_real_there(const char *path);
/* What a command of this name is, as it is found when it is started. To be
 * freed; NULL: there is none, or it cannot be executed. */
char *file_program(const char *name);
/* The path of this program: 1, or 0. */
int file_own_path(char *path, size_t size);
/* Bytes that nobody can foretell: 1, or 0. */
int file_random(void *bytes, size_t size);
/* As many descriptors as we may have. */
void file_raise_limit(void);

/* A name that is ours alone beside `path`, for what is not whole yet. To be
 * freed; NULL: no memory. */
char *file_beside(const char *path);

#endif
