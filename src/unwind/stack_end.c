/*
 * stack_end.c - the words for why a stack ends.
 */
#include <plimsoll/unwind.h>

#include <stddef.h>

const char *plim_stack_end_word(int end)
{
	switch (end) {
#define PLIM_X(name, number, word, text) \
	case number:                     \
		return word;
		PLIM_STACK_END_LIST(PLIM_X)
#undef PLIM_X
	default:
		return NULL;
	}
}

const char *plim_stack_end_text(int end)
{
	switch (end) {
#define PLIM_X(name, number, word, text) \
	case number:                     \
		return text;
		PLIM_STACK_END_LIST(PLIM_X)
#undef PLIM_X
	default:
		return NULL;
	}
}
