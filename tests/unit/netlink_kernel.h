/* A socket pair in the kernel's place: answers to questions by netlink are laid out before the
 * question is put. */
#pragma once
#include "support.h"

#include "probes/netlink.h"

struct netlink_kernel {
	struct netlink asker; /* to be given to what is tested */
	int fd;
	uint32_t questions; /* answered so far */
	uint8_t part[NETLINK_ROOM];
	size_t len, message, nest[8];
	unsigned depth;
};

void kernel_begin(struct netlink_kernel *k);
void kernel_end(struct netlink_kernel *k);
/* A message of the answer to the next question; header is what the family has before attributes. */
void kernel_message(struct netlink_kernel *k, uint16_t type, uint16_t flags, const void *header,
		    size_t header_len);
void kernel_attr(struct netlink_kernel *k, uint16_t type, const void *data, size_t len);
void kernel_text(struct netlink_kernel *k, uint16_t type, const char *text);
void kernel_u8(struct netlink_kernel *k, uint16_t type, uint8_t value);
void kernel_u16(struct netlink_kernel *k, uint16_t type, uint16_t value);
void kernel_u32(struct netlink_kernel *k, uint16_t type, uint32_t value);
void kernel_u64(struct netlink_kernel *k, uint16_t type, uint64_t value);
void kernel_nest(struct netlink_kernel *k, uint16_t type);
void kernel_unnest(struct netlink_kernel *k);
/* The end of a dump, or an error. */
void kernel_code(struct netlink_kernel *k, uint16_t type, int32_t code);
/* What was laid out becomes the answer to the next question, in one part. */
void kernel_answer(struct netlink_kernel *k);
/* The question that was put: its type; *ret_attrs are its attributes behind a header. */
uint16_t kernel_question(struct netlink_kernel *k, size_t header_len,
			 struct netlink_attrs *ret_attrs);
