/* Sums over the reasons of one operation's books, which metrics and JSON both tell. */
#pragma once
#include "probes/facts.h"

uint64_t op_sum_failed(const struct op_books *b);
uint64_t op_sum_aborted(const struct op_books *b);
uint64_t op_sum_not_attempted(const struct op_books *b);
