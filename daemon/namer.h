/* Keeps the addresses of the peer list's host names: asks for them, takes the answers, and has the
 * sessions follow. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct daemon;
struct namer;

struct namer *namer_new(struct daemon *d); /* NULL: no memory */
void namer_free(struct namer *n);
/* Another list is in force. 0 or -ENOMEM: the names stay those of before. */
int namer_follow(struct namer *n);
/* Give the targets the addresses that are known now. True: some have others than before. */
bool namer_place(struct namer *n);
/* Once a second. */
void namer_tick(struct namer *n, uint64_t now_ns, bool paused);
size_t namer_failing(const struct namer *n); /* names that cannot be resolved at present */
