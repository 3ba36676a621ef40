/*
 * fuzz_mac_info.c - any bytes as an answer of proc_pidinfo(): the first byte
 * says which, the rest is the answer. What is taken has the size of its
 * structure, its texts lie in it and hold no NUL, and a failure stores nothing.
 */
#include "host/macos/decode.h"
#include "promise.h"

#include <limits.h>
#include <string.h>

/* PLIM_OK, or untouched: `found` was filled with 0xa5. */
static int decoded(int result, const void *found, size_t size)
{
	const unsigned char *at = found;

	PROMISE(result == PLIM_OK || result == PLIM_EMALFORMED);
	for (size_t i = 0; result != PLIM_OK && i < size; i++)
		PROMISE(at[i] == 0xa5);
	return result == PLIM_OK;
}

static void check_text(plim_bytes whole, plim_bytes part, size_t most)
{
	PROMISE(promise_inside(whole, part));
	PROMISE(part.size <= most);
	PROMISE(memchr(part.data, '\0', part.size) == NULL);
}

static void check_process(plim_bytes bytes, int is_short)
{
	struct plimp_mac_process found;

	memset(&found, 0xa5, sizeof(found));
	if (!decoded(is_short ? plimp_decode_mac_bsdshort(bytes, &found)
			      : plimp_decode_mac_bsdinfo(bytes, &found),
		     &found, sizeof(found)))
		return;
	PROMISE(bytes.size == (is_short ? 64 : 136));
	PROMISE(found.has_more == !is_short);
	PROMISE(found.pid >= 0 && found.ppid >= 0);
	check_text(bytes, found.name, is_short ? 16 : 32);
}

static void check_unique(plim_bytes bytes)
{
	struct plimp_mac_unique found;

	memset(&found, 0xa5, sizeof(found));
	if (!decoded(plimp_decode_mac_unique(bytes, &found), &found,
		     sizeof(found)))
		return;
	PROMISE(bytes.size == 56 && found.id != 0);
}

static void check_task(plim_bytes bytes)
{
	struct plimp_mac_task found;

	memset(&found, 0xa5, sizeof(found));
	if (!decoded(plimp_decode_mac_task(bytes, &found), &found,
		     sizeof(found)))
		return;
	PROMISE(bytes.size == 96);
	PROMISE(found.faults <= INT32_MAX && found.pageins <= INT32_MAX);
	PROMISE(found.threads <= INT32_MAX && found.running <= INT32_MAX);
	PROMISE(found.faults_are_least == (found.faults == INT32_MAX));
	PROMISE(found.has_faults || (found.faults | found.pageins) == 0);
}

static void check_thread(plim_bytes bytes)
{
	struct plimp_mac_thread found;

	memset(&found, 0xa5, sizeof(found));
	if (!decoded(plimp_decode_mac_thread(bytes, &found), &found,
		     sizeof(found)))
		return;
	PROMISE(bytes.size == 112);
	PROMISE(found.state == 0 || strchr("RTSD", found.state) != NULL);
	check_text(bytes, found.name, PLIMP_MAC_THREAD_NAME);
}

static void check_lists(plim_bytes bytes)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < bytes.size / 8; i++) {
		uint64_t handle = plimp_decode_mac_handle(bytes, i);
		uint32_t low = (uint32_t)plimp_decode_mac_pid(bytes, 2 * i);

		PROMISE((uint32_t)handle == low);
		sum += handle;
	}
	(void)sum;
}

static void check_boot(plim_bytes bytes)
{
	uint8_t boot[16];
	int result;

	memset(boot, 0xa5, sizeof(boot));
	result = plimp_decode_mac_boot(bytes, boot);
	PROMISE(result == PLIM_OK || result == PLIM_EMALFORMED);
	if (result == PLIM_OK)
		PROMISE(bytes.size >= 36 && bytes.data[8] == '-');
	else
		PROMISE(boot[0] == 0xa5 && boot[15] == 0xa5);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	plim_bytes bytes = {(const char *)data + 1, size - 1};

	if (size == 0)
		return 0;
	switch (data[0] % 7) {
	case 0:
	case 1:
		check_process(bytes, data[0] % 7);
		break;
	case 2:
		check_unique(bytes);
		break;
	case 3:
		check_task(bytes);
		break;
	case 4:
		check_thread(bytes);
		break;
	case 5:
		check_lists(bytes);
		break;
	default:
		check_boot(bytes);
		break;
	}
	return 0;
}
