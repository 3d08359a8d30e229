/* The PCI link of a device: how wide and fast it is, and could be. */
#pragma once
#include "probes/facts.h"

/* Fills numa_node, pci and pci_possible of *f; dev_fd is the device's directory, whose `device` is
 * the function. What a slot cannot do its card is not blamed for: possible is the lesser of both.
 * Failures other than absence are counted in errors[READ_ERROR_COUNT]. */
void pci_link_read(struct device_fact *f, int dev_fd, uint64_t *errors);
/* "16.0 GT/s PCIe", "8 GT/s": mega transfers per second; 0 for what is not plainly a speed, such as
 * "Unknown". */
uint32_t pci_link_speed(const char *line);
