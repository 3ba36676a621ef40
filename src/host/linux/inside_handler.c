/*
 * inside_handler.c - what runs in a signal handler, in the thread that is
 * sampled, and nothing else. It walks the thread's stack; or, where that was
 * asked for, it shows its registers and waits until the session thread has
 * copied the stack.
 *
 * No allocation, no lock, no thread-local variable but errno, bounded work,
 * little stack: everything that is written lies in the thread's slot. A handler
 * counts itself before it looks for what was published, so that who takes it
 * back and then finds no handler running knows that none is using it.
 *
 * A signal that is nobody's sample changes nothing: the slot that it names must
 * be the calling thread's.
 */
#include "host/linux/gnu.h"

#include "host/linux/inside.h"
#include "host/linux/inside_context.h"

#include <errno.h>
#include <linux/futex.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>

/* A stack is read where it lies. Whoever watches each load (the address
 * sanitizer) is given a copy. */
#if defined(__SANITIZE_ADDRESS__)
#define HANDLER_IN_PLACE 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HANDLER_IN_PLACE 0
#endif
#endif
#ifndef HANDLER_IN_PLACE
#define HANDLER_IN_PLACE 1
#endif

/* An alternate stack must hold the application's signal frame and handler and
 * ours above it: frames take 3.5 KiB with AVX-512, 12 KiB with AMX. */
#define HANDLER_ALTERNATE 32768u
/* What a sample needs below its handler's own frame, and some more. */
#define HANDLER_ROOM 3072u

/* Whoever is held looks at the clock so often. */
#define HANDLER_NAP_NS 10000000

static _Atomic(struct plimp_inside *) handler_inside;
static _Atomic uint64_t handler_running;

void plimp_inside_publish(struct plimp_inside *inside)
{
	atomic_store(&handler_inside, inside);
}

int plimp_inside_is_quiet(void)
{
	return atomic_load(&handler_running) == 0;
}

void plimp_inside_forked(void)
{
	atomic_store(&handler_inside, NULL);
	atomic_store(&handler_running, 0);
}

static uint64_t handler_clock(clockid_t clock)
{
	struct timespec now = {0};

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * UINT64_C(1000000000) +
	       (uint64_t)now.tv_nsec;
}

/* Which slot a signal names, + 1: that of an event's descriptor, that in the
 * value of a timer. One that was sent to the thread names none. */
static uint32_t handler_place(const struct plimp_inside *inside,
			      const siginfo_t *info, int32_t tid, int *is_asked)
{
	uint64_t value = (uint64_t)(uintptr_t)info->si_value.sival_ptr;

	*is_asked = 0;
	if (info->si_code > 0 && info->si_fd >= 0 &&
	    (size_t)info->si_fd < inside->descriptor_limit)
		return atomic_load(&inside->slot_of[info->si_fd]);
	if (info->si_code == SI_TIMER && value >> 32 == PLIMP_INSIDE_MAGIC)
		return (uint32_t)value;
	if (info->si_code > 0 || inside->slot_of_tid == NULL ||
	    (size_t)(uint32_t)tid >= PLIMP_INSIDE_TIDS)
		return 0;
	*is_asked = 1;
	return atomic_load(&inside->slot_of_tid[tid]);
}

/* The slot of a signal, with one more user, if it is the caller's. */
static struct plimp_inside_slot *handler_slot(struct plimp_inside *inside,
					      const siginfo_t *info)
{
	int32_t tid = (int32_t)syscall(SYS_gettid);
	struct plimp_inside_slot *slot;
	int is_asked;
	uint32_t place = handler_place(inside, info, tid, &is_asked);

	if (place == 0 || place > inside->slot_limit)
		return NULL;
	slot = inside->slots + (place - 1);
	/* Counted first: who finds it his own then keeps it till he leaves. */
	atomic_fetch_add(&slot->users, 1);
	if (atomic_load(&slot->tid) == tid &&
	    (!is_asked || atomic_exchange(&slot->asked, 0) != 0))
		return slot;
	atomic_fetch_sub(&slot->users, 1);
	return NULL;
}

static int handler_code(void *user, uint64_t address, void *bytes, size_t size)
{
	const struct plimp_inside *inside = user;

	return syscall(SYS_pread64, inside->memory, bytes, size,
		       (off_t)address) == (long)size
		   ? 0
		   : -1;
}

/* Where it is on another stack than its own it is read by a call, which fails
 * where nothing is; and the session thread is asked to have a look. */
