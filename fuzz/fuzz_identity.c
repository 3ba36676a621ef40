/*
 * fuzz_identity.c - any bytes as the text of an identity, and as two
 * identities. A text that is taken has one spelling: written again it is the
 * same. Comparing is symmetric, and an identity is itself unless it proves
 * nothing.
 */
#include <plimsoll/process.h>

#include "promise.h"

#include <stdlib.h>
#include <string.h>

#define KNOWN_PARTS 15u

static int is_one_of(int answer)
{
	return answer == PLIM_SAME || answer == PLIM_DIFFERENT ||
	       answer == PLIM_UNCERTAIN;
}

static void check_self(const plim_identity *identity)
{
	int rung = plim_identity_rung(identity);
	int same = plim_identity_compare(identity, identity);

	PROMISE(rung >= PLIM_RUNG_INODE && rung <= PLIM_RUNG_NONE);
	PROMISE(same == (rung == PLIM_RUNG_NONE ? PLIM_UNCERTAIN : PLIM_SAME));
}

/* Written, cut to each size, and read back. */
static void check_written(const plim_identity *identity)
{
	char whole[48], cut[48];
	plim_identity again;
	size_t length = plim_identity_format(identity, whole, sizeof(whole));

	PROMISE(length > 0 && length < 48 && strlen(whole) == length);
	for (size_t size = 1; size <= length; size++) {
		memset(cut, 0x5a, sizeof(cut));
		PROMISE(plim_identity_format(identity, cut, size) == length);
		PROMISE(strlen(cut) == size - 1 && cut[size] == 0x5a);
		PROMISE(!memcmp(cut, whole, size - 1));
	}
	PROMISE(plim_identity_format(identity, NULL, 0) == length);
	int code = plim_identity_parse(whole, &again, NULL);
	PROMISE((code == PLIM_OK) == (identity->pid > 0));
	if (code != PLIM_OK)
		return;
	PROMISE(again.pid == identity->pid);
	PROMISE(plim_identity_rung(&again) == plim_identity_rung(identity));
	if (plim_identity_rung(&again) != PLIM_RUNG_NONE)
		PROMISE(plim_identity_compare(&again, identity) == PLIM_SAME);
}

static void read_text(const char *text)
{
	plim_identity identity, untouched;
	plim_error error, no_error;
	char again[48];

	memset(&untouched, 0xa5, sizeof(untouched));
	memcpy(&identity, &untouched, sizeof(identity));
	memset(&no_error, 0xa5, sizeof(no_error));
	memcpy(&error, &no_error, sizeof(error));
	int code = plim_identity_parse(text, &identity, &error);
	if (code != PLIM_OK) {
		PROMISE(code == PLIM_ESYNTAX && error.code == code);
		PROMISE(error.position >= 0 &&
			(size_t)error.position <= strlen(text));
		PROMISE(!memcmp(&identity, &untouched, sizeof(identity)));
		return;
	}
	PROMISE(!memcmp(&error, &no_error, sizeof(error)));
	PROMISE(identity.pid > 0);
	plim_identity_format(&identity, again, sizeof(again));
	PROMISE(!strcmp(text, again));
	check_self(&identity);
}

static void fill(plim_identity *identity, const uint8_t *data)
{
	memcpy(identity, data, sizeof(*identity));
	identity->has &= KNOWN_PARTS;
	if (!(identity->has & PLIM_IDENTITY_START))
		identity->start_ticks = 0;
	if (!(identity->has & PLIM_IDENTITY_INODE))
		identity->inode = 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = promise_string(data, size);
	plim_identity a, b;

	read_text(text);
	free(text);
	if (size < sizeof(a))
		return 0;
	fill(&a, data);
	/* The second is like the first, but for what the rest replaces. */
	b = a;
	size_t rest =
	    size - sizeof(a) < sizeof(b) ? size - sizeof(a) : sizeof(b);
	memcpy(&b, data + sizeof(a), rest);
	plim_identity mixed = b;
	fill(&b, (const uint8_t *)&mixed);
	check_self(&a);
	check_written(&a);
	check_written(&b);
	int answer = plim_identity_compare(&a, &b);
	PROMISE(is_one_of(answer));
	PROMISE(plim_identity_compare(&b, &a) == answer);
	if (answer == PLIM_SAME)
		PROMISE(a.pid == b.pid);
	return 0;
}
