/*
 * sampler_masks.c - system calls that have a mask of signals of their own: who
 * waits in one shows that mask, and not the one that it goes on with.
 *
 * rt_sigtimedwait takes the signals that it waits for out of the mask meanwhile
 * (do_sigtimedwait() in the kernel's kernel/signal.c), so that a thread that
 * blocks everything seems to block nothing; the others put the mask that they
 * are given in the place of the thread's (set_user_sigmask()). A signal sent
 * to such a thread would be taken for one of the application's, or interrupt
 * the very call in which the application lets its own ones through.
 */
#include "host/linux/gnu.h"

#include "host/linux/sampler.h"

#include <sys/syscall.h>

#define MASKS_ALWAYS (-1)

/* Numbers that every machine has alike, and older headers lack. */
#define MASKS_IO_URING_ENTER 426
#define MASKS_EPOLL_PWAIT2   441

/* The argument that is NULL where the call leaves the mask alone. */
static const struct {
	long number;
	int argument;
} masks_of[] = {
    {SYS_rt_sigtimedwait, MASKS_ALWAYS},
    {SYS_rt_sigsuspend, MASKS_ALWAYS},
    {SYS_ppoll, 3},
    {SYS_pselect6, 5},
    {SYS_epoll_pwait, 4},
    {MASKS_EPOLL_PWAIT2, 4},
    {MASKS_IO_URING_ENTER, 4},
};

int plimp_masks_hide(const struct plimp_syscall *call)
{
	if (call->kind != PLIMP_SYSCALL_CALL)
		return 0;
	for (size_t i = 0; i < sizeof(masks_of) / sizeof(masks_of[0]); i++)
		if ((uint64_t)masks_of[i].number == call->number)
			return masks_of[i].argument == MASKS_ALWAYS ||
			       !call->has_place ||
			       call->arguments[masks_of[i].argument] != 0;
	return 0;
}
