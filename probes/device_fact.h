/* What a device's own directory says about it. */
#pragma once
#include "probes/facts.h"

/* Fills *f; dev_fd is the device's directory. What is absent stays "". Failures are counted in
 * errors[READ_ERROR_COUNT]. True when anything could be read. */
bool device_fact_read(struct device_fact *f, const char *name, int dev_fd, uint64_t *errors);
/* The netdev behind a port that no GID names: the only one of the device's PCI function whose
 * dev_port fits, or rxe's parent. "" when there is none, or no telling which. */
void device_port_netdev(int dev_fd, uint8_t port, uint32_t n_ports, char ret[FACT_NETDEV]);
