#include "cli/control.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "cli/value.h"

#define ANSWER_MAX ((size_t)256 * 1024)

static const char *hint(int error)
{
	switch (error) {
	case ENOENT:
	case ECONNREFUSED:
		return ": is rdma-pingmeshd running (systemctl status rdma-pingmesh)?";
	case EACCES:
		return ": it is for root and for the service's own user alone";
	default:
		return "";
	}
}

static int open_socket(const char *path, char err[CONTROL_ERROR_MAX])
{
	struct timeval patience = {.tv_sec = CONTROL_TIMEOUT_S};
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd;

	if (strlen(path) >= sizeof(address.sun_path)) {
		snprintf(err, CONTROL_ERROR_MAX,
			 "--control: a path of a socket has at most %zu bytes",
			 sizeof(address.sun_path) - 1);
		return -1;
	}
	strcpy(address.sun_path, path);
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience)) == 0 &&
	    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) == 0 &&
	    connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0)
		return fd;
	snprintf(err, CONTROL_ERROR_MAX, "%s: %s%s", path, strerror(errno), hint(errno));
	if (fd >= 0)
		close(fd);
	return -1;
}

static json_t *parse(const char *path, const char *data, ssize_t len, char err[CONTROL_ERROR_MAX])
{
	json_error_t where;
	json_t *answer;

	if (len <= 0) {
		snprintf(err, CONTROL_ERROR_MAX, "%s: %s", path,
			 len == 0
				 ? "closed without an answer: the daemon ended, or you are neither "
				   "root nor the service's user"
			 : errno == EAGAIN ? "no answer in 30 s"
					   : strerror(errno));
		return NULL;
	}
	answer = json_loadb(data, (size_t)len, 0, &where);
	if (answer && value_u64(answer, "schema", 0) == 1)
		return answer;
	json_decref(answer);
	snprintf(err, CONTROL_ERROR_MAX,
		 "%s: the answer makes no sense: is the daemon of another version?", path);
	return NULL;
}

json_t *control_ask(const char *path, const char *request, char err[CONTROL_ERROR_MAX])
{
	char *buf = malloc(ANSWER_MAX);
	json_t *answer = NULL;
	ssize_t n = -1;
	int fd;

	if (!buf) {
		snprintf(err, CONTROL_ERROR_MAX, "out of memory");
		return NULL;
	}
	fd = open_socket(path, err);
	if (fd >= 0) {
		if (send(fd, request, strlen(request), MSG_NOSIGNAL) >= 0)
			n = recv(fd, buf, ANSWER_MAX, 0);
		/* A daemon that closes on us before it read is one that refuses us. */
		else if (errno == EPIPE)
			n = 0;
		if (n < 0 && errno == ECONNRESET)
			n = 0;
		answer = parse(path, buf, n, err);
		close(fd);
	}
	free(buf);
	return answer;
}
