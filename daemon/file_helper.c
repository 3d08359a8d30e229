#include "daemon/file_helper.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/loop.h"
#include "core/names.h"
#include "daemon/peer_watch.h"

struct helper {
	int fd;
	struct loop *loop;
	struct peer_watch *watch;
};

bool file_question_check(const struct file_question *q, size_t len)
{
	return len == sizeof(*q) && q->id && memchr(q->path, '\0', sizeof(q->path));
}

bool file_answer_check(const struct file_answer *a, size_t len)
{
	return len == sizeof(*a) && a->error <= 0 && a->length <= PEER_FILE_MAX &&
	       memchr(a->words, '\0', sizeof(a->words));
}

/* --- answers --- */

/* content < 0: none goes with it. */
static void tell(const struct helper *h, struct file_answer *a, int content)
{
	char control[CMSG_SPACE(sizeof(int))] __attribute__((aligned(8))) = {0};
	struct iovec iov = {.iov_base = a, .iov_len = sizeof(*a)};
	struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};
	struct cmsghdr *c;

	if (content >= 0) {
		msg.msg_control = control;
		msg.msg_controllen = sizeof(control);
		c = CMSG_FIRSTHDR(&msg);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(c), &content, sizeof(content));
	}
	sendmsg(h->fd, &msg, MSG_NOSIGNAL);
}

static int in_memory(const char *text, size_t len)
{
	int fd = memfd_create("peer-file", MFD_CLOEXEC);

	for (size_t done = 0; fd >= 0 && done < len;) {
		ssize_t n = write(fd, text + done, len - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			close(fd);
			return -1;
		}
		done += (size_t)n;
	}
	return fd;
}

static void serve_read(const struct helper *h, const struct file_question *q)
{
	struct file_answer a = {.id = q->id};
	int content = -1;
	char *text;
	ssize_t len = peer_file_read(q->path, &text, a.words, sizeof(a.words));

	if (len >= 0) {
		a.length = (uint32_t)len;
		content = in_memory(text, (size_t)len);
		free(text);
	}
	if (len >= 0 && content < 0) {
		len = -ENOMEM;
		name_copy(a.words, sizeof(a.words), "no memory for its content");
	}
	a.error = len < 0 ? (int32_t)len : 0;
	tell(h, &a, content);
	if (content >= 0)
		close(content);
}

static void serve(const struct helper *h, const struct file_question *q)
{
	struct file_answer a = {.id = q->id};

	if (q->type == FILE_READ) {
		serve_read(h, q);
		return;
	}
	if (q->type == FILE_FOLLOW)
		peer_watch_follow(h->watch, q->path);
	tell(h, &a, -1);
}

static void on_question(void *arg, int fd, uint32_t events)
{
	const struct helper *h = arg;
	struct file_question q;
	ssize_t n = recv(fd, &q, sizeof(q), MSG_DONTWAIT);

	if (n == 0 || (n < 0 && (events & EPOLLHUP)))
		loop_exit(h->loop, 0);
	else if (n > 0 && file_question_check(&q, (size_t)n))
		serve(h, &q);
}

static void on_changed(void *arg)
{
	struct file_answer news = {.id = 0};

	tell(arg, &news, -1);
}

int file_helper_main(int fd)
{
	struct helper h = {.fd = fd};

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, "pingmesh-file");
	h.loop = loop_new();
	h.watch = h.loop ? peer_watch_new(h.loop, on_changed, &h) : NULL;
	if (!h.watch || !loop_add_io(h.loop, fd, EPOLLIN, on_question, &h))
		return 1;
	return loop_run(h.loop) < 0;
}
