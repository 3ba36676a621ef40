/*
 * gate_ready.c - when the load of a target has ended, by its own sign: a line
 * of its output, a file, a port that takes calls.
 *
 * Nothing that was there before the start is such a sign: a file must have
 * appeared or changed, and a port that somebody else listens on is no port of
 * the target. Output is searched as it streams by, so that a text may lie
 * across two pieces of it, and is passed on to our standard error; the pipes
 * are emptied until the end, for a full one would stop the target.
 */
#include "gate_run.h"
#include "term.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define READY_CALL_MS	  50
#define READY_PIECE	  16384
#define READY_PIECES_MOST 16 /* at once; the rest is there next time */

/* Knuth, Morris, Pratt: how long a beginning of the text is also the end of
 * its first `i + 1` bytes. */
static int ready_prepare(struct gate_ready *ready)
{
	const char *text = ready->target->ready_text;
	size_t have = 0;
	size_t i;

	ready->size = strlen(text);
	ready->back = calloc(ready->size + 1, sizeof *ready->back);
	if (ready->back == NULL)
		return ENOMEM;
	for (i = 1; i < ready->size; i++) {
		while (have > 0 && text[i] != text[have])
			have = ready->back[have - 1];
		if (text[i] == text[have])
			have++;
		ready->back[i] = have;
	}
	return 0;
}

static int ready_pipes(struct gate_ready *ready)
{
	int i;

	for (i = 0; i < 2; i++) {
		int ends[2];

		if (pipe(ends) != 0)
			return errno;
		ready->reads[i] = ends[0];
		ready->writes[i] = ends[1];
		fcntl(ends[0], F_SETFD, FD_CLOEXEC);
		fcntl(ends[1], F_SETFD, FD_CLOEXEC);
		fcntl(ends[0], F_SETFL, O_NONBLOCK);
	}
	return 0;
}

/* 1 if somebody takes a call at this address. */
static int ready_call(const struct sockaddr *address, socklen_t size)
{
	struct pollfd entry = {-1, POLLOUT, 0};
	int problem = 0;
	socklen_t length = sizeof problem;
	int taken = 0;

	entry.fd = socket(address->sa_family, SOCK_STREAM, 0);
	if (entry.fd < 0)
		return 0;
	fcntl(entry.fd, F_SETFD, FD_CLOEXEC);
	fcntl(entry.fd, F_SETFL, O_NONBLOCK);
	if (connect(entry.fd, address, size) == 0)
		taken = 1;
	else if (errno == EINPROGRESS && poll(&entry, 1, READY_CALL_MS) == 1 &&
		 getsockopt(entry.fd, SOL_SOCKET, SO_ERROR, &problem,
			    &length) == 0)
		taken = problem == 0;
	close(entry.fd);
	return taken;
}

static int ready_port(int port)
{
	struct sockaddr_in four;
	struct sockaddr_in6 six;

	memset(&four, 0, sizeof four);
	four.sin_family = AF_INET;
	four.sin_port = htons((uint16_t)port);
	four.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (ready_call((const struct sockaddr *)&four, sizeof four))
		return 1;
	memset(&six, 0, sizeof six);
	six.sin6_family = AF_INET6;
	six.sin6_port = htons((uint16_t)port);
	six.sin6_addr = in6addr_loopback;
	return ready_call((const struct sockaddr *)&six, sizeof six);
}

static int ready_file(const struct gate_ready *ready)
{
	struct stat now;

	if (stat(ready->target->ready_text, &now) != 0)
		return 0;
	return !ready->there || now.st_dev != ready->before.st_dev ||
	       now.st_ino != ready->before.st_ino ||
	       now.st_size != ready->before.st_size ||
	       now.st_mtim.tv_sec != ready->before.st_mtim.tv_sec ||
	       now.st_mtim.tv_nsec != ready->before.st_mtim.tv_nsec;
}

int gate_ready_open(struct gate_ready *ready, const plim_budget_target *target)
{
	int problem;

	memset(ready, 0, sizeof *ready);
	ready->target = target;
	ready->reads[0] = ready->reads[1] = -1;
	ready->writes[0] = ready->writes[1] = -1;
	switch (target->ready) {
	case PLIM_READY_OUTPUT:
		problem = ready_prepare(ready);
		return problem != 0 ? problem : ready_pipes(ready);
	case PLIM_READY_FILE:
		/* Who attaches finds it from before. */
		if (target->way == PLIM_BUDGET_RUN)
			ready->there =
			    stat(target->ready_text, &ready->before) == 0;
		return 0;
	case PLIM_READY_PORT:
		if (target->way == PLIM_BUDGET_RUN)
			ready->taken = ready_port(target->ready_port);
		return 0;
	default:
		ready->met = 1;
		return 0;
	}
}

void gate_ready_started(struct gate_ready *ready)
{
	int i;

	for (i = 0; i < 2; i++) {
		if (ready->writes[i] >= 0)
			close(ready->writes[i]);
		ready->writes[i] = -1;
	}
}

int gate_ready_met(struct gate_ready *ready)
{
	if (!ready->met && ready->target->ready == PLIM_READY_FILE)
		ready->met = ready_file(ready);
	if (!ready->met && ready->target->ready == PLIM_READY_PORT)
		ready->met = ready_port(ready->target->ready_port);
	return ready->met;
}

static void ready_search(struct gate_ready *ready, int stream,
			 const char *piece, size_t size)
{
	const char *text = ready->target->ready_text;
	size_t at = ready->at[stream];
	size_t i;

	for (i = 0; i < size && !ready->met; i++) {
		while (at > 0 && piece[i] != text[at])
			at = ready->back[at - 1];
		if (piece[i] == text[at])
			at++;
		ready->met = at == ready->size;
	}
	ready->at[stream] = at;
}

/* What cannot be written, or not before an interruption, is lost. */
static void ready_pass_on(const char *piece, size_t size)
{
	gate_progress_clear();
	term_pass_on(TERM_ERROR, piece, size);
}

void gate_ready_take(struct gate_ready *ready, int stream)
{
	char piece[READY_PIECE];
	ssize_t size = 0;
	int pieces;

	if (ready->reads[stream] < 0)
		return;
	for (pieces = 0; pieces < READY_PIECES_MOST; pieces++) {
		size = read(ready->reads[stream], piece, sizeof piece);
		if (size <= 0)
			break;
		ready_search(ready, stream, piece, (size_t)size);
		ready_pass_on(piece, (size_t)size);
	}
	if (size == 0 || (size < 0 && errno != EAGAIN && errno != EINTR)) {
		close(ready->reads[stream]);
		ready->reads[stream] = -1;
	}
}

void gate_ready_close(struct gate_ready *ready)
{
	int i;

	gate_ready_started(ready);
	for (i = 0; i < 2; i++)
		if (ready->reads[i] >= 0)
			close(ready->reads[i]);
	free(ready->back);
	memset(ready, 0, sizeof *ready);
	ready->reads[0] = ready->reads[1] = -1;
	ready->writes[0] = ready->writes[1] = -1;
}