static void handler_copy(const struct plimp_inside *inside,
			 struct plimp_inside_slot *slot,
			 struct plimp_stack_bytes *stack, uint64_t sp)
{
	uint64_t from = sp - PLIMP_RED_ZONE;
	long size = syscall(SYS_pread64, inside->memory, slot->copy,
			    (size_t)PLIMP_INSIDE_COPY, (off_t)from);

	stack->low = from;
	stack->bytes = slot->copy;
	stack->size = size > 0 ? (size_t)size : 0;
	stack->is_cut = size == PLIMP_INSIDE_COPY;
	atomic_store(&slot->strange_thread, plimp_context_thread());
	atomic_store(&slot->strange_stack, sp);
}

static void handler_stack(struct plimp_inside *inside,
			  struct plimp_inside_slot *slot,
			  struct plimp_stack_bytes *stack, uint64_t sp)
{
	uint64_t high = atomic_load(&slot->high);
	uint64_t low = atomic_load(&slot->low);
	int is_own = sp >= low && sp < high;

	*stack =
	    (struct plimp_stack_bytes){.code = handler_code, .user = inside};
	if (!HANDLER_IN_PLACE || !is_own)
		handler_copy(inside, slot, stack, sp);
	else {
		/* The kernel's frame of this signal lies below the red zone. */
		stack->low = sp - PLIMP_RED_ZONE;
		stack->bytes = (const unsigned char *)(uintptr_t)stack->low;
		stack->size = (size_t)(high - stack->low);
	}
	if (is_own)
		atomic_store(&slot->strange_stack, 0);
}

/* Room for the largest sample in one piece, and how far it lies from the head:
 * NULL where there is none. */
static uint64_t *handler_room(const struct plimp_inside *inside,
			      struct plimp_inside_slot *slot, uint64_t periods,
			      uint64_t *skipped)
{
	const uint64_t need = PLIMP_INSIDE_HEAD + PLIMP_INSIDE_DEPTH;
	uint64_t head = atomic_load(&slot->head);
	uint64_t tail = atomic_load(&slot->tail);
	uint64_t place = head & (inside->word_count - 1);
	uint64_t rest = inside->word_count - place;

	*skipped = rest < need ? rest : 0;
	if (inside->word_count - (head - tail) < *skipped + need) {
		atomic_fetch_add(&slot->dropped, periods);
		return NULL;
	}
	if (*skipped == 0)
		return slot->words + place;
	slot->words[place] = PLIMP_INSIDE_PAD;
	return slot->words;
}

/* Did a system call of it fail for the signal? The kernel has put that into
 * the frame already, behind the instruction. */
static int handler_disturbed(struct plimp_inside *inside,
			     const ucontext_t *context)
{
	unsigned char bytes[PLIMP_CONTEXT_CALL_BYTES];
	uint64_t at = plimp_context_interrupted(context);

	return at != 0 && handler_code(inside, at, bytes, sizeof bytes) == 0 &&
	       plimp_context_is_call(bytes);
}

static void handler_bill(struct plimp_inside_slot *slot, uint64_t spent)
{
	atomic_fetch_add(&slot->taken, 1);
	atomic_fetch_add(&slot->inside_ns, spent);
	if (spent > atomic_load(&slot->longest_ns))
		atomic_store(&slot->longest_ns, spent);
}

/* Until somebody changes it, or for a while. */
static void handler_wait(_Atomic uint32_t *word, uint32_t value)
{
	const struct timespec most = {.tv_nsec = HANDLER_NAP_NS};

	syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, &most, NULL, 0);
}

/* Whoever holds it may be late, or gone: then it goes on, and what was copied
 * meanwhile is not used, since the word says so. */
