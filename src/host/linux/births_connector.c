/*
 * births_connector.c - births from the process connector.
 *
 * A netlink socket on which the kernel tells every start and end of a process
 * or thread on the whole machine (drivers/connector/cn_proc.c). Of them those
 * of the tree are kept: whoever is started by a member is one, and a number
 * that somebody else is born with belongs to the tree no more. A start is told
 * before the started one runs, so that a child's own starts come after it. A
 * message that was lost may have been of a member, whom nobody knows then.
 *
 * The kernel answers the request to listen within the call that sends it, and
 * does not answer at all where it refuses because of the namespace.
 */
#include "host/linux/gnu.h"

#include "host/linux/births.h"

#include <assert.h>
#include <errno.h>
#include <linux/cn_proc.h>
#include <linux/connector.h>
#include <linux/netlink.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define CONNECTOR_ROOM (16 << 20)
#define CONNECTOR_MOST (1 << 20) /* messages in one reading */

/* PROC_CN_MCAST_LISTEN, and behind it, since Linux 6.6, to what. */
#define CONNECTOR_LISTEN     1u
#define CONNECTOR_FORK_EXIT  0x80000001u
#define CONNECTOR_WORD_COUNT 2

/* The request with so many words: 0, or the error of the call. */
static int connector_request(struct plimp_births *births, unsigned count)
{
	const uint32_t words[CONNECTOR_WORD_COUNT] = {CONNECTOR_LISTEN,
						      CONNECTOR_FORK_EXIT};
	struct nlmsghdr header = {0};
	struct cn_msg message = {{0}, 0, 0, 0, 0};
	char request[sizeof header + sizeof message + sizeof words];
	size_t size = sizeof header + sizeof message + count * sizeof words[0];

	assert(count > 0 && count <= CONNECTOR_WORD_COUNT);
	header.nlmsg_len = (uint32_t)size;
	header.nlmsg_type = NLMSG_DONE;
	message.id.idx = CN_IDX_PROC;
	message.id.val = CN_VAL_PROC;
	message.len = (uint16_t)(count * sizeof words[0]);
	memcpy(request, &header, sizeof header);
	memcpy(request + sizeof header, &message, sizeof message);
	memcpy(request + sizeof header + sizeof message, words, sizeof words);
	births->host->bill.system_calls++;
	return send(births->socket, request, size, 0) < 0 ? errno : 0;
}

static int connector_bind(struct plimp_births *births)
{
	struct sockaddr_nl address = {.nl_family = AF_NETLINK,
				      .nl_groups = CN_IDX_PROC};
	int room = CONNECTOR_ROOM;
	int problem;

	births->host->bill.system_calls++;
	births->socket =
	    socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK,
		   NETLINK_CONNECTOR);
	if (births->socket < 0) {
		problem = errno;
		return problem == EPROTONOSUPPORT ? ENOSYS : problem;
	}
	births->host->bill.system_calls += 2;
	if (setsockopt(births->socket, SOL_SOCKET, SO_RCVBUFFORCE, &room,
		       sizeof room) != 0)
		setsockopt(births->socket, SOL_SOCKET, SO_RCVBUF, &room,
			   sizeof room);
	if (bind(births->socket, (struct sockaddr *)&address, sizeof address) !=
	    0)
		return errno;
	return 0;
}

static void connector_count(struct plimp_births *births,
			    const struct plimp_proc_event *event)
{
	struct plimp_birth_counts *counts = &births->counts;
	int is_process = event->pid == event->tid;
	int is_member;

	switch (event->type) {
	case PLIMP_PROC_FORK:
		is_member = plimp_births_knows(births, is_process ? event->ppid
								  : event->pid);
		counts->processes_started += (uint64_t)(is_member & is_process);
		counts->threads_started += (uint64_t)(is_member & !is_process);
		if (is_process)
			plimp_births_learn(births, event->pid, is_member);
		break;
	case PLIMP_PROC_EXIT:
		is_member = plimp_births_knows(births, event->pid);
		counts->processes_ended += (uint64_t)(is_member & is_process);
		counts->threads_ended += (uint64_t)(is_member & !is_process);
		break;
	case PLIMP_PROC_OVERRUN:
		counts->is_partial = 1;
		break;
	default:
		break;
	}
}

/* One message into the host's buffer; its size, or -1. Only the kernel, whose
 * address is 0, is listened to. */
static ssize_t connector_receive(struct plimp_births *births)
{
	plim_host *host = births->host;
	struct sockaddr_nl from = {0};
	socklen_t from_size = sizeof from;
	ssize_t size;

	host->bill.system_calls++;
	size = recvfrom(births->socket, host->system->buffer,
			sizeof host->system->buffer, 0,
			(struct sockaddr *)&from, &from_size);
	if (size > 0)
		host->bill.bytes_read += (uint64_t)size;
	return size > 0 && from.nl_pid != 0 ? 0 : size;
}

void plimp_connector_drain(struct plimp_births *births)
{
	int messages;

	for (messages = 0; messages < CONNECTOR_MOST; messages++) {
		ssize_t size = connector_receive(births);
		plim_bytes bytes = {births->host->system->buffer, 0};
		struct plimp_proc_event event;
		size_t offset = 0;
		int more;

		if (size < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
			return;
		if (size < 0 && errno == EINTR)
			continue;
		if (size < 0) {
			/* ENOBUFS: the socket's room was used up. */
			births->counts.is_partial = 1;
			if (errno != ENOBUFS)
				return;
			continue;
		}
		bytes.size = (size_t)size;
		while ((more = plimp_decode_proc_event(bytes, &offset,
						       &event)) == 1)
			connector_count(births, &event);
		if (more < 0)
			births->counts.is_partial = 1;
	}
	births->counts.is_partial = 1;
}

/* The answer to the request: 0, the error that it tells, or EPERM if there is
 * none. */
static int connector_answer(struct plimp_births *births)
{
	int messages;

	for (messages = 0; messages < CONNECTOR_MOST; messages++) {
		ssize_t size = connector_receive(births);
		plim_bytes bytes = {births->host->system->buffer, 0};
		struct plimp_proc_event event;
		size_t offset = 0;

		if (size < 0)
			return errno == EAGAIN ? EPERM : errno;
		bytes.size = (size_t)size;
		while (plimp_decode_proc_event(bytes, &offset, &event) == 1)
			if (event.type == PLIMP_PROC_ANSWER)
				return (int)event.error;
	}
	return EPERM;
}

/* A kernel before 6.6 does not answer a request that is longer than it knows.
 */
int plimp_connector_begin(struct plimp_births *births)
{
	int problem = connector_bind(births);
	unsigned count;

	if (problem != 0)
		return problem;
	for (count = CONNECTOR_WORD_COUNT; count > 0; count--) {
		problem = connector_request(births, count);
		if (problem == 0)
			problem = connector_answer(births);
		if (problem != EPERM)
			break;
	}
	return problem;
}

void plimp_connector_end(struct plimp_births *births)
{
	plimp_call_close(births->host, births->socket);
	births->socket = -1;
}
