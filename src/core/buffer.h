/*
 * buffer.h - a growing run of bytes whose failure is kept.
 *
 * Append as often as needed, look at `failed` once. After a failure nothing
 * more is appended and the bytes so far stay valid. `data` may be NULL while
 * `size` is 0 and is not NUL-terminated.
 */
#ifndef PLIMP_BUFFER_H
#define PLIMP_BUFFER_H

#include <plimsoll/base.h>

struct plimp_buffer {
	char *data;
	size_t size;
	size_t capacity;
	const plim_allocator *allocator;
	int failed; /* PLIM_ENOMEM, or PLIM_OK */
};

void plimp_buffer_init(struct plimp_buffer *buffer,
		       const plim_allocator *allocator);
void plimp_buffer_release(struct plimp_buffer *buffer);
void plimp_buffer_clear(struct plimp_buffer *buffer);
void plimp_buffer_append(struct plimp_buffer *buffer, const char *data,
			 size_t size);
void plimp_buffer_string(struct plimp_buffer *buffer, const char *string);
/* Appends the text in one of the forms of plim_escape(). */
void plimp_buffer_escaped(struct plimp_buffer *buffer, int form,
			  plim_bytes text);

#endif
