#include "daemon/file_reader.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/fd.h"
#include "core/names.h"
#include "daemon/file_helper.h"
#include "daemon/helper_proc.h"

struct file_reader {
	void (*changed)(void *arg);
	void *arg;
	char path[CONFIG_PATH_MAX];
	struct helper_proc *helper;
	struct loop_source *look, *soon;
	uint64_t asked, answered; /* ids of the last question and answer */
	unsigned looks;		  /* in a row that found a question unanswered */
	uint64_t hangs_wall_ns;	  /* 0: it answers */
	uint64_t wanted;	  /* id of the content that file_reader_read() waits for; 0: none */
	struct file_answer got;	  /* that answer, when wanted is 0 again */
	int content;		  /* with it; -1: none */
};

/* --- the helper --- */

/* Nobody is left who owes an answer. */
static void forget_questions(struct file_reader *r)
{
	r->answered = r->asked;
	r->looks = 0;
	r->hangs_wall_ns = 0;
}

static void end_helper(struct file_reader *r)
{
	helper_proc_end(r->helper);
	forget_questions(r);
}

/* on_look() starts another. */
static void on_ended(void *arg, const siginfo_t *info)
{
	(void)info;
	forget_questions(arg);
}

static void tell_soon(struct file_reader *r)
{
	loop_timer_arm(r->soon, 0);
}

static void take(struct file_reader *r, const struct file_answer *a, int content)
{
	if (a->id > r->answered && a->id <= r->asked)
		r->answered = a->id;
	r->looks = 0;
	/* Whoever asked was refused meanwhile. */
	if (a->id == 0 || r->hangs_wall_ns)
		tell_soon(r);
	r->hangs_wall_ns = 0;
	if (!r->wanted || a->id != r->wanted) {
		if (content >= 0)
			close(content);
		return;
	}
	r->wanted = 0;
	r->got = *a;
	r->content = content;
}

static int content_of(struct msghdr *msg)
{
	struct cmsghdr *c = CMSG_FIRSTHDR(msg);
	int fd = -1;

	if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS &&
	    c->cmsg_len == CMSG_LEN(sizeof(int)))
		memcpy(&fd, CMSG_DATA(c), sizeof(fd));
	return fd;
}

