/*
 * raw.h - entering the kernel without the C library, for code that shares
 * its caller's memory and therefore its errno (helper.c). The result is the
 * kernel's: negative error numbers. Where the instruction is not known here
 * PLIMP_RAW_SHARED is 0, and such code must not share memory.
 */
#ifndef PLIMP_LINUX_RAW_H
#define PLIMP_LINUX_RAW_H

#if defined(__x86_64__) && defined(__LP64__)

#define PLIMP_RAW_SHARED 1
static inline long plimp_raw6(long number, long a, long b, long c, long d,
			      long e, long f)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10),
			   "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return result;
}

#elif defined(__aarch64__)

#define PLIMP_RAW_SHARED 1
static inline long plimp_raw6(long number, long a, long b, long c, long d,
			      long e, long f)
{
	register long x8 __asm__("x8") = number;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;
	register long x4 __asm__("x4") = e;
	register long x5 __asm__("x5") = f;

	__asm__ volatile("svc 0"
			 : "+r"(x0)
			 : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
			 : "memory");
	return x0;
}

#else

#include <errno.h>
#include <unistd.h>

#define PLIMP_RAW_SHARED 0
static inline long plimp_raw6(long number, long a, long b, long c, long d,
			      long e, long f)
{
	long result = syscall(number, a, b, c, d, e, f);

	return result == -1 ? -errno : result;
}

#endif

#define plimp_raw1(number, a)	       plimp_raw6(number, a, 0, 0, 0, 0, 0)
#define plimp_raw3(number, a, b, c)    plimp_raw6(number, a, b, c, 0, 0, 0)
#define plimp_raw4(number, a, b, c, d) plimp_raw6(number, a, b, c, d, 0, 0)

#endif
