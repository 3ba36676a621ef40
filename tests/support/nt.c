/*
 * nt.c - see nt.h.
 */
#include "nt.h"

#include <stdlib.h>
#include <string.h>

void nt_begin(struct nt_table *table, const struct plimp_nt_layout *layout)
{
	memset(table, 0, sizeof(*table));
	table->layout = layout;
}

void nt_free(struct nt_table *table)
{
	free(table->bytes);
	memset(table, 0, sizeof(*table));
}

plim_bytes nt_bytes(const struct nt_table *table)
{
	return (plim_bytes){table->bytes, table->size};
}

void nt_put(char *bytes, size_t at, unsigned size, uint64_t value)
{
	for (unsigned i = 0; i < size; i++)
		bytes[at + i] = (char)(value >> (8 * i) & 0xff);
}

size_t nt_utf16(char *to, const char *ascii)
{
	size_t size = 0;

	for (; *ascii != '\0'; ascii++) {
		to[size++] = *ascii;
		to[size++] = '\0';
	}
	return size;
}

static char *nt_room(struct nt_table *table, size_t size)
{
	char *room;

	if (table->size + size > table->capacity) {
		table->capacity = 2 * table->capacity + size;
		table->bytes = realloc(table->bytes, table->capacity);
		if (table->bytes == NULL)
			abort();
	}
	room = table->bytes + table->size;
	memset(room, 0, size);
	table->size += size;
	return room;
}

static void nt_add_thread(const struct plimp_nt_layout *layout, char *at,
			  const struct nt_thread *thread, uint64_t pid)
{
	nt_put(at, 0, 8, thread->kernel_time);
	nt_put(at, 8, 8, thread->user_time);
	nt_put(at, 16, 8, thread->create_time);
	nt_put(at, layout->thread_id - layout->word, layout->word, pid);
	nt_put(at, layout->thread_id, layout->word, thread->tid);
	nt_put(at, layout->thread_switches, 4, thread->switches);
	nt_put(at, layout->thread_state, 4, thread->state);
	nt_put(at, layout->thread_state + 4u, 4, thread->wait_reason);
}

static void nt_add_figures(const struct plimp_nt_layout *layout, char *at,
			   uint32_t seed)
{
	const unsigned word = layout->word;

	nt_put(at, layout->private_resident, 8, seed + 1);
	nt_put(at, layout->hard_faults, 4, seed + 2);
	nt_put(at, layout->user_time, 8, seed + 3);
	nt_put(at, layout->kernel_time, 8, seed + 4);
	nt_put(at, layout->handles, 4, seed + 5);
	nt_put(at, layout->session, 4, seed + 6);
	nt_put(at, layout->faults, 4, 2 * seed + 7);
	nt_put(at, layout->peak_resident, word, seed + 8);
	nt_put(at, layout->resident, word, seed + 9);
	nt_put(at, layout->commit, word, seed + 10);
	for (unsigned i = 0; i < 6; i++)
		nt_put(at, layout->io + 8 * i, 8, seed + 11 + i);
}

void nt_add(struct nt_table *table, const struct nt_process *process)
{
	const struct plimp_nt_layout *layout = table->layout;
	const size_t begin = table->size;
	const size_t length =
	    process->name != NULL ? 2 * strlen(process->name) : 0;
	const size_t threads = process->thread_count * layout->thread_size;
	const size_t fixed = layout->threads;
	/* To a multiple of 8, with the name's NUL. */
	char *at = nt_room(table, (fixed + threads + length + 2 + 7) / 8 * 8);
	char *name = at + fixed + threads;

	if (table->count > 0)
		nt_put(table->bytes, table->last, 4, begin - table->last);
	table->last = begin;
	table->count++;
	nt_add_figures(layout, at, process->seed);
	nt_put(at, 4, 4, process->thread_count);
	nt_put(at, layout->create_time, 8, process->create_time);
	nt_put(at, layout->pid, layout->word, process->pid);
	nt_put(at, layout->parent, layout->word, process->parent);
	if (process->name != NULL) {
		nt_utf16(name, process->name);
		nt_put(at, layout->image_name, 2, length);
		nt_put(at, layout->image_name + 2u, 2, length + 2);
		nt_put(at, (size_t)layout->image_name + layout->word,
		       layout->word,
		       (layout->word == 8 ? NT_BASE : (NT_BASE & 0xffffffff)) +
			   (uint64_t)(name - table->bytes));
	}
	for (size_t i = 0; i < process->thread_count; i++)
		nt_add_thread(layout, at + fixed + i * layout->thread_size,
			      &process->threads[i], process->pid);
}
