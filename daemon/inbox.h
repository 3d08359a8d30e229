/* What devices and their workers tell, brought to rails, sessions, journal and log. */
#pragma once
#include "daemon/device.h"

struct daemon;

/* For device_context; arg is the struct daemon. */
extern const struct device_events inbox_events;

/* Facts may be lost when a worker tells much at once; its table is the truth. Once a second. */
void inbox_read_rails(struct daemon *d, struct device *dev);
/* Configuration and list of who may connect, first or again. */
void inbox_configure_worker(struct daemon *d, struct device *dev);
/* The list of who may connect, to all workers. */
void inbox_send_accept(struct daemon *d);
/* This host's mesh name by configuration, list or hostname; tells the workers when it changed. */
void inbox_name_host(struct daemon *d);
