/*
 * narrow.c - a program of 32 bits that has no C library: it writes a byte and
 * runs for ever. Linux, i386: 4 is write.
 */
void narrow_start(void);

void narrow_start(void)
{
	static const char byte[1] = {'x'};
	long result;

	__asm__ volatile("int $0x80"
			 : "=a"(result)
			 : "0"(4L), "b"(1L), "c"(byte), "d"(1L)
			 : "memory");
	for (;;)
		__asm__ volatile("pause");
}
