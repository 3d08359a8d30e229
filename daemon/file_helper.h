/* What main and its helper that watches and reads the peer file tell each other, and the helper: a
 * file system that hangs holds up the helper, and main goes on. One struct a packet of a
 * SOCK_SEQPACKET pair; both ends are the same binary. */
#pragma once
#include "daemon/config.h"
#include "daemon/peer_file.h"

enum file_question_type {
	FILE_PING,   /* answered when there is time for it */
	FILE_FOLLOW, /* tell when the file of that path changes; "": none */
	FILE_READ,   /* its content comes as a descriptor of memory with the answer */
};

struct file_question {
	uint64_t id;
	uint32_t type; /* enum file_question_type */
	char path[CONFIG_PATH_MAX];
};

struct file_answer {
	uint64_t id;	 /* of the question; 0: the file that is followed may have changed */
	int32_t error;	 /* FILE_READ: 0, or -errno with words */
	uint32_t length; /* of the content, bytes */
	char words[PEER_FILE_ERROR];
};

/* Well-formed for its reader, whoever wrote it. */
bool file_question_check(const struct file_question *q, size_t len);
bool file_answer_check(const struct file_answer *a, size_t len);

/* The helper's main: serves fd until its other end closes. Its exit code. */
int file_helper_main(int fd);
