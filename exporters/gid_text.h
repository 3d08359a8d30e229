/* A GID as sysfs and show_gids print it: eight groups of four hex digits. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#define GID_TEXT_SIZE 40

void gid_text(const uint8_t gid[16], char ret[GID_TEXT_SIZE]);
bool gid_is_zero(const uint8_t gid[16]);
