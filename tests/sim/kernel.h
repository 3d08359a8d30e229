/* What the programs under simulation ask of the kernel, in plain memory: event descriptors, packet
 * sockets, memory files, random bits. The linker puts these in place of libc's (CMakeLists.txt,
 * --wrap); a descriptor that is not from here goes through to libc. No system call is left, and
 * nothing depends on anything but the seed. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Random bits of getrandom() are drawn from this number. Every descriptor must be closed. */
void kernel_begin(uint64_t seed);
/* Descriptors that are open. */
unsigned kernel_open(void);
/* Reading, or hearing that the other end is closed, would not wait. -1: false. */
bool kernel_readable(int fd);
/* A connected pair of packet sockets, each of which holds so many packets. */
void kernel_socketpair(int ret[2], unsigned packets);
/* Called for each packet that is sent, whether there is room for it or not. */
void kernel_watch_sends(void (*fn)(int fd, const void *data, size_t len));
