/*
 * decode_wchan.c - /proc/PID/task/TID/wchan, the function of the kernel that
 * a thread waits in: proc_pid_wchan() in the kernel's fs/proc/base.c.
 *
 * No newline stands behind it. "0" means that it does not wait, or that this
 * user may not know, or that the kernel has no names: it is no value.
 */
#include "host/linux/decode.h"

#include "host/linux/scan.h"

/* What a symbol of the kernel is made of (KSYM_NAME_LEN is 512). */
static int wchan_is_symbol(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '$';
}

int plimp_decode_wchan(plim_bytes text, plim_bytes *name)
{
	size_t size = text.size;
	size_t i;

	if (size > 0 && text.data[size - 1] == '\n')
		size--;
	if (size == 0 || size > PLIMP_WCHAN_SIZE)
		return PLIM_EMALFORMED;
	for (i = 0; i < size; i++)
		if (!wchan_is_symbol(text.data[i]))
			return PLIM_EMALFORMED;
	if (size == 1 && text.data[0] == '0')
		return 0;
	*name = (plim_bytes){text.data, size};
	return 1;
}
