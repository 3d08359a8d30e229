/* A fuzz target is one function. With clang's libFuzzer it is fed with what reaches new code; in
 * every other build replay.c feeds it with its corpus, so that what once broke stays a test. */
#pragma once
#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What the code promised and did not hold: ends the program, as the fuzzer wants it. */
#define must_hold(condition)                                                                       \
	do {                                                                                       \
		if (!(condition))                                                                  \
			__builtin_trap();                                                          \
	} while (0)
