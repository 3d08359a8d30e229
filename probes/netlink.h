/* Questions to the kernel by netlink: one socket of one family, one question at a time, answers
 * taken apart with every length checked. Nothing here changes anything in the kernel; what a
 * question asks is its maker's business. The kernel may hold locks while it answers: the wait ends
 * after two seconds. Of one thread. */
#pragma once
#include <linux/netlink.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NETLINK_ROOM 32768 /* the kernel makes no larger part of an answer */
#define NETLINK_REQUEST 512

struct netlink {
	int fd;
	uint32_t sequence; /* of the last question */
	uint8_t *room;
};

/* protocol as NETLINK_RDMA; groups: a mask of those of multicast that are listened to, for
 * netlink_hear(). 0 or -errno. */
int netlink_open(struct netlink *n, int protocol, uint32_t groups);
void netlink_close(struct netlink *n); /* also of one that was not opened, if fd is -1 */

struct netlink_request {
	_Alignas(struct nlmsghdr) uint8_t bytes[NETLINK_REQUEST];
	size_t len;
};

/* header is what follows nlmsghdr in this family; header_len may be 0. */
void netlink_begin(struct netlink_request *q, uint16_t type, uint16_t flags, const void *header,
		   size_t header_len);
/* An attribute at the end; what finds no room is our bug. */
void netlink_put(struct netlink_request *q, uint16_t type, const void *data, size_t len);
void netlink_put_u32(struct netlink_request *q, uint16_t type, uint32_t value);
void netlink_put_text(struct netlink_request *q, uint16_t type, const char *text);

struct netlink_attr {
	uint16_t type, len; /* type without the flags of nesting and byte order */
	const void *data;   /* aligned to 4 bytes at best */
};

/* A run of attributes; also a nested one: netlink_inside(). */
struct netlink_attrs {
	const uint8_t *at;
	size_t left;
};

/* For each message of an answer; type is nlmsg_type. The payload lives until the function returns.
 * Less than 0: the rest of the answer is read and thrown away, and that is what ask returns. */
typedef int (*netlink_fn)(void *arg, uint16_t type, const uint8_t *payload, size_t len);

/* Asks and hands fn each message of the answer. 0, or -errno: what the kernel said (-EOPNOTSUPP:
 * it knows no such question), -ETIMEDOUT, -EBADMSG for an answer that is none, -EAGAIN when what
 * was told changed meanwhile. */
int netlink_ask(struct netlink *n, struct netlink_request *q, netlink_fn fn, void *arg);
/* What has been told to our groups so far, without waiting; fn's result is ignored. false:
 * something got lost because there was no room. */
bool netlink_hear(struct netlink *n, netlink_fn fn, void *arg);

/* The attributes behind a header of that length. */
struct netlink_attrs netlink_attrs(const uint8_t *payload, size_t len, size_t header_len);
struct netlink_attrs netlink_inside(const struct netlink_attr *attr);
/* The next one; false at the end, and where it is cut off. */
bool netlink_next(struct netlink_attrs *attrs, struct netlink_attr *ret);
/* Whether the run ends where its last attribute does: it is neither cut off nor has a rest. */
bool netlink_whole(struct netlink_attrs attrs);
/* The first one of that type. */
bool netlink_find(struct netlink_attrs attrs, uint16_t type, struct netlink_attr *ret);
/* false, and *ret left alone, when the length is another. */
bool netlink_u8(const struct netlink_attr *attr, uint8_t *ret);
bool netlink_u16(const struct netlink_attr *attr, uint16_t *ret);
bool netlink_u32(const struct netlink_attr *attr, uint32_t *ret);
bool netlink_u64(const struct netlink_attr *attr, uint64_t *ret);
/* A text with or without a NUL at its end; false when it is empty, does not fit or has anything
 * but printable ASCII in it. */
bool netlink_text(const struct netlink_attr *attr, char *ret, size_t size);
