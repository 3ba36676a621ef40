/*
 * buffer.c - see buffer.h. The one rule: the first failure is the last thing
 * that happens to a buffer until it is cleared.
 */
#include "core/buffer.h"
#include "core/memory.h"
#include "core/text.h"

#include <assert.h>
#include <stdint.h>
#include <string.h>

#define BUFFER_START 256

void plimp_buffer_init(struct plimp_buffer *buffer,
		       const plim_allocator *allocator)
{
	*buffer = (struct plimp_buffer){.allocator = allocator};
}

void plimp_buffer_release(struct plimp_buffer *buffer)
{
	plimp_release(buffer->allocator, buffer->data, buffer->capacity, 1);
	plimp_buffer_init(buffer, buffer->allocator);
}

void plimp_buffer_clear(struct plimp_buffer *buffer)
{
	buffer->size = 0;
	buffer->failed = PLIM_OK;
}

/* Room for `more` bytes behind the present ones; 0 once the buffer failed. */
static int buffer_make_room(struct plimp_buffer *buffer, size_t more)
{
	void *data = buffer->data;

	assert(buffer->size <= buffer->capacity);
	if (buffer->failed != PLIM_OK)
		return 0;
	buffer->failed = PLIM_ENOMEM;
	if (more > SIZE_MAX - buffer->size)
		return 0;
	if (plimp_reserve(buffer->allocator, &data, &buffer->capacity,
			  buffer->size + more, BUFFER_START, 1) != PLIM_OK)
		return 0;
	buffer->failed = PLIM_OK;
	buffer->data = data;
	assert(buffer->capacity - buffer->size >= more);
	return 1;
}

void plimp_buffer_append(struct plimp_buffer *buffer, const char *data,
			 size_t size)
{
	if (size == 0 || !buffer_make_room(buffer, size))
		return;
	memcpy(buffer->data + buffer->size, data, size);
	buffer->size += size;
}

void plimp_buffer_string(struct plimp_buffer *buffer, const char *string)
{
	plimp_buffer_append(buffer, string, strlen(string));
}

/* The NUL that plim_escape() writes lands behind the size, in room that was
 * made for it. */
void plimp_buffer_escaped(struct plimp_buffer *buffer, int form,
			  plim_bytes text)
{
	size_t size;

	if (form != PLIM_ESCAPE_CSV && plimp_text_plain(text) == text.size) {
		plimp_buffer_append(buffer, text.data, text.size);
		return;
	}
	size = plim_escape(form, text, NULL, 0);
	if (size == 0 || !buffer_make_room(buffer, size + 1))
		return;
	plim_escape(form, text, buffer->data + buffer->size, size + 1);
	buffer->size += size;
}
