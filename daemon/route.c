#include "daemon/route.h"

#include <string.h>
#include <unistd.h>

#define ROUTE_PORT 10480 /* any: nothing is sent */

/* Connecting a UDP socket sends nothing and waits for nothing. */
bool route_source(const union address *destination, union address *ret)
{
	union address to = *destination;
	socklen_t len = sizeof(*ret);
	bool ok;
	int fd;

	if (to.sa.sa_family != AF_INET && to.sa.sa_family != AF_INET6)
		return false;
	fd = socket(to.sa.sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return false;
	if (to.sa.sa_family == AF_INET)
		to.in.sin_port = htons(ROUTE_PORT);
	else
		to.in6.sin6_port = htons(ROUTE_PORT);
	memset(ret, 0, sizeof(*ret));
	ok = connect(fd, &to.sa, sizeof(to)) == 0 && getsockname(fd, &ret->sa, &len) == 0;
	close(fd);
	return ok;
}