static void handler_hold(struct plimp_inside *inside,
			 struct plimp_inside_slot *slot,
			 const ucontext_t *context)
{
	uint64_t began = handler_clock(CLOCK_MONOTONIC);
	uint32_t asked = atomic_load(&slot->hold);
	uint32_t held = (asked & ~3u) | PLIMP_HOLD_HELD;

	if ((asked & 3) != PLIMP_HOLD_ASKED)
		return;
	if (handler_disturbed(inside, context))
		atomic_fetch_add(&slot->disturbed, 1);
	plimp_context_registers(context, &slot->registers);
	if (!atomic_compare_exchange_strong(&slot->hold, &asked, held))
		return;
	syscall(SYS_futex, &slot->hold, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
	while (atomic_load(&slot->hold) == held) {
		uint32_t still = held;

		if (handler_clock(CLOCK_MONOTONIC) - began < PLIMP_HOLD_NS)
			handler_wait(&slot->hold, held);
		else
			(void)atomic_compare_exchange_strong(
			    &slot->hold, &still, held | PLIMP_HOLD_OVER);
	}
	handler_bill(slot, handler_clock(CLOCK_MONOTONIC) - began);
}

/* Periods that the signal stands for: of a timer, those that were over when
 * the kernel looked at it. */
static uint64_t handler_periods(const siginfo_t *info)
{
	return info->si_code == SI_TIMER && info->si_overrun > 0
		   ? 1 + (uint64_t)info->si_overrun
		   : 1;
}

/* The alternate stack is small: no sample may come that could find the thread
 * on it. The session thread would see that at its next turn, which on a loaded
 * machine is samples away, so the event or the timer is stopped from here. A
 * descriptor that is another's by now knows nothing of this request. 1: this
 * one is on it already, and has no room either. */
static int handler_is_crowded(struct plimp_inside_slot *slot,
			      const siginfo_t *info, const ucontext_t *context)
{
	const struct itimerspec never = {{0, 0}, {0, 0}};
	uint64_t here = (uint64_t)(uintptr_t)__builtin_frame_address(0);
	uint64_t low = (uint64_t)(uintptr_t)context->uc_stack.ss_sp;
	uint64_t size = context->uc_stack.ss_size;

	if ((context->uc_stack.ss_flags & SS_DISABLE) != 0 || size == 0 ||
	    size >= HANDLER_ALTERNATE)
		return 0;
	atomic_store(&slot->alternate, size);
	if (info->si_code > 0)
		syscall(SYS_ioctl, info->si_fd, PERF_EVENT_IOC_DISABLE, 0);
	else if (info->si_code == SI_TIMER)
		syscall(SYS_timer_settime, info->si_timerid, 0, &never, NULL);
	return here >= low && here - low < size && here - low < HANDLER_ROOM;
}

static void handler_sample(struct plimp_inside *inside,
			   struct plimp_inside_slot *slot, uint64_t periods,
			   const ucontext_t *context)
{
	uint64_t began = handler_clock(CLOCK_MONOTONIC);
	struct plimp_registers registers;
	struct plimp_stack_bytes stack;
	struct plimp_walked walked = {0};
	uint64_t skipped;
	uint64_t spent;
	uint64_t *words = handler_room(inside, slot, periods, &skipped);

	if (handler_disturbed(inside, context))
		atomic_fetch_add(&slot->disturbed, 1);
	if (words == NULL)
		return;
	plimp_context_registers(context, &registers);
	handler_stack(inside, slot, &stack, registers.value[PLIMP_CONTEXT_SP]);
	inside->walk(inside->walk_user, &registers, &stack,
		     words + PLIMP_INSIDE_HEAD, PLIMP_INSIDE_DEPTH, &walked);
	words[PLIMP_INSIDE_TIME] = began;
	words[PLIMP_INSIDE_CPU] = handler_clock(CLOCK_THREAD_CPUTIME_ID);
	words[PLIMP_INSIDE_COUNT] =
	    (uint64_t)walked.count | (uint64_t)walked.end << 32;
	/* Its cost first: who sees the sample has that, too. */
	spent = handler_clock(CLOCK_MONOTONIC) - began;
	atomic_fetch_add(&slot->overruns, periods - 1);
	handler_bill(slot, spent);
	atomic_fetch_add(&slot->head,
			 skipped + PLIMP_INSIDE_HEAD + walked.count);
}

/* No sample of it; nobody waits for one. */
static void handler_pass(struct plimp_inside_slot *slot)
{
	atomic_fetch_add(&slot->dropped, 1);
	atomic_fetch_or(&slot->hold, PLIMP_HOLD_OVER);
}

void plimp_inside_handle(int number, siginfo_t *info, void *context)
{
	int saved = errno;
	struct plimp_inside *inside;
	struct plimp_inside_slot *slot;

	(void)number;
	atomic_fetch_add(&handler_running, 1);
	inside = atomic_load(&handler_inside);
	slot = inside != NULL ? handler_slot(inside, info) : NULL;
	if (slot != NULL) {
		if (handler_is_crowded(slot, info, context))
			handler_pass(slot);
		else if (inside->way == PLIMP_INSIDE_SUSPENDS)
			handler_hold(inside, slot, context);
		else
			handler_sample(inside, slot, handler_periods(info),
				       context);
		atomic_fetch_sub(&slot->users, 1);
	}
	atomic_fetch_sub(&handler_running, 1);
	errno = saved;
}
