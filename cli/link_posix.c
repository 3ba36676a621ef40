/*
 * link_posix.c - pipes and calls of a system of POSIX (link.h).
 */
#include "link.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define LINK_CALL_MS 50

int link_open(int ends[2])
{
	int made[2];

	if (pipe(made) != 0)
		return errno;
	ends[LINK_READS] = made[0];
	ends[LINK_WRITES] = made[1];
	fcntl(made[0], F_SETFD, FD_CLOEXEC);
	fcntl(made[1], F_SETFD, FD_CLOEXEC);
	fcntl(made[0], F_SETFL, O_NONBLOCK);
	return 0;
}

int link_take(int end, char *bytes, size_t size)
{
	const ssize_t got = read(end, bytes, size);

	if (got < 0)
		return errno == EAGAIN || errno == EINTR ? -1 : 0;
	return (int)got;
}

void link_close(int *end)
{
	if (*end >= 0)
		close(*end);
	*end = -1;
}

/* 1 if somebody takes a call at this address. */
static int link_call(const struct sockaddr *address, socklen_t size)
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
	else if (errno == EINPROGRESS && poll(&entry, 1, LINK_CALL_MS) == 1 &&
		 getsockopt(entry.fd, SOL_SOCKET, SO_ERROR, &problem,
			    &length) == 0)
		taken = problem == 0;
	close(entry.fd);
	return taken;
}

int link_answers(int port)
{
	struct sockaddr_in four;
	struct sockaddr_in6 six;

	memset(&four, 0, sizeof four);
	four.sin_family = AF_INET;
	four.sin_port = htons((uint16_t)port);
	four.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (link_call((const struct sockaddr *)&four, sizeof four))
		return 1;
	memset(&six, 0, sizeof six);
	six.sin6_family = AF_INET6;
	six.sin6_port = htons((uint16_t)port);
	six.sin6_addr = in6addr_loopback;
	return link_call((const struct sockaddr *)&six, sizeof six);
}
