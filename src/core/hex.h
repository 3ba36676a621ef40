/*
 * hex.h - one hexadecimal digit.
 */
#ifndef PLIMP_HEX_H
#define PLIMP_HEX_H

/* 0 to 15, or -1 for what is none. Of a byte, or of a char that may be below
 * 0. */
static inline int plimp_hex_digit(int byte)
{
	if (byte >= '0' && byte <= '9')
		return byte - '0';
	if (byte >= 'a' && byte <= 'f')
		return byte - 'a' + 10;
	return byte >= 'A' && byte <= 'F' ? byte - 'A' + 10 : -1;
}

#endif