/* One packet. False: the helper is no more. */
static bool receive(struct file_reader *r)
{
	char control[CMSG_SPACE(sizeof(int))] __attribute__((aligned(8)));
	struct file_answer a;
	struct iovec iov = {.iov_base = &a, .iov_len = sizeof(a)};
	struct msghdr msg = {.msg_iov = &iov,
			     .msg_iovlen = 1,
			     .msg_control = control,
			     .msg_controllen = sizeof(control)};
	ssize_t n = recvmsg(helper_proc_fd(r->helper), &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	int content = n > 0 ? content_of(&msg) : -1;

	if (n < 0)
		return errno == EAGAIN || errno == EINTR;
	if (file_answer_check(&a, (size_t)n))
		take(r, &a, content);
	else if (content >= 0)
		close(content);
	return n > 0;
}

static bool on_readable(void *arg)
{
	return receive(arg);
}

static const struct helper_events helper_events = {.readable = on_readable, .ended = on_ended};

static int ask(struct file_reader *r, enum file_question_type type, const char *path)
{
	struct file_question q = {.id = r->asked + 1, .type = type};

	name_copy(q.path, sizeof(q.path), path);
	if (send(helper_proc_fd(r->helper), &q, sizeof(q), MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
		return -errno;
	r->asked++;
	return 0;
}

/* There, and told what to follow. */
static int ensure(struct file_reader *r)
{
	int err;

	if (helper_proc_fd(r->helper) >= 0)
		return 0;
	err = helper_proc_start(r->helper, clock_now_ns());
	if (err < 0)
		return err;
	err = ask(r, FILE_FOLLOW, r->path);
	if (err < 0)
		end_helper(r);
	return err;
}

/* --- looking after it --- */

static void on_soon(void *arg, uint64_t now_ns)
{
	struct file_reader *r = arg;

	(void)now_ns;
	if (r->path[0])
		r->changed(r->arg);
}

/* Looks are counted, not time: that this host stood still is not the file system's fault. */
static void look_after(struct file_reader *r, uint64_t now_ns)
{
	if (helper_proc_fd(r->helper) < 0) {
		if (helper_proc_may_start(r->helper, now_ns) && ensure(r) == 0)
			tell_soon(r);
		return;
	}
	if (r->answered < r->asked) {
		if (++r->looks == FILE_READER_PATIENCE && !r->hangs_wall_ns)
			r->hangs_wall_ns =
				clock_wall_ns() - FILE_READER_PATIENCE * FILE_READER_LOOK_NS;
		return;
	}
	ask(r, FILE_PING, "");
}

static void on_look(void *arg, uint64_t now_ns)
{
	struct file_reader *r = arg;

	look_after(r, now_ns);
	loop_timer_arm(r->look, now_ns + FILE_READER_LOOK_NS);
}

/* --- interface --- */

struct file_reader *file_reader_new(struct loop *loop, void (*changed)(void *arg), void *arg)
{
	struct file_reader *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->changed = changed;
	r->arg = arg;
	r->content = -1;
	r->helper = helper_proc_new(loop, "--file-helper", &helper_events, r);
	r->look = loop_add_timer(loop, on_look, r);
	r->soon = loop_add_timer(loop, on_soon, r);
	if (r->helper && r->look && r->soon)
		return r;
	file_reader_free(r);
	errno = ENOMEM;
	return NULL;
}

void file_reader_free(struct file_reader *r)
{
	if (!r)
		return;
	helper_proc_free(r->helper);
	loop_source_free(r->look);
	loop_source_free(r->soon);
	free(r);
}

void file_reader_follow(struct file_reader *r, const char *path)
{
	if (strcmp(r->path, path) == 0)
		return;
	name_copy(r->path, sizeof(r->path), path);
	if (!path[0]) {
		loop_timer_disarm(r->look);
		end_helper(r);
		return;
	}
	if (helper_proc_fd(r->helper) >= 0)
		ask(r, FILE_FOLLOW, path);
	else
		ensure(r);
	loop_timer_arm(r->look, clock_now_ns() + FILE_READER_LOOK_NS);
}

/* Until what is wanted came. False: not in time, or the helper ended. */
static bool wait_for_content(struct file_reader *r, uint64_t until_ns)
{
	for (uint64_t now = clock_now_ns(); r->wanted && now < until_ns; now = clock_now_ns()) {
		struct pollfd p = {.fd = helper_proc_fd(r->helper), .events = POLLIN};
		int ms = (int)((until_ns - now) / NSEC_PER_MSEC) + 1;

		if (poll(&p, 1, ms) > 0 && !receive(r))
			break;
	}
	return r->wanted == 0;
}

static int refuse(int error, char *err, size_t errlen, const char *words)
{
	snprintf(err, errlen, "%s", words);
	return error;
}

static ssize_t take_content(struct file_reader *r, char **ret, char *err, size_t errlen)
{
	size_t len = r->got.length;
	int fd = r->content;
	ssize_t n = -ENOMEM;
	char *text;

	r->content = -1;
	if (r->got.error < 0 || fd < 0) {
		if (fd >= 0)
			close(fd);
		return refuse(r->got.error < 0 ? r->got.error : -EIO, err, errlen, r->got.words);
	}
	text = calloc(1, len + 1);
	if (text)
		n = lseek(fd, 0, SEEK_SET) < 0 ? -errno : fd_read_all(fd, text, len);
	close(fd);
	if (n >= 0 && (size_t)n == len) {
		*ret = text;
		return n;
	}
	free(text);
	return refuse(n < 0 ? (int)n : -EIO, err, errlen, "out of memory for its content");
}

ssize_t file_reader_read(struct file_reader *r, const char *path, uint64_t wait_ns, char **ret,
			 char *err, size_t errlen)
{
	int e;

	*ret = NULL;
	e = r->hangs_wall_ns ? -ETIMEDOUT : ensure(r);
	if (e == 0) {
		e = ask(r, FILE_READ, path);
		r->wanted = e == 0 ? r->asked : 0;
	}
	if (e == 0 && wait_for_content(r, clock_now_ns() + wait_ns))
		return take_content(r, ret, err, errlen);
	r->wanted = 0;
	if (e < 0 && e != -ETIMEDOUT)
		return refuse(e, err, errlen,
			      "the helper that reads it cannot be started or asked");
	if (!r->hangs_wall_ns)
		r->hangs_wall_ns = clock_wall_ns();
	return refuse(-ETIMEDOUT, err, errlen,
		      "its file system does not answer (a network one whose server is away?); "
		      "it is read as soon as that answers");
}

uint64_t file_reader_hangs_since(const struct file_reader *r)
{
	return r->hangs_wall_ns;
}
