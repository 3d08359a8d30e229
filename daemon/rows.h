/* Which session has which row of one device's table. */
#pragma once
#include <stdint.h>

#define ROW_NONE UINT32_MAX

struct rows;
struct session;

struct rows *rows_new(uint32_t n); /* NULL: no memory */
void rows_free(struct rows *r);
uint32_t rows_take(struct rows *r, struct session *s); /* ROW_NONE: all are taken */
void rows_release(struct rows *r, uint32_t row);
void rows_release_all(struct rows *r);
struct session *rows_at(const struct rows *r, uint32_t row); /* NULL: free, or no such row */
