/*
 * identity.c - the ladder of proofs: which rung an identity stands on, what
 * two of them say of each other, and the text that people copy and paste.
 *
 * A part counts only if both sides have it. The pid must agree, boot and
 * namespace may not disagree, and then the strongest common proof decides
 * alone: the inode, which is never used again, before the start tick, which
 * two processes can share when a pid is used again within 10 ms.
 */
#include <plimsoll/process.h>

#include "core/fail.h"
#include "core/text.h"

#include <assert.h>
#include <string.h>

int plim_identity_rung(const plim_identity *identity)
{
	if (identity->has & PLIM_IDENTITY_INODE)
		return PLIM_RUNG_INODE;
	if (identity->has & PLIM_IDENTITY_START)
		return PLIM_RUNG_START;
	return PLIM_RUNG_NONE;
}

int plim_identity_compare(const plim_identity *a, const plim_identity *b)
{
	uint32_t common = a->has & b->has;
	int same;

	if (a->pid != b->pid)
		return PLIM_DIFFERENT;
	if ((common & PLIM_IDENTITY_BOOT) &&
	    memcmp(a->boot, b->boot, sizeof(a->boot)) != 0)
		return PLIM_DIFFERENT;
	if ((common & PLIM_IDENTITY_NAMESPACE) &&
	    a->pid_namespace != b->pid_namespace)
		return PLIM_DIFFERENT;
	if (common & PLIM_IDENTITY_INODE)
		same = a->inode == b->inode;
	else if (common & PLIM_IDENTITY_START)
		same = a->start_ticks == b->start_ticks;
	else
		return PLIM_UNCERTAIN;
	return same ? PLIM_SAME : PLIM_DIFFERENT;
}

size_t plim_identity_format(const plim_identity *identity, char *buffer,
			    size_t size)
{
	char text[2 * PLIMP_DIGITS + 3];
	size_t length = 0;
	size_t kept;

	if (identity->pid < 0)
		text[length++] = '-';
	length +=
	    plimp_digits(identity->pid < 0 ? -(uint64_t)(int64_t)identity->pid
					   : (uint64_t)identity->pid,
			 text + length);
	switch (plim_identity_rung(identity)) {
	case PLIM_RUNG_INODE:
		text[length++] = '@';
		text[length++] = 'i';
		length += plimp_digits(identity->inode, text + length);
		break;
	case PLIM_RUNG_START:
		text[length++] = '@';
		text[length++] = 't';
		length += plimp_digits(identity->start_ticks, text + length);
		break;
	default:
		break;
	}
	assert(length < sizeof(text));
	if (size > 0) {
		kept = length < size ? length : size - 1;
		memcpy(buffer, text, kept);
		buffer[kept] = '\0';
	}
	return length;
}

/*
 * Decimal digits from `*at` on, at most `limit`, without a leading zero: one
 * number has one spelling. Moves `*at` behind what it accepted and returns 1,
 * or to the offending byte and returns 0.
 */
static int identity_number(const char **at, uint64_t limit, uint64_t *number)
{
	const char *start = *at;
	uint64_t value = 0;

	while (**at >= '0' && **at <= '9') {
		uint64_t digit = (uint64_t)(**at - '0');

		if (*at > start && *start == '0')
			return 0;
		if (value > (limit - digit) / 10)
			return 0;
		value = value * 10 + digit;
		(*at)++;
	}
	*number = value;
	return *at > start;
}

static int identity_fail(plim_error *error, const char *text, const char *at,
			 const char *expected)
{
	return plimp_fail_at(error, PLIM_ESYNTAX, "identity", text,
			     (size_t)(at - text), "%s", expected);
}

/* What stands behind the pid: nothing, or the one part of a proof. */
static int identity_parse_proof(const char **at, plim_identity *identity)
{
	if (**at == '\0')
		return 1;
	if (**at != '@')
		return 0;
	(*at)++;
	if (**at == 'i') {
		(*at)++;
		identity->has = PLIM_IDENTITY_INODE;
		return identity_number(at, UINT64_MAX, &identity->inode);
	}
	if (**at == 't') {
		(*at)++;
		identity->has = PLIM_IDENTITY_START;
		return identity_number(at, UINT64_MAX, &identity->start_ticks);
	}
	return 0;
}

int plim_identity_parse(const char *text, plim_identity *identity,
			plim_error *error)
{
	plim_identity parsed = {0};
	const char *at = text;
	uint64_t pid;

	assert(text != NULL && identity != NULL);
	if (text == NULL || identity == NULL)
		return plimp_fail(error, PLIM_EINVAL, 0, "identity", NULL,
				  NULL);
	if (!identity_number(&at, INT32_MAX, &pid))
		return identity_fail(error, text, at,
				     "a pid from 1 to 2147483647 was expected");
	if (pid == 0)
		return identity_fail(error, text, text,
				     "a pid from 1 to 2147483647 was expected");
	if (!identity_parse_proof(&at, &parsed) || *at != '\0')
		return identity_fail(
		    error, text, at,
		    "PID, PID@iINODE or PID@tTICKS was expected");
	parsed.pid = (int32_t)pid;
	*identity = parsed;
	return PLIM_OK;
}
