/*
 * link_windows.c - pipes and calls of Windows (link.h). What is in a pipe is
 * asked before it is taken, since taking would wait.
 */
#include "link.h"

#include <errno.h>
#include <fcntl.h>
#include <io.h>
#include <string.h>

#include <winsock2.h>

#include <ws2tcpip.h>

#define LINK_ROOM    65536
#define LINK_CALL_US 50000

int link_open(int ends[2])
{
	int made[2];

	if (_pipe(made, LINK_ROOM, _O_BINARY | _O_NOINHERIT) != 0)
		return errno;
	ends[LINK_READS] = made[0];
	ends[LINK_WRITES] = made[1];
	return 0;
}

int link_take(int end, char *bytes, size_t size)
{
	DWORD there = 0;

	if (!PeekNamedPipe((HANDLE)_get_osfhandle(end), NULL, 0, NULL, &there,
			   NULL))
		return 0;
	if (there == 0)
		return -1;
	if (size > there)
		size = there;
	return _read(end, bytes, (unsigned)size);
}

void link_close(int *end)
{
	if (*end >= 0)
		_close(*end);
	*end = -1;
}

/* Whether the call was taken, within a while. */
static int link_await(SOCKET call)
{
	struct timeval time = {0, LINK_CALL_US};
	fd_set taken;
	fd_set failed;

	FD_ZERO(&taken);
	FD_ZERO(&failed);
	taken.fd_array[taken.fd_count++] = call;
	failed.fd_array[failed.fd_count++] = call;
	return select(0, NULL, &taken, &failed, &time) > 0 &&
	       taken.fd_count > 0;
}

static int link_call(const struct sockaddr *address, int size)
{
	const SOCKET call = socket(address->sa_family, SOCK_STREAM, 0);
	u_long on = 1;
	int taken = 0;

	if (call == INVALID_SOCKET)
		return 0;
	SetHandleInformation((HANDLE)call, HANDLE_FLAG_INHERIT, 0);
	if (ioctlsocket(call, (long)FIONBIO, &on) == 0)
		taken =
		    connect(call, address, size) == 0 ||
		    (WSAGetLastError() == WSAEWOULDBLOCK && link_await(call));
	closesocket(call);
	return taken;
}

static int link_begin(void)
{
	static int begun; /* it ends with us */
	WSADATA about;

	if (!begun)
		begun = WSAStartup(MAKEWORD(2, 2), &about) == 0;
	return begun;
}

int link_answers(int port)
{
	struct sockaddr_in four;
	struct sockaddr_in6 six;

	if (!link_begin())
		return 0;
	memset(&four, 0, sizeof four);
	four.sin_family = AF_INET;
	four.sin_port = htons((u_short)port);
	four.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (link_call((const struct sockaddr *)&four, sizeof four))
		return 1;
	memset(&six, 0, sizeof six);
	six.sin6_family = AF_INET6;
	six.sin6_port = htons((u_short)port);
	six.sin6_addr.s6_addr[15] = 1; /* ::1 */
	return link_call((const struct sockaddr *)&six, sizeof six);
}
