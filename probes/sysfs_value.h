/* What the texts of RDMA sysfs files mean. Pure; any text is allowed as input. Parsers return
 * false, and leave their outputs alone, for what is not plainly what it should be. */
#pragma once
#include "probes/facts.h"

/* First line without blanks around it; control characters become '?'; cut to size - 1 bytes. */
void sysfs_first_line(const char *text, char *ret, size_t size);
/* Decimal digits with blanks around, within 64 bits: a counter's value. */
bool sysfs_counter(const char *text, uint64_t *ret);
/* "4: ACTIVE": the number before the colon and the text after it. */
bool sysfs_state(const char *text, uint32_t *ret_number, char *ret_name, size_t size);
/* "100 Gb/sec (4X EDR)", also with a fraction and with old kernels' forms; bytes per second. */
bool sysfs_rate(const char *text, uint64_t *ret_bytes_per_second);
/* The lanes in it: 4. */
bool sysfs_lanes(const char *text, uint32_t *ret);
/* Eight groups of hex digits. */
bool sysfs_gid(const char *line, uint8_t ret[16]);
/* "RoCE v2" or "IB/RoCE v1", of which the link layer says which. */
enum gid_type sysfs_gid_type(const char *line, enum link_layer layer);
enum link_layer sysfs_link_layer(const char *line);
/* "0000:0000:0000:0000" in any number of digits; "" is not zero but unknown. */
bool sysfs_guid_zero(const char *line);
/* DDDD:BB:DD.F (domains may have more digits). */
bool sysfs_pci_address(const char *name);
/* 1..255 in decimal without leading zero: the name of a port's directory. */
bool sysfs_port_number(const char *name, uint8_t *ret);
